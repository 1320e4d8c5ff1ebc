package term

import (
	"fmt"
	"path"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// itemSection is a section whose items are given.
func itemSection(word, color string, items []sectionItem) planSection {
	return planSection{
		word: word, color: color, count: int64(len(items)), least: 1, most: len(items),
		draw: func(l Style, g sectionGrid, n int) []string {
			g.number = 0 // nothing is folded here, and the remarks need the room
			return l.drawItems(items, g, n)
		},
	}
}

func fixedRemark(text string) func(int) string { return func(int) string { return text } }

// mergeSection tells of texts of which both sides stay.
func mergeSection(p *retake.Plan) planSection {
	var items []sectionItem
	for _, s := range p.Merges {
		items = append(items, sectionItem{name: termtext.Escape(s.Path), remark: fixedRemark(mergeText(s.Merge, mergeVerb(p.Course)))})
	}
	return itemSection("MERGE", "", items)
}

// mergeVerb is what the lines of the item do: an undo takes them away.
func mergeVerb(c retake.Course) string {
	if c == retake.CourseUndo || c == retake.CourseUnwind {
		return "go"
	}
	return "come"
}

func mergeText(m *retake.Merge, verb string) string {
	if m == nil {
		return "lines of both sides"
	}
	its := fmt.Sprintf("its %s places %s", termtext.Count(int64(m.Theirs)), verb)
	if m.Theirs == 1 {
		its = "its place " + map[string]string{"go": "goes", "come": "comes"}[verb]
	}
	switch m.Yours {
	case 0:
		return its + ", the other lines stay"
	case 1:
		return fmt.Sprintf("%s, yours at line %d stays", its, m.First)
	}
	return fmt.Sprintf("%s, your %s from line %d on stay", its, termtext.Count(int64(m.Yours)), m.First)
}

// conflictSection names the side copies: the file itself stays as it is now.
func conflictSection(keeps []retake.Keep) planSection {
	var items []sectionItem
	for _, k := range keeps {
		items = append(items, sectionItem{name: termtext.Escape(k.Path), remark: fixedRemark(conflictText(k))})
	}
	return itemSection("CONFLICT", yellowCode, items)
}

func conflictText(k retake.Keep) string {
	if k.Side == "" {
		return "stays yours"
	}
	return "stays yours; the other: " + termtext.Escape(path.Base(k.Side))
}

// keepReasonTexts say why a path is left as it is.
var keepReasonTexts = map[retake.KeepReason]string{
	retake.KeepGit:        "a repository of its own (--git)",
	retake.KeepVolatile:   "always moving",
	retake.KeepChanged:    "changed since, so yours stays",
	retake.KeepConflict:   "changed on both sides",
	retake.KeepUncaptured: "in no checkpoint, so it could not be given back",
	retake.KeepUnheld:     "not in that checkpoint",
	retake.KeepOccupied:   "it contains something that is left as is",
	retake.KeepOverlap:    "changed while someone else worked here",
}

func keepReasonText(r retake.KeepReason) string {
	if w, ok := keepReasonTexts[r]; ok {
		return w
	}
	return termtext.Escape(string(r))
}

// keepSection has a line for each reason; a repository has its own, with what it
// points to.
func keepSection(keeps []retake.Keep) planSection {
	var items []sectionItem
	var order []retake.KeepReason
	by := map[retake.KeepReason][]string{}
	for _, k := range keeps {
		if k.Why == retake.KeepGit && k.Detail != "" {
			items = append(items, sectionItem{name: termtext.Escape(k.Path), remark: fixedRemark(termtext.Escape(k.Detail) + " (--git)")})
			continue
		}
		if by[k.Why] == nil {
			order = append(order, k.Why)
		}
		by[k.Why] = append(by[k.Why], termtext.Escape(k.Path))
	}
	for _, why := range order {
		names := by[why]
		items = append(items, sectionItem{name: joinSomeNames(names, len(names), 2*nameColumns), remark: fixedRemark(keepReasonText(why))})
	}
	return planSection{
		word: "LEAVE AS IS", count: int64(len(keeps)), least: 1, most: len(items),
		draw: func(l Style, g sectionGrid, n int) []string {
			if len(items) <= n {
				return l.drawItems(items, g, n)
			}
			return []string{g.countColumn(0) + l.Dim(l.Glyphs.Cut(keepCountsText(keeps)+", "+l.listCommand(), g.textWidth()))}
		},
	}
}

// keepCountsText is all reasons in one line.
func keepCountsText(keeps []retake.Keep) string {
	var order []retake.KeepReason
	n := map[retake.KeepReason]int64{}
	for _, k := range keeps {
		if n[k.Why] == 0 {
			order = append(order, k.Why)
		}
		n[k.Why]++
	}
	short := map[retake.KeepReason]string{
		retake.KeepGit: "git", retake.KeepVolatile: "moving", retake.KeepChanged: "changed", retake.KeepUncaptured: "uncaptured",
		retake.KeepUnheld: "unheld", retake.KeepOccupied: "occupied", retake.KeepOverlap: "overlap",
	}
	var parts []string
	for _, why := range order {
		word := short[why]
		if word == "" {
			word = termtext.Escape(string(why))
		}
		parts = append(parts, termtext.Count(n[why])+" "+word)
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
				out = append(out, l.Yellow("+"+termtext.Count(int64(more)))+" more can't be undone, "+l.listCommand())
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
