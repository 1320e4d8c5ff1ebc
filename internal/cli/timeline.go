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
	left                             bool // behind, when the files went to another moment
	remark                           string
	effects                          []retake.Effect
}

func makeRow(l look, c retake.Checkpoint, newest bool, pins []retake.Pin, g goals) row {
	r := row{node: l.g.Ring, number: fmt.Sprint(c.Number), when: l.clock(c.Time), files: l.g.Dash}
	switch {
	case newest:
		r.node = l.g.Point
	case c.Trigger == retake.TriggerSafety, c.Trigger == retake.TriggerRisk:
		r.node = l.g.Diamond
	}
	r.remark, r.effects = turnRemark(l, c.Turn), c.Effects
	r.title, r.said = l.titled(c, g)
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
	lead                int
	wide                bool
}

const leftBehind = "left behind"

func fit(l look, rows []row) columns {
	c := columns{number: 5, when: 5, lead: leadColumns, wide: l.width >= wideFrom}
	for _, r := range rows {
		if r.left {
			c.lead = max(c.lead, len(leftBehind))
		}
		c.number = max(c.number, len(r.number)+1)
		c.when = max(c.when, screen.Width(r.when))
	}
	used := 1 + c.number + 2 + c.when + 2 + 2 + filesColumns + 2 + c.lead
	if c.wide {
		used += 2 + flagColumns + factsColumns - c.lead
	}
	c.title = max(l.width-used, 16)
	if c.wide {
		c.title = min(c.title, 64) // the facts take the rest
	}
	return c
}

// renderTimeline draws a timeline, newest on top. newest is the number of the
// checkpoint on which the files stand.
func renderTimeline(l look, t retake.Timeline, newest int64, g goals) string {
	var b strings.Builder
	b.WriteString(timelineHead(l, t))
	if len(t.Checkpoints) == 0 {
		return b.String() + "\nNo moment is in this part of the timeline.\n"
	}
	rows := make([]row, len(t.Checkpoints))
	behind := behindOf(t.Checkpoints)
	for i, c := range t.Checkpoints {
		rows[i] = makeRow(l, c, c.Number == newest, t.Pins, g)
		rows[i].left = behind[c.ID]
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
		b.WriteString(effectRows(l, c, r.effects))
	}
	return b.String()
}

// behindOf are the moments that do not lie on the way to the newest one. Where
// that way leaves what is shown, nothing is said.
func behindOf(cs []retake.Checkpoint) map[retake.CheckpointID]bool {
	behind := map[retake.CheckpointID]bool{}
	if len(cs) == 0 {
		return behind
	}
	next := cs[0].ID
	var passed []retake.CheckpointID
	for _, c := range cs { // a parent is always older
		if c.ID != next {
			passed = append(passed, c.ID)
			continue
		}
		for _, id := range passed {
			behind[id] = true
		}
		passed, next = nil, c.Parent
	}
	return behind
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
	line = strings.TrimRight(line+screen.PadLeft(r.files, filesColumns)+"  "+l.dim(l.g.Cut(r.lead(), c.lead)), " ") + "\n"
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
	case !r.said || r.left:
		return l.dim(text)
	}
	return text
}

// lead is the last column: a pin says why a moment stays, also behind.
func (r row) lead() string {
	if r.pins == "" && r.left {
		return leftBehind
	}
	return r.pins
}

func (l look) flag(r row) string {
	if r.partial {
		rest := l.g.Cut(r.lead(), flagColumns-len("partial")-2)
		return screen.Pad(l.cyan("partial")+"  "+rest, flagColumns+len(l.cyan("partial"))-len("partial"))
	}
	return screen.Pad(l.g.Cut(r.lead(), flagColumns), flagColumns)
}

func (l look) wideFacts(r row) string {
	facts := r.facts
	if r.deleted {
		facts = l.red("deleted") + l.dim(strings.TrimPrefix(facts, "deleted"))
	} else {
		facts = l.dim(facts)
	}
	if r.remark != "" && r.facts == "" {
		facts = r.remark
	} else if r.remark != "" {
		facts += l.dim(l.sep()) + r.remark
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
	if r.remark != "" {
		return l.facts(r.remark, deleted)
	}
	return deleted
}
