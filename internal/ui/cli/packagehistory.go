package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type chronicleAnswer struct {
	V        int              `json:"v"`
	Name     string           `json:"name"`
	Mentions []retake.Mention `json:"mentions"`
}

// printPackageHistory prints the checkpoints in which a package changed; if there are none,
// those of anything else with that name.
func (c *blameCmd) printPackageHistory(ctx context.Context) error {
	s, ws, err := c.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	q := retake.ChronicleQuery{Workspace: ws.ID, Kind: retake.FactPackage, Name: c.pack, Limit: c.limit}
	list, err := s.Chronicle(ctx, q)
	if err == nil && len(list) == 0 {
		q.Kind = ""
		list, err = s.Chronicle(ctx, q)
	}
	if err != nil {
		return err
	}
	a := chronicleAnswer{V: 1, Name: c.pack, Mentions: list}
	if len(list) == 0 {
		if a.Mentions = []retake.Mention{}; c.json {
			if err := c.writeJSON(a); err != nil {
				return err
			}
		}
		return reportedError{&retake.Error{
			Kind: retake.NotFound, What: fmt.Sprintf("no checkpoint of %s changed a package %s", ws.Name, c.pack), Safe: nothingChanged,
			Hint: "search for it: retake find " + quoteShellLine([]string{c.pack}) + "\nsee all that changed: retake diff start latest",
		}}
	}
	var cps []retake.Checkpoint
	for _, m := range list {
		cps = append(cps, m.Checkpoint)
	}
	g := term.ReadTargetTitles(ctx, s, ws, cps)
	err = c.printAnswer(a, func(l term.Style) string {
		l.Titles = g
		return renderMentions(l, list) + moreHitsText(l, len(list), c.limit)
	})
	c.printHints("look", fmt.Sprintf("retake show %d", list[0].Checkpoint.Number))
	return err
}

// renderMentions has a row for each fact, newest first; a checkpoint is named once.
func renderMentions(l term.Style, list []retake.Mention) string {
	num, when, group, what := 2, 5, 0, 0
	for _, m := range list {
		num, when = max(num, len(term.CheckpointNumber(m.Checkpoint.Number))), max(when, termtext.Width(l.ShortTime(m.Checkpoint.Time)))
		for _, f := range m.Facts {
			group, what = max(group, termtext.Width(factCategory(f))), max(what, termtext.Width(factChange(l, f)))
		}
	}
	group = min(group, 16)
	what = min(what, max((l.Width-num-when-group-8)/2, 20))
	title := max(l.Width-num-when-group-what-8, 16)
	var b strings.Builder
	for _, m := range list {
		for i, f := range m.Facts {
			left, text := strings.Repeat(" ", num+2+when), ""
			if i == 0 {
				left = l.Bold(termtext.PadLeft(term.CheckpointNumber(m.Checkpoint.Number), num)) + "  " + l.Dim(termtext.Pad(l.ShortTime(m.Checkpoint.Time), when))
				text, _ = l.CheckpointTitle(m.Checkpoint, l.Titles)
			}
			step := termtext.Pad(l.Glyphs.Cut(factChange(l, f), what), what)
			switch f.What {
			case retake.Added:
				step = l.Green(step)
			case retake.Deleted:
				step = l.Red(step)
			default:
			}
			line := left + "  " + termtext.Pad(l.Glyphs.Cut(factCategory(f), group), group) + "  " + step + "  " + l.Glyphs.Cut(text, title)
			fmt.Fprintln(&b, strings.TrimRight(line, " "))
		}
	}
	return b.String()
}

// factCategory is what kind of thing it is: npm, or a database.
func factCategory(f retake.Fact) string {
	if f.Group != "" {
		return termtext.Escape(f.Group)
	}
	return string(f.Kind)
}

// factChange is what happened to it: + 1.2, − 1.2, or 1.2 → 1.3.
func factChange(l term.Style, f retake.Fact) string {
	before, after := termtext.Escape(f.Before), termtext.Escape(f.After)
	switch f.What {
	case retake.Added:
		return "+ " + term.TextOr(after, termtext.Escape(f.Name))
	case retake.Deleted:
		return l.Glyphs.Minus + " " + term.TextOr(before, termtext.Escape(f.Name))
	default:
		return term.TextOr(before, l.Glyphs.Dash) + " " + l.Glyphs.Arrow + " " + term.TextOr(after, l.Glyphs.Dash)
	}
}
