package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

const (
	timelineMost  = 50
	timelineUsual = 20
	timelineRoom  = 9000
)

var timelineTool = tool{
	name:  "timeline",
	about: "List checkpoints, newest first: number, time, intent, what changed, checks, good or not.",
	input: object(nil, fields{
		"limit":  whole("", 1, timelineMost, timelineUsual),
		"before": map[string]any{"type": "integer", "description": "only checkpoints with a lower number", "minimum": 1},
	}),
	hints: hints{readOnly: true, idempotent: true},
}

type timelineIn struct {
	Limit  int   `json:"limit"`
	Before int64 `json:"before"`
}

type timelineOut struct {
	Checkpoints []checkpointRow `json:"moments"`
	Total       int64           `json:"total"`
	Next        int64           `json:"next,omitempty" jsonschema:"there are older ones: ask again with before set to this"`
	aside
}

type checkpointRow struct {
	Number   int64          `json:"number"`
	Time     time.Time      `json:"time"`
	Trigger  retake.Trigger `json:"trigger"`
	Intent   string         `json:"intent,omitempty" jsonschema:"or the prompt or command that led to it"`
	Changed  counts         `json:"changed"`
	Coverage retake.Grade   `json:"coverage"`
	Pins     []string       `json:"pins,omitempty"`
	Good     bool           `json:"good,omitempty" jsonschema:"complete, and every configured check passed"`
	Verify   []string       `json:"verify,omitempty" jsonschema:"name and result of each check"`
	What     string         `json:"what,omitempty" jsonschema:"what really changed, most important first"`
	Mismatch string         `json:"mismatch,omitempty" jsonschema:"where the words and what changed disagree"`
}

func (f *face) timeline(ctx context.Context, ws retake.Workspace, in timelineIn) (timelineOut, error) {
	// One more than is shown tells whether there are older ones.
	tl, err := f.Log(ctx, retake.LogQuery{Workspace: ws.ID, Before: in.Before, Limit: in.Limit + 1})
	if err != nil {
		return timelineOut{}, err
	}
	pins := map[retake.CheckpointID][]string{}
	for _, p := range tl.Pins {
		if held := pins[p.Checkpoint]; len(held) < maxPinsShown {
			pins[p.Checkpoint] = append(held, word(p.Name, maxTitle))
		}
	}
	out := timelineOut{Total: tl.Total}
	rows, more := fill(&room{timelineRoom}, in.Limit, len(tl.Checkpoints), func(i int) checkpointRow {
		cp := tl.Checkpoints[i]
		row := checkpointRow{
			Number: cp.Number, Time: cp.Time.Truncate(time.Second), Trigger: cp.Trigger, Intent: titleOf(cp),
			Changed: countsOf(cp.Changed), Coverage: cp.Coverage.Grade, Pins: pins[cp.ID],
		}
		row.found(tl.Findings[cp.ID])
		return row
	})
	if out.Checkpoints = rows; more > 0 && len(rows) > 0 {
		out.Next = rows[len(rows)-1].Number
	}
	return out, nil
}

const maxPinsShown = 3

// Bounds of what a row says of its checkpoint.
const (
	maxWhat    = 200
	maxAnswers = 6
)

// found adds what was found out about a checkpoint since it was sealed.
func (r *checkpointRow) found(f retake.Finding) {
	r.Good = f.Good
	for _, a := range f.Answers[:min(len(f.Answers), maxAnswers)] {
		verdict := string(a.Verdict)
		if a.Claim {
			verdict = "claimed"
		}
		r.Verify = append(r.Verify, word(a.Name, maxTitle)+" "+verdict)
	}
	if f.Gist == nil {
		return
	}
	var points []string
	for _, p := range f.Gist.Points {
		points = append(points, p.Text)
	}
	r.What = word(strings.Join(points, "; "), maxWhat)
	if len(f.Gist.Flags) > 0 {
		r.Mismatch = word(f.Gist.Flags[0].Why, maxWhat)
	}
}

// titleOf says what a checkpoint is of.
func titleOf(cp retake.Checkpoint) string {
	text := cp.Intent
	if t := cp.Turn; t != nil && text == "" {
		if text = t.Prompt; text == "" {
			text = t.Command
		}
	}
	return word(text, maxTitle)
}

func (o timelineOut) text(f *face) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s checkpoints, newest first\n", termtext.Count(int64(len(o.Checkpoints))), termtext.Count(o.Total))
	now := f.o.Clock.Now()
	for _, m := range o.Checkpoints {
		fmt.Fprintf(&b, "%d  %s  %s", m.Number, termtext.Clock(m.Time, now), m.Trigger)
		if m.Intent != "" {
			b.WriteString("  " + quoted(m.Intent))
		}
		fmt.Fprintf(&b, "  +%d -%d ~%d", m.Changed.Added, m.Changed.Deleted, m.Changed.Edited)
		if m.Coverage != retake.Complete {
			fmt.Fprintf(&b, "  %s", m.Coverage)
		}
		for _, p := range m.Pins {
			b.WriteString("  pinned " + quoted(p))
		}
		if m.Good {
			b.WriteString("  good")
		}
		for _, v := range m.Verify {
			b.WriteString("  " + v)
		}
		b.WriteByte('\n')
		if m.What != "" {
			fmt.Fprintf(&b, "    changed: %s\n", m.What)
		}
		if m.Mismatch != "" {
			fmt.Fprintf(&b, "    words and changes disagree: %s\n", m.Mismatch)
		}
	}
	if o.Next > 0 {
		fmt.Fprintf(&b, "older ones: before %d\n", o.Next)
	}
	return b.String()
}
