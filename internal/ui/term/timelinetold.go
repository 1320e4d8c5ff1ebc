package term

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/view"
)

// changeColumns returns what changed in a checkpoint: a column if the timeline is wide, and
// lines below the title for what does not fit.
func changeColumns(l Style, c columns, r row) (story string, second []string) {
	if !c.wide {
		var points []retake.Point
		if r.heavy {
			points = pointsNotInFlags(l, r, 0)
		}
		return "", secondLines(l, l.Width-c.graph-c.titleIndent(), r.flags, points)
	}
	own, full := r.lastColumn(true), c.story // full is the room for the points
	if own != "" {
		full -= termtext.Width(own) + termtext.Width(l.Separator())
	}
	if story, ok := changesInOneLine(l, r, full); ok {
		return l.JoinFacts(l.Dim(own), story), nil
	}
	all := termtext.Width(joinPointsAs(l, r.points, len(r.points), l.briefestPoint))
	shown, rest := r.points, []retake.Point(nil)
	if r.heavy && full < all {
		n := countFitting(l, r.points, full)
		shown, rest = r.points[:n], pointsNotInFlags(l, r, n)
	}
	flags := slices.Clone(r.flags)
	if len(flags) > 0 {
		flags[0].word = "" // it has a column
	}
	second = secondLines(l, c.title+2+c.flag+2+c.verify+c.files+2+c.story, flags, rest)
	return l.JoinFacts(l.Dim(own), drawPoints(l, shown, full, r.place.Replaced)), second
}

// changesInOneLine returns what changed and the reason of a flag in one column, if that fits.
func changesInOneLine(l Style, r row, room int) (string, bool) {
	reason, points := "", r.points
	if len(r.flags) == 1 {
		reason, points = r.flags[0].why, pointsNotInFlags(l, r, 0)
	}
	if reason != "" && len(points) > 0 {
		room -= termtext.Width(l.Separator())
	}
	room -= termtext.Width(reason)
	all := termtext.Width(joinPointsAs(l, points, len(points), l.briefestPoint))
	least := min(all, termtext.Width(joinPointsAs(l, points, 1, l.briefestPoint)))
	if len(r.flags) > 1 || room < least || r.heavy && room < all {
		return "", false
	}
	return l.JoinFacts(drawPoints(l, points, room, r.place.Replaced), l.Dim(reason)), true
}

// countFitting returns how many points fit in whole, at least one.
func countFitting(l Style, ps []retake.Point, width int) int {
	n := len(ps)
	for n > 1 && termtext.Width(joinPointsAs(l, ps[:n], n, l.briefestPoint)) > width {
		n--
	}
	return n
}

// secondLines are the flags, each with its reason, and points: behind the last flag when
// all of them fit there.
func secondLines(l Style, width int, flags []flag, points []retake.Point) []string {
	var out []string
	for _, f := range flags {
		if f.word != "" || f.why != "" {
			out = append(out, flagLines(l, f, width)...)
		}
	}
	if len(points) == 0 {
		return out
	}
	if len(out) > 0 {
		last := &out[len(out)-1]
		if room := width - l.ShownWidth(*last) - termtext.Width(l.Separator()); termtext.Width(joinPointsAs(l, points, len(points), l.briefestPoint)) <= room {
			*last += l.Dim(l.Separator()) + drawPoints(l, points, room, true)
			return out
		}
	}
	return append(out, pointLines(l, points, width)...)
}

// pointsNotInFlags returns the points that no reason of a flag mentions already. Deletions are
// always returned.
func pointsNotInFlags(l Style, r row, from int) []retake.Point {
	return slices.DeleteFunc(slices.Clone(r.points[from:]), func(p retake.Point) bool {
		return p.Theme != retake.ThemeDeleted && slices.ContainsFunc(r.flags, func(f flag) bool { return mentions(f.why, l.EscapeText(p.Text)) })
	})
}

// mentions reports whether a reason names a point, as whole words: ".env −KEY", "config.json".
func mentions(why, point string) bool {
	if point == "" {
		return false
	}
	bare := strings.NewReplacer(",", " ", ";", " ")
	words := func(s string) string { return " " + strings.Join(strings.Fields(bare.Replace(s)), " ") + " " }
	return strings.Contains(words(why), words(point))
}

