package term

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// row is one entry as the timeline shows it.
type row struct {
	graphCell

	node    string
	newest  bool
	good    bool
	quiet   bool // no checkpoint, or one that nobody looks for
	fold    bool // checkpoints that a restore left behind
	number  string
	when    string
	who     string
	title   string
	said    bool
	asked   bool // a verification could speak of it
	badges  []Badge
	files   string
	lead    string
	pins    string
	flags   []flag
	points  []retake.Point // what really changed, in order
	heavy   bool           // the points matter more than the title tells
	effects []retake.Effect
}

// flag is a word that a user must not miss, and the reason for it.
type flag struct {
	word  string
	color func(string) string
	why   string
}

func (l Style) entryRow(u timelineEntry, v TimelineView) row {
	switch {
	case u.fork != nil:
		return l.forkRow(*u.fork)
	case u.abandoned:
		return l.abandonedRow(u)
	case u.more > 0:
		return row{node: l.Glyphs.Dots, quiet: true, title: fmt.Sprintf("+%s", CountNoun(int64(u.more), "fork", "forks"))}
	case len(u.checkpoints) > 1:
		return l.quietRow(u.checkpoints, v)
	}
	return l.checkpointRow(u.checkpoints[0], v)
}

func (l Style) checkpointRow(c retake.Checkpoint, v TimelineView) row {
	f := v.Findings[c.ID]
	r := row{
		node: l.Glyphs.Ring, number: fmt.Sprint(c.Number), when: l.ShortTime(c.Time), who: authorOf(c), good: f.Good, asked: true,
		badges: l.Badges(f.Answers), flags: l.checkpointFlags(c, f.Gist), effects: c.Effects, newest: c.Number == v.Newest,
	}
	switch {
	case r.newest:
		r.node = l.Glyphs.Point
	case c.Trigger == retake.TriggerSafety, c.Trigger == retake.TriggerRisk:
		r.node = l.Glyphs.Diamond
	}
	r.title, r.said = l.CheckpointTitle(c, v.Titles)
	r.setChanges(l, c, f.Gist)
	var names []string
	for _, p := range v.Pins {
		if p.Checkpoint == c.ID {
			names = append(names, termtext.Escape(p.Name))
		}
	}
	if len(names) > 0 {
		r.pins = "pin " + strings.Join(names, ", ")
	}
	return r
}

// setChanges sets what really changed: the gist, or counts while there is none.
func (r *row) setChanges(l Style, c retake.Checkpoint, g *retake.Gist) {
	total := c.ChangedFiles(g)
	switch {
	case c.Trigger == retake.TriggerInit && c.Parent == "":
		r.points = []retake.Point{{Text: "first capture, " + string(c.Coverage.Grade)}}
	case g != nil && total == g.Counts.Total():
		r.points, r.lead = g.Points, l.EscapeText(g.Lead)
		r.heavy = c.Return == nil && areWeighty(g.Points, r.lead)
	default:
		r.points = countPoints(c)
		r.heavy = c.Return == nil && c.Changed.Deleted > 0
	}
	r.files = l.Glyphs.Dash
	if total > 0 {
		r.files = termtext.Count(total)
	}
}

// changeArrow stands in points between what was and what is: names, permissions, values.
const changeArrow = " → "

// areWeighty reports whether points say more than the lead can: something was deleted, or
// something other than source changed.
func areWeighty(points []retake.Point, lead string) bool {
	for _, p := range points {
		switch p.Theme {
		case retake.ThemeDeleted:
			return true
		case retake.ThemePackages, retake.ThemeSettings, retake.ThemeDatabase, retake.ThemeMachine:
			if len(points) > 1 || lead == "" || describesChange(p) {
				return true
			}
		default:
			if (len(points) > 1 || lead == "") && strings.Contains(p.Text, changeArrow) {
				return true
			}
		}
	}
	return false
}

// describesChange reports whether a point says what happened inside its file, such as a
// setting or a table, where the lead has only the name.
func describesChange(p retake.Point) bool {
	return p.Theme != retake.ThemePackages && strings.Contains(p.Text, " ")
}

// countPoints are counts, deletions first, in the words of how they came about.
func countPoints(c retake.Checkpoint) []retake.Point {
	added, edited := "added", "edited"
	if grewFromTarget(c) {
		added, edited = "brought back", "changed"
	}
	var out []retake.Point
	add := func(theme retake.Theme, word string, n int64) {
		if n > 0 {
			out = append(out, retake.Point{Theme: theme, Text: word + " " + termtext.Count(n)})
		}
	}
	add(retake.ThemeDeleted, deletedWord, c.Changed.Deleted)
	add("", added, c.Changed.Added)
	add("", edited, c.Changed.Edited)
	return out
}

