package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

type resumeAnswer struct {
	V int `json:"v"`
	retake.Resumption
}

func newResumeCommand(f *commandLine) *cobra.Command {
	var only bool
	cmd := &cobra.Command{
		Use: "resume [REF]", Short: "Continue an agent's conversation from a checkpoint", Args: argsBetween(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, ws, err := f.currentWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			req := retake.ResumeRequest{Workspace: ws.ID, Look: only}
			if len(args) == 1 {
				req.Ref = args[0]
			}
			r, err := s.Resume(cmd.Context(), req)
			if err != nil {
				return err
			}
			return f.printAnswer(resumeAnswer{1, r}, func(l term.Style) string { return term.RenderResume(l, r) })
		},
	}
	cmd.Flags().BoolVar(&only, "plan", false, "show the plan; change nothing")
	return cmd
}

// printResumption prints after a restore how the conversation can be resumed. If that is not
// known, it prints nothing.
func printResumption(ctx context.Context, f *commandLine, s retake.Service, ws retake.WorkspaceID, dir string, cp retake.Checkpoint) {
	if f.json {
		return
	}
	r, err := s.Resume(ctx, retake.ResumeRequest{Workspace: ws, Ref: string(cp.ID), Dir: dir})
	if err != nil || len(r.Command) == 0 && r.Next == nil {
		return
	}
	fmt.Fprint(f.Out, "\n"+term.RenderResume(f.stdoutStyle(), r))
}
