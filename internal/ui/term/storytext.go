package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

const (
	storyIndent = 19 // where what is told begins
	storyPath   = 24
	storyRemark = 16
	groupLines  = 12 // of one theme, unless something was deleted
	gitLines    = 4  // the names of git's objects tell nobody anything
)

// storyWriter renders a story line by line.
type storyWriter struct {
	Style
	story retake.Story
	only  bool // facts only
	rest  string
	notes map[string][]string // by path
	lines []string
}

// renderStory renders what really changed. Rest is the command that lists what is not shown.
func renderStory(l Style, st retake.Story, rest string) string {
	head := "What it began with"
	if st.From != nil {
		head = fmt.Sprintf("What really changed since %d", st.From.Number)
	}
	out := fmt.Sprintf("\n%s  %s\n", l.Bold(head), CountFiles(st.Counts.Total()))
	b := newStoryWriter(l, st, rest)
	for _, theme := range retake.Themes {
		b.writeTheme(theme)
	}
	b.writeTimed()
	b.writeUnread()
	if len(b.lines) == 0 {
		return out
	}
	return out + "\n" + strings.Join(b.lines, "\n") + "\n"
}

// RenderFacts renders what changed besides source: packages, settings, databases, and what was
// seen on the machine.
func RenderFacts(l Style, st retake.Story) string {
	b := newStoryWriter(l, st, "")
	b.only = true
	for _, theme := range []retake.Theme{retake.ThemePackages, retake.ThemeSettings, retake.ThemeDatabase} {
		b.writeTheme(theme)
	}
	b.writeOtherFacts()
	b.writeTheme(retake.ThemeMachine)
	b.writeUnread()
	if len(b.lines) == 0 {
		return "\nNo package, setting, database or service differs.\n"
	}
	return "\n" + strings.Join(b.lines, "\n") + "\n"
}

func newStoryWriter(l Style, st retake.Story, rest string) *storyWriter {
	b := &storyWriter{Style: l, story: st, rest: rest, notes: map[string][]string{}}
	told := map[string]bool{} // modes that the story notes itself
	for _, g := range st.Groups {
		for _, it := range g.Items {
			told[it.Path] = strings.Contains(it.Note, "mode ")
		}
	}
	for _, f := range st.Facts {
		if note := b.pathNote(f); note != "" && (f.Kind != retake.FactMode || !told[f.Path]) {
			b.notes[f.Path] = append(b.notes[f.Path], note)
		}
	}
	return b
}

// pathNote is a fact that is told beside its path.
func (b *storyWriter) pathNote(f retake.Fact) string {
	switch f.Kind {
	case retake.FactSecret:
		if f.What == retake.Deleted {
			return ""
		}
		return b.Yellow("looks like a secret: " + b.EscapeText(f.Name))
	case retake.FactExecutable:
		if f.What == retake.Added {
			return b.Yellow("can be run by its name")
		}
	case retake.FactMode:
		return b.Yellow(strings.TrimSpace("mode " + b.fromTo(f)))
	default:
	}
	return ""
}

// fromTo is a value before and after.
func (b *storyWriter) fromTo(f retake.Fact) string {
	before, after := b.EscapeText(f.Before), b.EscapeText(f.After)
	switch {
	case before == "" || f.What == retake.Added:
		return after
	case after == "" || f.What == retake.Deleted:
		return before
	}
	return before + " " + b.Glyphs.Arrow + " " + after
}

// writeTheme writes one theme: its facts, then the paths that no fact mentions.
func (b *storyWriter) writeTheme(theme retake.Theme) {
	var g retake.Group
	for _, x := range b.story.Groups {
		if x.Theme == theme {
			g = x
		}
	}
	start := len(b.lines)
	told := map[string]bool{}
	switch theme {
	case retake.ThemePackages:
		b.writePackages(g, told)
	case retake.ThemeSettings, retake.ThemeDatabase:
		b.writeFactsByPath(theme, told)
	case retake.ThemeMachine:
		b.writeMachine()
	case retake.ThemeGit:
		b.writeGit(g, told)
	default:
	}
	if !b.only && (theme != retake.ThemeMachine || len(b.lines) == start) {
		b.writeItems(g, told, len(b.lines)-start)
	}
	if len(b.lines) > start {
		b.lines[start] = b.themeHeading(theme) + b.lines[start][len("  ")+themeColumn:]
	}
}

