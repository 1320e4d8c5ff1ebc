package story

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Where few files are told by name and many by their directory.
const (
	fewFiles  = 4
	mainShare = 40 // per cent of the lines make a file the one to name
	topFiles  = 3
)

// deleted tells what people kept before what programs made.
func (d *digester) deleted() {
	d.open(retake.ThemeDeleted)
	var kept, built []*tale
	for _, t := range d.untold(retake.ThemeDeleted) {
		if t.class == pathclass.Build {
			built = append(built, t)
		} else {
			kept = append(kept, t)
		}
	}
	d.gone(kept)
	d.gone(built)
}

func (d *digester) gone(list []*tale) {
	dir := common(list)
	switch {
	case len(list) == 0:
	case len(list) == 1:
		d.add("deleted "+inside(list[0].item), list[0])
	case dir != "":
		d.add("deleted "+termtext.Count(files(list))+" in "+dir, list...)
	case len(list) == 2:
		d.add("deleted "+inside(list[0].item), list[0])
		d.add("deleted "+inside(list[1].item), list[1])
	default:
		d.add("deleted "+termtext.Count(files(list))+" files", list...)
	}
}

// inside names an item; a directory says how much it stands for.
func inside(it retake.Item) string {
	if strings.HasSuffix(it.Path, "/") && it.Files > 1 {
		return termtext.Count(it.Files) + " in " + it.Path
	}
	return it.Path
}

// source names the files with most lines, and counts the rest by directory when no file
// stands out.
func (d *digester) source() {
	d.open(retake.ThemeSource)
	d.modes(retake.ThemeSource)
	var list []*tale
	for _, t := range d.untold(retake.ThemeSource) {
		if t.class != pathclass.Lock {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		for _, t := range d.untold(retake.ThemeSource) {
			d.plain(t.item.Path, t)
		}
		return
	}
	if len(list) > fewFiles && !standsOut(list) {
		list = d.crowds(list)
	}
	for i, t := range list {
		if i < topFiles {
			d.add(phrase(t.item), t)
		}
	}
}

// standsOut reports whether the first file has so many of the lines that the others are
// beside it.
func standsOut(list []*tale) bool {
	lines := int64(0)
	for _, t := range list {
		lines += t.item.Plus + t.item.Minus
	}
	first := list[0].item
	return lines > 0 && !strings.HasSuffix(first.Path, "/") && 100*(first.Plus+first.Minus) >= mainShare*lines
}

// crowds tells directories that hold three or more of the files as one point each, and
// answers what is left.
func (d *digester) crowds(list []*tale) []*tale {
	for _, in := range gather(list) {
		if files(in) >= 3 {
			d.add(termtext.Count(files(in))+" in "+common(in), in...)
		}
	}
	return slices.DeleteFunc(list, func(t *tale) bool { return t.told })
}

// gather are the items by their first directory, the fullest first. A directory that was
// renamed speaks for itself.
func gather(list []*tale) [][]*tale {
	at := map[string]int{}
	var out [][]*tale
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
	slices.SortStableFunc(out, func(a, b []*tale) int { return cmp.Compare(files(b), files(a)) })
	return out
}

// phrase is an item in a point: a path, and what happened when that is no edit.
func phrase(it retake.Item) string {
	switch {
	case it.What == retake.Renamed && it.From != "":
		from, to := it.From, it.Path
		if parent(from) == parent(to) && !strings.HasSuffix(to, "/") {
			from, to = base(from), base(to)
		}
		return "renamed " + from + arrow + to
	case it.What == retake.Moded && strings.HasPrefix(it.Note, "mode "):
		return it.Path + " " + strings.TrimPrefix(it.Note, "mode ")
	}
	return inside(it)
}

// modes tells permissions that changed, as facts know them; what was already told by its
// path is not told again.
func (d *digester) modes(th retake.Theme) {
	for _, f := range d.facts {
		t := d.paths[f.Path]
		if f.Kind != retake.FactMode || t == nil || t.theme != th || t.told || t.item.What != retake.Moded {
			continue
		}
		d.add(f.Path+" "+f.Before+arrow+f.After, t)
	}
}

// build tells what was built as one point for each directory.
func (d *digester) build() {
	d.open(retake.ThemeBuild)
	for _, in := range byTop(d.untold(retake.ThemeBuild)) {
		text := inside(in[0].item)
		if len(in) > 1 {
			text = termtext.Count(files(in)) + " in " + common(in)
		}
		if dir := common(in); dir != "" && all(in, retake.Added) && files(in) > 1 {
			text = dir + " +" + termtext.Count(files(in))
		}
		d.add(text, in...)
	}
}

// byTop gathers items by the directory that decides for them, the fullest first.
func byTop(list []*tale) [][]*tale {
	under := map[string][]*tale{}
	var tops []string
	for _, t := range list {
		top := pathclass.Top(t.item.Path)
		if top == "" {
			top = t.item.Path
		}
		if under[top] == nil {
			tops = append(tops, top)
		}
		under[top] = append(under[top], t)
	}
	out := make([][]*tale, len(tops))
	for i, top := range tops {
		out[i] = under[top]
	}
	slices.SortStableFunc(out, func(a, b []*tale) int { return cmp.Compare(files(b), files(a)) })
	return out
}

func all(list []*tale, what retake.Difference) bool {
	return !slices.ContainsFunc(list, func(t *tale) bool { return t.item.What != what })
}

// quiet counts the files of a theme that nobody reads one by one; a few are named.
func (d *digester) quiet(th retake.Theme, words string) {
	d.open(th)
	list := d.untold(th)
	switch {
	case len(list) == 0:
	case len(list) <= 2 && th == retake.ThemeMoving:
		for _, t := range list {
			d.add(t.item.Path, t)
		}
	default:
		d.add(termtext.Count(files(list))+" "+words, list...)
	}
}
