package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// Columns of retake space.
const (
	budgetColumns = 30
	sparkColumns  = 15
	spaceName     = 24
	factColumn    = 26
	planRows      = 40 // of drops; --json has all
)

func renderSpace(l term.Style, a spaceAnswer) string {
	if len(a.Workspaces) == 0 {
		return renderFirstRun(l)
	}
	var b strings.Builder
	if a.Plan != nil {
		b.WriteString(renderBudget(l, a.Plan))
		b.WriteString("\n")
	}
	b.WriteString(renderWorkspaceSpace(l, a))
	if a.Plan != nil {
		b.WriteString("\n")
		b.WriteString(renderRetention(l, a.Plan))
	}
	return b.String()
}

// renderBudget is what the store takes of what it may.
func renderBudget(l term.Style, p *retake.SpacePlan) string {
	disk := "disk " + termtext.Bytes(p.Store.Free) + " free"
	if p.Budget <= 0 {
		text := termtext.Bytes(p.Store.Bytes)
		return l.AlignEnds(l.Bold(text), disk, len(text), len(disk)) + "\n"
	}
	share := float64(p.Store.Bytes) / float64(p.Budget)
	full := min(int(share*budgetColumns), budgetColumns)
	color := l.Green
	if p.Need != retake.NeedNone {
		color = l.Yellow
	}
	text := termtext.Pad(termtext.Bytes(p.Store.Bytes)+" of "+termtext.Bytes(p.Budget), 19)
	percent := fmt.Sprintf("%3d %%", int(share*100))
	left := l.Bold(text) + "  " + color(strings.Repeat(l.Glyphs.Fill, full)) + l.Dim(strings.Repeat(l.BarRest(), budgetColumns-full)) + percent
	return l.AlignEnds(left, disk, termtext.Width(text)+2+budgetColumns+len(percent), len(disk)) + "\n"
}

