package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/demo"
	"github.com/retake-dev/retake/internal/ui/term"
)

const (
	demoDir   = "retake-demo"
	demoLimit = 20 * time.Second // for one run of its check
)

type demoCmd struct{ *commandLine }

type demoAnswer struct {
	V int `json:"v"`
	demo.Result
	Try []demoTry `json:"try"`
}

// demoTry is a command worth typing in the demo, and what it shows.
type demoTry struct {
	Command string `json:"command"`
	Shows   string `json:"shows"`
}

func newDemoCommand(f *commandLine) *cobra.Command {
	c := &demoCmd{commandLine: f}
	return &cobra.Command{
		Use: "demo [DIR]", Short: "Create a demo workspace to explore", Args: argsBetween(0, 1), RunE: c.run,
	}
}

func (c *demoCmd) run(cmd *cobra.Command, args []string) error {
	dir := c.fromWorkingDir(demoDir)
	if len(args) == 1 {
		dir = c.fromWorkingDir(args[0])
	}
	if c.isRemote() {
		return usageError("without a server: retake demo", "A demo is made on this machine, not on a server.")
	}
	if c.Run == nil {
		return errNoPrograms
	}
	if err := demo.CheckFree(dir); err != nil {
		return c.occupiedError(dir, err)
	}
	ctx := cmd.Context()
	s, err := c.openService(ctx)
	if err != nil {
		return err
	}
	if err := c.checkNotInWorkspace(ctx, s, dir); err != nil {
		return err
	}
	res, err := c.makeDemo(ctx, s, dir)
	if err != nil {
		return c.unfinishedError(dir, err)
	}
	return c.printDemo(cmd, s, res)
}

// checkNotInWorkspace refuses a place inside of a workspace, whose checkpoints would hold the demo too.
func (c *demoCmd) checkNotInWorkspace(ctx context.Context, s retake.Service, dir string) error {
	above := dir
	for isMissingDir(above) {
		above = filepath.Dir(above)
	}
	ws, err := s.Locate(ctx, above)
	switch {
	case retake.IsKind(err, retake.NotFound):
		return nil
	case err != nil:
		return err
	}
	return &retake.Error{
		Kind: retake.Denied, What: fmt.Sprintf("%s is in the workspace %s, whose checkpoints would contain the demo, too", c.stderrStyle().DisplayPath(dir), ws.Name),
		Safe: nothingChanged, Hint: "create it outside: retake demo ~/" + demoDir,
	}
}

func (c *demoCmd) occupiedError(dir string, err error) error {
	l := c.stderrStyle()
	switch {
	case !errors.Is(err, demo.ErrOccupied):
		return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("a demo cannot be made in %s: %v", l.DisplayPath(dir), err), Safe: nothingChanged, Hint: "choose another directory: retake help demo"}
	case demo.IsUnfinished(dir):
		return &retake.Error{
			Kind: retake.Exists, What: l.DisplayPath(dir) + " contains a demo that was interrupted", Safe: nothingChanged,
			Hint: "remove it: rm -r " + l.ShellPath(dir) + "\nchoose another directory: retake help demo",
		}
	}
	return &retake.Error{Kind: retake.Exists, What: l.DisplayPath(dir) + " is not empty", Safe: nothingChanged, Hint: "choose a new or empty directory: retake help demo"}
}

func (c *demoCmd) makeDemo(ctx context.Context, s retake.Service, dir string) (demo.Result, error) {
	req := demo.Request{Dir: dir, Clock: c.Clock}
	if c.Env != nil {
		req.Env = c.Env()
	}
	req.Check = func(ctx context.Context, dir string) (retake.Attestation, error) {
		return runCheck(ctx, c.commandLine, shellCheck(demo.CheckName, demo.CheckLine, demoLimit), Command{Dir: dir}, retake.OnLive, false)
	}
	if c.ErrTTY && !c.json {
		l := c.stderrStyle()
		req.OnStep = func(step string) {
			fmt.Fprintf(c.Err, "\r\x1b[K%s", l.Dim("  "+l.Glyphs.Cut(termtext.Escape(step), max(l.Width-4, 20))))
		}
		defer fmt.Fprint(c.Err, "\r\x1b[K")
	}
	return demo.Make(ctx, s, req)
}

