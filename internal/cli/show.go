package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

// card is a checkpoint with what changed since its parent.
type card struct {
	V          int                `json:"v"`
	Checkpoint retake.Checkpoint  `json:"checkpoint"`
	Parent     *retake.Checkpoint `json:"parent,omitempty"`
	Pins       []retake.Pin       `json:"pins"`
	Changes    []retake.Change    `json:"changes"`

	goals goals // for the title
}

func (f *face) showCommand() *cobra.Command {
	var talked bool
	cmd := &cobra.Command{
		Use: "show [REF]", Short: "one moment, and what really changed in it", Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref := "latest"
			if len(args) == 1 {
				ref = args[0]
			}
			if talked {
				return f.conversation(cmd, ref)
			}
			return f.show(cmd, ref)
		},
	}
	cmd.Flags().BoolVar(&talked, "conversation", false, "what was said up to that moment, likely secrets masked")
	return cmd
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
	c.goals = goalsOf(ctx, s, ws, []retake.Checkpoint{*d.To})
	gs := groups(d.Changes)
	counts := map[string]lineCount{}
	if d.From != nil {
		if counts, err = (content{s: s, ws: ws.ID}).measure(ctx, gs); err != nil {
			return err
		}
	}
	err = f.emit(c, func(l look) string { return renderCard(l, c) + renderSince(l, c, gs, counts) })
	f.hint("lines", fmt.Sprintf("retake diff %d", d.To.Number), "go back", fmt.Sprintf("retake restore %d", d.To.Number))
	return err
}
