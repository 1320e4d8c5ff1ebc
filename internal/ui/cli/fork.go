package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

type forkCmd struct {
	*commandLine
	name   string
	accept []string
}

type forkAnswer struct {
	V int `json:"v"`
	retake.ForkResult
}

func newForkCommand(f *commandLine) *cobra.Command {
	c := &forkCmd{commandLine: f}
	cmd := &cobra.Command{
		Use: "fork REF [DIR]", Short: "Create a copy of the workspace from a checkpoint", Args: argsBetween(1, 2), RunE: c.run,
	}
	cmd.Flags().StringVar(&c.name, "name", "", "name the fork `NAME` (default: its directory's name)")
	cmd.Flags().StringSliceVar(&c.accept, "accept", nil, "confirm a `WARNING`: setuid")
	return cmd
}

func (c *forkCmd) run(cmd *cobra.Command, args []string) error {
	s, ws, err := c.currentWorkspace(cmd.Context())
	if err != nil {
		return err
	}
	req := retake.ForkRequest{Workspace: ws.ID, Ref: args[0], Name: c.name, Accept: c.accept}
	switch {
	case len(args) == 2:
		req.Dir = c.fromWorkingDir(args[1])
	case !c.isRemote():
		req.Dir = freeForkDir(ws.Root)
	case c.name == "": // a server makes the directory, by the name
		req.Name = ws.Name + "-fork"
	}
	bar := c.newProgressLine("fork")
	req.Progress = bar.callback()
	began := c.Clock.Now()
	res, err := s.Fork(cmd.Context(), req)
	took := c.Clock.Now().Sub(began)
	bar.clear()
	if err != nil {
		return err
	}
	if res.Warnings == nil {
		res.Warnings = []retake.Warning{}
	}
	c.printWarnings(res.Warnings)
	err = c.printTitledAnswer(endTitles(cmd.Context(), s, ws, &res.Origin), forkAnswer{1, res}, func(l term.Style) string { return term.RenderFork(l, res, took) })
	printResumption(cmd.Context(), c.commandLine, s, ws.ID, res.Workspace.Root, res.Origin)
	l := c.stderrStyle()
	c.printHints("go there", "cd "+l.ShellPath(res.Workspace.Root), "bring it home", "retake adopt "+l.ShellPath(res.Workspace.Name))
	return err
}

// freeForkDir is the first name beside root that is not taken: NAME-fork,
// NAME-fork-2 and so on.
func freeForkDir(root string) string {
	first := filepath.Clean(root) + "-fork"
	dir := first
	for n := 2; !isMissingDir(dir); n++ {
		dir = fmt.Sprintf("%s-%d", first, n)
	}
	return dir
}