// writeGit writes what git did, and leaves out the files that git keeps that in.
func (b *storyWriter) writeGit(g retake.Group, told map[string]bool) {
	count := itemCountText(g.Files)
	for _, f := range b.story.Facts {
		if f.Kind != retake.FactGit {
			continue
		}
		b.writeHanging(count, "", b.EscapeText(f.GitWords()), Unpainted)
		count = ""
		for _, it := range g.Items {
			told[it.Path] = true
		}
	}
}

// themeColumn is the column of the themes.
const themeColumn = 9

// themeHeading puts the word of a theme where the first line of it has spaces.
func (b *storyWriter) themeHeading(theme retake.Theme) string {
	word := termtext.Pad(string(theme), themeColumn)
	switch theme {
	case retake.ThemeDeleted:
		word = b.Red(word)
	case retake.ThemeGit, retake.ThemeMoving, retake.ThemeMachine, retake.ThemeBuild:
		word = b.Dim(word)
	default:
		word = b.Bold(word)
	}
	return "  " + word
}

// writeLine adds a line with a count.
func (b *storyWriter) writeLine(count, text string) {
	b.lines = append(b.lines, strings.TrimRight("  "+strings.Repeat(" ", themeColumn)+termtext.PadLeft(count, storyIndent-4-themeColumn)+"  "+text, " "))
}

// writeHanging writes text after a lead, wrapped with a hanging indent.
func (b *storyWriter) writeHanging(count, lead, text string, paint func(string) string) {
	width := termtext.Width(lead)
	for i, line := range Wrap(text, max(b.Width-storyIndent-width, 20)) {
		if i > 0 {
			count, lead = "", strings.Repeat(" ", width)
			if width > storyPath {
				lead = "  "
			}
		}
		b.writeLine(count, paint(lead+strings.ReplaceAll(line, noBreak, " ")))
	}
}

// noBreak holds two words on one line; no text has it, because text is escaped.
const noBreak = "\ue000"

// writeItems lists the paths of a group that nothing was told of yet. Deletions are all there.
func (b *storyWriter) writeItems(g retake.Group, told map[string]bool, before int) {
	list := slices.DeleteFunc(slices.Clone(g.Items), func(it retake.Item) bool { return told[it.Path] })
	if len(list) == 0 {
		return
	}
	shown := len(list)
	room := max(groupLines-before, 3)
	if g.Theme == retake.ThemeGit {
		room = gitLines
	}
	if g.Theme != retake.ThemeDeleted && shown > room {
		shown = room - 1
	}
	c := b.fitItemColumns(list[:shown])
	count := itemCountText(countItemFiles(list))
	if before == 0 {
		count = itemCountText(g.Files)
	}
	for _, it := range list[:shown] {
		b.writeItem(count, b.itemText(it, c, g), strings.Join(b.notes[it.Path], ", "))
		count = ""
	}
	if shown < len(list) {
		b.writeLine(count, b.Dim(fmt.Sprintf("and %s more: %s", CountFiles(countItemFiles(list[shown:])), b.rest)))
	}
}

// writeItem puts a note behind an item, or below it where it does not fit.
func (b *storyWriter) writeItem(count, line, note string) {
	all := strings.TrimRight(line, " ") + "  " + note
	switch {
	case note == "":
		b.writeLine(count, line)
	case b.ShownWidth(all) <= b.Width-storyIndent:
		b.writeLine(count, all)
	default:
		b.writeLine(count, line)
		b.writeLine("", "  "+note)
	}
}

func countItemFiles(list []retake.Item) int64 {
	var n int64
	for _, it := range list {
		n += it.Files
	}
	return n
}

func itemCountText(n int64) string {
	if n == 0 {
		return ""
	}
	return termtext.Count(n)
}

// itemColumns are the widths of a list of paths.
type itemColumns struct {
	path, plus, minus int
	middle            bool // paths are cut in the middle: their ends are the same
}

