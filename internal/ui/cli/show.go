package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

type outputAnswer struct {
	V            int                 `json:"v"`
	Checkpoint   retake.Checkpoint   `json:"checkpoint"`
	Verification retake.Verification `json:"verification"`
}

func newShowCommand(f *commandLine) *cobra.Command {
	var talked, machine bool
	var output string
	cmd := &cobra.Command{
		Use: "show [REF]", Short: "Show a checkpoint and what changed in it", Args: argsBetween(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref := "latest"
			if len(args) == 1 {
				ref = args[0]
			}
			switch {
			case talked && output != "":
				return usageError(helpHint(cmd), "It is --conversation or --output, one of them.")
			case talked:
				return printConversation(f, cmd, ref)
			case output != "":
				return printOutput(cmd.Context(), f, ref, output)
			}
			return printCheckpoint(cmd.Context(), f, ref, machine)
		},
	}
	cmd.Flags().BoolVar(&talked, "conversation", false, "show the conversation up to that checkpoint; likely secrets are masked")
	cmd.Flags().StringVar(&output, "output", "", "show the stored output of the check `NAME`")
	cmd.Flags().BoolVar(&machine, "machine", false, "include ports, packages and services that other programs changed")
	return cmd
}

func printCheckpoint(ctx context.Context, f *commandLine, ref string, machine bool) error {
	s, ws, err := f.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	if refOrNow(ref) == "" {
		return usageError("what changed since the newest checkpoint: retake diff", "Now is not a checkpoint yet.")
	}
	cp, err := s.Find(ctx, ws.ID, ref)
	if err != nil {
		return err
	}
	c := term.Card{V: 1, Checkpoint: cp, Pins: []retake.Pin{}, Changes: []retake.Change{}, Verifications: []retake.Verification{}, Machine: machine}
	if err := c.Read(ctx, s, ws, f.json); err != nil {
		return err
	}
	if !f.json {
		c.Titles = term.ReadTargetTitles(ctx, s, ws, []retake.Checkpoint{cp})
		newest, err := s.Find(ctx, ws.ID, "latest")
		c.Newest = err == nil && newest.ID == cp.ID
	}
	err = f.printAnswer(c, func(l term.Style) string { return term.RenderCard(l, c) })
	f.printHintLine(c.Hints())
	return err
}

// printOutput shows what a verification printed.
func printOutput(ctx context.Context, f *commandLine, ref, name string) error {
	s, ws, err := f.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	cp, err := s.Find(ctx, ws.ID, ref)
	if err != nil {
		return err
	}
	vs, err := s.Verifications(ctx, retake.VerificationQuery{Workspace: ws.ID, Ref: string(cp.ID), Name: name})
	if err != nil {
		return err
	}
	if len(vs) == 0 {
		return &retake.Error{
			Kind: retake.NotFound, What: fmt.Sprintf("checkpoint %d has no verification %s", cp.Number, name),
			Safe: nothingChanged, Hint: fmt.Sprintf("see what it has: retake show %d", cp.Number),
		}
	}
	return f.printAnswer(outputAnswer{1, cp, vs[0]}, func(l term.Style) string {
		if vs[0].Output == "" {
			return l.Dim("It printed nothing.") + "\n"
		}
		out := ""
		for _, line := range term.SplitLines(vs[0].Output) {
			out += term.EscapeLine(term.TrimNewline(line)) + "\n"
		}
		return out
	})
}
