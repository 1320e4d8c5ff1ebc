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

type demoCmd struct{ *face }

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

func (f *face) demoCommand() *cobra.Command {
	c := &demoCmd{face: f}
	return &cobra.Command{
		Use: "demo [DIR]", Short: "Create a demo workspace to explore", Args: between(0, 1), RunE: c.run,
	}
}

func (c *demoCmd) run(cmd *cobra.Command, args []string) error {
	dir := c.below(demoDir)
	if len(args) == 1 {
		dir = c.below(args[0])
	}
	if c.far() {
		return usage("without a server: retake demo", "A demo is made on this machine, not on a server.")
	}
	if c.Run == nil {
		return noPrograms
	}
	if err := demo.Free(dir); err != nil {
		return c.refused(dir, err)
	}
	ctx := cmd.Context()
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	if err := c.outside(ctx, s, dir); err != nil {
		return err
	}
	res, err := c.make(ctx, s, dir)
	if err != nil {
		return c.broken(dir, err)
	}
	return c.show(cmd, s, res)
}

// outside refuses a place inside of a workspace, whose checkpoints would hold the demo too.
func (c *demoCmd) outside(ctx context.Context, s retake.Service, dir string) error {
	above := dir
	for missing(above) {
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
		Kind: retake.Denied, What: fmt.Sprintf("%s is in the workspace %s, whose checkpoints would contain the demo, too", c.talk().Path(dir), ws.Name),
		Safe: nothingChanged, Hint: "create it outside: retake demo ~/" + demoDir,
	}
}

func (c *demoCmd) refused(dir string, err error) error {
	l := c.talk()
	switch {
	case !errors.Is(err, demo.ErrOccupied):
		return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("a demo cannot be made in %s: %v", l.Path(dir), err), Safe: nothingChanged, Hint: "choose another directory: retake help demo"}
	case demo.CutOff(dir):
		return &retake.Error{
			Kind: retake.Exists, What: l.Path(dir) + " contains a demo that was interrupted", Safe: nothingChanged,
			Hint: "remove it: rm -r " + l.Word(dir) + "\nchoose another directory: retake help demo",
		}
	}
	return &retake.Error{Kind: retake.Exists, What: l.Path(dir) + " is not empty", Safe: nothingChanged, Hint: "choose a new or empty directory: retake help demo"}
}

func (c *demoCmd) make(ctx context.Context, s retake.Service, dir string) (demo.Result, error) {
	req := demo.Request{Dir: dir, Clock: c.Clock}
	if c.Env != nil {
		req.Env = c.Env()
	}
	req.Check = func(ctx context.Context, dir string) (retake.Attestation, error) {
		return c.put(ctx, shellInquiry(demo.CheckName, demo.CheckLine, demoLimit), Command{Dir: dir}, retake.OnLive, false)
	}
	if c.ErrTTY && !c.json {
		l := c.talk()
		req.Tell = func(step string) {
			fmt.Fprintf(c.Err, "\r\x1b[K%s", l.Dim("  "+l.Glyphs.Cut(termtext.Escape(step), max(l.Width-4, 20))))
		}
		defer fmt.Fprint(c.Err, "\r\x1b[K")
	}
	return demo.Make(ctx, s, req)
}

// broken says what a demo that did not come to its end leaves.
func (c *demoCmd) broken(dir string, err error) error {
	if errors.Is(err, demo.ErrOccupied) {
		return c.refused(dir, err)
	}
	if !demo.CutOff(dir) { // not even the mark could be written
		return &retake.Error{Kind: retake.Denied, What: fmt.Sprintf("a demo cannot be made in %s: %v", c.talk().Path(dir), err), Safe: nothingChanged, Hint: "choose another directory: retake help demo"}
	}
	e := *retake.AsError(err)
	if errors.Is(err, context.Canceled) {
		e = retake.Error{Kind: retake.Canceled, What: "stopped"}
	} else {
		e.What, e.Err = "the demo did not come to its end: "+err.Error(), nil
	}
	l := c.talk()
	e.Safe = fmt.Sprintf("%s contains a part of it, and says so in %s. Nothing else was changed.", l.Path(dir), demo.Unfinished)
	e.Hint = "remove it: rm -r " + l.Word(dir) + "\ntry again: retake demo"
	return &e
}

func (c *demoCmd) show(cmd *cobra.Command, s retake.Service, res demo.Result) error {
	a := demoAnswer{V: 1, Result: res, Try: tries(cmd.Root(), res)}
	if a.Forks == nil {
		a.Forks = []retake.Workspace{}
	}
	if c.json {
		return c.writeJSON(a)
	}
	t, err := pages(cmd.Context(), s, retake.LogQuery{Workspace: res.Workspace.ID}, logDefault)
	if err != nil {
		return err
	}
	v := term.View{Tree: true, Timeline: t}
	v.Complete(cmd.Context(), s, res.Workspace, term.ForksOnce(cmd.Context(), s, res.Workspace))
	if st, err := s.Status(cmd.Context(), res.Workspace.ID); err == nil { // else now is not known
		v.Stand(0, term.Present{Status: &st})
	}
	return c.emit(nil, func(l term.Look) string {
		return renderMade(l, a) + term.RenderTimeline(l, v) + renderTries(l, a, c.workdir())
	})
}

// tries are commands that show something in this demo, of those that there are.
func tries(root *cobra.Command, res demo.Result) []demoTry {
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

// renderMade says what was made, above its timeline.
func renderMade(l term.Look, a demoAnswer) string {
	made := fmt.Sprintf("A small shop, and %s of two agents on it", term.Number(int64(a.Turns), "turn", "turns"))
	took := termtext.Duration(a.Took)
	head := l.Green(l.Glyphs.Yes) + " " + l.Bold(made)
	return l.Ends(head, l.Dim(took), termtext.Width(l.Glyphs.Yes)+1+termtext.Width(made), termtext.Width(took)) + "\n" +
		"  Files, checks, plans and times are real; it all happened just now.\n" +
		"  The agents are played: none was started, and nothing was sent.\n\n"
}

// renderTries is what to do next, below it.
func renderTries(l term.Look, a demoAnswer, from string) string {
	var b strings.Builder
	near := func(dir string) string {
		if rel, err := filepath.Rel(resolved(from), dir); err == nil && filepath.IsLocal(rel) {
			dir = rel
		}
		return l.Word(dir)
	}
	fmt.Fprintf(&b, "\n%s\n  cd %s\n", l.Dim("Try"), near(a.Workspace.Root))
	for _, t := range a.Try {
		fmt.Fprintf(&b, "  %s  %s\n", termtext.Pad(t.Command, 28), l.Dim(l.Words(t.Shows)))
	}
	fmt.Fprintf(&b, "\n%s\n", l.Dim("Remove"))
	for _, w := range append([]retake.Workspace{a.Workspace}, a.Forks...) {
		fmt.Fprintf(&b, "  retake -C %s deinit\n", near(w.Root))
	}
	fmt.Fprintf(&b, "  rm -r %s\n", near(a.Dir))
	return b.String()
}