func (b *storyWriter) fitItemColumns(list []retake.Item) itemColumns {
	c := itemColumns{path: storyPath, plus: 5, minus: 3}
	for _, it := range list {
		c.path = max(c.path, termtext.Width(b.itemPath(it)))
		c.plus = max(c.plus, len(termtext.Count(it.Plus))+2)
		c.minus = max(c.minus, len(termtext.Count(it.Minus))+1)
	}
	c.path = min(c.path, max(storyPath, b.Width-storyIndent-c.plus-1-c.minus-3-storyRemark))
	paths := make([]string, len(list))
	for i, it := range list {
		paths[i] = b.itemPath(it)
	}
	c.middle = cutTheSame(b.Style, paths, c.path)
	return c
}

func (b *storyWriter) itemPath(it retake.Item) string {
	if it.From != "" {
		return b.itemName(it.From) + " " + b.Glyphs.Arrow + " " + b.itemName(it.Path)
	}
	return b.itemName(it.Path)
}

func (b *storyWriter) itemName(path string) string { return termtext.Escape(path) }

func (b *storyWriter) itemText(it retake.Item, c itemColumns, g retake.Group) string {
	path := b.itemPath(it)
	var remarks []string
	if it.From != "" && termtext.Width(path) > c.path {
		path = b.itemName(it.Path)
		remarks = append(remarks, b.Dim("was "+b.itemName(it.From)))
	}
	path = termtext.Pad(b.CutPath(path, c.path, c.middle), c.path)
	remarks = append(remarks, b.itemRemarks(it, g)...)
	text := strings.Join(remarks, b.Dim(", "))
	if it.Plus == 0 && it.Minus == 0 {
		return path + "  " + text
	}
	plus, minus := "", ""
	if it.Plus > 0 {
		plus = "+" + termtext.Count(it.Plus)
	}
	if it.Minus > 0 {
		minus = b.Glyphs.Minus + termtext.Count(it.Minus)
	}
	return path + b.Green(termtext.PadLeft(plus, c.plus)) + " " + b.Red(termtext.PadLeft(minus, c.minus)) + "   " + text
}

// itemRemarks are what can be told of a path beside its lines.
func (b *storyWriter) itemRemarks(it retake.Item, g retake.Group) []string {
	var out []string
	add := func(s string) {
		if s != "" {
			out = append(out, b.Dim(s))
		}
	}
	if it.What == retake.Deleted && g.Theme != retake.ThemeDeleted {
		out = append(out, b.Red(string(retake.Deleted))) // its heading does not say so
	}
	add(dirContentText(it, g))
	add(b.EscapeText(it.Note))
	lines := it.Plus > 0 || it.Minus > 0
	switch it.What {
	case retake.Added:
		if lines {
			add("new")
		}
	case retake.Moded, retake.Retyped:
		if it.Note == "" {
			add(string(it.What))
		}
		return out
	default:
	}
	if !lines && it.Bytes != 0 {
		add(termtext.Bytes(max(it.Bytes, -it.Bytes)))
	}
	return out
}

// writeTimed says how many paths have another time and nothing else.
func (b *storyWriter) writeTimed() {
	if n := b.story.Counts.Timed; n > 0 {
		b.lines = append(b.lines, "  "+b.Dim(termtext.Pad("time only", themeColumn)+termtext.PadLeft(termtext.Count(n), storyIndent-4-themeColumn)+"  only the time of modification"))
	}
}

// writeUnread says what could not be read for its meaning: it is not the whole truth then.
func (b *storyWriter) writeUnread() {
	for i, u := range b.story.Unread {
		if i == groupLines && len(b.story.Unread) > groupLines+1 {
			b.writeLine("", b.Cyan(fmt.Sprintf("and %s more could not be read, --json", termtext.Count(int64(len(b.story.Unread)-i)))))
			return
		}
		text := "could not be read: " + b.EscapeText(u.Path) + ", " + b.EscapeText(u.Why)
		if u.Path == "." {
			text = "what it means could not be read: " + b.EscapeText(u.Why)
		}
		b.writeHanging("", "", text, b.Cyan)
	}
}
