package cli

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// storyBrief is a story in one line for each theme, with a count for the rest.
func storyBrief(l look, st retake.Story) string {
	if len(st.Groups) == 0 && len(st.Facts) == 0 {
		return "  no file changed\n"
	}
	count, path := 3, 0
	for _, g := range st.Groups {
		count = max(count, len(screen.Count(g.Files)))
		if len(g.Items) > 0 {
			path = max(path, screen.Width(screen.Escape(g.Items[0].Path)))
		}
	}
	path = min(path, max(l.width-2-9-2-count-2-30, 16))
	var b strings.Builder
	for _, g := range st.Groups {
		line := "  " + l.bold(screen.Pad(string(g.Theme), 9)) + screen.PadLeft(screen.Count(g.Files), count) + "  "
		rest := g.Files
		if len(g.Items) > 0 {
			line += screen.Pad(l.g.Cut(screen.Escape(g.Items[0].Path), path), path) + "  "
			rest -= g.Items[0].Files
		}
		line += briefDetail(l, st, g, l.width-l.shownWidth(line)-16)
		if rest > 0 && len(g.Items) > 0 {
			line += "  " + l.dim("and "+screen.Count(rest)+" more")
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, f := range st.Flags {
		fmt.Fprintf(&b, "  %s  %s\n", l.magenta(screen.Escape(f.Kind)), l.dim(l.g.Cut(screen.Escape(f.Why), max(l.width-14, 20))))
	}
	return b.String()
}

// briefFacts is how many facts one line tells.
const briefFacts = 2

// briefDetail is what the changes of a theme mean, or their lines.
func briefDetail(l look, st retake.Story, g retake.Group, room int) string {
	var facts []string
	for _, f := range st.Facts {
		if themeOf(f) == g.Theme {
			facts = append(facts, factBrief(l, f))
		}
	}
	if len(facts) > 0 {
		text := strings.Join(facts[:min(briefFacts, len(facts))], ", ")
		if more := len(facts) - briefFacts; more > 0 {
			text += fmt.Sprintf(", %s more", screen.Count(int64(more)))
		}
		return l.g.Cut(text, max(room, 16))
	}
	if len(g.Items) == 0 {
		return ""
	}
	it := g.Items[0]
	text := ""
	if it.Plus > 0 {
		text = l.green("+" + screen.Count(it.Plus))
	}
	if it.Minus > 0 {
		text = strings.TrimLeft(text+" "+l.red(l.g.Minus+screen.Count(it.Minus)), " ")
	}
	if it.Note != "" {
		text = strings.TrimLeft(text+"  "+l.dim(screen.Escape(it.Note)), " ")
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
	case f.Kind == retake.FactTable || f.Kind == retake.FactRows || f.Kind == retake.FactIndex:
		return retake.ThemeDatabase
	case f.Kind == retake.FactPort || f.Kind == retake.FactProfile:
		return retake.ThemeMachine
	case f.Kind == retake.FactEnv || f.Kind == retake.FactSetting || f.Kind == retake.FactUnit || f.Kind == retake.FactCron:
		return retake.ThemeSettings
	}
	return ""
}

// factBrief is one fact in a few words: +name value, −name, name before → after.
func factBrief(l look, f retake.Fact) string {
	name := screen.Escape(f.Name)
	switch f.Kind {
	case retake.FactTable:
		name = "table " + name
	case retake.FactRows:
		name += " rows"
	case retake.FactIndex, retake.FactUnit, retake.FactCron:
		name = string(f.Kind) + " " + name
	default:
	}
	before, after := screen.Escape(f.Before), screen.Escape(f.After)
	switch f.What {
	case retake.Added:
		return strings.TrimRight("+"+name+" "+after, " ")
	case retake.Deleted:
		return l.g.Minus + name
	default:
	}
	if before == "" && after == "" {
		return name + " changed"
	}
	return name + "  " + orWord(before, l.g.Dash) + " " + l.g.Arrow + " " + orWord(after, l.g.Dash)
}
