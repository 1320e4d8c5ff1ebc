package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// maxThemeLines is how many lines a theme has.
const maxThemeLines = 3

// briefLine is one file, or directory, of a brief.
type briefLine struct {
	path  string
	files int64
	item  *retake.Item
	facts []retake.Fact
}

// RenderStoryBrief is a story in few lines for each theme, with a count for the rest. A line has
// the facts of its own file and of no other.
func RenderStoryBrief(l Style, st retake.Story) string {
	if len(st.Groups) == 0 && len(st.Facts) == 0 {
		return "  no file changed\n"
	}
	count, path := 3, 0
	lines := make([][]briefLine, len(st.Groups))
	for i, g := range st.Groups {
		count = max(count, len(termtext.Count(g.Files)))
		lines[i] = themeBrief(st, g)
		for _, x := range lines[i][:min(len(lines[i]), maxThemeLines)] {
			path = max(path, termtext.Width(termtext.Escape(x.path)))
		}
	}
	path = min(path, max(l.Width-2-9-2-count-2-30, 16))
	var b strings.Builder
	for i, g := range st.Groups {
		lead := "  " + l.Bold(termtext.Pad(string(g.Theme), 9)) + termtext.PadLeft(termtext.Count(g.Files), count)
		b.WriteString(drawBriefGroup(l, lead, g.Files, lines[i], path))
	}
	for _, f := range st.Flags {
		fmt.Fprintf(&b, "  %s  %s\n", l.magenta(termtext.Escape(f.Kind)), l.Dim(l.Glyphs.Cut(termtext.Escape(f.Why), max(l.Width-14, 20))))
	}
	return b.String()
}

// drawBriefGroup draws a theme behind its lead.
func drawBriefGroup(l Style, lead string, rest int64, lines []briefLine, path int) string {
	if len(lines) == 0 {
		return lead + "\n"
	}
	var b strings.Builder
	shown := lines[:min(len(lines), maxThemeLines)]
	paths := make([]string, len(shown))
	for i, x := range shown {
		paths[i] = termtext.Escape(x.path)
	}
	middle := cutTheSame(l, paths, path)
	for i, x := range shown {
		rest -= x.files
		line := lead + "  " + l.CutPath(paths[i], path, middle)
		room := l.Width - l.ShownWidth(lead) - path - 4 - 16
		if detail := briefLineDetail(l, x, room); detail != "" {
			line += strings.Repeat(" ", max(l.ShownWidth(lead)+2+path-l.ShownWidth(line), 0)) + "  " + detail
		}
		if i == len(shown)-1 && rest > 0 {
			line += "  " + l.Dim("and "+termtext.Count(rest)+" more")
		}
		b.WriteString(line + "\n")
		lead = strings.Repeat(" ", l.ShownWidth(lead))
	}
	return b.String()
}

// themeBrief are the lines of a theme: files with facts before those without. Packages and
// the machine are told as a whole, because their facts are of no single file.
func themeBrief(st retake.Story, g retake.Group) []briefLine {
	var out []briefLine
	at := map[string]int{}
	for _, f := range st.Facts {
		if themeOf(f) != g.Theme || !belongsToTheme(st, g.Theme, f.Path) {
			continue
		}
		key, line := f.Path, briefLine{path: f.Path, files: 1}
		if g.Theme == retake.ThemePackages || g.Theme == retake.ThemeMachine {
			key, line = "", briefLine{}
			if len(g.Items) > 0 {
				line = briefLine{path: g.Items[0].Path, files: g.Items[0].Files}
			}
		}
		i, ok := at[key]
		if !ok {
			i, at[key] = len(out), len(out)
			out = append(out, line)
		}
		out[i].facts = append(out[i].facts, f)
	}
	if g.Theme == retake.ThemeGit && len(out) > 0 { // its files say nothing more
		out[0].files = g.Files
		return out
	}
	for i, it := range g.Items {
		line := briefLine{path: it.Path, files: it.Files, item: &g.Items[i]}
		for _, x := range out {
			switch {
			case x.path == it.Path:
				line.files = 0
			case x.item == nil && strings.HasSuffix(it.Path, "/") && strings.HasPrefix(x.path, it.Path):
				line.files -= x.files
			}
		}
		if line.files > 0 {
			out = append(out, line)
		}
	}
	return out
}

