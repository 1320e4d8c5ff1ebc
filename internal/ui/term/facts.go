package term

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

func (b *storyWriter) factsOfTheme(theme retake.Theme) []retake.Fact {
	var out []retake.Fact
	for _, f := range b.story.Facts {
		if themeOf(f) == theme {
			out = append(out, f)
		}
	}
	return out
}

// signedCount is a count with what happened to the things it counts.
func (b *storyWriter) signedCount(what retake.Difference, n int) string {
	switch what {
	case retake.Added:
		return "+" + termtext.Count(int64(n))
	case retake.Deleted:
		return b.Glyphs.Minus + termtext.Count(int64(n))
	default:
		return termtext.Count(int64(n))
	}
}

// writePackages writes for each kind of package what was added, removed and changed.
func (b *storyWriter) writePackages(g retake.Group, told map[string]bool) {
	runs := groupPackages(b.factsOfTheme(retake.ThemePackages))
	if len(runs) == 0 {
		return
	}
	for _, it := range g.Items {
		told[it.Path] = true
	}
	for i, run := range runs {
		text := b.packageNames(run)
		if i == len(runs)-1 && g.Files > 0 && !b.only {
			text += " " + strings.ReplaceAll(strings.TrimSpace(b.Separator())+" "+CountFiles(g.Files), " ", noBreak)
		}
		eco := b.EscapeText(run[0].Group)
		b.writeHanging(b.signedCount(run[0].What, len(run)), eco+"  ", text, Unpainted)
	}
}

// groupPackages groups packages by kind and by what happened to them: what went comes first.
func groupPackages(facts []retake.Fact) [][]retake.Fact {
	order := func(d retake.Difference) int {
		return slices.Index([]retake.Difference{retake.Deleted, retake.Added, retake.Edited}, d)
	}
	sorted := slices.Clone(facts)
	slices.SortStableFunc(sorted, func(a, b retake.Fact) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), order(a.What)-order(b.What))
	})
	var out [][]retake.Fact
	for i, f := range sorted {
		if i > 0 && sorted[i-1].Group == f.Group && sorted[i-1].What == f.What {
			out[len(out)-1] = append(out[len(out)-1], f)
			continue
		}
		out = append(out, []retake.Fact{f})
	}
	return out
}

// maxPackagesNamed is how many packages are named when nobody asked for them by name.
const maxPackagesNamed = 8

// packageNames names those that somebody asked for, and counts those that they need.
func (b *storyWriter) packageNames(run []retake.Fact) string {
	var direct []retake.Fact
	for _, f := range run {
		if f.Direct {
			direct = append(direct, f)
		}
	}
	named, word := direct, "they need"
	if len(direct) == 0 {
		named, word = run[:min(len(run), maxPackagesNamed)], "more"
	}
	names := make([]string, len(named))
	for i, f := range named {
		names[i] = b.EscapeText(f.Name)
		if v := b.fromTo(f); v != "" {
			names[i] += noBreak + strings.ReplaceAll(v, " ", noBreak)
		}
	}
	text := strings.Join(names, ", ")
	if more := len(run) - len(named); more > 0 {
		text += fmt.Sprintf(" and %s %s", termtext.Count(int64(more)), word)
	}
	return text
}

// writeFactsByPath writes the facts of a theme path by path.
func (b *storyWriter) writeFactsByPath(theme retake.Theme, told map[string]bool) {
	var paths []string
	by := map[string][]retake.Fact{}
	for _, f := range b.factsOfTheme(theme) {
		if by[f.Path] == nil {
			paths = append(paths, f.Path)
		}
		by[f.Path] = append(by[f.Path], f)
	}
	slices.Sort(paths)
	for _, p := range paths {
		told[p] = true
		if theme == retake.ThemeDatabase {
			b.writeDatabase(p, by[p])
		} else {
			b.writeSettings(p, by[p])
		}
	}
}

// commonDifference is what happened to all of some facts, or edited when it was not the same.
func commonDifference(facts []retake.Fact) retake.Difference {
	for _, f := range facts {
		if f.What != facts[0].What {
			return retake.Edited
		}
	}
	return facts[0].What
}

