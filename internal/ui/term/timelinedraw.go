package term

import (
	"strings"

	"github.com/retake-dev/retake/internal/pure/termtext"
)

// columns are the widths of a timeline. The title takes what the others leave, and in a
// wide one shares it with what really changed.
type columns struct {
	lanes, graph, number, when, who int
	title, flag, verify, files      int
	lead, story                     int
	wide                            bool
}

func fitColumns(l Style, rows []row, lanes int, verified bool) columns {
	c := columns{lanes: lanes, graph: 2 * lanes, number: 3, when: 5, files: filesColumns, lead: leadColumns, wide: l.Width >= WideFrom}
	if lanes == 1 {
		c.number = 4
	}
	for _, r := range rows {
		if r.place.Replaced && r.place.Detached {
			c.lead = max(c.lead, len(replacedText))
		}
		c.number = max(c.number, termtext.Width(r.number))
		c.when = max(c.when, termtext.Width(r.when))
		c.files = max(c.files, termtext.Width(r.files))
		c.who = max(c.who, min(termtext.Width(r.who), 8))
		for _, f := range r.flags[:min(len(r.flags), 1)] {
			c.flag = max(c.flag, termtext.Width(f.word))
		}
		for _, e := range r.effects {
			c.number, c.when = max(c.number, termtext.Width(termtext.Escape(e.ID))), max(c.when, termtext.Width(l.ShortTime(e.Time)))
		}
	}
	if verified {
		c.verify = c.verifyWidth(rows)
	}
	c.shareWidth(l.Width)
	return c
}

// verifyWidth is as wide as the answers need, within bounds, and keeps them apart from the
// count of files.
func (c columns) verifyWidth(rows []row) int {
	if c.wide {
		width := verifyColumns
		for _, r := range rows {
			width = max(width, badgesWidth(r.badges))
		}
		return min(width, 24) + 2
	}
	width := verifyColumns
	for _, r := range rows {
		width = max(width, badgesWidth(GravestBadges(r.badges))+c.filesOverflow(r))
	}
	return min(width, verifyMost)
}

// filesOverflow is the column that a count of files which fills its own leaves no room for.
func (c columns) filesOverflow(r row) int {
	if termtext.Width(r.files) < c.files {
		return 0
	}
	return 1
}

func (c *columns) shareWidth(width int) {
	used := c.graph + c.number + 2 + c.when + 2 + 2 + c.verify + c.files + 2
	if !c.wide {
		c.who, c.flag = 0, 0
		c.title = max(width-used-c.lead, 8)
		return
	}
	for _, n := range []int{c.who, c.flag} {
		if n > 0 {
			used += n + 2
		}
	}
	rest := max(width-used, 0)
	c.title = min(max(rest*39/100, 28), 64)
	c.story = max(rest-c.title, 16)
}

func (c columns) head() string {
	h := strings.Repeat(" ", c.graph+c.number+2) + termtext.Pad("when", c.when) + "  "
	if c.who > 0 {
		h += termtext.Pad("who", c.who) + "  "
	}
	h += termtext.Pad("message", c.title) + "  "
	if c.flag > 0 {
		h += strings.Repeat(" ", c.flag) + "  "
	}
	if c.verify > 0 {
		h += termtext.Pad("checks", c.verify)
	}
	h += termtext.PadLeft("files", c.files)
	if c.wide {
		h += "  what really changed"
	}
	return h
}

// titleIndent is where the title begins, behind the graph.
func (c columns) titleIndent() int {
	n := c.number + 2 + c.when + 2
	if c.who > 0 {
		n += c.who + 2
	}
	return n
}

func drawRow(l Style, c columns, r row) string {
	story, second := changeColumns(l, c, r)
	if !c.wide {
		story = l.Dim(l.Glyphs.Cut(r.lastColumn(len(second) > 0 && r.heavy), c.lead))
	}
	out := strings.TrimRight(l.rowLine(c, r, story), " ") + "\n"
	for _, s := range second {
		out += drawGraphBelow(l, r.place, "", c.lanes) + strings.Repeat(" ", c.titleIndent()) + s + "\n"
	}
	return out
}

// rowLine is the first line of a row; what changed stands at its end.
func (l Style) rowLine(c columns, r row, changed string) string {
	shade := Unpainted
	if r.place.Replaced {
		shade = l.Dim
	}
	num := shade(termtext.PadLeft(r.number, c.number))
	if r.newest {
		num = l.Bold(num)
	}
	line := drawGraphRow(l, r.place, nodeMark(l, r), c.lanes) + num + "  " + l.Dim(termtext.Pad(r.when, c.when)) + "  "
	if c.who > 0 {
		line += l.Dim(termtext.Pad(l.Glyphs.Cut(r.who, c.who), c.who)) + "  "
	}
	text := l.Glyphs.Cut(r.title, c.title)
	line += paintRow(l, text, r) + strings.Repeat(" ", c.title-termtext.Width(text)) + "  "
	if c.flag > 0 {
		line += flagCell(l, c, r) + "  "
	}
	return line + rowVerification(l, c, r, shade) + shade(termtext.PadLeft(r.files, c.files)) + "  " + changed
}

// nodeMark is the sign of a row: green when the checkpoint is good.
func nodeMark(l Style, r row) string {
	switch {
	case r.good:
		return l.Green(r.node)
	case r.newest:
		return l.Bold(r.node)
	case r.place.Replaced || r.quiet:
		return l.Dim(r.node)
	}
	return r.node
}

func paintRow(l Style, text string, r row) string {
	switch {
	case r.newest:
		return l.Bold(text)
	case !r.said || r.place.Replaced:
		return l.Dim(text)
	}
	return text
}

// rowVerification draws the badges; a row that cannot be verified has none.
func rowVerification(l Style, c columns, r row, shade func(string) string) string {
	if c.verify == 0 {
		return ""
	}
	if !r.asked {
		return strings.Repeat(" ", c.verify)
	}
	if c.wide {
		return l.VerificationCell(r.badges, c.verify-2, shade) + "  "
	}
	cell := l.VerificationCell(GravestBadges(r.badges), c.verify-c.filesOverflow(r), shade)
	return cell + strings.Repeat(" ", max(c.verify-l.ShownWidth(cell), 0))
}

// lastColumn is the last column: a pin says why a checkpoint stays, also behind. What the second
// line tells is not told twice.
func (r row) lastColumn(told bool) string {
	switch {
	case r.pins != "":
		return r.pins
	case r.place.Replaced && r.place.Detached:
		return replacedText
	case told:
		return ""
	}
	return r.lead
}

func flagCell(l Style, c columns, r row) string {
	if len(r.flags) == 0 {
		return strings.Repeat(" ", c.flag)
	}
	f := r.flags[0]
	return f.color(f.word) + strings.Repeat(" ", max(c.flag-termtext.Width(f.word), 0))
}
