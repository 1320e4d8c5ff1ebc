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
	"github.com/retake-dev/retake/internal/view"
)

type statusAnswer struct {
	V int `json:"v"`
	retake.Status
}

func newStatusCommand(f *commandLine) *cobra.Command {
	var line bool
	cmd := &cobra.Command{
		Use: "status", Short: "Show whether this workspace is protected", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if line && !f.json {
				return printStatusLine(f, cmd)
			}
			s, ws, err := f.currentWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			st, err := s.Status(cmd.Context(), ws.ID)
			if err != nil {
				return err
			}
			err = f.printTitledAnswer(endTitles(cmd.Context(), s, ws, st.Latest, st.Good), statusAnswer{1, st}, func(l term.Style) string { return renderStatus(l, st) + agentsRow(f, l, ws) })
			if err == nil && st.Now.Deleted > 0 && !st.Saving {
				f.printHintLine([]string{"bring back what was deleted", "retake restore latest --plan"})
			}
			return orInterrupted(err, ws)
		},
	}
	cmd.Flags().BoolVar(&line, "line", false, "print one line for a shell prompt; nothing outside a workspace")
	return cmd
}

// printStatusLine reads no file of the workspace: a prompt must not wait.
// Where nothing was ever protected it starts nothing either.
func printStatusLine(f *commandLine, cmd *cobra.Command) error {
	if f.EverProtected != nil && !f.EverProtected() {
		return nil
	}
	s, ws, err := f.locateWorkspace(cmd.Context())
	if s != nil && retake.IsKind(err, retake.NotFound) {
		return nil
	}
	if retake.IsKind(err, retake.Away) {
		return f.printAnswer(nil, func(l term.Style) string {
			return unprotectedLine(l, retake.AsError(err).What) + "\n"
		})
	}
	if err != nil {
		return err
	}
	t, err := s.Log(cmd.Context(), retake.LogQuery{Workspace: ws.ID, Limit: 1})
	if err != nil {
		return err
	}
	t.Workspace.Interrupted, t.Workspace.Unprotected = ws.Interrupted, ws.Unprotected
	if since := pausedSince(f, ws.ID); since != "" && ws.Interrupted == nil {
		return f.printAnswer(nil, func(l term.Style) string { return l.Yellow(l.Glyphs.Diamond) + " paused since " + since + "\n" })
	}
	wanted := hasVerifications(cmd.Context(), s, t)
	return f.printAnswer(nil, func(l term.Style) string { return renderStatusLine(l, t, wanted) + "\n" })
}

// hasVerifications reports whether anybody wants to know which checkpoints are good: something was
// answered, or is asked of every checkpoint.
func hasVerifications(ctx context.Context, s retake.Service, t retake.Timeline) bool {
	if t.Good != nil || len(t.Checkpoints) == 0 || len(t.Findings[t.Checkpoints[0].ID].Answers) > 0 {
		return true
	}
	standing, err := s.Standing(ctx, t.Workspace.ID)
	return err == nil && len(standing) > 0
}

// renderStatusLine drops facts from the right where there is no room.
func renderStatusLine(l term.Style, t retake.Timeline, verified bool) string {
	if i := t.Workspace.Interrupted; i != nil {
		return l.Yellow("!") + fmt.Sprintf(" restore interrupted at %s of %s", termtext.Count(int64(i.Done)), termtext.Count(int64(i.Total)))
	}
	if u := t.Workspace.Unprotected; u != nil {
		return unprotectedLine(l, u.Why)
	}
	if len(t.Checkpoints) == 0 {
		return l.Red(l.Glyphs.Diamond+" NOT PROTECTED") + l.Dim(l.Separator()) + "no checkpoint"
	}
	c := t.Checkpoints[0]
	f := t.Findings[c.ID]
	sign, color := "◆", l.Green
	if l.ASCII {
		sign = "*"
	}
	second := l.ShortTime(c.Time)
	switch {
	case t.Good != nil && t.Good.ID == c.ID:
		second = "good"
	case t.Good != nil:
		second = "good " + l.ShortTime(t.Good.Time)
	case verified:
		second, color = "no good yet", l.Yellow
	}
	var rest []string
	if ms := term.GravestBadges(l.Badges(f.Answers)); len(ms) > 0 && !f.Good && view.VerdictRank(worstAnswer(f.Answers)) < view.VerdictRank(retake.Answer{Verdict: retake.Passed}) {
		rest = append(rest, ms[0].Color(ms[0].Sign+" "+ms[0].Text))
		color = l.Yellow
	}
	if c.Coverage.Grade == retake.Partial {
		rest = append(rest, term.GradeText(l, c.Coverage.Grade))
		color = l.Cyan
	}
	if t.Upload != nil {
		rest = append(rest, uploadedText(l, *t.Upload, c.Number))
	}
	parts := append([]string{color(sign) + fmt.Sprintf(" %d", c.Number), second}, append(rest, "protected")...)
	return dropPartsToFit(l, parts)
}

// uploadedText says whether the newest checkpoint is at a remote.
func uploadedText(l term.Style, u retake.Upload, newest int64) string {
	if newest > u.Through {
		return l.Yellow(fmt.Sprintf("%d not uploaded", newest-u.Through))
	}
	return "uploaded"
}

// unprotectedLine says why nothing is kept now.
func unprotectedLine(l term.Style, why string) string {
	return dropPartsToFit(l, []string{l.Red(l.Glyphs.Diamond + " NOT PROTECTED"), l.Glyphs.Cut(termtext.Escape(why), max(l.Width-20, 10))})
}

// worstAnswer returns the gravest answer.
func worstAnswer(answers []retake.Answer) retake.Answer {
	return slices.MinFunc(answers, func(a, b retake.Answer) int { return view.VerdictRank(a) - view.VerdictRank(b) })
}

// dropPartsToFit joins facts as long as there is room.
func dropPartsToFit(l term.Style, parts []string) string {
	switch {
	case l.Width <= 10:
		parts = parts[:1]
	case l.Width <= 24:
		parts = parts[:2]
	}
	for len(parts) > 1 && l.ShownWidth(strings.Join(parts, l.Separator())) > l.Width {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, l.Dim(l.Separator()))
}
