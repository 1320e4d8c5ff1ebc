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

// book is a story in the making, line by line.
type book struct {
	Look
	story retake.Story
	only  bool // facts only
	rest  string
	notes map[string][]string // by path
	lines []string
}

// renderStory tells what really changed. Rest is the command that lists what is not shown.
func renderStory(l Look, st retake.Story, rest string) string {
	head := "What it began with"
	if st.From != nil {
		head = fmt.Sprintf("What really changed since %d", st.From.Number)
	}
	out := fmt.Sprintf("\n%s  %s\n", l.Bold(head), Files(st.Counts.Total()))
	b := newBook(l, st, rest)
	for _, theme := range retake.Themes {
		b.theme(theme)
	}
	b.timed()
	b.unread()
	if len(b.lines) == 0 {
		return out
	}
	return out + "\n" + strings.Join(b.lines, "\n") + "\n"
}

// RenderFacts tells what changed around the source: packages, settings, databases, and
// what was seen on the machine.
func RenderFacts(l Look, st retake.Story) string {
	b := newBook(l, st, "")
	b.only = true
	for _, theme := range []retake.Theme{retake.ThemePackages, retake.ThemeSettings, retake.ThemeDatabase} {
		b.theme(theme)
	}
	b.otherFacts()
	b.theme(retake.ThemeMachine)
	b.unread()
	if len(b.lines) == 0 {
		return "\nNo package, setting, database or service differs.\n"
	}
	return "\n" + strings.Join(b.lines, "\n") + "\n"
}

func newBook(l Look, st retake.Story, rest string) *book {
	b := &book{Look: l, story: st, rest: rest, notes: map[string][]string{}}
	told := map[string]bool{} // modes that the story notes itself
	for _, g := range st.Groups {
		for _, it := range g.Items {
			told[it.Path] = strings.Contains(it.Note, "mode ")
		}
	}
	for _, f := range st.Facts {
		if note := b.note(f); note != "" && (f.Kind != retake.FactMode || !told[f.Path]) {
			b.notes[f.Path] = append(b.notes[f.Path], note)
		}
	}
	return b
}

