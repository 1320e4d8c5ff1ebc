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
	maxTimelineRows     = 50
	defaultTimelineRows = 20
	timelineBytes       = 9000
)

var timelineTool = toolSpec{
	name:        "timeline",
	description: "List checkpoints, newest first: number, time, intent, what changed, checks, good or not.",
	input: objectSchema(nil, schemaFields{
		"limit":  integerSchema("", 1, maxTimelineRows, defaultTimelineRows),
		"before": map[string]any{"type": "integer", "description": "only checkpoints with a lower number", "minimum": 1},
	}),
	hints: toolHints{readOnly: true, idempotent: true},
}

type timelineIn struct {
	Limit  int   `json:"limit"`
	Before int64 `json:"before"`
}

type timelineOut struct {
	Checkpoints []checkpointRow `json:"moments"`
	Total       int64           `json:"total"`
	Next        int64           `json:"next,omitempty" jsonschema:"there are older ones: ask again with before set to this"`
	answerNote
}

type checkpointRow struct {
	Number   int64          `json:"number"`
	Time     time.Time      `json:"time"`
	Trigger  retake.Trigger `json:"trigger"`
	Intent   string         `json:"intent,omitempty" jsonschema:"or the prompt or command that led to it"`
	Changed  changeCounts   `json:"changed"`
	Coverage retake.Grade   `json:"coverage"`
	Pins     []string       `json:"pins,omitempty"`
	Good     bool           `json:"good,omitempty" jsonschema:"complete, and every configured check passed"`
	Verify   []string       `json:"verify,omitempty" jsonschema:"name and result of each check"`
	What     string         `json:"what,omitempty" jsonschema:"what really changed, most important first"`
	Mismatch string         `json:"mismatch,omitempty" jsonschema:"where the words and what changed disagree"`
}

// handleTimeline lists checkpoints, newest first, with what was found out about them.
func (f *toolServer) handleTimeline(ctx context.Context, ws retake.Workspace, in timelineIn) (timelineOut, error) {
	// One more than is shown tells whether there are older ones.
	tl, err := f.Log(ctx, retake.LogQuery{Workspace: ws.ID, Before: in.Before, Limit: in.Limit + 1})
	if err != nil {
		return timelineOut{}, err
	}
	pins := map[retake.CheckpointID][]string{}
	for _, p := range tl.Pins {
		if held := pins[p.Checkpoint]; len(held) < maxPinsShown {
			pins[p.Checkpoint] = append(held, safeWord(p.Name, maxTitle))
		}
	}
	out := timelineOut{Total: tl.Total}
	rows, more := fillRows(&byteBudget{timelineBytes}, in.Limit, len(tl.Checkpoints), func(i int) checkpointRow {
		cp := tl.Checkpoints[i]
		row := checkpointRow{
			Number: cp.Number, Time: cp.Time.Truncate(time.Second), Trigger: cp.Trigger, Intent: checkpointTitle(cp),
			Changed: newChangeCounts(cp.Changed), Coverage: cp.Coverage.Grade, Pins: pins[cp.ID],
		}
		row.addFinding(tl.Findings[cp.ID])
		return row
	})
	if out.Checkpoints = rows; more > 0 && len(rows) > 0 {
		out.Next = rows[len(rows)-1].Number
	}
	return out, nil
}

const maxPinsShown = 3

// Limits on what a row says about its checkpoint.
const (
	maxWhatBytes = 200
	maxAnswers   = 6
)

// addFinding adds what was found out about a checkpoint since it was sealed.
func (r *checkpointRow) addFinding(f retake.Finding) {
	r.Good = f.Good
	for _, a := range f.Answers[:min(len(f.Answers), maxAnswers)] {
		verdict := string(a.Verdict)
		if a.Claim {
			verdict = "claimed"
		}
		r.Verify = append(r.Verify, safeWord(a.Name, maxTitle)+" "+verdict)
	}
	if f.Gist == nil {
		return
	}
	var points []string
	for _, p := range f.Gist.Points {
		points = append(points, p.Text)
	}
	r.What = safeWord(strings.Join(points, "; "), maxWhatBytes)
	if len(f.Gist.Flags) > 0 {
		r.Mismatch = safeWord(f.Gist.Flags[0].Why, maxWhatBytes)
	}
}

// checkpointTitle returns the intent of a checkpoint, else its prompt or command.
func checkpointTitle(cp retake.Checkpoint) string {
	text := cp.Intent
	if t := cp.Turn; t != nil && text == "" {
		if text = t.Prompt; text == "" {
			text = t.Command
		}
	}
	return safeWord(text, maxTitle)
}

func (o timelineOut) text(f *toolServer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s checkpoints, newest first\n", termtext.Count(int64(len(o.Checkpoints))), termtext.Count(o.Total))
	now := f.opts.Clock.Now()
	for _, m := range o.Checkpoints {
		fmt.Fprintf(&b, "%d  %s  %s", m.Number, termtext.ShortTime(m.Time, now), m.Trigger)
		if m.Intent != "" {
			b.WriteString("  " + quoteWord(m.Intent))
		}
		fmt.Fprintf(&b, "  +%d -%d ~%d", m.Changed.Added, m.Changed.Deleted, m.Changed.Edited)
		if m.Coverage != retake.Complete {
			fmt.Fprintf(&b, "  %s", m.Coverage)
		}
		for _, p := range m.Pins {
			b.WriteString("  pinned " + quoteWord(p))
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
