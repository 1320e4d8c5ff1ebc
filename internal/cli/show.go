package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// card is a checkpoint with what changed since its parent.
type card struct {
	V          int                `json:"v"`
	Checkpoint retake.Checkpoint  `json:"checkpoint"`
	Parent     *retake.Checkpoint `json:"parent,omitempty"`
	Pins       []retake.Pin       `json:"pins"`
	Changes    []retake.Change    `json:"changes"`
}

func (f *face) showCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show [REF]", Short: "one moment, and what really changed in it", Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref := "latest"
			if len(args) == 1 {
				ref = args[0]
			}
			return f.show(cmd, ref)
		},
	}
}

func (f *face) show(cmd *cobra.Command, ref string) error {
	ctx := cmd.Context()
	s, ws, err := f.here(ctx)
	if err != nil {
		return err
	}
	d, err := s.Diff(ctx, retake.DiffQuery{Workspace: ws.ID, To: ref})
	if err != nil {
		return err
	}
	if d.To == nil {
		return usage("what changed since the newest moment: retake diff", "Now is not a moment yet.")
	}
	t, err := s.Log(ctx, retake.LogQuery{Workspace: ws.ID, Limit: 1})
	if err != nil {
		return err
	}
	if d.Changes == nil {
		d.Changes = []retake.Change{}
	}
	c := card{V: 1, Checkpoint: *d.To, Parent: d.From, Pins: []retake.Pin{}, Changes: d.Changes}
	for _, p := range t.Pins {
		if p.Checkpoint == d.To.ID {
			c.Pins = append(c.Pins, p)
		}
	}
	if f.json {
		return f.writeJSON(c)
	}
	gs := groups(d.Changes)
	counts := map[string]lineCount{}
	if d.From != nil {
		if counts, err = (content{s: s, ws: ws.ID}).measure(ctx, gs); err != nil {
			return err
		}
	}
	err = f.emit(c, func(l look) string { return renderCard(l, c) + renderSince(l, c, gs, counts) })
	f.hint("lines", fmt.Sprintf("retake diff %d", d.To.Number), "files", fmt.Sprintf("retake ls %d", d.To.Number))
	return err
}

// renderCard draws the words and the facts of a moment.
func renderCard(l look, c card) string {
	cp := c.Checkpoint
	text, _ := title(cp)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s\n\n", l.bold(fmt.Sprint(cp.Number)), l.clock(cp.Time), l.bold(text))
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %s%s\n", l.dim(screen.Pad(name, 11)), value)
		}
	}
	field("taken", l.facts(cp.Time.In(l.now.Location()).Format("Mon 2 Jan 2006 15:04:05"), l.dim(l.ago(cp.Time)), triggerWord(cp.Trigger)))
	names := make([]string, len(c.Pins))
	for i, p := range c.Pins {
		names[i] = screen.Escape(p.Name)
	}
	field("pins", strings.Join(names, ", "))
	field("coverage", l.facts(grade(l, cp.Coverage.Grade), files(cp.Files)+", "+screen.Bytes(cp.Bytes), screen.Bytes(cp.NewBytes)+" new"))
	b.WriteString(gapLines(l, cp.Coverage.Gaps, strings.Repeat(" ", 13)))
	field("left out", policyFacts(l, cp.Policy))
	field("id", l.dim(string(cp.ID)))
	return b.String()
}

func triggerWord(t retake.Trigger) string {
	switch t {
	case retake.TriggerInit:
		return "the first capture"
	case retake.TriggerManual:
		return "by hand"
	case retake.TriggerComplete:
		return "the rest of a capture"
	}
	return screen.Escape(string(t))
}

func renderSince(l look, c card, gs []group, counts map[string]lineCount) string {
	head := "What it began with"
	if c.Parent != nil {
		head = fmt.Sprintf("What really changed since %d", c.Parent.Number)
	}
	out := fmt.Sprintf("\n%s  %s\n", l.bold(head), files(total(gs)))
	if len(gs) == 0 {
		return out
	}
	return out + "\n" + renderChanges(l, gs, counts)
}
