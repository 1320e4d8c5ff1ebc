package cli

import (
	"github.com/spf13/cobra"

	"github.com/retake-dev/retake/internal/ui/term"
)

// conversation shows what was said up to a checkpoint.
func (f *face) conversation(cmd *cobra.Command, ref string) error {
	ctx := cmd.Context()
	s, ws, err := f.here(ctx)
	if err != nil {
		return err
	}
	cp, err := s.Find(ctx, ws.ID, ref)
	if err != nil {
		return err
	}
	a, err := term.ReadConversation(ctx, s, ws.ID, cp)
	if err != nil {
		return err
	}
	return f.emit(a, func(l term.Look) string { return term.RenderConversation(l, a) })
}