// markedName puts a sign before a name where not all had the same happen to them.
func (b *storyWriter) markedName(what, all retake.Difference, name string) string {
	if all == what {
		return name
	}
	switch what {
	case retake.Added:
		return "+" + name
	case retake.Deleted:
		return b.Glyphs.Minus + name
	default:
		return name
	}
}

// maxSettingLines is how many keys of one file have a line each.
const maxSettingLines = 6

// writeSettings writes the changes of one file: only keys if values may be secrets, else
// values too.
func (b *storyWriter) writeSettings(path string, facts []retake.Fact) {
	all := commonDifference(facts)
	name, count := b.EscapeText(path), b.signedCount(all, len(facts))
	var keys []string
	var valued []retake.Fact
	for _, f := range facts {
		if f.Kind == retake.FactEnv {
			keys = append(keys, b.markedName(f.What, all, b.EscapeText(f.Name)))
		} else {
			valued = append(valued, f)
		}
	}
	if len(keys) > 0 {
		b.writeEnvKeys(count, name, strings.Join(keys, ", "), b.secretNote(path))
		count = ""
	}
	if len(valued) > maxSettingLines {
		b.writeManyKeys(count, name, all, valued)
		return
	}
	width := termtext.Width(name) + 2
	for i, f := range valued {
		lead := termtext.Pad(name, width)
		if i > 0 {
			lead, count = strings.Repeat(" ", width), ""
		}
		text := b.markedName(f.What, all, b.settingName(f))
		b.writeLine(count, lead+text+"  "+b.Dim(b.Glyphs.Cut(b.fromTo(f), max(b.Width-storyIndent-width-termtext.Width(text)-2, 20))))
	}
}

// writeEnvKeys names the keys of a file, with a remark where there is room for it.
func (b *storyWriter) writeEnvKeys(count, name, keys, note string) {
	lead := termtext.Width(name) + 2
	if lead+termtext.Width(keys) > b.Width-storyIndent {
		b.writeHanging(count, name+"  ", keys, Unpainted)
		keys = ""
	}
	gap := strings.Repeat(" ", max(storyPath+2-lead-termtext.Width(keys), 2))
	if lead+termtext.Width(keys)+len(gap)+termtext.Width(note) > b.Width-storyIndent {
		note = strings.Replace(note, "value hidden", "hidden", 1)
	}
	switch {
	case keys == "":
	case lead+termtext.Width(keys)+len(gap)+termtext.Width(note) <= b.Width-storyIndent:
		b.writeLine(count, name+"  "+b.Bold(keys)+gap+b.Yellow(note))
		return
	default:
		b.writeLine(count, name+"  "+b.Bold(keys))
	}
	if note != "" {
		b.writeLine("", strings.Repeat(" ", lead)+b.Yellow(note))
	}
}

// Unpainted paints nothing.
func Unpainted(s string) string { return s }

// secretNote says of a file with keys that values look like secrets.
func (b *storyWriter) secretNote(path string) string {
	for _, f := range b.story.Facts {
		if f.Kind == retake.FactSecret && f.Path == path && f.What != retake.Deleted {
			return "looks like a secret, value hidden"
		}
	}
	return ""
}

func (b *storyWriter) settingName(f retake.Fact) string {
	switch f.Kind {
	case retake.FactUnit:
		return "unit " + b.EscapeText(f.Name)
	case retake.FactCron:
		return "cron " + b.EscapeText(f.Name)
	default:
		return b.EscapeText(f.Name)
	}
}

// writeManyKeys names the first keys of a file in which many changed, and counts the rest.
func (b *storyWriter) writeManyKeys(count, name string, all retake.Difference, facts []retake.Fact) {
	var keys []string
	for _, f := range facts[:maxSettingLines] {
		keys = append(keys, b.markedName(f.What, all, b.settingName(f)))
	}
	text := strings.Join(keys, ", ") + fmt.Sprintf(" and %s more", termtext.Count(int64(len(facts)-maxSettingLines)))
	b.writeHanging(count, name+"  ", text, Unpainted)
}