const deletedWord = "deleted"

// forkRow is a fork with the count of its newest checkpoint.
func (l Style) forkRow(f ForkLine) row {
	c := *f.Latest
	r := row{
		node: l.Glyphs.Ring, when: l.ShortTime(c.Time), who: authorOf(c), good: f.Finding.Good, said: true, asked: true,
		title: fmt.Sprintf("fork %s, %s", termtext.Escape(f.Name), CountCheckpoints(f.Count)), badges: l.Badges(f.Finding.Answers),
	}
	r.setChanges(l, c, f.Finding.Gist)
	r.heavy = false
	return r
}

// quietRow is a run of quiet checkpoints. Files that always move are the same each time, so the
// most that one of them changed stands for all; own edits are added up.
func (l Style) quietRow(run []retake.Checkpoint, v TimelineView) row {
	newest, oldest := run[0], run[len(run)-1]
	r := row{
		node: l.Glyphs.Dots, quiet: true, when: l.ShortTime(oldest.Time), who: authorOf(newest),
		number: fmt.Sprintf("%d%s%d", oldest.Number, l.Glyphs.Dash, newest.Number),
		title:  fmt.Sprintf("%s auto-checkpoints, until %s", termtext.Count(int64(len(run))), l.ShortTime(newest.Time)),
	}
	var most int64
	moving := false
	for _, c := range run {
		g := v.Findings[c.ID].Gist
		if g == nil || g.Counts.Total() <= most {
			continue
		}
		most, moving, r.lead = g.Counts.Total(), g.Moving, l.EscapeText(g.Lead)
		r.points = slices.Clone(g.Points)
	}
	if sum := countOwnEdits(run); sum > 0 {
		r.files = termtext.Count(sum)
	} else if most > 0 {
		r.files = termtext.Count(most)
	}
	if len(r.points) > 0 && moving {
		r.points[0].Text = "files that always move: " + r.points[0].Text
	}
	return r
}

// authorOf is at the beginning of a checkpoint: an agent, or you.
func authorOf(c retake.Checkpoint) string {
	if t := c.Turn; t != nil {
		switch len(t.Contested) {
		case 0:
			return agentName(t.Agent)
		case 1:
			return "both"
		}
		return "many"
	}
	switch c.Trigger {
	case retake.TriggerInit, retake.TriggerManual, retake.TriggerReturn, retake.TriggerSafety, retake.TriggerFork, retake.TriggerQuiet:
		return "you"
	default:
		return ""
	}
}

// agentName is the name of an agent as people say it: claude for claude-code.
func agentName(agent string) string {
	first, _, _ := strings.Cut(agent, "-")
	return termtext.Escape(first)
}

// checkpointFlags are what a person must know of a checkpoint before they trust it, the gravest first.
func (l Style) checkpointFlags(c retake.Checkpoint, g *retake.Gist) []flag {
	var out []flag
	if g != nil {
		for _, f := range g.Flags {
			out = append(out, flag{termtext.Escape(f.Kind), l.magenta, l.EscapeText(f.Why)})
		}
	}
	if c.Turn != nil && c.Turn.Risk != "" {
		out = append(out, flag{"risky", l.Yellow, termtext.Escape(c.Turn.Risk)})
	}
	if c.Coverage.Grade == retake.Partial {
		out = append(out, flag{string(retake.Partial), l.Cyan, shortGapsText(c.Coverage.Gaps)})
	}
	if c.Return != nil && len(c.Return.Failed) > 0 {
		out = append(out, flag{"not all", l.Cyan, CountNoun(int64(len(c.Return.Failed)), "path", "paths") + " moved on and stayed"})
	}
	return append(out, l.turnFlags(c.Turn)...)
}

// shortGapsText names a path that was moving while it is the only one, and counts the rest.
func shortGapsText(gaps []retake.Gap) string {
	groups := groupByReason(gaps)
	if len(groups) == 0 || len(groups[0]) != 1 || !groups[0][0].Reason.Held() {
		return gapCountsText(gaps)
	}
	first := termtext.Escape(path.Base(groups[0][0].Path)) + " was moving"
	for _, g := range groups[1:] {
		first += ", " + gapCountText(g[0].Reason, len(g))
	}
	return first
}