// unfinishedError says what a demo that did not come to its end leaves.
func (c *demoCmd) unfinishedError(dir string, err error) error {
	if errors.Is(err, demo.ErrOccupied) {
		return c.occupiedError(dir, err)
	}
	if !demo.IsUnfinished(dir) { // not even the mark could be written
		return &retake.Error{Kind: retake.Denied, What: fmt.Sprintf("a demo cannot be made in %s: %v", c.stderrStyle().DisplayPath(dir), err), Safe: nothingChanged, Hint: "choose another directory: retake help demo"}
	}
	e := *retake.AsError(err)
	if errors.Is(err, context.Canceled) {
		e = retake.Error{Kind: retake.Canceled, What: "stopped"}
	} else {
		e.What, e.Err = "the demo did not come to its end: "+err.Error(), nil
	}
	l := c.stderrStyle()
	e.Safe = fmt.Sprintf("%s contains a part of it, and says so in %s. Nothing else was changed.", l.DisplayPath(dir), demo.Unfinished)
	e.Hint = "remove it: rm -r " + l.ShellPath(dir) + "\ntry again: retake demo"
	return &e
}

func (c *demoCmd) printDemo(cmd *cobra.Command, s retake.Service, res demo.Result) error {
	a := demoAnswer{V: 1, Result: res, Try: suggestTries(cmd.Root(), res)}
	if a.Forks == nil {
		a.Forks = []retake.Workspace{}
	}
	if c.json {
		return c.writeJSON(a)
	}
	v, err := s.ViewTimeline(cmd.Context(), retake.TimelineQuery{LogQuery: retake.LogQuery{Workspace: res.Workspace.ID, Limit: logDefault}, Now: true})
	if err != nil {
		return err
	}
	return c.printAnswer(nil, func(l term.Style) string {
		return renderDemo(l, a) + term.RenderTimeline(l, v) + renderTries(l, a, c.workingDir())
	})
}

// suggestTries are commands that show something in this demo, of those that there are.
func suggestTries(root *cobra.Command, res demo.Result) []demoTry {
	all := []demoTry{
		{fmt.Sprintf("retake show %d", res.Lost), "a migration, and the orders that it lost"},
		{fmt.Sprintf("retake diff %d %d", res.Mismatch-1, res.Mismatch), "“update the login docs”, and what it did"},
		{"retake restore good --plan", "the way back, and what can't be undone"},
		{fmt.Sprintf("retake undo %d --plan", res.Last), "that turn alone; your own line stays"},
		{"retake why src/login.ts:3", "the prompt behind a line"},
		{"retake tui", "the same, to walk through"},
		{"retake console", "the same, in a browser"},
	}
	var out []demoTry
	for _, t := range all {
		if found, _, err := root.Find(strings.Fields(t.Command)[1:2]); err == nil && found != root {
			out = append(out, t)
		}
	}
	return out
}

// renderDemo says what was made, above its timeline.
func renderDemo(l term.Style, a demoAnswer) string {
	made := fmt.Sprintf("A small shop, and %s of two agents on it", term.CountNoun(int64(a.Turns), "turn", "turns"))
	took := termtext.Duration(a.Took)
	head := l.Green(l.Glyphs.Yes) + " " + l.Bold(made)
	return l.AlignEnds(head, l.Dim(took), termtext.Width(l.Glyphs.Yes)+1+termtext.Width(made), termtext.Width(took)) + "\n" +
		"  Files, checks, plans and times are real; it all happened just now.\n" +
		"  The agents are played: none was started, and nothing was sent.\n\n"
}

// renderTries is what to do next, below it.
func renderTries(l term.Style, a demoAnswer, from string) string {
	var b strings.Builder
	near := func(dir string) string {
		if rel, err := filepath.Rel(resolveSymlinks(from), dir); err == nil && filepath.IsLocal(rel) {
			dir = rel
		}
		return l.ShellPath(dir)
	}
	fmt.Fprintf(&b, "\n%s\n  cd %s\n", l.Dim("Try"), near(a.Workspace.Root))
	for _, t := range a.Try {
		fmt.Fprintf(&b, "  %s  %s\n", termtext.Pad(t.Command, 28), l.Dim(l.EscapeText(t.Shows)))
	}
	fmt.Fprintf(&b, "\n%s\n", l.Dim("Remove"))
	for _, w := range append([]retake.Workspace{a.Workspace}, a.Forks...) {
		fmt.Fprintf(&b, "  retake -C %s deinit\n", near(w.Root))
	}
	fmt.Fprintf(&b, "  rm -r %s\n", near(a.Dir))
	return b.String()
}
