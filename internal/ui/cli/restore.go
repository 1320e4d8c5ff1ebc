package cli

import (
	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

type restoreCmd struct {
	journey
	finish, undo bool
}

func (f *face) restoreCommand() *cobra.Command {
	c := &restoreCmd{journey: journey{face: f}}
	cmd := &cobra.Command{
		Use: "restore REF [-- PATH…]", Short: "Go back to a checkpoint; current files are saved",
		Args: beforePaths(0, 1), RunE: f.asPath("latest", c.run),
	}
	c.flags(cmd)
	cmd.Flags().BoolVar(&c.finish, "finish", false, "finish an interrupted restore")
	cmd.Flags().BoolVar(&c.undo, "undo", false, "roll back an interrupted restore")
	return cmd
}

// beforePaths counts the arguments before "--"; any number of paths may follow.
func beforePaths(low, high int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		refs, _ := splitDash(cmd, args)
		return between(low, high)(cmd, refs)
	}
}

// splitDash parts what stands before "--" and what stands behind it.
func splitDash(cmd *cobra.Command, args []string) (before, behind []string) {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		return args[:at], args[at:]
	}
	return args, nil
}

func (c *restoreCmd) run(cmd *cobra.Command, args []string) error {
	refs, typed := splitDash(cmd, args)
	req := retake.PlanRequest{Course: retake.CourseRestore}
	switch {
	case c.finish && c.undo:
		return usage(helpHint(cmd), "It is --finish or --undo, not both.")
	case (c.finish || c.undo) && len(args) > 0:
		return usage(helpHint(cmd), "An interrupted restore is finished or rolled back as a whole. Don't name a checkpoint or paths.")
	case c.finish:
		req.Course = retake.CourseFinish
	case c.undo:
		req.Course = retake.CourseUnwind
	case len(refs) == 0:
		return usage("list checkpoints: retake log\nundo the last change: retake undo", "Which checkpoint? Usage: %s.", useLine(cmd))
	default:
		req.Ref = refs[0]
	}
	if err := c.speak(cmd, refs, typed); err != nil {
		return err
	}
	s, ws, err := c.findLost(cmd.Context()) // the plan itself tells of what was cut off
	if err != nil {
		return err
	}
	req.Workspace = ws.ID
	if req.Paths, err = c.insideAll(ws, typed); err != nil {
		return err
	}
	return c.travel(cmd.Context(), s, req)
}

// speak keeps what was typed, for the commands that our answers name.
func (j *journey) speak(cmd *cobra.Command, refs, paths []string) error {
	if j.planOnly && j.digest != "" {
		return usage(helpHint(cmd), "It is --plan or --digest, not both.")
	}
	l := j.talk()
	j.typed.words = append(j.typed.words, "retake", cmd.Name())
	for _, r := range refs {
		j.typed.words = append(j.typed.words, l.Word(r))
	}
	for _, name := range []string{"finish", "undo", "git", "edits", "all"} {
		if fl := cmd.Flags().Lookup(name); fl != nil && fl.Changed {
			j.typed.words = append(j.typed.words, "--"+name)
		}
	}
	for _, name := range []string{"if", "workspace", "directory"} {
		if fl := cmd.Flags().Lookup(name); fl != nil && fl.Changed {
			j.typed.words = append(j.typed.words, "--"+name, l.Word(fl.Value.String()))
		}
	}
	if fl := cmd.Flags().Lookup("session"); fl != nil && fl.Changed {
		j.typed.words = append(j.typed.words, "--session="+l.Word(fl.Value.String()))
	}
	for _, p := range paths {
		j.typed.paths = append(j.typed.paths, l.Word(p))
	}
	return nil
}
