package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type initCmd struct {
	*face
	name        string
	accept      []string
	copy, moved bool
	goOn, anew  bool // --continue and --new
	system      bool
}

func (f *face) initCommand() *cobra.Command {
	c := &initCmd{face: f}
	cmd := &cobra.Command{Use: "init [DIR]", Short: "Start protecting a directory", Args: between(0, 1), RunE: c.run}
	cmd.Flags().StringVar(&c.name, "name", "", "name the workspace `NAME` (default: the directory's name)")
	cmd.Flags().StringSliceVar(&c.accept, "accept", nil, "confirm a `WARNING`: home, system, giant, nested")
	cmd.Flags().BoolVar(&c.copy, "copy", false, "this directory is a copy of a protected one: start a new timeline")
	cmd.Flags().BoolVar(&c.system, "system", false, "protect the whole machine: the root directory without /proc, /sys and temporary files; asks you to type system")
	cmd.Flags().BoolVar(&c.moved, "moved", false, "this directory is a protected one that was moved: continue its timeline")
	cmd.Flags().BoolVar(&c.goOn, "continue", false, "continue the history of the workspace that was here with what is here now")
	cmd.Flags().BoolVar(&c.anew, "new", false, "start a new history, although a workspace was here")
	return cmd
}

func (c *initCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	if c.copy && c.moved {
		return usage(helpHint(cmd), "A directory is a copy or it was moved, not both.")
	}
	if c.goOn && c.anew || (c.goOn || c.anew) && (c.copy || c.moved) {
		return usage(helpHint(cmd), "Use one of --continue, --new, --copy and --moved.")
	}
	req := retake.InitRequest{Dir: c.workdir(), Name: c.name, Mark: retake.MarkAsk}
	if c.Env != nil {
		req.Env = c.Env()
	}
	if len(args) == 1 {
		req.Dir = c.below(args[0])
	}
	if c.system {
		if len(args) == 1 {
			return usage(helpHint(cmd), "The whole machine can't be protected together with a directory.")
		}
		req.Dir = "/"
	}
	switch {
	case c.copy:
		req.Mark = retake.MarkCopy
	case c.moved:
		req.Mark = retake.MarkMoved
	case c.goOn:
		req.Mark = retake.MarkContinue
	case c.anew:
		req.Mark = retake.MarkNew
	}
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	look, err := s.Estimate(ctx, req.Dir)
	if err != nil {
		return err
	}
	if req.Mark == retake.MarkAsk && c.canAsk() && !c.yes && !c.json {
		answered, err := c.offerLost(cmd, s, look.Root, &req)
		if answered || err != nil {
			return err
		}
	}
	if !c.json {
		fmt.Fprint(c.Out, renderLooked(c.out(), look))
	}
	if c.system {
		req.Accept, err = c.consentToMachine(ctx, look)
	} else {
		req.Accept, err = c.consent(ctx, look.Danger, args)
	}
	if err != nil {
		return err
	}
	return c.capture(ctx, s, req)
}

func (c *initCmd) capture(ctx context.Context, s retake.Service, req retake.InitRequest) error {
	if c.ErrTTY && !c.json {
		fmt.Fprintf(c.Err, "  %s\n", c.talk().Dim("Your files stay as they are, and nothing leaves this machine."))
	}
	p := c.progress("capture")
	req.Progress = p.tell()
	began := c.Clock.Now()
	res, err := s.Init(ctx, req)
	took := c.Clock.Now().Sub(began)
	p.done()
	if err != nil {
		return err
	}
	if res.Warnings == nil {
		res.Warnings = []retake.Warning{}
	}
	c.warn(res.Warnings)
	err = c.emit(saveAnswer{V: 1, SaveResult: res}, func(l term.Look) string { return renderCaptured(l, res.Checkpoint, took) })
	if err == nil {
		err = c.offer(ctx)
	}
	c.hint("the timeline", "retake", "a checkpoint by hand", "retake save \"what it is\"")
	return err
}

func renderCaptured(l term.Look, c retake.Checkpoint, took time.Duration) string {
	var b strings.Builder
	text, _ := l.Titled(c, l.Goals)
	fmt.Fprintf(&b, "  %s %scheckpoint %d, %s%s%s, %s in %s, %s\n", l.Green(l.Glyphs.Yes), termtext.Pad("captured", 13), c.Number, text, l.Sep(),
		term.Grade(l, c.Coverage.Grade), term.Files(c.Files), termtext.Duration(took), termtext.Bytes(c.NewBytes))
	b.WriteString(term.GapLines(l, c.Coverage.Gaps, strings.Repeat(" ", 16+termtext.Width(l.Glyphs.Yes))))
	fmt.Fprintf(&b, "\n%s %s\n", l.Green(l.Glyphs.Point), l.Bold("Protected."))
	return b.String()
}