// renderWorkspaceSpace is one line for each workspace.
func renderWorkspaceSpace(l term.Style, a spaceAnswer) string {
	name := len("workspace")
	for _, w := range a.Workspaces {
		name = max(name, termtext.Width(termtext.Escape(w.Name)))
	}
	name = min(name, spaceName)
	var b strings.Builder
	fmt.Fprintln(&b, l.Dim(termtext.Pad("workspace", name)+"  checkpoints   its size   "+termtext.Pad("last 30 days", sparkColumns)+"   kept for"))
	for _, w := range a.Workspaces {
		size := l.Glyphs.Dash
		if w.Latest != nil {
			size = termtext.Bytes(w.Latest.Bytes)
		}
		days, kept := spaceOf(a.Plan, w)
		line := termtext.Pad(l.Glyphs.Cut(termtext.Escape(w.Name), name), name) + "  " + termtext.PadLeft(termtext.Count(w.Count), 11) + "  " + termtext.PadLeft(size, 9) +
			"   " + termtext.Pad(renderSparkline(l, days), sparkColumns) + "   " + kept
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	return b.String()
}

// spaceOf finds the days of a workspace, and for how long its checkpoints are kept.
func spaceOf(p *retake.SpacePlan, w retake.WorkspaceState) (days []int64, kept string) {
	kept = "all"
	if p != nil {
		for _, r := range p.Workspaces {
			if r.Workspace == w.ID {
				days = r.Days
				switch {
				case r.Closed != "":
					kept = "all: its journal cannot be read"
				case r.GoneAfter > 0 && r.Within > 0 && r.Within < r.GoneAfter:
					kept = longDurationText(r.Within) + ", gone after " + longDurationText(r.GoneAfter)
				case r.GoneAfter > 0:
					kept = "gone after " + longDurationText(r.GoneAfter)
				case r.Within > 0:
					kept = longDurationText(r.Within)
				}
			}
		}
	}
	switch {
	case w.Ended != nil:
		kept = "no longer protected"
	case w.Gone:
		kept = "directory gone"
	}
	return days, kept
}

// longDurationText is a length of days or hours.
func longDurationText(d time.Duration) string {
	const day = 24 * time.Hour
	if d%day != 0 {
		return term.CountNoun(int64(d/time.Hour), "hour", "hours")
	}
	return term.CountNoun(int64(d/day), "day", "days")
}

var sparkGlyphs = []rune("▁▂▃▄▅▆▇")

// renderSparkline draws counts as small columns, two days in each.
func renderSparkline(l term.Style, days []int64) string {
	signs := sparkGlyphs
	if l.ASCII {
		signs = []rune("._-=+*#")
	}
	sums := make([]int64, sparkColumns)
	var top int64
	for i, n := range days {
		at := i * sparkColumns / len(days)
		sums[at] += n
		top = max(top, sums[at])
	}
	var b strings.Builder
	for _, n := range sums {
		i := int64(0)
		if n > 0 {
			i = 1 + (n-1)*int64(len(signs)-1)/top
		}
		b.WriteRune(signs[i])
	}
	return b.String()
}

// renderRetention is what stays whatever happens, and what goes next.
func renderRetention(l term.Style, p *retake.SpacePlan) string {
	var b strings.Builder
	say := func(name, text string) { fmt.Fprintln(&b, l.Dim(termtext.Pad(name, factColumn))+text) }
	say("never removed by itself", "starts, pins, latest good, fork bases, safety points")
	next := "nothing is due"
	if len(p.Drops) > 0 {
		next = fmt.Sprintf("%s, about %s   see: retake space --plan", term.CountCheckpoints(int64(len(p.Drops))), termtext.Bytes(p.Frees))
	}
	say("next cleanup", next)
	if text := freeNeedText(p); text != "" {
		say("why", text)
	}
	if named := countNamedDrops(p); named > 0 {
		say("named ones among them", fmt.Sprintf("%s: pin what you need, or raise the storage limit", termtext.Count(named)))
	}
	if p.Last != nil {
		say("last cleanup", fmt.Sprintf("%s freed %s in %s", l.ShortTime(p.Last.At), termtext.Bytes(p.Last.Gave), termtext.Duration(p.Last.Took)))
	}
	say("garbage", "about "+termtext.Bytes(p.Garbage))
	say("minimum free space", termtext.Bytes(p.Store.Floor)+": below that nothing is saved")
	return b.String()
}

// countNamedDrops counts those that would stay for the whole window if there were room.
func countNamedDrops(p *retake.SpacePlan) (n int64) {
	for _, d := range p.Drops {
		if d.Named {
			n++
		}
	}
	return n
}

// freeNeedText says why checkpoints go that are not too old.
func freeNeedText(p *retake.SpacePlan) string {
	const stuck = "; what is kept on purpose uses more: retake config budget"
	switch p.Need {
	case retake.NeedBudget:
		if len(p.Drops) == 0 && p.Store.Bytes > p.Budget {
			return "the store is over its storage limit" + stuck
		}
		return "the store has reached its storage limit"
	case retake.NeedRoom:
		return "the disk is near its minimum free space"
	case retake.NeedFloor:
		return "the disk is below its minimum free space"
	case retake.NeedNone:
	}
	return ""
}

var dropReasonTexts = map[string]string{"age": "too old", "budget": "over limit", "room": "disk almost full", "floor": "disk full"}

// renderSpacePlan lists what the next cleanup would delete.
func renderSpacePlan(l term.Style, p retake.SpacePlan, all []retake.WorkspaceState) string {
	if len(p.Drops) == 0 {
		text := "Nothing is due: the next cleanup would delete no checkpoint.\n"
		if why := freeNeedText(&p); why != "" {
			text += "  " + why + "\n"
		}
		return text
	}
	names := map[retake.WorkspaceID]string{}
	name := len("workspace")
	for _, w := range all {
		names[w.ID] = termtext.Escape(w.Name)
		name = max(name, termtext.Width(names[w.ID]))
	}
	name = min(name, spaceName)
	var b strings.Builder
	fmt.Fprintf(&b, "%s would be deleted, which frees about %s.\n\n", l.Bold(term.CountCheckpoints(int64(len(p.Drops)))), termtext.Bytes(p.Frees))
	fmt.Fprintln(&b, l.Dim(termtext.Pad("workspace", name)+"   checkpoint  "+termtext.Pad("when", 11)+"  "+termtext.Pad("why", 16)+"     about"))
	for _, d := range p.Drops[:min(planRows, len(p.Drops))] {
		why := dropReasonTexts[d.Why]
		if why == "" { // of a later version
			why = termtext.Escape(d.Why)
		}
		if d.Named {
			why += ", named"
		}
		fmt.Fprintln(&b, termtext.Pad(l.Glyphs.Cut(names[d.Workspace], name), name)+"  "+termtext.PadLeft(term.CheckpointNumber(d.Number), 11)+"  "+
			termtext.Pad(l.ShortTime(d.Time), 11)+"  "+termtext.Pad(why, 16)+"  "+termtext.PadLeft(termtext.Bytes(d.Bytes), 8))
	}
	if more := len(p.Drops) - planRows; more > 0 {
		fmt.Fprintf(&b, "%s\n", l.Dim(fmt.Sprintf("and %s more: retake space --plan --json", termtext.Count(int64(more)))))
	}
	return b.String()
}
