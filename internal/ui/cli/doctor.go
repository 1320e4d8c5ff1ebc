package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type doctorCmd struct {
	*commandLine
	prove  bool
	repair bool
	bundle string
}

type doctorAnswer struct {
	V      int                `json:"v"`
	Status retake.Status      `json:"status"`
	Scrub  retake.ScrubReport `json:"scrub"`
}

type proofAnswer struct {
	V int `json:"v"`
	retake.Proof
}

func newDoctorCommand(f *commandLine) *cobra.Command {
	c := &doctorCmd{commandLine: f}
	cmd := &cobra.Command{
		Use: "doctor [REF]", Short: "Check this workspace and the store for problems", Args: argsBetween(0, 1), RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.prove, "prove", false, "also compute REF's tree ID with a stock kopia")
	cmd.Flags().BoolVar(&c.repair, "repair", false, "look for damaged content in the live workspaces, and store it again")
	cmd.Flags().StringVar(&c.bundle, "bundle", "", "write a report for a bug report to `FILE`, secrets masked")
	return cmd
}

func (c *doctorCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	if len(args) == 1 && !c.prove {
		return usageError(helpHint(cmd), "A checkpoint is named only together with --prove.")
	}
	if c.bundle != "" {
		return c.writeBundle(ctx)
	}
	s, ws, err := c.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	if c.repair {
		return c.runRepair(ctx, s)
	}
	if c.prove {
		ref := "latest"
		if len(args) == 1 {
			ref = args[0]
		}
		p, err := s.Prove(ctx, ws.ID, ref)
		if err != nil {
			return err
		}
		return c.printProof(p, endTitles(ctx, s, ws, &p.Checkpoint))
	}
	st, err := s.Status(ctx, ws.ID)
	if err != nil {
		return err
	}
	r, err := s.Scrub(ctx, retake.ScrubQuery{})
	if err != nil {
		return err
	}
	if r.Failed == nil {
		r.Failed = []string{}
	}
	if err := c.printTitledAnswer(endTitles(ctx, s, ws, st.Latest, st.Good), doctorAnswer{1, st, r}, func(l term.Style) string {
		return renderStatus(l, st) + "\n" + renderScrub(l, r) + unseenText(l, st.Tracking)
	}); err != nil {
		return err
	}
	return damageError(r, repairHint)
}

// runRepair reads the whole store, says what is damaged, and repairs it when the user agrees.
func (c *doctorCmd) runRepair(ctx context.Context, s retake.Service) error {
	p := c.newProgressLine("scrub")
	r, err := s.Scrub(ctx, retake.ScrubQuery{Share: 1, Progress: p.callback()})
	p.clear()
	if err := c.confirmRepair(ctx, r, err); err != nil {
		return err
	}
	r, err = s.Scrub(ctx, retake.ScrubQuery{Repair: true, Progress: p.callback()})
	p.clear()
	if err != nil {
		return err
	}
	if r.Failed == nil {
		r.Failed = []string{}
	}
	if err := c.printAnswer(scrubAnswer{1, r}, func(l term.Style) string { return renderRepair(l, r) }); err != nil {
		return err
	}
	return damageError(r, "restore the rest of such a checkpoint: retake help restore")
}

// confirmRepair asks before a repair, if there is anything to repair: r is what was found, and err
// why the store could not be read.
func (c *doctorCmd) confirmRepair(ctx context.Context, r retake.ScrubReport, err error) error {
	const command = "retake doctor --repair"
	const givenUp = "The list of the newest checkpoints cannot be read. Go on with the newest list that can be?\nCheckpoints that only the damaged list knows are lost. No file of yours is changed."
	if retake.IsKind(err, retake.Damaged) {
		return c.confirm(ctx, "checkpoints would be given up", givenUp, command)
	}
	if err != nil || len(r.Failed) == 0 {
		return err
	}
	if !c.json {
		if err := c.printAnswer(nil, func(l term.Style) string { return renderScrub(l, r) }); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(r.Damaged, func(d retake.DamagedPath) bool { return d.Number == 0 }) { // a whole history
		return c.confirm(ctx, "checkpoints would be given up", givenUp, command)
	}
	question := term.CountNoun(int64(len(r.Failed)), "path", "paths") + " cannot be read. Look for the content in your workspaces, and store it again?\nNo file of yours is changed. A checkpoint that the store has lost is not listed any more."
	return c.confirm(ctx, "content would be stored again", question, command)
}

// renderRepair says what can be read again, and what cannot.
func renderRepair(l term.Style, r retake.ScrubReport) string {
	switch n := int64(len(r.Repaired)); {
	case n > 0:
		return fmt.Sprintf("%s %s can be read again.\n", l.Green(l.Glyphs.Yes), term.CountNoun(n, "path", "paths")) + renderScrub(l, r)
	case len(r.Failed) > 0:
		return "No workspace has the lost content.\n" + renderScrub(l, r)
	}
	return renderScrub(l, r)
}

func (c *doctorCmd) printProof(p retake.Proof, g term.TargetTitles) error {
	if p.Special == nil {
		p.Special = []string{}
	}
	if err := c.printTitledAnswer(g, proofAnswer{1, p}, func(l term.Style) string { return renderProof(l, p) }); err != nil {
		return err
	}
	// What the stock format cannot express explains a difference.
	if p.Equal || len(p.Special) > 0 {
		return nil
	}
	return reportedError{&retake.Error{
		Kind: retake.Damaged, What: fmt.Sprintf("the two tree ids of %d differ", p.Checkpoint.Number), Safe: nothingChanged,
		Hint: "see what differs: retake diff\nread the store back: retake scrub --all",
	}}
}

func renderProof(l term.Style, p retake.Proof) string {
	var b strings.Builder
	text, _ := l.CheckpointTitle(p.Checkpoint, l.Titles)
	fmt.Fprintf(&b, "%s  %s  %s\n\n", l.Bold(fmt.Sprint(p.Checkpoint.Number)), l.ShortTime(p.Checkpoint.Time), l.Glyphs.Cut(text, max(l.Width-20, 20)))
	fmt.Fprintf(&b, "  %s%s\n", termtext.Pad("ours", 8), termtext.Escape(string(p.Ours)))
	fmt.Fprintf(&b, "  %s%s  %s\n\n", termtext.Pad("stock", 8), termtext.Escape(string(p.Stock)), l.Dim("by "+termtext.Escape(p.By)))
	switch {
	case p.Equal:
		fmt.Fprintf(&b, "%s Equal: both programs see the same tree.\n", l.Green(l.Glyphs.Yes))
	case len(p.Special) > 0:
		fmt.Fprintf(&b, "%s Not equal, and cannot be: the stock format has no form for what is listed below.\n", l.Cyan("!"))
	default:
		fmt.Fprintf(&b, "%s Not equal.\n", l.Red(l.Glyphs.No))
	}
	if len(p.Special) > 0 {
		fmt.Fprintf(&b, "\n%s without a form in the stock format:\n", term.CountNoun(int64(len(p.Special)), "entry", "entries"))
		for _, s := range p.Special {
			fmt.Fprintf(&b, "  %s\n", termtext.Escape(s))
		}
	}
	return b.String()
}