// note is a fact that is told beside its path.
func (b *book) note(f retake.Fact) string {
	switch f.Kind {
	case retake.FactSecret:
		if f.What == retake.Deleted {
			return ""
		}
		return b.Yellow("looks like a secret: " + b.Words(f.Name))
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
func (b *book) fromTo(f retake.Fact) string {
	before, after := b.Words(f.Before), b.Words(f.After)
	switch {
	case before == "" || f.What == retake.Added:
		return after
	case after == "" || f.What == retake.Deleted:
		return before
	}
	return before + " " + b.Glyphs.Arrow + " " + after
}

// theme tells one theme: its facts, then the paths that no fact speaks of.
func (b *book) theme(theme retake.Theme) {
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
		b.packages(g, told)
	case retake.ThemeSettings, retake.ThemeDatabase:
		b.byPath(theme, told)
	case retake.ThemeMachine:
		b.machine()
	case retake.ThemeGit:
		b.git(g, told)
	default:
	}
	if !b.only && (theme != retake.ThemeMachine || len(b.lines) == start) {
		b.items(g, told, len(b.lines)-start)
	}
	if len(b.lines) > start {
		b.lines[start] = b.heading(theme) + b.lines[start][len("  ")+storyWord:]
	}
}

// git tells what git did, and not the files that it keeps that in.
func (b *book) git(g retake.Group, told map[string]bool) {
	count := shownCount(g.Files)
	for _, f := range b.story.Facts {
		if f.Kind != retake.FactGit {
			continue
		}
		b.hang(count, "", b.Words(f.GitWords()), PlainText)
		count = ""
		for _, it := range g.Items {
			told[it.Path] = true
		}
	}
}

// storyWord is the column of the themes.
const storyWord = 9

// heading puts the word of a theme where the first line of it has spaces.
func (b *book) heading(theme retake.Theme) string {
	word := termtext.Pad(string(theme), storyWord)
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

// say adds a line with a count.
func (b *book) say(count, text string) {
	b.lines = append(b.lines, strings.TrimRight("  "+strings.Repeat(" ", storyWord)+termtext.PadLeft(count, storyIndent-4-storyWord)+"  "+text, " "))
}

// hang adds text behind a lead. It is wrapped, and goes on below where it began.
func (b *book) hang(count, lead, text string, paint func(string) string) {
	width := termtext.Width(lead)
	for i, line := range Wrap(text, max(b.Width-storyIndent-width, 20)) {
		if i > 0 {
			count, lead = "", strings.Repeat(" ", width)
			if width > storyPath {
				lead = "  "
			}
		}
		b.say(count, paint(lead+strings.ReplaceAll(line, glue, " ")))
	}
}

// glue holds two words on one line; no text has it, because text is escaped.
const glue = "\ue000"

// items lists the paths of a group that nothing was told of yet. Deletions are all there.
func (b *book) items(g retake.Group, told map[string]bool, before int) {
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
	c := b.itemColumns(list[:shown])
	count := shownCount(filesOf(list))
	if before == 0 {
		count = shownCount(g.Files)
	}
	for _, it := range list[:shown] {
		b.sayItem(count, b.item(it, c, g), strings.Join(b.notes[it.Path], ", "))
		count = ""
	}
	if shown < len(list) {
		b.say(count, b.Dim(fmt.Sprintf("and %s more: %s", Files(filesOf(list[shown:])), b.rest)))
	}
}

// sayItem puts a note behind an item, or below it where it does not fit.
func (b *book) sayItem(count, line, note string) {
	all := strings.TrimRight(line, " ") + "  " + note
	switch {
	case note == "":
		b.say(count, line)
	case b.ShownWidth(all) <= b.Width-storyIndent:
		b.say(count, all)
	default:
		b.say(count, line)
		b.say("", "  "+note)
	}
}

func filesOf(list []retake.Item) int64 {
	var n int64
	for _, it := range list {
		n += it.Files
	}
	return n
}

func shownCount(n int64) string {
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

func (b *book) itemColumns(list []retake.Item) itemColumns {
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
	c.middle = b.alike(paths, c.path)
	return c
}

func (b *book) itemPath(it retake.Item) string {
	if it.From != "" {
		return b.itemName(it.From) + " " + b.Glyphs.Arrow + " " + b.itemName(it.Path)
	}
	return b.itemName(it.Path)
}

func (b *book) itemName(path string) string { return termtext.Escape(path) }

func (b *book) item(it retake.Item, c itemColumns, g retake.Group) string {
	path := b.itemPath(it)
	var remarks []string
	if it.From != "" && termtext.Width(path) > c.path {
		path = b.itemName(it.Path)
		remarks = append(remarks, b.Dim("was "+b.itemName(it.From)))
	}
	path = termtext.Pad(b.PathCut(path, c.path, c.middle), c.path)
	remarks = append(remarks, b.remarks(it, g)...)
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

// remarks are what can be told of a path beside its lines.
func (b *book) remarks(it retake.Item, g retake.Group) []string {
	var out []string
	add := func(s string) {
		if s != "" {
			out = append(out, b.Dim(s))
		}
	}
	if it.What == retake.Deleted && g.Theme != retake.ThemeDeleted {
		out = append(out, b.Red(string(retake.Deleted))) // its heading does not say so
	}
	add(heldBy(it, g))
	add(b.Words(it.Note))
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

// timed says how many paths have another time and nothing else.
func (b *book) timed() {
	if n := b.story.Counts.Timed; n > 0 {
		b.lines = append(b.lines, "  "+b.Dim(termtext.Pad("time only", storyWord)+termtext.PadLeft(termtext.Count(n), storyIndent-4-storyWord)+"  only the time of modification"))
	}
}

// unread says what could not be read for its meaning: it is not the whole truth then.
func (b *book) unread() {
	for i, u := range b.story.Unread {
		if i == groupLines && len(b.story.Unread) > groupLines+1 {
			b.say("", b.Cyan(fmt.Sprintf("and %s more could not be read, --json", termtext.Count(int64(len(b.story.Unread)-i)))))
			return
		}
		text := "could not be read: " + b.Words(u.Path) + ", " + b.Words(u.Why)
		if u.Path == "." {
			text = "what it means could not be read: " + b.Words(u.Why)
		}
		b.hang("", "", text, b.Cyan)
	}
}