// flagLines are a flag and its reason, in two lines at most.
func flagLines(l Style, f flag, width int) []string {
	lead, room := "", width
	if f.word != "" {
		lead, room = f.color(f.word)+"  ", max(width-termtext.Width(f.word)-2, 10)
	}
	if termtext.Width(f.why) <= room {
		return []string{lead + l.Dim(f.why)}
	}
	why := glueKeys(f.why)
	first := Wrap(why, room)[0]
	rest := strings.TrimSpace(strings.TrimPrefix(why, first))
	first, rest = strings.ReplaceAll(first, noBreak, " "), strings.ReplaceAll(rest, noBreak, " ")
	out := []string{lead + l.Dim(l.Glyphs.Cut(first, room))}
	if rest != "" {
		out = append(out, strings.Repeat(" ", l.ShownWidth(lead))+l.Dim(l.Glyphs.Cut(rest, room)))
	}
	return out
}

// glueKeys holds a file and the keys behind it on one line: ".env −KEY +OTHER".
func glueKeys(why string) string {
	var b strings.Builder
	for i, w := range strings.Fields(why) {
		key := len(w) > 1 && (strings.HasPrefix(w, "−") || w[0] == '+' || w[0] == '-')
		switch {
		case i > 0 && key:
			b.WriteString(noBreak)
		case i > 0:
			b.WriteString(" ")
		}
		b.WriteString(w)
	}
	return b.String()
}

// pointLines are points in one line, or in two when the first has no room for all that
// matters.
func pointLines(l Style, ps []retake.Point, width int) []string {
	shown := countFitting(l, ps, width)
	if !view.AreWeighty(ps[shown:], "") {
		return []string{drawPoints(l, ps, width, true)}
	}
	return []string{drawPoints(l, ps[:shown], width, true), drawPoints(l, ps[shown:], width, true)}
}

// countRest counts the points that are not shown; the last may itself be a count of more.
func countRest(ps []retake.Point) int64 {
	n := int64(len(ps))
	if n == 0 {
		return 0
	}
	if count, ok := strings.CutSuffix(ps[n-1].Text, " more"); ok {
		if more, err := strconv.ParseInt(strings.ReplaceAll(count, ",", ""), 10, 64); err == nil {
			n += more - 1
		}
	}
	return n
}

// joinPoints are the first points in one line, with a count when there are more.
func joinPoints(l Style, ps []retake.Point, n int) string { return joinPointsAs(l, ps, n, l.pointText) }

func joinPointsAs(l Style, ps []retake.Point, n int, as func(retake.Point) string) string {
	var texts []string
	for _, p := range ps[:min(n, len(ps))] {
		texts = append(texts, as(p))
	}
	if more := countRest(ps[min(n, len(ps)):]); more > 0 {
		texts = append(texts, termtext.Count(more)+" more")
	}
	return strings.Join(texts, l.Separator())
}

// drawPoints joins as many as fit. At least the first is shown, cut if need be.
func drawPoints(l Style, ps []retake.Point, width int, shade bool) string {
	if len(ps) == 0 || width <= 0 {
		return ""
	}
	text := fitPoints(l, ps, width)
	if over := termtext.Width(text) - width; over > 0 {
		first := l.pointText(ps[0]) // the count behind it stays
		if !strings.HasPrefix(text, first) {
			first = l.briefestPoint(ps[0])
		}
		room := max(termtext.Width(first)-over, 1)
		text = l.Glyphs.Cut(l.Glyphs.Cut(squeezePoint(l, first, room), room)+strings.TrimPrefix(text, first), width)
	}
	paint := Unpainted
	if shade {
		paint = l.Dim
	}
	if rest, ok := strings.CutPrefix(text, deletedWord+" "); ok && ps[0].Theme == retake.ThemeDeleted {
		return l.Red(deletedWord) + paint(" "+rest)
	}
	return paint(text)
}

