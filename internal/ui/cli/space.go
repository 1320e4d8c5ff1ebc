package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type spaceAnswer struct {
	V          int                     `json:"v"`
	Store      retake.StoreState       `json:"store"`
	Workspaces []retake.WorkspaceState `json:"workspaces"`
	Plan       *retake.SpacePlan       `json:"plan,omitempty"` // absent when there is no store yet
}

type spacePlanAnswer struct {
	V int `json:"v"`
	retake.SpacePlan
}

type thinAnswer struct {
	V int `json:"v"`
	retake.SweepReport
	Forgotten int64 `json:"forgotten"`
	Over      int64 `json:"over,omitempty"`
}

type spaceCmd struct {
	*commandLine
	free, plan bool
}

func newSpaceCommand(f *commandLine) *cobra.Command {
	c := &spaceCmd{commandLine: f}
	cmd := &cobra.Command{Use: "space", Short: "Show disk usage and clean up", Args: argsBetween(0, 0), RunE: c.run}
	cmd.Flags().BoolVar(&c.free, "free", false, "clean up now: delete old checkpoints and free their disk space")
	cmd.Flags().BoolVar(&c.plan, "plan", false, "list what the next cleanup would delete; change nothing")
	return cmd
}

func (c *spaceCmd) run(cmd *cobra.Command, _ []string) error {
	if c.free && c.plan {
		return usageError(helpHint(cmd), "It is --plan or --free, not both.")
	}
	ctx := cmd.Context()
	s, err := c.openService(ctx)
	if err != nil {
		return err
	}
	switch {
	case c.free:
		return c.thinHistory(ctx, s)
	case c.plan:
		return c.printSpacePlan(ctx, s)
	}
	return c.printSpace(ctx, s)
}

func (c *spaceCmd) thinHistory(ctx context.Context, s retake.Service) error {
	p := c.newProgressLine("clean up")
	r, err := s.Thin(ctx, retake.ThinRequest{Progress: p.callback()})
	p.clear()
	if err != nil {
		return err
	}
	return c.printAnswer(thinAnswer{1, r.Sweep, r.Forgotten, r.Over}, func(l term.Style) string { return renderThin(l, r) })
}

func renderThin(l term.Style, r retake.ThinReport) string {
	w := r.Sweep
	out := fmt.Sprintf("%s Freed %s in %s. The store uses %s.\n  It used at most %s more meanwhile.\n", l.Green(l.Glyphs.Yes),
		termtext.Bytes(max(w.Before-w.After, 0)), termtext.Duration(w.Took), termtext.Bytes(w.After), termtext.Bytes(w.Peak))
	if r.Forgotten > 0 {
		out += fmt.Sprintf("  Dropped %s.\n", term.CountCheckpoints(r.Forgotten))
	}
	if r.Over > 0 {
		out += fmt.Sprintf("%s It is still %s over its storage limit: what is kept on purpose uses more.\n", l.Yellow("!"), termtext.Bytes(r.Over))
	}
	return out
}

func (c *spaceCmd) printSpacePlan(ctx context.Context, s retake.Service) error {
	all, err := s.Workspaces(ctx)
	if err != nil {
		return err
	}
	p, err := s.SpacePlan(ctx)
	if err != nil {
		return err
	}
	err = c.printAnswer(spacePlanAnswer{1, p}, func(l term.Style) string { return renderSpacePlan(l, p, all) })
	if len(p.Drops) > 0 {
		c.printHints("keep one", "retake help pin", "do it now", "retake space --free")
	}
	return err
}

func (c *spaceCmd) printSpace(ctx context.Context, s retake.Service) error {
	all, err := s.Workspaces(ctx)
	if err != nil {
		return err
	}
	a := spaceAnswer{V: 1, Workspaces: []retake.WorkspaceState{}}
	a.Workspaces = append(a.Workspaces, all...)
	if len(all) > 0 { // without a workspace there may be no store
		p, err := s.SpacePlan(ctx)
		if err != nil {
			return err
		}
		a.Store, a.Plan = p.Store, &p
	}
	err = c.printAnswer(a, func(l term.Style) string { return renderSpace(l, a) })
	for _, w := range all {
		if w.Gone && w.Ended == nil {
			c.printHints("clean up now", "retake space --free", termtext.Escape(w.Name)+" lost its directory", "retake deinit "+c.stderrStyle().ShellPath(w.Name))
			return err
		}
	}
	c.printHints("clean up now", "retake space --free")
	return err
}
