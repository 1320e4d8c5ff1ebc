package cli

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
	"github.com/retake-dev/retake/internal/theme"
)

// renderEnds names the two moments, and what is known to work there.
func renderEnds(l look, d retake.Comparison, known [2][]retake.Answer) string {
	places := 0
	for _, c := range []*retake.Checkpoint{d.From, d.To} {
		if c != nil {
			places = max(places, len(numeral(c.Number)))
		}
	}
	end := func(word string, c *retake.Checkpoint, none string, answers []retake.Answer) string {
		label := l.dim(screen.Pad(word, 6))
		if c == nil {
			return label + none + "\n"
		}
		text, _ := l.titled(*c, l.goals)
		num, lead := screen.PadLeft(numeral(c.Number), places), "  "+l.clock(c.Time)+"  "
		marks := ""
		if ms := gravest(l.badges(answers)); len(ms) > 0 {
			marks = strings.TrimRight(l.verifyCell(ms, min(badgesWidth(ms), 20), plainText), " ")
		}
		text = l.g.Cut(text, max(l.width-6-places-screen.Width(lead)-2-l.shownWidth(marks), 20))
		line := label + l.bold(num) + lead + text
		if marks != "" {
			line = l.ends(line, marks, l.shownWidth(line), l.shownWidth(marks))
		}
		return line + "\n"
	}
	return end("from", d.From, "nothing, before the first moment", known[0]) + end("to", d.To, "now", known[1])
}

const (
	statPath   = 34
	statNarrow = 30 // where notes need the room
	statCount  = 9
	statBar    = 16
	statNote   = 26
)

// renderStat lists the groups with counts of lines or bytes. A bar shows the
// share of the largest.
func renderStat(l look, gs []group, counts map[string]lineCount) string {
	return renderStatNoted(l, gs, counts, nil)
}

// renderStatNoted says beside a path what its change means, where it is known.
func renderStatNoted(l look, gs []group, counts map[string]lineCount, notes *statNotes) string {
	var most int64 = 1
	for path, n := range counts {
		if !notes.lock(path) && theme.Of(path).Theme() == retake.ThemeSource {
			most = max(most, n.plus+n.minus)
		}
	}
	width := l.statWidth(gs, statPath, statBar)
	if notes != nil {
		width = l.statWidth(gs, statNarrow, statNote)
	}
	var b strings.Builder
	for _, g := range gs {
		if g.what == retake.Timed {
			fmt.Fprintf(&b, "\n%s\n", l.dim("time only  "+number(int64(len(g.changes)), "path", "paths")))
			continue
		}
		fmt.Fprintf(&b, "\n%s  %s\n", l.groupWord(g.what, groupWords[g.what]), g.count())
		notes.begin(g.lines)
		middle := l.alike(shownPaths(g.lines), width)
		for _, line := range notes.order(g.lines, counts) {
			path := screen.Pad(l.pathCut(screen.Escape(line.path), width, middle), width)
			b.WriteString(statLine(l, g.what, line, counts, most, path, notes.of(g.what, line)))
		}
	}
	return b.String()
}

func shownPaths(lines []folded) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = screen.Escape(line.path)
	}
	return out
}

// statWidth is the column of paths: as wide as the longest, and no wider than
// leaves room for counts, and for a bar or a note.
func (l look) statWidth(gs []group, least, rest int) int {
	longest := least
	for _, g := range gs {
		for _, line := range g.lines {
			longest = max(longest, screen.Width(screen.Escape(line.path)))
		}
	}
	return min(longest, max(least, l.width-2*statCount-rest-6))
}

func statLine(l look, what retake.Difference, line folded, counts map[string]lineCount, most int64, path, note string) string {
	plus, minus, rest := "", "", ""
	n, counted := lineCount{}, false
	if line.change != nil {
		n, counted = counts[line.change.Path]
	}
	switch {
	case counted:
		if n.plus > 0 {
			plus = "+" + screen.Count(n.plus)
		}
		if n.minus > 0 {
			minus = l.g.Minus + screen.Count(n.minus)
		}
		rest = l.bar(n, most)
	case what == retake.Added && line.bytes > 0:
		plus = "+" + screen.Bytes(line.bytes)
	case what == retake.Deleted && line.bytes < 0:
		minus = l.g.Minus + screen.Bytes(-line.bytes)
	}
	if told := l.statRest(what, line, counted, note); told != "" {
		rest = told
	}
	text := "  " + path + l.green(screen.PadLeft(plus, statCount)) + l.red(screen.PadLeft(minus, statCount)) + "   " + rest
	return strings.TrimRight(text, " ") + "\n"
}

