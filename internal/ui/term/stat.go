package term

import (
	"context"
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/secrets"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// ReadAnswers are what is known to work at a checkpoint; nothing when it cannot be told.
func ReadAnswers(ctx context.Context, s retake.Service, c *retake.Checkpoint) []retake.Answer {
	if c == nil {
		return nil
	}
	t, err := s.Log(ctx, retake.LogQuery{Workspace: c.Workspace, Before: c.Number + 1, Limit: 1})
	if err != nil {
		return nil
	}
	return t.Findings[c.ID].Answers
}

// SourceLinesText is how many lines of source came and went: what a person would read.
func SourceLinesText(l Style, st *retake.Story) string {
	if st == nil || st.Counts.Plus+st.Counts.Minus == 0 {
		return ""
	}
	return l.Dim("  "+l.Separator()+"  ") + lineCountText(l, LineCount{Plus: st.Counts.Plus, Minus: st.Counts.Minus}) + l.Dim(" lines to read")
}

// RenderEnds names the two checkpoints, and what is known to work there.
func RenderEnds(l Style, d retake.Comparison, known [2][]retake.Answer) string {
	places := 0
	for _, c := range []*retake.Checkpoint{d.From, d.To} {
		if c != nil {
			places = max(places, len(CheckpointNumber(c.Number)))
		}
	}
	end := func(word string, c *retake.Checkpoint, none string, answers []retake.Answer) string {
		label := l.Dim(termtext.Pad(word, 6))
		if c == nil {
			return label + none + "\n"
		}
		text, _ := l.CheckpointTitle(*c, l.Titles)
		num, lead := termtext.PadLeft(CheckpointNumber(c.Number), places), "  "+l.ShortTime(c.Time)+"  "
		marks := ""
		if ms := GravestBadges(l.Badges(answers)); len(ms) > 0 {
			marks = strings.TrimRight(l.VerificationCell(ms, min(badgesWidth(ms), 20), Unpainted), " ")
		}
		text = l.Glyphs.Cut(text, max(l.Width-6-places-termtext.Width(lead)-2-l.ShownWidth(marks), 20))
		line := label + l.Bold(num) + lead + text
		if marks != "" {
			line = l.AlignEnds(line, marks, l.ShownWidth(line), l.ShownWidth(marks))
		}
		return line + "\n"
	}
	return end("from", d.From, "nothing, before the first checkpoint", known[0]) + end("to", d.To, "now", known[1])
}

const (
	statPath   = 34
	statNarrow = 30 // where notes need the room
	statCount  = 9
	statBar    = 16
	statNote   = 26
)

// RenderStat lists the groups with counts of lines or bytes. A bar shows the
// share of the largest.
func RenderStat(l Style, gs []ChangeGroup, counts map[string]LineCount) string {
	return RenderStatNoted(l, gs, counts, nil)
}

// RenderStatNoted says beside a path what its change means, where it is known.
func RenderStatNoted(l Style, gs []ChangeGroup, counts map[string]LineCount, notes *statNotes) string {
	var most int64 = 1
	for path, n := range counts {
		if !notes.isLockFile(path) && pathclass.Of(path).Theme() == retake.ThemeSource {
			most = max(most, n.Plus+n.Minus)
		}
	}
	width := statPathWidth(l, gs, statPath, statBar)
	if notes != nil {
		width = statPathWidth(l, gs, statNarrow, statNote)
	}
	var b strings.Builder
	for _, g := range gs {
		if g.What == retake.Timed {
			fmt.Fprintf(&b, "\n%s\n", l.Dim("time only  "+CountNoun(int64(len(g.Changes)), "path", "paths")))
			continue
		}
		fmt.Fprintf(&b, "\n%s  %s\n", groupTitle(l, g.What, groupWords[g.What]), g.countText())
		notes.scanLines(g.lines)
		middle := cutTheSame(l, foldedPaths(g.lines), width)
		for _, line := range notes.sortLines(g.lines, counts) {
			path := termtext.Pad(l.CutPath(termtext.Escape(line.path), width, middle), width)
			b.WriteString(statLine(l, g.What, line, counts, most, path, notes.noteFor(g.What, line)))
		}
	}
	return b.String()
}

func foldedPaths(lines []foldedLine) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = termtext.Escape(line.path)
	}
	return out
}

// statPathWidth is the column of paths: as wide as the longest, and no wider than
// leaves room for counts, and for a bar or a note.
func statPathWidth(l Style, gs []ChangeGroup, least, rest int) int {
	longest := least
	for _, g := range gs {
		for _, line := range g.lines {
			longest = max(longest, termtext.Width(termtext.Escape(line.path)))
		}
	}
	return min(longest, max(least, l.Width-2*statCount-rest-6))
}

func statLine(l Style, what retake.Difference, line foldedLine, counts map[string]LineCount, most int64, path, note string) string {
	plus, minus, rest := "", "", ""
	n, counted := LineCount{}, false
	if line.change != nil {
		n, counted = counts[line.change.Path]
	}
	switch {
	case counted:
		if n.Plus > 0 {
			plus = "+" + termtext.Count(n.Plus)
		}
		if n.Minus > 0 {
			minus = l.Glyphs.Minus + termtext.Count(n.Minus)
		}
		rest = changeBar(l, n, most)
	case what == retake.Added && line.bytes > 0:
		plus = "+" + termtext.Bytes(line.bytes)
	case what == retake.Deleted && line.bytes < 0:
		minus = l.Glyphs.Minus + termtext.Bytes(-line.bytes)
	}
	lead := "  " + path + l.Green(termtext.PadLeft(plus, statCount)) + l.Red(termtext.PadLeft(minus, statCount)) + "   "
	if told := statRest(l, what, line, counted, note); told != "" {
		rest = wrapBelow(l, told, l.ShownWidth(lead))
	}
	return strings.TrimRight(lead+rest, " ") + "\n"
}

