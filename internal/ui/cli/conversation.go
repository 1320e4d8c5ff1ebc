package cli

import (
	"github.com/spf13/cobra"

	"github.com/retake-dev/retake/internal/ui/term"
)

// printConversation shows what was said up to a checkpoint.
func printConversation(f *commandLine, cmd *cobra.Command, ref string) error {
	ctx := cmd.Context()
	s, ws, err := f.currentWorkspace(ctx)
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
	return f.printAnswer(a, func(l term.Style) string { return term.RenderConversation(l, a) })
}
