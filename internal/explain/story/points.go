package story

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Up to fewFiles files are named one by one; more are grouped by directory.
const (
	fewFiles  = 4
	mainShare = 40 // per cent of the lines make a file the one to name
	topFiles  = 3
)

// addDeleted adds points for deletions: files of people before build output.
func (d *gistBuilder) addDeleted() {
	d.startSection(retake.ThemeDeleted)
	var kept, built []*gistItem
	for _, t := range d.uncoveredItems(retake.ThemeDeleted) {
		if t.class == pathclass.Build {
			built = append(built, t)
		} else {
			kept = append(kept, t)
		}
	}
	d.addDeletedItems(kept)
	d.addDeletedItems(built)
}

// addDeletedItems adds one point for deleted items that share a directory or are many, else
// one for each.
func (d *gistBuilder) addDeletedItems(list []*gistItem) {
	dir := commonParent(list)
	switch {
	case len(list) == 0:
	case len(list) == 1:
		d.addPoint("deleted "+itemText(list[0].item), list[0])
	case dir != "":
		d.addPoint("deleted "+termtext.Count(countFiles(list))+" in "+dir, list...)
	case len(list) == 2:
		d.addPoint("deleted "+itemText(list[0].item), list[0])
		d.addPoint("deleted "+itemText(list[1].item), list[1])
	default:
		d.addPoint("deleted "+termtext.Count(countFiles(list))+" files", list...)
	}
}

// itemText names an item. A directory also says how many files it stands for.
func itemText(it retake.Item) string {
	if strings.HasSuffix(it.Path, "/") && it.Files > 1 {
		return termtext.Count(it.Files) + " in " + it.Path
	}
	return it.Path
}

// addSource names the files with most lines, and counts the rest by directory if no file
// dominates.
func (d *gistBuilder) addSource() {
	d.startSection(retake.ThemeSource)
	d.addModes(retake.ThemeSource)
	var list []*gistItem
	for _, t := range d.uncoveredItems(retake.ThemeSource) {
		if t.class != pathclass.Lock {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		for _, t := range d.uncoveredItems(retake.ThemeSource) {
			d.addFactPoint(t.item.Path, t)
		}
		return
	}
	if len(list) > fewFiles && !firstDominates(list) {
		list = d.addCrowdedDirs(list)
	}
	for i, t := range list {
		if i < topFiles {
			d.addPoint(changeText(t.item), t)
		}
	}
}

// firstDominates reports whether the first file has so many of the changed lines that it is
// the one to name.
func firstDominates(list []*gistItem) bool {
	lines := int64(0)
	for _, t := range list {
		lines += t.item.Plus + t.item.Minus
	}
	first := list[0].item
	return lines > 0 && !strings.HasSuffix(first.Path, "/") && 100*(first.Plus+first.Minus) >= mainShare*lines
}

// addCrowdedDirs adds one point for each directory that holds three or more of the files,
// and returns the items that are left.
func (d *gistBuilder) addCrowdedDirs(list []*gistItem) []*gistItem {
	for _, in := range groupByFirstDir(list) {
		if countFiles(in) >= 3 {
			d.addPoint(termtext.Count(countFiles(in))+" in "+commonParent(in), in...)
		}
	}
	return slices.DeleteFunc(list, func(t *gistItem) bool { return t.covered })
}

// groupByFirstDir groups items by their first directory, the fullest first. Renamed
// directories are left out: they have their own text.
func groupByFirstDir(list []*gistItem) [][]*gistItem {
	at := map[string]int{}
	var out [][]*gistItem
	for _, t := range list {
		top, _, ok := strings.Cut(t.item.Path, "/")
		if !ok || t.item.What == retake.Renamed && strings.HasSuffix(t.item.Path, "/") {
			continue
		}
		i, ok := at[top]
		if !ok {
			i = len(out)
			at[top] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], t)
	}
	slices.SortStableFunc(out, func(a, b []*gistItem) int { return cmp.Compare(countFiles(b), countFiles(a)) })
	return out
}

// changeText describes an item in a point: its path, and what happened to it if it was not
// simply edited.
func changeText(it retake.Item) string {
	switch {
	case it.What == retake.Renamed && it.From != "":
		from, to := it.From, it.Path
		if parentDir(from) == parentDir(to) && !strings.HasSuffix(to, "/") {
			from, to = baseName(from), baseName(to)
		}
		return "renamed " + from + arrow + to
	case it.What == retake.Moded && strings.HasPrefix(it.Note, "mode "):
		return it.Path + " " + strings.TrimPrefix(it.Note, "mode ")
	}
	return itemText(it)
}

// addModes adds points for changed permissions that facts report. Items that are already
// covered are skipped.
func (d *gistBuilder) addModes(th retake.Theme) {
	for _, f := range d.facts {
		t := d.itemByPath[f.Path]
		if f.Kind != retake.FactMode || t == nil || t.theme != th || t.covered || t.item.What != retake.Moded {
			continue
		}
		d.addPoint(f.Path+" "+f.Before+arrow+f.After, t)
	}
}

// addBuildOutput adds one point for each directory of build output.
func (d *gistBuilder) addBuildOutput() {
	d.startSection(retake.ThemeBuild)
	for _, in := range groupByTopDir(d.uncoveredItems(retake.ThemeBuild)) {
		text := itemText(in[0].item)
		if len(in) > 1 {
			text = termtext.Count(countFiles(in)) + " in " + commonParent(in)
		}
		if dir := commonParent(in); dir != "" && allChanged(in, retake.Added) && countFiles(in) > 1 {
			text = dir + " +" + termtext.Count(countFiles(in))
		}
		d.addPoint(text, in...)
	}
}

// groupByTopDir groups items by the directory that determines their class, the fullest
// first.
func groupByTopDir(list []*gistItem) [][]*gistItem {
	under := map[string][]*gistItem{}
	var tops []string
	for _, t := range list {
		top := pathclass.DecidingDir(t.item.Path)
		if top == "" {
			top = t.item.Path
		}
		if under[top] == nil {
			tops = append(tops, top)
		}
		under[top] = append(under[top], t)
	}
	out := make([][]*gistItem, len(tops))
	for i, top := range tops {
		out[i] = under[top]
	}
	slices.SortStableFunc(out, func(a, b []*gistItem) int { return cmp.Compare(countFiles(b), countFiles(a)) })
	return out
}

func allChanged(list []*gistItem, what retake.Difference) bool {
	return !slices.ContainsFunc(list, func(t *gistItem) bool { return t.item.What != what })
}

// addQuiet counts the files of a theme that nobody reads one by one; very few are named.
func (d *gistBuilder) addQuiet(th retake.Theme, words string) {
	d.startSection(th)
	list := d.uncoveredItems(th)
	switch {
	case len(list) == 0:
	case len(list) <= 2 && th == retake.ThemeMoving:
		for _, t := range list {
			d.addPoint(t.item.Path, t)
		}
	default:
		d.addPoint(termtext.Count(countFiles(list))+" "+words, list...)
	}
}