// wrapBelow breaks text that begins in a column and goes beyond the screen.
func wrapBelow(l Style, text string, column int) string {
	room := max(l.Width-column, 16)
	if l.ShownWidth(text) <= room {
		return text
	}
	lines := Wrap(StripANSI(text), room)
	for i, line := range lines {
		lines[i] = l.Dim(line)
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", column))
}

// statRest is what stands in the place of a bar: what a directory stands for, or what the
// change means.
func statRest(l Style, what retake.Difference, line foldedLine, counted bool, note string) string {
	switch {
	case !counted && line.change == nil:
		sum := foldedSum(l, foldedLine{files: line.files, dirs: line.dirs})
		if note != "" {
			sum += ", " + note
		}
		return l.Dim(sum)
	case note != "":
		return l.Dim(note)
	case !counted && what != retake.Added && what != retake.Deleted:
		return changeRemark(l, what, line, nil)
	}
	return ""
}

// cutPathStart cuts the beginning of a path that does not fit: its end tells more. The
// whole path is in --name-only and --json.
func cutPathStart(l Style, path string, width int) string {
	left := termtext.Width(path)
	if left <= width {
		return path
	}
	at := 0
	for c, w := range termtext.Characters(path) {
		if left <= width-1 {
			return l.Glyphs.More + path[at:]
		}
		at, left = at+len(c), left-w
	}
	return path
}

// changeBar is green and red by the lines of one file; each side that is not empty
// has at least one column. What is no source may have more lines than the most of it.
func changeBar(l Style, n LineCount, most int64) string {
	most = max(most, n.Plus+n.Minus)
	part := func(v int64) int {
		if v == 0 {
			return 0
		}
		return max(int(v*statBar/most), 1)
	}
	return l.Green(strings.Repeat(l.Glyphs.Fill, part(n.Plus))) + l.Red(strings.Repeat(l.Glyphs.Fill, part(n.Minus)))
}

// RenderTotals is the last line: deletions before additions.
func RenderTotals(l Style, gs []ChangeGroup) string {
	if len(gs) == 0 {
		return "Nothing differs."
	}
	parts := []string{l.Bold(CountFiles(countChangedFiles(gs)))}
	for _, g := range gs {
		if g.What == retake.Timed || g.files == 0 {
			continue
		}
		parts = append(parts, groupTitle(l, g.What, termtext.Count(g.files)+" "+groupWords[g.What]))
	}
	return strings.Join(parts, "  ")
}

// RenderLines shows one file as lines, with a few around each change.
func RenderLines(l Style, c retake.Change, s ChangeSides) string {
	head := groupTitle(l, c.What, groupWords[c.What]) + "  " + l.Bold(termtext.Escape(c.Path))
	if s.why != "" {
		return fmt.Sprintf("\n%s  %s\n", head, l.Dim(s.why))
	}
	if isLink(&c) {
		return fmt.Sprintf("\n%s  %s\n", head, l.JoinFacts(linkTargetLine("was ", s.before), linkTargetLine("is ", s.after)))
	}
	edits := DiffLines(SplitLines(s.before), SplitLines(s.after))
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s  %s\n", head, lineCountText(l, countLines(edits)))
	for _, h := range splitHunks(edits) {
		n := h.asHunk()
		fmt.Fprintf(&b, "%s\n", l.Dim(fmt.Sprintf("@@ -%d,%d +%d,%d @@", n.OldStart, n.OldLines, n.NewStart, n.NewLines)))
		for _, e := range h.edits {
			if s.masked {
				e.Line, _ = secrets.Mask(e.Line)
			}
			b.WriteString(drawEdit(l, e))
		}
	}
	return b.String()
}

// Hunks are the runs of changed lines of one file, as RenderLines shows them.
func (s ChangeSides) Hunks() []retake.Hunk {
	if s.why != "" {
		return nil
	}
	var out []retake.Hunk
	for _, h := range splitHunks(DiffLines(SplitLines(s.before), SplitLines(s.after))) {
		out = append(out, h.asHunk())
	}
	return out
}

// linkTargetLine shows where a link points; an end that is not there is empty.
func linkTargetLine(word, target string) string {
	if target == "" {
		return ""
	}
	return word + termtext.Escape(target)
}

func drawEdit(l Style, e Edit) string {
	text, whole := strings.CutSuffix(e.Line, "\n")
	line := string(e.Op) + EscapeLine(text)
	switch e.Op {
	case '+':
		line = l.Green(line)
	case '-':
		line = l.Red(line)
	}
	if !whole {
		line += "\n" + l.Dim(`\ no newline at the end`)
	}
	return line + "\n"
}

// RenderNowGaps renders which live paths were not compared.
func RenderNowGaps(l Style, gaps []retake.Gap) string {
	head := l.Dim("left out by choice")
	if retake.Cover(gaps).Grade == retake.Partial {
		head = l.Cyan(string(retake.Partial)) + "  current state could not be read completely"
	}
	return "\n" + head + "\n" + GapLines(l, gaps, "  ")
}
