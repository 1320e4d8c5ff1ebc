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

// share parts the lines of a page into those of the list and those of the card.
func share(height int) (list, card int) {
	card = cardLines
	if height >= tallFrom {
		card = cardLinesTall
	}
	return height - card - 4, card
}

func (t *timeline) draw(m *model, l term.Look, height int) []string {
	list, card := share(height)
	rule := rule(l)
	out := []string{t.head(m, l), rule}
	body := t.list(m, l, list)
	for len(body) < list {
		body = append(body, "")
	}
	out = append(append(out, body...), rule)
	brief := t.brief(l, card)
	for len(brief) < card {
		brief = append(brief, "")
	}
	return append(append(out, brief...), rule)
}

func rule(l term.Look) string {
	sign := "─"
	if l.ASCII {
		sign = "-"
	}
	return l.Dim(strings.Repeat(sign, l.Width))
}

// list are the rows that are on the screen, or why there are none.
func (t *timeline) list(m *model, l term.Look, height int) []string {
	switch {
	case t.shot == nil && t.err != nil:
		return troubleLines(l, t.err)
	case t.shot == nil:
		return []string{l.Dim("reading the timeline" + l.Glyphs.More)}
	case t.shot.rows.Len() == 0 && t.good:
		return []string{"No checkpoint is good yet.", "", l.Dim("A checkpoint is good when all its checks passed: retake verify -- npm test"), l.Dim("v shows all checkpoints")}
	case t.shot.rows.Len() == 0:
		return []string{"There is no checkpoint yet."}
	}
	t.keep()
	var out []string
	for i := t.top; i < min(t.top+height, t.shot.rows.Len()); i++ {
		line := t.shot.rows.Draw(l, i)
		if i == t.at {
			line = term.Strip(line)
			line = "\x1b[7m" + line + strings.Repeat(" ", max(l.Width-termtext.Width(line), 0)) + "\x1b[0m"
		}
		out = append(out, line)
	}
	return out
}

func (t *timeline) brief(l term.Look, n int) []string {
	if t.shot == nil || t.shot.rows.Len() == 0 {
		return nil
	}
	return l.Brief(t.shot.view, t.shot.rows.At(t.at), n)
}

// head is the answer first: whether it lives, which checkpoint is good, since when all is
// protected.
func (t *timeline) head(m *model, l term.Look) string {
	ws := m.o.Workspace
	left := l.Bold(l.Glyphs.Cut(termtext.Escape(ws.Name), 24)) + "  " + t.alive(l)
	if t.good {
		left += l.Dim("  good only")
	}
	if t.fresh > 0 {
		left += "  " + l.Bold(termtext.Count(t.fresh)+" new") + l.Dim(", g shows")
	}
	if t.shot == nil {
		return left
	}
	v := t.shot.view
	if i := v.Workspace.Interrupted; i != nil {
		return left + "  " + l.Yellow("!") + fmt.Sprintf(" a restore of %d was interrupted: retake restore --finish, or --undo", i.Target)
	}
	good := l.Dim("no good yet")
	if v.Good != nil {
		good = l.Green(l.Glyphs.Yes) + " good " + l.Bold(fmt.Sprint(v.Good.Number)) + " " + l.Dim(l.Clock(v.Good.Time))
	}
	facts := []string{good, l.Dim("protected since " + l.Clock(v.Workspace.Created)), l.Dim(term.Checkpoints(v.Total))}
	for n := len(facts); n > 0; n-- {
		right := strings.Join(facts[:n], l.Dim(l.Sep()))
		if a, b := l.ShownWidth(left), l.ShownWidth(right); a+2+b <= l.Width {
			return l.Ends(left, right, a, b)
		}
	}
	return left
}

// alive says whether what is shown is of now.
func (t *timeline) alive(l term.Look) string {
	switch {
	case t.err != nil && !t.heardAt.IsZero():
		return l.Yellow("!") + " " + l.Yellow("away") + l.Dim(", as of "+l.Clock(t.heardAt))
	case t.heardAt.IsZero():
		return l.Dim(l.Glyphs.Wait)
	}
	return l.Green(l.Glyphs.Point) + " " + l.Dim("live")
}

func (t *timeline) say(m *model, l term.Look) string {
	switch {
	case t.err != nil && t.shot != nil:
		return l.Yellow("!") + " " + term.Sentence(termtext.Escape(t.err.What)) + l.Dim(" What is shown is of "+l.Clock(t.heardAt)+"; retrying.")
	case t.seek != nil:
		return l.Dim(fmt.Sprintf("reading %s of %s checkpoints%s esc stops", termtext.Count(int64(len(t.shot.view.Checkpoints))), termtext.Count(t.shot.view.Total), l.Glyphs.More))
	case t.mark != nil:
		return l.Dim(fmt.Sprintf("marked %d: choose another checkpoint and press c; esc takes the mark away", t.mark.Number))
	}
	return ""
}

func (t *timeline) keys() []string {
	return []string{"enter", "open", "d", "diff", "r", "restore", "u", "undo", "f", "fork", "/", "find", "v", "good only", "?", "keys"}
}

// troubleLines say what happened, whether anything was changed, what to do.
func troubleLines(l term.Look, e *retake.Error) []string {
	shown := *e
	if shown.Safe == "" && shown.Kind != retake.Partly {
		shown.Safe = nothingChanged
	}
	return wrapped(l, strings.Split(strings.TrimRight(term.RenderError(l, shown), "\n"), "\n"))
}

const nothingChanged = "Nothing was changed."