// belongsToTheme reports whether no other theme tells of a path: what was deleted is told there.
func belongsToTheme(st retake.Story, theme retake.Theme, path string) bool {
	for _, g := range st.Groups {
		for _, it := range g.Items {
			if it.Path == path {
				return g.Theme == theme || theme == retake.ThemePackages || theme == retake.ThemeMachine
			}
		}
	}
	return true
}

// maxLineFacts is how many facts one line tells.
const maxLineFacts = 2

// briefLineDetail is what the changes of a file mean, or its lines.
func briefLineDetail(l Style, x briefLine, room int) string {
	if len(x.facts) > 0 {
		var facts []string
		for _, f := range x.facts[:min(maxLineFacts, len(x.facts))] {
			facts = append(facts, shortFact(l, f))
		}
		text := strings.Join(facts, ", ")
		if more := len(x.facts) - maxLineFacts; more > 0 {
			text += fmt.Sprintf(", %s more", termtext.Count(int64(more)))
		}
		return l.Glyphs.Cut(text, max(room, 16))
	}
	if x.item == nil {
		return ""
	}
	text := lineCountText(l, LineCount{Plus: x.item.Plus, Minus: x.item.Minus})
	if x.item.Note != "" {
		text = strings.TrimLeft(text+"  "+l.Dim(termtext.Escape(x.item.Note)), " ")
	}
	return text
}

// themeOf is where a fact is told; files tell most of them.
func themeOf(f retake.Fact) retake.Theme {
	switch {
	case strings.HasPrefix(f.Path, "/"):
		return retake.ThemeMachine
	case f.Kind == retake.FactPackage:
		return retake.ThemePackages
	case f.Kind == retake.FactGit:
		return retake.ThemeGit
	case f.Kind == retake.FactTable || f.Kind == retake.FactRows || f.Kind == retake.FactIndex:
		return retake.ThemeDatabase
	case f.Kind == retake.FactPort || f.Kind == retake.FactProfile:
		return retake.ThemeMachine
	case f.Kind == retake.FactEnv || f.Kind == retake.FactSetting || f.Kind == retake.FactUnit || f.Kind == retake.FactCron:
		return retake.ThemeSettings
	}
	return ""
}

// shortFact is one fact in a few words: +name value, −name, name before → after.
func shortFact(l Style, f retake.Fact) string {
	name := termtext.Escape(f.Name)
	switch f.Kind {
	case retake.FactGit:
		return l.EscapeText(f.GitWords())
	case retake.FactTable:
		name = "table " + name
	case retake.FactRows:
		name += " rows"
	case retake.FactIndex, retake.FactUnit, retake.FactCron:
		name = string(f.Kind) + " " + name
	default:
	}
	before, after := termtext.Escape(f.Before), termtext.Escape(f.After)
	switch f.What {
	case retake.Added:
		return strings.TrimRight("+"+name+" "+after, " ")
	case retake.Deleted:
		return l.Glyphs.Minus + name
	default:
	}
	if before == "" && after == "" {
		return name + " changed"
	}
	return name + "  " + TextOr(before, l.Glyphs.Dash) + " " + l.Glyphs.Arrow + " " + TextOr(after, l.Glyphs.Dash)
}

// isEmptyDir reports whether an item is a directory that came or went without a file in it.
// Of packages and of what was deleted, a directory may stand for one file below it.
func isEmptyDir(it retake.Item, th retake.Theme) bool {
	folds := th == retake.ThemePackages || th == retake.ThemeDeleted
	return strings.HasSuffix(it.Path, "/") && it.Files == 1 && it.Bytes == 0 && !folds &&
		(it.What == retake.Added || it.What == retake.Deleted)
}

// dirContentText is what a directory holds, where that is not said elsewhere.
func dirContentText(it retake.Item, g retake.Group) string {
	switch {
	case isEmptyDir(it, g.Theme):
		return "empty directory"
	case strings.HasSuffix(it.Path, "/") && (len(g.Items) > 1 || it.What == retake.Renamed) && it.Files > 0:
		return CountFiles(it.Files)
	}
	return ""
}