// fitPoints are as many points as have room, the first at least; they are made brief before one
// is left out.
func fitPoints(l Style, ps []retake.Point, width int) string {
	for n := len(ps); n > 1; n-- {
		for _, as := range []func(retake.Point) string{l.pointText, l.shorterPoint, l.briefestPoint} {
			if text := joinPointsAs(l, ps, n, as); termtext.Width(text) <= width {
				return text
			}
		}
	}
	if text := joinPoints(l, ps, 1); termtext.Width(text) <= width || ps[0].Theme != retake.ThemePackages {
		return text
	}
	return joinPointsAs(l, ps, 1, l.briefestPoint)
}

// shorterPoint is a point with one name behind a count of packages.
func (l Style) shorterPoint(p retake.Point) string {
	text := l.pointText(p)
	count, names, _ := strings.Cut(text, " (")
	if one, _, more := strings.Cut(names, ", "); more && p.Theme == retake.ThemePackages {
		return count + " (" + one + ")"
	}
	return text
}

// briefestPoint is a point with what matters least left out: names behind a count of packages, and
// what leads to a value.
func (l Style) briefestPoint(p retake.Point) string {
	text := l.pointText(p)
	if p.Theme == retake.ThemePackages {
		count, _, _ := strings.Cut(text, " (")
		return count
	}
	return squeezePoint(l, text, 0)
}

// squeezePoint shortens a point with a value before and after, and keeps the values: first the
// directory of the file goes, then the outer keys.
func squeezePoint(l Style, text string, room int) string {
	words := strings.Fields(text)
	if termtext.Width(text) <= room || len(words) < 5 || words[3] != l.Glyphs.Arrow {
		return text
	}
	words[0] = words[0][strings.LastIndex(words[0], "/")+1:]
	if short := strings.Join(words, " "); termtext.Width(short) <= room {
		return short
	}
	if i := strings.LastIndex(words[1], "."); i > 0 {
		words[1] = l.Glyphs.More + words[1][i+1:]
	}
	return strings.Join(words, " ")
}

func (l Style) pointText(p retake.Point) string {
	text := l.EscapeText(p.Text)
	if p.Plus > 0 {
		text += " +" + termtext.Count(p.Plus)
	}
	if p.Minus > 0 {
		text += " " + l.Glyphs.Minus + termtext.Count(p.Minus)
	}
	return text
}

// effectRows are what was done outside before a checkpoint, the newest on top. They are
// checkpoints of the world, so nothing takes them back.
func effectRows(l Style, c columns, r row) string {
	var b strings.Builder
	for i := len(r.effects) - 1; i >= 0; i-- {
		fmt.Fprintln(&b, strings.TrimRight(effectRow(l, c, r, r.effects[i]), " "))
	}
	return b.String()
}

func effectRow(l Style, c columns, r row, e retake.Effect) string {
	shade := Unpainted
	if r.place.Replaced {
		shade = l.Dim
	}
	line := drawGraphBelow(l, r.place, shade(l.Glyphs.Arrow), c.lanes) + shade(termtext.PadLeft(termtext.Escape(e.ID), c.number)) + "  " +
		l.Dim(termtext.Pad(l.ShortTime(e.Time), c.when)) + "  "
	room := min(c.title+2+c.verify+c.files-max(len(e.Word())-c.lead, 0), max(l.Width-l.ShownWidth(line)-2-len(e.Word()), 0))
	if c.wide {
		room = c.title
		if c.flag > 0 {
			room += 2 + c.flag
		}
		if c.who > 0 {
			line += l.Dim(termtext.Pad(l.Glyphs.Cut(termtext.Escape(view.AgentName(e.Agent)), c.who), c.who)) + "  "
		}
	}
	text := l.Glyphs.Cut(termtext.Escape(e.Text), room)
	line += shade(text) + strings.Repeat(" ", max(room-termtext.Width(text), 0)) + "  " + outcomeWord(l, e)
	if c.wide && e.Target != "" {
		line += strings.Repeat(" ", max(c.verify+c.files-len(e.Word()), 0)) + "  " + l.Dim(l.Glyphs.Cut(termtext.Escape(e.Target), c.story))
	}
	return line
}
