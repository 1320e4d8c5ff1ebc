package tui

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// Lines of the card below the list.
const (
	cardLines     = 4
	cardLinesTall = 6
	tallFrom      = 36
)

// splitHeight splits the lines of a page between the list and the card.
func splitHeight(height int) (list, card int) {
	card = cardLines
	if height >= tallFrom {
		card = cardLinesTall
	}
	return height - card - 4, card
}

func (t *timelinePage) draw(m *model, l term.Style, height int) []string {
	list, card := splitHeight(height)
	rule := ruleLine(l)
	out := []string{t.headLine(m, l), rule}
	body := t.listLines(m, l, list)
	for len(body) < list {
		body = append(body, "")
	}
	out = append(append(out, body...), rule)
	brief := t.cardLines(l, card)
	for len(brief) < card {
		brief = append(brief, "")
	}
	return append(append(out, brief...), rule)
}

func ruleLine(l term.Style) string {
	sign := "─"
	if l.ASCII {
		sign = "-"
	}
	return l.Dim(strings.Repeat(sign, l.Width))
}

// listLines returns the visible rows, or why there are none.
func (t *timelinePage) listLines(m *model, l term.Style, height int) []string {
	switch {
	case t.snapshot == nil && t.err != nil:
		return errorLines(l, t.err)
	case t.snapshot == nil:
		return []string{l.Dim("reading the timeline" + l.Glyphs.More)}
	case t.snapshot.rows.Len() == 0 && t.good:
		return []string{"No checkpoint is good yet.", "", l.Dim("A checkpoint is good when all its checks passed: retake verify -- npm test"), l.Dim("v shows all checkpoints")}
	case t.snapshot.rows.Len() == 0:
		return []string{"There is no checkpoint yet."}
	}
	t.keepVisible()
	var out []string
	for i := t.top; i < min(t.top+height, t.snapshot.rows.Len()); i++ {
		line := t.snapshot.rows.Draw(l, i)
		if i == t.selected {
			line = term.StripANSI(line)
			line = "\x1b[7m" + line + strings.Repeat(" ", max(l.Width-termtext.Width(line), 0)) + "\x1b[0m"
		}
		out = append(out, line)
	}
	return out
}

func (t *timelinePage) cardLines(l term.Style, n int) []string {
	if t.snapshot == nil || t.snapshot.rows.Len() == 0 {
		return nil
	}
	return l.SubjectBrief(t.snapshot.rows.At(t.selected), n)
}

// headLine is the answer first: whether it lives, which checkpoint is good, since when all is
// protected.
func (t *timelinePage) headLine(m *model, l term.Style) string {
	ws := m.options.Workspace
	left := l.Bold(l.Glyphs.Cut(termtext.Escape(ws.Name), 24)) + "  " + t.liveText(l)
	if t.good {
		left += l.Dim("  good only")
	}
	if t.newAbove > 0 {
		left += "  " + l.Bold(termtext.Count(t.newAbove)+" new") + l.Dim(", g shows")
	}
	if t.snapshot == nil {
		return left
	}
	v := &t.snapshot.view
	if i := v.Workspace.Interrupted; i != nil {
		return left + "  " + l.Yellow("!") + fmt.Sprintf(" a restore of %d was interrupted: retake restore --finish, or --undo", i.Target)
	}
	if u := v.Workspace.Unprotected; u != nil {
		why := l.Glyphs.Cut(termtext.Escape(u.Why), max(l.Width-l.ShownWidth(left)-19, 10))
		return left + "  " + l.Red(l.Glyphs.No+" not protected: ") + why
	}
	good := l.Dim("no good yet")
	if v.Good != nil {
		good = l.Green(l.Glyphs.Yes) + " good " + l.Bold(fmt.Sprint(v.Good.Number)) + " " + l.Dim(l.ShortTime(v.Good.Time))
	}
	facts := []string{good, l.Dim("protected since " + l.ShortTime(v.Workspace.Created)), l.Dim(term.CountCheckpoints(v.Total))}
	for n := len(facts); n > 0; n-- {
		right := strings.Join(facts[:n], l.Dim(l.Separator()))
		if a, b := l.ShownWidth(left), l.ShownWidth(right); a+2+b <= l.Width {
			return l.AlignEnds(left, right, a, b)
		}
	}
	return left
}

// liveText says whether the page is up to date.
func (t *timelinePage) liveText(l term.Style) string {
	switch {
	case t.err != nil && !t.updatedAt.IsZero():
		return l.Yellow("!") + " " + l.Yellow("away") + l.Dim(", as of "+l.ShortTime(t.updatedAt))
	case t.updatedAt.IsZero():
		return l.Dim(l.Glyphs.Wait)
	}
	return l.Green(l.Glyphs.Point) + " " + l.Dim("live")
}

func (t *timelinePage) statusLine(m *model, l term.Style) string {
	switch {
	case t.err != nil && t.snapshot != nil:
		return l.Yellow("!") + " " + term.AsSentence(termtext.Escape(t.err.What)) + l.Dim(" What is shown is of "+l.ShortTime(t.updatedAt)+"; retrying.")
	case t.searching != nil:
		return l.Dim(fmt.Sprintf("reading %s of %s checkpoints%s esc stops", termtext.Count(t.snapshot.view.Shown), termtext.Count(t.snapshot.view.Total), l.Glyphs.More))
	case t.marked != nil:
		return l.Dim(fmt.Sprintf("marked %d: choose another checkpoint and press c; esc takes the mark away", t.marked.Number))
	}
	return ""
}

func (t *timelinePage) keyHelp() []string {
	return []string{"enter", "open", "d", "diff", "r", "restore", "u", "undo", "f", "fork", "/", "find", "v", "good only", "?", "keys"}
}

// errorLines returns what happened, whether anything was changed, and what to do.
func errorLines(l term.Style, e *retake.Error) []string {
	shown := *e
	if shown.Safe == "" && shown.Kind != retake.Partly {
		shown.Safe = nothingChanged
	}
	return wrapLines(l, strings.Split(strings.TrimRight(term.RenderError(l, shown), "\n"), "\n"))
}

const nothingChanged = "Nothing was changed."