// statRest is what stands in the place of a bar: what a directory stands for, or what the
// change means.
func (l look) statRest(what retake.Difference, line folded, counted bool, note string) string {
	switch {
	case !counted && line.change == nil:
		sum := l.sum(folded{files: line.files, dirs: line.dirs})
		if note != "" {
			sum += ", " + note
		}
		return l.dim(sum)
	case note != "":
		return l.dim(note)
	case !counted && what != retake.Added && what != retake.Deleted:
		return l.remark(what, line, nil)
	}
	return ""
}

// tail cuts the beginning of a path that does not fit: its end tells more. The
// whole path is in --name-only and --json.
func (l look) tail(path string, width int) string {
	runes := []rune(path)
	for i := range runes {
		if rest := string(runes[i:]); screen.Width(rest) <= width-min(i, 1) {
			if i == 0 {
				return path
			}
			return l.g.More + rest
		}
	}
	return path
}

// bar is green and red by the lines of one file; each side that is not empty
// has at least one column. What is no source may have more lines than the most of it.
func (l look) bar(n lineCount, most int64) string {
	most = max(most, n.plus+n.minus)
	part := func(v int64) int {
		if v == 0 {
			return 0
		}
		return max(int(v*statBar/most), 1)
	}
	return l.green(strings.Repeat(l.g.Fill, part(n.plus))) + l.red(strings.Repeat(l.g.Fill, part(n.minus)))
}

// renderTotals is the last line: deletions before additions.
func renderTotals(l look, gs []group) string {
	if len(gs) == 0 {
		return "Nothing differs."
	}
	parts := []string{l.bold(files(total(gs)))}
	for _, g := range gs {
		if g.what == retake.Timed || g.files == 0 {
			continue
		}
		parts = append(parts, l.groupWord(g.what, screen.Count(g.files)+" "+groupWords[g.what]))
	}
	return strings.Join(parts, "  ")
}

// renderLines shows one file as lines, with a few around each change.
func renderLines(l look, c retake.Change, s sides) string {
	head := l.groupWord(c.What, groupWords[c.What]) + "  " + l.bold(screen.Escape(c.Path))
	if s.why != "" {
		return fmt.Sprintf("\n%s  %s\n", head, l.dim(s.why))
	}
	if isLink(&c) {
		return fmt.Sprintf("\n%s  %s\n", head, l.facts(linkText("was ", s.before), linkText("is ", s.after)))
	}
	edits := diffLines(splitLines(s.before), splitLines(s.after))
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s  %s\n", head, l.linesOf(countLines(edits)))
	for _, h := range hunks(edits) {
		n := countLines(h.edits)
		kept := int64(len(h.edits)) - n.plus - n.minus
		fmt.Fprintf(&b, "%s\n", l.dim(fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.before, kept+n.minus, h.after, kept+n.plus)))
		for _, e := range h.edits {
			b.WriteString(l.edit(e))
		}
	}
	return b.String()
}

// linkText shows where a link points; an end that is not there is empty.
func linkText(word, target string) string {
	if target == "" {
		return ""
	}
	return word + screen.Escape(target)
}

func (l look) edit(e edit) string {
	text, whole := strings.CutSuffix(e.line, "\n")
	line := string(e.op) + lineText(text)
	switch e.op {
	case '+':
		line = l.green(line)
	case '-':
		line = l.red(line)
	}
	if !whole {
		line += "\n" + l.dim(`\ no newline at the end`)
	}
	return line + "\n"
}

// renderNowGaps tells what of now was not compared.
func renderNowGaps(l look, gaps []retake.Gap) string {
	head := l.dim("left out by choice")
	if retake.Cover(gaps).Grade == retake.Partial {
		head = l.cyan(string(retake.Partial)) + "  now could not be read as a whole"
	}
	return "\n" + head + "\n" + gapLines(l, gaps, "  ")
}
