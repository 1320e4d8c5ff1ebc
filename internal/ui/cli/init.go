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
	*commandLine
	name               string
	accept             []string
	copy, moved        bool
	continueOld, asNew bool // --continue and --new
	system             bool
	first              bool // nothing was ever protected here
}

func newInitCommand(f *commandLine) *cobra.Command {
	c := &initCmd{commandLine: f}
	cmd := &cobra.Command{Use: "init [DIR]", Short: "Start protecting a directory", Args: argsBetween(0, 1), RunE: c.run}
	cmd.Flags().StringVar(&c.name, "name", "", "name the workspace `NAME` (default: the directory's name)")
	cmd.Flags().StringSliceVar(&c.accept, "accept", nil, "confirm a `WARNING`: home, system, giant, nested")
	cmd.Flags().BoolVar(&c.copy, "copy", false, "this directory is a copy of a protected one: start a new timeline")
	cmd.Flags().BoolVar(&c.system, "system", false, "protect the whole machine: the root directory without /proc, /sys and temporary files; asks you to type system")
	cmd.Flags().BoolVar(&c.moved, "moved", false, "this directory is a protected one that was moved: continue its timeline")
	cmd.Flags().BoolVar(&c.continueOld, "continue", false, "continue the history of the workspace that was here with what is here now")
	cmd.Flags().BoolVar(&c.asNew, "new", false, "start a new history, although a workspace was here")
	return cmd
}

func (c *initCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	if c.copy && c.moved {
		return usageError(helpHint(cmd), "A directory is a copy or it was moved, not both.")
	}
	if c.continueOld && c.asNew || (c.continueOld || c.asNew) && (c.copy || c.moved) {
		return usageError(helpHint(cmd), "Use one of --continue, --new, --copy and --moved.")
	}
	req := retake.InitRequest{Dir: c.workingDir(), Name: c.name, Mark: retake.MarkAsk}
	if c.Env != nil {
		req.Env = c.Env()
	}
	if len(args) == 1 {
		req.Dir = c.fromWorkingDir(args[0])
	}
	if c.system {
		if len(args) == 1 {
			return usageError(helpHint(cmd), "The whole machine can't be protected together with a directory.")
		}
		req.Dir = "/"
	}
	switch {
	case c.copy:
		req.Mark = retake.MarkCopy
	case c.moved:
		req.Mark = retake.MarkMoved
	case c.continueOld:
		req.Mark = retake.MarkContinue
	case c.asNew:
		req.Mark = retake.MarkNew
	}
	if err := c.collectPlaceConsent(ctx, req.Dir, args); err != nil {
		return err
	}
	c.first = c.EverProtected != nil && !c.EverProtected() // asked before the daemon is there
	s, err := c.openService(ctx)
	if err != nil {
		return err
	}
	look, err := s.Estimate(ctx, req.Dir)
	if err != nil {
		return err
	}
	if req.Mark == retake.MarkAsk && c.canAsk() && !c.yes && !c.json {
		answered, err := c.askLostWorkspace(cmd, s, look.Root, &req)
		if answered || err != nil {
			return err
		}
	}
	if !c.json {
		fmt.Fprint(c.Out, renderEstimate(c.stdoutStyle(), look))
	}
	if c.system {
		req.Accept, err = c.confirmMachineCapture(ctx, look)
	} else {
		req.Accept, err = c.collectConsent(ctx, look.Danger, args)
	}
	if err != nil {
		return err
	}
	return c.protectDir(ctx, s, req)
}

func (c *initCmd) protectDir(ctx context.Context, s retake.Service, req retake.InitRequest) error {
	if c.ErrTTY && !c.json {
		fmt.Fprintf(c.Err, "  %s\n", c.stderrStyle().Dim("Your files stay as they are, and nothing leaves this machine."))
	}
	p := c.newProgressLine("capture")
	req.Progress = p.callback()
	began := c.Clock.Now()
	res, err := s.Init(ctx, req)
	took := c.Clock.Now().Sub(began)
	p.clear()
	if err != nil {
		return err
	}
	if res.Warnings == nil {
		res.Warnings = []retake.Warning{}
	}
	c.printWarnings(res.Warnings)
	err = c.printAnswer(saveAnswer{V: 1, SaveResult: res}, func(l term.Style) string { return renderCaptured(l, res.Checkpoint, took) })
	if err == nil {
		err = c.offerAgentHooks(ctx)
	}
	hints := []string{"the timeline", "retake", "a checkpoint by hand", "retake save \"what it is\""}
	if c.first {
		hints = append(hints, "a key of the store, to keep elsewhere", "retake recovery-key")
	}
	c.printHints(hints...)
	return err
}

func renderCaptured(l term.Style, c retake.Checkpoint, took time.Duration) string {
	var b strings.Builder
	text, _ := l.CheckpointTitle(c, l.Titles)
	fmt.Fprintf(&b, "  %s %scheckpoint %d, %s%s%s, %s in %s, %s\n", l.Green(l.Glyphs.Yes), termtext.Pad("captured", 13), c.Number, text, l.Separator(),
		term.GradeText(l, c.Coverage.Grade), term.CountFiles(c.Files), termtext.Duration(took), termtext.Bytes(c.NewBytes))
	b.WriteString(term.GapLines(l, c.Coverage.Gaps, strings.Repeat(" ", 16+termtext.Width(l.Glyphs.Yes))))
	fmt.Fprintf(&b, "\n%s %s\n", l.Green(l.Glyphs.Point), l.Bold("Protected."))
	return b.String()
}
