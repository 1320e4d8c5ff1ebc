package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

var checkpointTool = toolSpec{
	name:        "checkpoint",
	description: "Record all files as the next checkpoint: before something risky, after something that works.",
	input: objectSchema([]string{"intent"}, schemaFields{
		"intent": stringSchema("why, in one sentence", maxIntent), "pin": stringSchema("a name that keeps it for good", maxRef),
	}),
}

var pinTool = toolSpec{
	name:        "pin",
	description: "Name a checkpoint. The name keeps it for good and works as a ref; a taken name is not moved.",
	input:       objectSchema([]string{"ref", "name"}, schemaFields{"ref": refField(refDescription), "name": stringSchema("such as before-migration", maxRef)}),
	hints:       toolHints{idempotent: true},
}

type checkpointIn struct {
	Intent string `json:"intent"`
	Pin    string `json:"pin"`
}

type checkpointOut struct {
	Number   int64        `json:"number"`
	ID       string       `json:"id"`
	Changed  changeCounts `json:"changed"`
	Files    int64        `json:"files"`
	Coverage retake.Grade `json:"coverage"`
	Gaps     []gapCount   `json:"gaps,omitempty" jsonschema:"what the checkpoint does not hold"`
	Pin      string       `json:"pin,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
	answerNote
}

// changeCounts counts the paths that differ from the checkpoint before.
type changeCounts struct {
	Added   int64 `json:"added"`
	Deleted int64 `json:"deleted"`
	Edited  int64 `json:"edited"`
}

func newChangeCounts(c retake.Counts) changeCounts { return changeCounts{c.Added, c.Deleted, c.Edited} }

func (c changeCounts) String() string {
	return fmt.Sprintf("%s added, %s deleted, %s edited", termtext.Count(c.Added), termtext.Count(c.Deleted), termtext.Count(c.Edited))
}

// gapCount is how many paths are missing for one reason, and the first of them.
type gapCount struct {
	Reason retake.Reason `json:"reason"`
	Count  int           `json:"count"`
	First  string        `json:"first"`
}

func countGaps(gaps []retake.Gap) []gapCount {
	var out []gapCount
	at := map[retake.Reason]int{}
	for _, g := range gaps {
		i, ok := at[g.Reason]
		if !ok {
			i = len(out)
			at[g.Reason] = i
			out = append(out, gapCount{Reason: g.Reason, First: safeWord(g.Path, maxFirst)})
		}
		out[i].Count++
	}
	return out
}

func warningTexts(ws []retake.Warning) []string {
	var out []string
	for _, w := range ws[:min(len(ws), maxWarnings)] {
		out = append(out, safeWord(w.Text, maxTitle))
	}
	return out
}

const (
	maxWarnings = 5
	maxFirst    = 80 // there may be a path for each reason
)

func (f *toolServer) handleCheckpoint(ctx context.Context, ws retake.Workspace, in checkpointIn) (checkpointOut, error) {
	res, err := f.Save(ctx, retake.SaveRequest{Workspace: ws.ID, Intent: in.Intent, Trigger: retake.TriggerManual, Pin: in.Pin})
	if err != nil {
		return checkpointOut{}, err
	}
	cp := res.Checkpoint
	out := checkpointOut{
		Number: cp.Number, ID: string(cp.ID), Changed: newChangeCounts(cp.Changed), Files: cp.Files,
		Coverage: cp.Coverage.Grade, Gaps: countGaps(cp.Coverage.Gaps), Warnings: warningTexts(res.Warnings),
	}
	if !slices.ContainsFunc(res.Warnings, func(w retake.Warning) bool { return w.Code == pinWarning }) {
		out.Pin = safeWord(in.Pin, maxTitle)
	}
	return out, nil
}

// pinWarning is the code of the warning that the checkpoint was made but not pinned.
const pinWarning = "pin"

func (o checkpointOut) text(*toolServer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d is recorded: %s; %s files, %s\n", o.Number, o.Changed, termtext.Count(o.Files), o.Coverage)
	for _, g := range o.Gaps {
		fmt.Fprintf(&b, "not saved, %s: %s, first %s\n", g.Reason, termtext.Count(int64(g.Count)), quoteWord(g.First))
	}
	if o.Pin != "" {
		fmt.Fprintf(&b, "pinned as %s\n", quoteWord(o.Pin))
	}
	writeWarnings(&b, o.Warnings)
	return b.String()
}

func writeWarnings(b *strings.Builder, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(b, "warning: %s\n", quoteWord(w))
	}
}

type pinIn struct {
	Ref  string `json:"ref"`
	Name string `json:"name"`
}

type pinOut struct {
	Number int64  `json:"number"`
	ID     string `json:"id"`
	Name   string `json:"name"`
	answerNote
}

func (f *toolServer) handlePin(ctx context.Context, ws retake.Workspace, in pinIn) (pinOut, error) {
	p, err := f.Pin(ctx, ws.ID, in.Ref, in.Name)
	return pinOut{Number: p.Number, ID: string(p.Checkpoint), Name: safeWord(p.Name, maxTitle)}, err
}

func (o pinOut) text(*toolServer) string {
	return fmt.Sprintf("%d is pinned as %s", o.Number, quoteWord(o.Name))
}
