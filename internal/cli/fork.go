package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
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
		Use: "fork REF [DIR]", Short: "grow a new workspace from a moment, beside this one", Args: between(1, 2), RunE: c.run,
	}
	cmd.Flags().StringVar(&c.name, "name", "", "call the fork `NAME`; else as its directory")
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
	err = c.emit(forkAnswer{1, res}, func(l look) string { return renderFork(l, res, took) })
	c.afterwards(cmd.Context(), s, ws.ID, res.Workspace.Root, res.Origin)
	l := c.talk()
	c.hint("go there", "cd "+l.word(res.Workspace.Root), "bring it home", "retake adopt "+l.word(res.Workspace.Name))
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

func renderFork(l look, res retake.ForkResult, took time.Duration) string {
	var b strings.Builder
	o := res.Origin
	text, _ := title(o)
	what := fmt.Sprintf("Forked %d", o.Number)
	right := screen.Took(took)
	room := l.width - screen.Width(l.g.Yes) - 1 - screen.Width(what) - screen.Width(right) - 4
	about := l.g.Cut(l.clock(o.Time)+"  "+text, max(room, 0))
	width := screen.Width(l.g.Yes) + 1 + screen.Width(what) + 2 + screen.Width(about)
	fmt.Fprintf(&b, "%s\n\n", l.ends(l.green(l.g.Yes)+" "+l.bold(what)+"  "+about, l.dim(right), width, screen.Width(right)))
	field := func(name, text string) { fmt.Fprintf(&b, "  %s%s\n", l.dim(screen.Pad(name, 11)), text) }
	field("fork", l.bold(screen.Escape(res.Workspace.Name)))
	field("where", l.path(res.Workspace.Root))
	shared, wrote := "", ""
	if res.Cloned > 0 {
		shared = screen.Count(res.Cloned) + " share their room"
	}
	if res.Copied > 0 {
		wrote = screen.Count(res.Copied) + " written"
	}
	field("files", l.facts(files(res.Checkpoint.Files), shared, wrote))
	b.WriteString(gapLines(l, res.Checkpoint.Coverage.Gaps, strings.Repeat(" ", 13)))
	return b.String()
}
