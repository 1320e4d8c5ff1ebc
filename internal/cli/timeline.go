package cli

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// From this many columns on, flags and facts have columns of their own.
const wideFrom = 120

const (
	filesColumns = 6
	leadColumns  = 10
	flagColumns  = 16
	factsColumns = 46
)

// row is a checkpoint as the timeline shows it.
type row struct {
	node, number, when, title, files string
	said, partial                    bool
	deleted                          bool
	pins                             string
	facts                            string // what really changed
	gaps                             string
}

func makeRow(l look, c retake.Checkpoint, newest bool, pins []retake.Pin) row {
	r := row{node: l.g.Ring, number: fmt.Sprint(c.Number), when: l.clock(c.Time), files: l.g.Dash}
	if newest {
		r.node = l.g.Point
	}
	r.title, r.said = title(c)
	n := c.Changed.Total()
	r.facts = changedFacts(l, c.Changed)
	if c.Trigger == retake.TriggerInit {
		n = c.Files
		r.facts = "first capture, " + string(c.Coverage.Grade)
	}
	if n > 0 {
		r.files = screen.Count(n)
	}
	r.deleted = c.Changed.Deleted > 0
	if c.Coverage.Grade == retake.Partial {
		r.partial, r.gaps = true, gapCounts(c.Coverage.Gaps)
	}
	var names []string
	for _, p := range pins {
		if p.Checkpoint == c.ID {
			names = append(names, screen.Escape(p.Name))
		}
	}
	if len(names) > 0 {
		r.pins = "pin " + strings.Join(names, ", ")
	}
	return r
}

// columns are the widths of a timeline; title takes what the others leave.
type columns struct {
	number, when, title int
	wide                bool
}

func fit(l look, rows []row) columns {
	c := columns{number: 5, when: 5, wide: l.width >= wideFrom}
	for _, r := range rows {
		c.number = max(c.number, len(r.number)+1)
		c.when = max(c.when, screen.Width(r.when))
	}
	used := 1 + c.number + 2 + c.when + 2 + 2 + filesColumns + 2 + leadColumns
	if c.wide {
		used += 2 + flagColumns + factsColumns - leadColumns
	}
	c.title = max(l.width-used, 16)
	if c.wide {
		c.title = min(c.title, 64) // the facts take the rest
	}
	return c
}

// renderTimeline draws a timeline, newest on top. newest is the number of the
// checkpoint on which the files stand.
func renderTimeline(l look, t retake.Timeline, newest int64) string {
	var b strings.Builder
	b.WriteString(timelineHead(l, t))
	if len(t.Checkpoints) == 0 {
		return b.String() + "\nNo moment is in this part of the timeline.\n"
	}
	rows := make([]row, len(t.Checkpoints))
	for i, c := range t.Checkpoints {
		rows[i] = makeRow(l, c, c.Number == newest, t.Pins)
	}
	c := fit(l, rows)
	head := strings.Repeat(" ", 1+c.number+2) + screen.Pad("when", c.when) + "  " + screen.Pad("what was going on", c.title) + "  "
	if c.wide {
		head += screen.Pad("", flagColumns) + "  "
	}
	head += screen.PadLeft("files", filesColumns)
	if c.wide {
		head += "  what really changed"
	}
	fmt.Fprintf(&b, "\n%s\n", l.dim(head))
	for i, r := range rows {
		b.WriteString(drawRow(l, c, r, i == len(rows)-1))
	}
	return b.String()
}

func timelineHead(l look, t retake.Timeline) string {
	name, root := screen.Escape(t.Workspace.Name), l.path(t.Workspace.Root)
	right := "protected since " + l.clock(t.Workspace.Created)
	if l.width >= wideFrom {
		right = l.facts(right, moments(t.Total))
	}
	width := screen.Width(name) + 2 + screen.Width(root)
	if width+2+screen.Width(right) > l.width {
		return fmt.Sprintf("%s  %s\n%s\n", l.bold(name), l.dim(root), l.dim(right))
	}
	return l.ends(l.bold(name)+"  "+l.dim(root), l.dim(right), width, screen.Width(right)) + "\n"
}

func drawRow(l look, c columns, r row, last bool) string {
	text := l.g.Cut(r.title, c.title)
	shown := l.style(text, r)
	node, num := r.node, screen.PadLeft(r.number, c.number)
	if r.node == l.g.Point {
		node, num = l.bold(node), l.bold(num)
	}
	line := node + num + "  " + l.dim(screen.Pad(r.when, c.when)) + "  " + shown + strings.Repeat(" ", c.title-screen.Width(text)) + "  "
	if c.wide {
		return strings.TrimRight(line+l.flag(r)+"  "+screen.PadLeft(r.files, filesColumns)+"  "+l.wideFacts(r), " ") + "\n"
	}
	line = strings.TrimRight(line+screen.PadLeft(r.files, filesColumns)+"  "+l.dim(l.g.Cut(r.pins, leadColumns)), " ") + "\n"
	if second := l.second(r); second != "" {
		bar := l.g.Bar
		if last {
			bar = " "
		}
		line += bar + strings.Repeat(" ", c.number+2+c.when+2) + second + "\n"
	}
	return line
}

func (l look) style(text string, r row) string {
	switch {
	case r.node == l.g.Point:
		return l.bold(text)
	case !r.said:
		return l.dim(text)
	}
	return text
}

func (l look) flag(r row) string {
	if r.partial {
		rest := l.g.Cut(r.pins, flagColumns-len("partial")-2)
		return screen.Pad(l.cyan("partial")+"  "+rest, flagColumns+len(l.cyan("partial"))-len("partial"))
	}
	return screen.Pad(l.g.Cut(r.pins, flagColumns), flagColumns)
}

func (l look) wideFacts(r row) string {
	facts := r.facts
	if r.deleted {
		facts = l.red("deleted") + l.dim(strings.TrimPrefix(facts, "deleted"))
	} else {
		facts = l.dim(facts)
	}
	if r.gaps == "" {
		return facts
	}
	if r.facts == "" {
		return r.gaps
	}
	return facts + l.dim(l.sep()+r.gaps)
}

// second is the line below a heavy moment: it lost something, or is not whole.
func (l look) second(r row) string {
	deleted := ""
	if r.deleted {
		deleted = l.red("deleted") + l.dim(strings.TrimPrefix(r.facts, "deleted"))
	}
	if r.partial {
		return l.cyan("partial") + "  " + l.facts(l.dim(r.gaps), deleted)
	}
	return deleted
}
