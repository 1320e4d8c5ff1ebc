package term

import (
	"fmt"
	"path"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// itemPart is a section whose items are given.
func itemPart(word, color string, items []item) part {
	return part{
		word: word, color: color, count: int64(len(items)), least: 1, most: len(items),
		draw: func(l Look, g grid, n int) []string {
			g.number = 0 // nothing is folded here, and the remarks need the room
			return l.items(items, g, n)
		},
	}
}

func said(text string) func(int) string { return func(int) string { return text } }

// mergePart tells of texts of which both sides stay.
func mergePart(p *retake.Plan) part {
	var items []item
	for _, s := range p.Merges {
		items = append(items, item{name: termtext.Escape(s.Path), remark: said(mergeText(s.Merge, mergeVerb(p.Course)))})
	}
	return itemPart("MERGE", "", items)
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

// conflictPart names the side copies: the file itself stays as it is now.
func conflictPart(keeps []retake.Keep) part {
	var items []item
	for _, k := range keeps {
		items = append(items, item{name: termtext.Escape(k.Path), remark: said(conflictText(k))})
	}
	return itemPart("CONFLICT", yellowCode, items)
}

func conflictText(k retake.Keep) string {
	if k.Side == "" {
		return "stays yours"
	}
	return "stays yours; the other: " + termtext.Escape(path.Base(k.Side))
}

// keepWords say why a path is left as it is.
var keepWords = map[retake.KeepReason]string{
	retake.KeepGit:        "a repository of its own (--git)",
	retake.KeepVolatile:   "always moving",
	retake.KeepChanged:    "changed since, so yours stays",
	retake.KeepConflict:   "changed on both sides",
	retake.KeepUncaptured: "in no checkpoint, so it could not be given back",
	retake.KeepUnheld:     "not in that checkpoint",
	retake.KeepOccupied:   "it contains something that is left as is",
	retake.KeepOverlap:    "changed while someone else worked here",
}

func keepWord(r retake.KeepReason) string {
	if w, ok := keepWords[r]; ok {
		return w
	}
	return termtext.Escape(string(r))
}

// keepPart has a line for each reason; a repository has its own, with what it
// points to.
func keepPart(keeps []retake.Keep) part {
	var items []item
	var order []retake.KeepReason
	by := map[retake.KeepReason][]string{}
	for _, k := range keeps {
		if k.Why == retake.KeepGit && k.Detail != "" {
			items = append(items, item{name: termtext.Escape(k.Path), remark: said(termtext.Escape(k.Detail) + " (--git)")})
			continue
		}
		if by[k.Why] == nil {
			order = append(order, k.Why)
		}
		by[k.Why] = append(by[k.Why], termtext.Escape(k.Path))
	}
	for _, why := range order {
		names := by[why]
		items = append(items, item{name: someNames(names, len(names), 2*nameColumns), remark: said(keepWord(why))})
	}
	return part{
		word: "LEAVE AS IS", count: int64(len(keeps)), least: 1, most: len(items),
		draw: func(l Look, g grid, n int) []string {
			if len(items) <= n {
				return l.items(items, g, n)
			}
			return []string{g.lead(0) + l.Dim(l.Glyphs.Cut(keepCounts(keeps)+", "+l.list(), g.room()))}
		},
	}
}

// keepCounts is all reasons in one line.
func keepCounts(keeps []retake.Keep) string {
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

// asksPart has each obstacle; none is ever left out.
func asksPart(p *retake.Plan) part {
	const classes = classColumns
	texts := func(width int) (lines int, out [][]string) {
		for _, o := range p.Obstacles {
			w := Wrap(termtext.Escape(o.Text), width-classes)
			lines += len(w)
			out = append(out, w)
		}
		return lines, out
	}
	return part{
		word: "CONFIRM", color: yellowCode, least: len(p.Obstacles), most: 2 * len(p.Obstacles),
		draw: func(l Look, g grid, n int) []string {
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

// donePart lists external actions, which no plan undoes.
func donePart(effects []retake.Effect) part {
	return part{
		word: "EXTERNAL", color: yellowCode, least: 1, most: len(effects),
		draw: func(l Look, g grid, n int) []string {
			var out []string
			shown := len(effects)
			if shown > n {
				shown = n - 1
			}
			for _, e := range effects[:shown] {
				when := l.Clock(e.Time)
				lead := termtext.Pad(termtext.Escape(e.ID), 2) + "  " + when
				pad := strings.Repeat(" ", max(classColumns-termtext.Width(lead), 2))
				unsure := unsureText(e) + "  already done"
				text := l.Glyphs.Cut(termtext.Escape(e.Text), g.width-max(classColumns, termtext.Width(lead)+2)-termtext.Width(unsure)) + l.Dim(unsure)
				out = append(out, l.Yellow(termtext.Pad(termtext.Escape(e.ID), 2))+"  "+l.Dim(when)+pad+text)
			}
			if more := len(effects) - shown; more > 0 {
				out = append(out, l.Yellow("+"+termtext.Count(int64(more)))+" more can't be undone, "+l.list())
			}
			return out
		},
	}
}

// Wrap breaks text between words; a word that is too long has a line of its own.
func Wrap(text string, width int) []string { return fill(strings.Fields(text), width) }

// fill puts as many words on each line as fit.
func fill(words []string, width int) []string {
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
