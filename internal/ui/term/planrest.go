package term

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// groupKeeps puts the paths with one reason on one line; a repository has its own, with what
// it points to.
func groupKeeps(rows []retake.PlanRow) [][]retake.PlanRow {
	var own, out [][]retake.PlanRow
	at := map[string]int{}
	for _, r := range rows {
		i, known := at[r.Note]
		switch {
		case r.Why == retake.KeepGit && r.Detail != "":
			own = append(own, []retake.PlanRow{r})
		case known:
			out[i] = append(out[i], r)
		default:
			at[r.Note] = len(out)
			out = append(out, []retake.PlanRow{r})
		}
	}
	return append(own, out...)
}

// keepNote says why a path is left as it is, and which flag takes a repository along.
func keepNote(r retake.PlanRow, text string) string {
	if r.Why == retake.KeepGit {
		text += " (--git)"
	}
	return termtext.Escape(text)
}

func drawKeeps(l Style, rows []retake.PlanRow, reasons [][]retake.PlanRow, g sectionGrid, n int) []string {
	if len(reasons) > n {
		return []string{g.countColumn(0) + l.Dim(l.Glyphs.Cut(keepCountsText(rows)+", "+listCommand(l), g.textWidth()))}
	}
	var items []sectionItem
	for _, same := range reasons {
		text := same[0].Note
		if same[0].Why == retake.KeepGit {
			text = TextOr(same[0].Detail, text)
		}
		var names []string
		for _, r := range same {
			names = append(names, termtext.Escape(r.Path))
		}
		items = append(items, sectionItem{name: joinSomeNames(names, len(names), 2*nameColumns), remark: func(int) string { return keepNote(same[0], text) }})
	}
	return drawItems(l, items, g, n)
}

// keepCountsText is all reasons in one line.
func keepCountsText(rows []retake.PlanRow) string {
	var order []retake.KeepReason
	n := map[retake.KeepReason]int64{}
	for _, r := range rows {
		if n[r.Why] == 0 {
			order = append(order, r.Why)
		}
		n[r.Why]++
	}
	var parts []string
	for _, why := range order {
		word := string(why)
		if why == retake.KeepVolatile {
			word = "moving"
		}
		parts = append(parts, termtext.Count(n[why])+" "+termtext.Escape(word))
	}
	return strings.Join(parts, ", ")
}

const classColumns = 15

// obstacleSection has each obstacle; none is ever left out.
func obstacleSection(p *retake.Plan) planSection {
	const classes = classColumns
	texts := func(width int) (lines int, out [][]string) {
		for _, o := range p.Obstacles {
			w := Wrap(termtext.Escape(o.Text), width-classes)
			lines += len(w)
			out = append(out, w)
		}
		return lines, out
	}
	return planSection{
		word: "CONFIRM", color: yellowCode, least: len(p.Obstacles), most: 2 * len(p.Obstacles),
		draw: func(l Style, g sectionGrid, n int) []string {
			lines, all := texts(g.width)
			var out []string
			for i, o := range p.Obstacles {
				lead := l.Yellow(termtext.Pad(termtext.Escape(o.Class), classes))
				if lines > n && len(all[i]) > 1 { // shortened, with a sign; whole in the list
					lines -= len(all[i]) - 1
					all[i] = []string{l.Glyphs.Cut(termtext.Escape(o.Text), g.width-classes)}
				}
				for _, text := range all[i] {
					out = append(out, lead+l.Glyphs.Cut(text, g.width-classes))
					lead = strings.Repeat(" ", classes)
				}
			}
			return out
		},
	}
}

// effectSection lists external actions, which no plan undoes.
func effectSection(effects []retake.Effect) planSection {
	return planSection{
		word: "EXTERNAL", color: yellowCode, least: 1, most: len(effects),
		draw: func(l Style, g sectionGrid, n int) []string {
			var out []string
			shown := len(effects)
			if shown > n {
				shown = n - 1
			}
			for _, e := range effects[:shown] {
				when := l.ShortTime(e.Time)
				lead := termtext.Pad(termtext.Escape(e.ID), 2) + "  " + when
				pad := strings.Repeat(" ", max(classColumns-termtext.Width(lead), 2))
				unsure := uncertainText(e) + "  already done"
				text := l.Glyphs.Cut(termtext.Escape(e.Text), g.width-max(classColumns, termtext.Width(lead)+2)-termtext.Width(unsure)) + l.Dim(unsure)
				out = append(out, l.Yellow(termtext.Pad(termtext.Escape(e.ID), 2))+"  "+l.Dim(when)+pad+text)
			}
			if more := len(effects) - shown; more > 0 {
				out = append(out, l.Yellow("+"+termtext.Count(int64(more)))+" more can't be undone, "+listCommand(l))
			}
			return out
		},
	}
}

// Wrap breaks text between words; a word that is too long has a line of its own.
func Wrap(text string, width int) []string { return fillLines(strings.Fields(text), width) }

// fillLines puts as many words on each line as fit.
func fillLines(words []string, width int) []string {
	var out []string
	line := ""
	for _, w := range words {
		switch {
		case line == "":
			line = w
		case termtext.Width(line)+1+termtext.Width(w) <= width:
			line += " " + w
		default:
			out = append(out, line)
			line = w
		}
	}
	return append(out, line)
}
