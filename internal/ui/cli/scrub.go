package cli

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type scrubCmd struct {
	*commandLine
	share float64
	all   bool
}

type scrubAnswer struct {
	V int `json:"v"`
	retake.ScrubReport
}

func newScrubCommand(f *commandLine) *cobra.Command {
	c := &scrubCmd{commandLine: f}
	cmd := &cobra.Command{Use: "scrub", Short: "Read the store and verify its checksums", Args: argsBetween(0, 0), RunE: c.run}
	cmd.Flags().Float64Var(&c.share, "share", 0.1, "read this `SHARE` of all file bytes, from 0 to 1")
	cmd.Flags().BoolVar(&c.all, "all", false, "read every byte")
	return cmd
}

func (c *scrubCmd) run(cmd *cobra.Command, _ []string) error {
	if c.all && cmd.Flags().Changed("share") {
		return usageError(helpHint(cmd), "It is --share or --all, not both.")
	}
	if c.all {
		c.share = 1
	}
	if c.share < 0 || c.share > 1 || math.IsNaN(c.share) {
		return usageError(helpHint(cmd), "--share must be between 0 and 1.")
	}
	s, err := c.openService(cmd.Context())
	if err != nil {
		return err
	}
	p := c.newProgressLine("scrub")
	r, err := s.Scrub(cmd.Context(), retake.ScrubQuery{Share: c.share, Progress: p.callback()})
	p.clear()
	if err != nil {
		return err
	}
	if r.Failed == nil {
		r.Failed = []string{}
	}
	if err := c.printAnswer(scrubAnswer{1, r}, func(l term.Style) string { return renderScrub(l, r) }); err != nil {
		return err
	}
	return damageError(r, repairHint)
}

// repairHint says what to do about damage.
const repairHint = "look for the lost content in your workspaces: retake doctor --repair"

// damageError is the error of a report that found damage.
func damageError(r retake.ScrubReport, hint string) error {
	if len(r.Failed) == 0 {
		return nil
	}
	return reportedError{&retake.Error{
		Kind: retake.Damaged, What: term.CountNoun(int64(len(r.Failed)), "path", "paths") + " cannot be read back from the store",
		Safe: "What is listed above is damaged, the rest is intact.", Hint: hint,
	}}
}

func countOrNone(n int) string {
	if n == 0 {
		return "none"
	}
	return termtext.Count(int64(n))
}

func renderScrub(l term.Style, r retake.ScrubReport) string {
	sign := l.Green(l.Glyphs.Yes)
	if len(r.Failed) > 0 {
		sign = l.Red(l.Glyphs.No)
	}
	out := fmt.Sprintf("%s %s, %s, %s read, %s failed\n", sign, term.CountCheckpoints(r.Checkpoints), term.CountNoun(r.Objects, "object", "objects"),
		termtext.Bytes(r.Bytes), countOrNone(len(r.Failed)))
	for _, f := range r.Failed {
		out += "  " + l.Red(termtext.Escape(f)) + "\n"
	}
	return out
}
