package cli

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// told is what really changed in a moment: a column when the timeline is wide, and lines
// below the title for what has no room there.
func (l look) told(c columns, r row) (story string, second []string) {
	if !c.wide {
		return "", l.secondLines(l.width-c.graph-c.indent(), r, r.heavy)
	}
	own, reason := r.leadOf(true), ""
	if len(r.flags) == 1 {
		reason = r.flags[0].why
	}
	full := c.story // for the points
	if own != "" {
		full -= screen.Width(own) + screen.Width(l.sep())
	}
	room := full
	if reason != "" && len(r.points) > 0 {
		room -= screen.Width(l.sep())
	}
	room -= screen.Width(reason)
	all := screen.Width(l.joined(r.points, len(r.points)))
	least := min(all, screen.Width(l.joined(r.points, 1)))
	if len(r.flags) > 1 || room < least || r.heavy && room < all {
		second = l.secondLines(c.title+2+c.flag+2+c.verify+c.files+2+c.story, r, r.heavy && full < all)
		room, reason = full, ""
	}
	return l.facts(l.dim(own), l.points(r.points, room, r.left), l.dim(reason)), second
}

// secondLines are the flags, each with its reason, and what matters of the points: behind
// the last flag when all of it fits there.
func (l look) secondLines(width int, r row, heavy bool) []string {
	var out []string
	for _, f := range r.flags {
		out = append(out, l.flagLines(f, width)...)
	}
	if !heavy {
		return out
	}
	if len(out) > 0 {
		last := &out[len(out)-1]
		if l.shownWidth(*last)+screen.Width(l.sep())+screen.Width(l.joined(r.points, len(r.points))) <= width {
			*last += l.dim(l.sep()) + l.points(r.points, width, true)
			return out
		}
	}
	return append(out, l.pointLines(r.points, width)...)
}

// flagLines are a flag and its reason, in two lines at most.
func (l look) flagLines(f flag, width int) []string {
	room := max(width-screen.Width(f.word)-2, 10)
	if screen.Width(f.why) <= room {
		return []string{f.color(f.word) + "  " + l.dim(f.why)}
	}
	first := wrap(f.why, room)[0]
	rest := strings.TrimSpace(strings.TrimPrefix(strings.Join(strings.Fields(f.why), " "), first))
	out := []string{f.color(f.word) + "  " + l.dim(l.g.Cut(first, room))}
	if rest != "" {
		out = append(out, strings.Repeat(" ", screen.Width(f.word)+2)+l.dim(l.g.Cut(rest, room)))
	}
	return out
}

// pointLines are points in one line, or in two when the first has no room for all that
// matters.
func (l look) pointLines(ps []retake.Point, width int) []string {
	shown := len(ps)
	for shown > 1 && screen.Width(l.joined(ps[:shown], shown)) > width {
		shown--
	}
	if !weighty(ps[shown:], "") {
		return []string{l.points(ps, width, true)}
	}
	return []string{l.points(ps[:shown], width, true), l.points(ps[shown:], width, true)}
}

// joined are the first points in one line, with a sign when there are more.
func (l look) joined(ps []retake.Point, n int) string {
	var texts []string
	for _, p := range ps[:min(n, len(ps))] {
		texts = append(texts, l.pointText(p))
	}
	if n < len(ps) {
		texts = append(texts, l.g.More)
	}
	return strings.Join(texts, l.sep())
}

// points joins as many as fit. At least the first is shown, cut if need be.
func (l look) points(ps []retake.Point, width int, shade bool) string {
	if len(ps) == 0 || width <= 0 {
		return ""
	}
	shown := len(ps)
	for shown > 1 && screen.Width(l.joined(ps, shown)) > width {
		shown--
	}
	text := l.g.Cut(l.joined(ps, shown), width)
	paint := plainText
	if shade {
		paint = l.dim
	}
	if rest, ok := strings.CutPrefix(text, deletedWord+" "); ok && ps[0].Theme == retake.ThemeDeleted {
		return l.red(deletedWord) + paint(" "+rest)
	}
	return paint(text)
}

func (l look) pointText(p retake.Point) string {
	text := l.words(p.Text)
	if p.Plus > 0 {
		text += " +" + screen.Count(p.Plus)
	}
	if p.Minus > 0 {
		text += " " + l.g.Minus + screen.Count(p.Minus)
	}
	return text
}

// effectRows are what was done outside before a moment, the newest on top. They are
// moments of the world, so nothing takes them back.
func (l look) effectRows(c columns, r row) string {
	var b strings.Builder
	for i := len(r.effects) - 1; i >= 0; i-- {
		fmt.Fprintln(&b, strings.TrimRight(l.effectRow(c, r, r.effects[i]), " "))
	}
	return b.String()
}

func (l look) effectRow(c columns, r row, e retake.Effect) string {
	shade := plainText
	if r.left {
		shade = l.dim
	}
	line := l.graphBelow(r.spot, shade(l.g.Arrow), c.lanes) + shade(screen.PadLeft(screen.Escape(e.ID), c.number)) + "  " +
		l.dim(screen.Pad(l.clock(e.Time), c.when)) + "  "
	room := c.title + 2 + c.verify + c.files
	if c.wide {
		room = c.title
		if c.flag > 0 {
			room += 2 + c.flag
		}
		if c.who > 0 {
			line += l.dim(screen.Pad(l.g.Cut(agentWord(e.Agent), c.who), c.who)) + "  "
		}
	}
	text := l.g.Cut(screen.Escape(e.Text), room)
	line += shade(text) + strings.Repeat(" ", max(room-screen.Width(text), 0)) + "  " + l.yellow(staysDone)
	if c.wide && e.Target != "" {
		line += strings.Repeat(" ", max(c.verify+c.files-len(staysDone), 0)) + "  " + l.dim(l.g.Cut(screen.Escape(e.Target), c.story))
	}
	return line
}

const staysDone = "stays done"
