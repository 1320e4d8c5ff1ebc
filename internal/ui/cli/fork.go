package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

type forkCmd struct {
	*face
	name string
}

type forkAnswer struct {
	V int `json:"v"`
	retake.ForkResult
}

func (f *face) forkCommand() *cobra.Command {
	c := &forkCmd{face: f}
	cmd := &cobra.Command{
		Use: "fork REF [DIR]", Short: "Create a copy of the workspace from a checkpoint", Args: between(1, 2), RunE: c.run,
	}
	cmd.Flags().StringVar(&c.name, "name", "", "name the fork `NAME` (default: its directory's name)")
	return cmd
}

func (c *forkCmd) run(cmd *cobra.Command, args []string) error {
	s, ws, err := c.here(cmd.Context())
	if err != nil {
		return err
	}
	req := retake.ForkRequest{Workspace: ws.ID, Ref: args[0], Name: c.name}
	switch {
	case len(args) == 2:
		req.Dir = c.below(args[1])
	case !c.far():
		req.Dir = freeSibling(ws.Root)
	case c.name == "": // a server makes the directory, by the name
		req.Name = ws.Name + "-fork"
	}
	bar := c.progress("fork")
	req.Progress = bar.tell()
	began := c.Clock.Now()
	res, err := s.Fork(cmd.Context(), req)
	took := c.Clock.Now().Sub(began)
	bar.done()
	if err != nil {
		return err
	}
	if res.Warnings == nil {
		res.Warnings = []retake.Warning{}
	}
	c.warn(res.Warnings)
	err = c.emitTitled(endNames(cmd.Context(), s, ws, &res.Origin), forkAnswer{1, res}, func(l term.Look) string { return term.RenderFork(l, res, took) })
	c.afterwards(cmd.Context(), s, ws.ID, res.Workspace.Root, res.Origin)
	l := c.talk()
	c.hint("go there", "cd "+l.Word(res.Workspace.Root), "bring it home", "retake adopt "+l.Word(res.Workspace.Name))
	return err
}

// freeSibling is the first name beside root that is not taken: NAME-fork,
// NAME-fork-2 and so on.
func freeSibling(root string) string {
	first := filepath.Clean(root) + "-fork"
	dir := first
	for n := 2; !missing(dir); n++ {
		dir = fmt.Sprintf("%s-%d", first, n)
	}
	return dir
}
