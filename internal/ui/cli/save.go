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

type saveCmd struct {
	*commandLine
	pin       string
	budget    time.Duration
	ifChanged bool
	verify    []string
	limit     time.Duration
	uploaded  bool
}

type saveAnswer struct {
	V int `json:"v"`
	retake.SaveResult
	Verifications []retake.Verification `json:"verifications,omitempty"`
}

func newSaveCommand(f *commandLine) *cobra.Command {
	c := &saveCmd{commandLine: f}
	cmd := &cobra.Command{
		Use: "save [MESSAGE]", Aliases: []string{"checkpoint", "snapshot"},
		Short: "Create a checkpoint", Args: argsBetween(0, 1), RunE: c.run,
	}
	cmd.Flags().StringVar(&c.pin, "pin", "", "name the checkpoint `NAME` and keep it")
	cmd.Flags().DurationVar(&c.budget, "budget", 0, "after `DURATION`, save what was read so far, then the rest")
	cmd.Flags().BoolVar(&c.ifChanged, "if-changed", false, "do nothing if no file changed")
	cmd.Flags().StringArrayVar(&c.verify, "verify", nil, "then run `CMD` and record its result; repeatable")
	cmd.Flags().DurationVar(&c.limit, "verify-limit", 0, "stop each CMD after `DURATION` (default: the setting verify-limit)")
	cmd.Flags().BoolVar(&c.uploaded, "wait-uploaded", false, "then wait until a remote has the checkpoint")
	return cmd
}

func (c *saveCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	if err := c.checkFlagUse(cmd); err != nil {
		return err
	}
	s, ws, err := c.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	p := c.newProgressLine("capture")
	req := retake.SaveRequest{Workspace: ws.ID, Trigger: retake.TriggerManual, Pin: c.pin, Budget: c.budget, IfChanged: c.ifChanged, Progress: p.callback()}
	if len(args) == 1 {
		req.Intent = strings.TrimSpace(args[0]) // spaces alone are no words
	}
	res, err := s.Save(ctx, req)
	p.clear()
	if err != nil {
		return continuedByDaemon(c.commandLine, err)
	}
	if len(c.verify) > 0 {
		err = c.verifyAndPrint(ctx, s, res)
	} else {
		err = printSaved(c.commandLine, res)
	}
	if err != nil || !c.waitsForUpload(cmd) {
		return err
	}
	return waitUploaded(ctx, c.commandLine, s, res)
}

// waitsForUpload reports whether a save ends only when a remote has the checkpoint: the flag counts more than
// the setting.
func (c *saveCmd) waitsForUpload(cmd *cobra.Command) bool {
	if cmd.Flags().Changed("wait-uploaded") {
		return c.uploaded
	}
	if c.Settings == nil || c.isRemote() {
		return false
	}
	v, err := c.Settings.Value("wait-uploaded")
	return err == nil && v == "on"
}

// waitUploaded waits until a remote has the checkpoint. The save is done whatever comes of it.
func waitUploaded(ctx context.Context, f *commandLine, s retake.Service, res retake.SaveResult) error {
	n := res.Checkpoint.Number
	all, err := s.SyncRemotes(ctx, retake.SyncQuery{Workspace: res.Workspace.ID, Number: n})
	if err != nil {
		e := *retake.AsError(err)
		e.Safe = fmt.Sprintf("Checkpoint %d is saved here and not uploaded.", n)
		return &e
	}
	if l := f.stderrStyle(); !f.json && len(all) > 0 {
		fmt.Fprintf(f.Err, "%s uploaded to %s\n", l.Green(l.Glyphs.Yes), termtext.Escape(all[len(all)-1].Name))
	}
	return nil
}

// checkFlagUse looks at what was typed before anything is done.
func (c *saveCmd) checkFlagUse(cmd *cobra.Command) error {
	switch {
	case c.budget < 0:
		return usageError(helpHint(cmd), "The budget is a duration of time, not %s.", c.budget)
	case c.limit < 0:
		return usageError(helpHint(cmd), "The limit is a duration of time, not %s.", c.limit)
	case len(c.verify) > 0 && c.Run == nil:
		return errNoPrograms
	}
	for _, line := range c.verify {
		if strings.TrimSpace(line) == "" {
			return usageError(helpHint(cmd), "Which command shall --verify run?")
		}
	}
	return nil
}

// continuedByDaemon rewrites the error of an interrupted save: the daemon finishes a save that
// has begun.
func continuedByDaemon(f *commandLine, err error) error {
	if f.isSolo() || f.isRemote() || !retake.IsKind(err, retake.Canceled) {
		return err
	}
	e := *retake.AsError(err)
	e.Safe, e.Hint = "The daemon continues with it; earlier checkpoints are intact.", "see whether it is there: retake log"
	return &e
}

func printSaved(f *commandLine, res retake.SaveResult) error {
	if res.Warnings == nil {
		res.Warnings = []retake.Warning{}
	}
	f.printWarnings(res.Warnings)
	return f.printAnswer(saveAnswer{V: 1, SaveResult: res}, func(l term.Style) string { return renderSaved(l, res) })
}

func renderSaved(l term.Style, res retake.SaveResult) string {
	if !res.Recorded {
		return fmt.Sprintf("nothing changed since %d\n", res.Checkpoint.Number)
	}
	var b strings.Builder
	if p := res.Partial; p != nil {
		b.WriteString(renderCheckpoint(l, *p))
		fmt.Fprintf(&b, "  the time was up, so %d contains what was read by then; the rest follows\n", p.Number)
	}
	b.WriteString(renderCheckpoint(l, res.Checkpoint))
	if !res.Created && res.Checkpoint.Intent != "" {
		b.WriteString("  no file changed since the checkpoint before\n")
	}
	return b.String()
}

// renderCheckpoint is one checkpoint in two lines: words, then facts.
func renderCheckpoint(l term.Style, c retake.Checkpoint) string {
	text, _ := l.CheckpointTitle(c, l.Titles)
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s  %s  %s\n", l.Green(l.Glyphs.Yes), l.Bold(fmt.Sprint(c.Number)), l.ShortTime(c.Time), l.Glyphs.Cut(text, max(l.Width-20, 20)))
	fmt.Fprintf(&b, "  %s\n", l.JoinFacts(countFacts(l, c.Changed), term.GradeText(l, c.Coverage.Grade)+", "+term.CountFiles(c.Files), termtext.Bytes(c.NewBytes)+" new"))
	b.WriteString(term.GapLines(l, c.Coverage.Gaps, "  "))
	return b.String()
}
