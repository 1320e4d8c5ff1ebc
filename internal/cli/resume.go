package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

type resumeAnswer struct {
	V int `json:"v"`
	retake.Resumption
}

func (f *face) resumeCommand() *cobra.Command {
	var only bool
	cmd := &cobra.Command{
		Use: "resume [REF]", Short: "go on with the conversation as it was at a moment", Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, ws, err := f.here(cmd.Context())
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
			return f.emit(resumeAnswer{1, r}, func(l look) string { return renderResume(l, r) })
		},
	}
	cmd.Flags().BoolVar(&only, "plan", false, "only say how; write nothing")
	return cmd
}

// afterwards says after a restore how the conversation goes on from there. It is
// context: when it is not known, nothing is said.
func (f *face) afterwards(ctx context.Context, s retake.Service, ws retake.WorkspaceID, dir string, cp retake.Checkpoint) {
	if f.json {
		return
	}
	r, err := s.Resume(ctx, retake.ResumeRequest{Workspace: ws, Ref: string(cp.ID), Dir: dir})
	if err != nil || len(r.Command) == 0 && r.Next == nil {
		return
	}
	fmt.Fprint(f.Out, "\n"+renderResume(f.out(), r))
}

func renderResume(l look, r retake.Resumption) string {
	var b strings.Builder
	where := fmt.Sprintf("at %d", r.Checkpoint.Number)
	if !r.Exact {
		where = "with all that was said"
	}
	switch {
	case len(r.Command) > 0:
		fmt.Fprintf(&b, "Continue %s's conversation %s\n", screen.Escape(r.Agent), where)
		fmt.Fprintf(&b, "  %s\n", l.bold(commandLine(l, r)))
		if !r.Exact && r.Why != "" {
			fmt.Fprintf(&b, "  %s\n", l.dim(screen.Escape(r.Why)))
		}
	default:
		fmt.Fprintf(&b, "The conversation of %s cannot be continued from here: %s\n", screen.Escape(r.Agent), screen.Escape(r.Why))
	}
	if r.Next != nil {
		n := 0
		for i, t := range r.Tasks {
			if t == *r.Next {
				n = i + 1
			}
		}
		fmt.Fprintf(&b, "  next task %d of %d: %s\n", n, len(r.Tasks), screen.Escape(r.Next.Title))
	}
	for _, line := range wrap(toldText(r), max(l.width-2, 40)) {
		fmt.Fprintf(&b, "  %s\n", l.dim(line))
	}
	return b.String()
}

// toldText is what the agent hears, in short; JSON has its words.
func toldText(r retake.Resumption) string {
	parts := []string{fmt.Sprintf("it stands at %d", r.Checkpoint.Number), "what came after is not part of it"}
	var ids []string
	for _, e := range r.Effects {
		ids = append(ids, screen.Escape(e.ID))
	}
	switch len(ids) {
	case 0:
	case 1:
		parts = append(parts, ids[0]+" stays done and must not be repeated")
	default:
		parts = append(parts, strings.Join(ids, ", ")+" stay done and must not be repeated")
	}
	if len(r.Tasks) > 0 {
		parts = append(parts, "its tasks")
	}
	return "the agent is told: " + strings.Join(parts, "; ")
}

// commandLine is what a person types.
func commandLine(l look, r retake.Resumption) string {
	words := []string{}
	for _, w := range r.Command {
		words = append(words, l.word(w))
	}
	return "cd " + l.word(r.Dir) + " && " + strings.Join(words, " ")
}
