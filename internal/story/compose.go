package story

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
	"github.com/retake-dev/retake/internal/theme"
)

// Compose makes a title of facts, for a moment of which nobody said anything:
// "3 files in src/ edited", "dist/ built, 412 files".
func Compose(st retake.Story) string {
	d := digest(st)
	if len(d.tales) == 0 {
		if items := seen(d.facts); len(items) > 0 {
			return items[0].Note
		}
		return "nothing changed"
	}
	if list := of(st.Facts, retake.FactPackage); len(list) > 0 && len(d.pick(retake.ThemeDeleted, false)) == 0 {
		return d.brought(list)
	}
	list, text := d.headline()
	if rest := files(d.tales) - files(list); rest > 0 {
		text += ", " + screen.Count(rest) + " more"
	}
	return text
}

// brought is the title of what a manager of packages did, and of what else there is.
func (d *digester) brought(list []retake.Fact) string {
	d.packages()
	text := d.sections[0].points[0].Text
	if src := d.untold(retake.ThemeSource); len(src) > 0 {
		text += ", " + sum(src)
	}
	return text
}

// pick are the items of a theme; of deletions, those of what programs made or the others.
func (d *digester) pick(th retake.Theme, built bool) []*tale {
	var list []*tale
	for _, t := range d.tales {
		if t.theme == th && (th != retake.ThemeDeleted || built == (t.class == theme.Build)) {
			list = append(list, t)
		}
	}
	return list
}

// headline chooses what a title is about. What people lost is always said, and before the
// rest.
func (d *digester) headline() ([]*tale, string) {
	if lost := d.pick(retake.ThemeDeleted, false); len(lost) > 0 {
		if src := d.pick(retake.ThemeSource, false); len(src) > 0 {
			return append(lost, src...), sum(lost) + ", " + sum(src)
		}
		return lost, sum(lost)
	}
	for _, th := range []retake.Theme{retake.ThemeSource, retake.ThemeSettings, retake.ThemeDatabase} {
		if list := d.pick(th, false); len(list) > 0 {
			return list, sum(list)
		}
	}
	if list := d.pick(retake.ThemeBuild, false); len(list) > 0 {
		return list, built(list)
	}
	for _, th := range []retake.Theme{retake.ThemeDeleted, retake.ThemePackages} {
		if list := d.pick(th, true); len(list) > 0 {
			return list, sum(list)
		}
	}
	if list := d.pick(retake.ThemeGit, false); len(list) > 0 {
		return list, "git at work, " + count(files(list))
	}
	return d.tales, "only files that always move"
}

func built(list []*tale) string {
	dir := common(list)
	switch {
	case dir == "" && len(list) == 1:
		return list[0].item.Path + " built"
	case dir == "":
		return count(files(list)) + " built"
	}
	return dir + " built, " + count(files(list))
}

// sum says what happened to items of one theme, in one phrase.
func sum(list []*tale) string {
	verb := verbs[list[0].item.What]
	for _, t := range list {
		if t.item.What != list[0].item.What {
			verb = "changed"
		}
	}
	if it := list[0].item; len(list) == 1 {
		if it.From != "" {
			return it.From + " renamed to " + it.Path
		}
		if !strings.HasSuffix(it.Path, "/") || it.Files == 1 {
			return it.Path + " " + verb
		}
	}
	text := count(files(list))
	if dir := common(list); dir != "" && dir != "./" {
		text += " in " + dir
	}
	return text + " " + verb
}

var verbs = map[retake.Difference]string{
	retake.Added: "added", retake.Deleted: "deleted", retake.Edited: "edited", retake.Renamed: "renamed", retake.Moded: "with another mode", retake.Retyped: "of another kind",
}

func count(n int64) string {
	if n == 1 {
		return "1 file"
	}
	return screen.Count(n) + " files"
}
