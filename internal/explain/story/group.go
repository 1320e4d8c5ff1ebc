package story

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// groupItem is an item while groups are built: one record, or a directory that stands for
// several.
type groupItem struct {
	retake.Item
	lock      bool
	build     bool
	env       bool
	tornFiles int64
}

// buildGroups groups the records by theme, in the order of themes. The group of the machine
// is built from facts.
func (t *storyBuilder) buildGroups() []retake.Group {
	by := map[retake.Theme][]*pathRecord{}
	for _, r := range t.records {
		by[r.theme] = append(by[r.theme], r)
	}
	out := []retake.Group{}
	for _, th := range retake.Themes {
		if th == retake.ThemeMachine {
			if items := machineItems(t.input.Facts, t.input.Full); len(items) > 0 {
				out = append(out, retake.Group{Theme: th, Items: items})
			}
			continue
		}
		if len(by[th]) > 0 {
			out = append(out, t.buildGroup(th, by[th]))
		}
	}
	return out
}

// buildGroup sums up the records of one theme, and folds them unless the story is full.
func (t *storyBuilder) buildGroup(th retake.Theme, list []*pathRecord) retake.Group {
	g := retake.Group{Theme: th}
	leaves := make([]groupItem, len(list))
	for i, r := range list {
		leaves[i] = r.toGroupItem()
		g.Files++
		g.Bytes += leaves[i].Bytes
		if !leaves[i].lock {
			g.Plus += r.plus
			g.Minus += r.minus
		}
	}
	if !t.input.Full {
		leaves = t.foldItems(th, leaves)
	}
	slices.SortFunc(leaves, itemOrder(th))
	g.Items = make([]retake.Item, len(leaves))
	for i := range leaves {
		g.Items[i] = leaves[i].Item
	}
	return g
}

func (r *pathRecord) toGroupItem() groupItem {
	l := groupItem{
		Item: retake.Item{Path: r.path, What: r.what, From: r.oldPath, Files: 1, Bytes: r.sizeDelta(), Plus: r.plus, Minus: r.minus, Note: strings.Join(r.notes, ", ")},
		lock: r.class == pathclass.Lock, build: r.class == pathclass.Build, env: r.class == pathclass.Env,
	}
	if r.torn {
		l.tornFiles = 1
	}
	return l
}

// itemOrder returns the order of the items of a theme: what people read before what
// programs made, most lines first, lock files last.
func itemOrder(th retake.Theme) func(a, b groupItem) int {
	return func(a, b groupItem) int {
		first := cmp.Or(compareBools(a.lock, b.lock), compareBools(a.build, b.build), compareBools(b.env, a.env))
		lines, files := cmp.Compare(b.Plus+b.Minus, a.Plus+a.Minus), cmp.Compare(b.Files, a.Files)
		if th == retake.ThemeDeleted {
			lines, files = files, lines
		}
		return cmp.Or(first, lines, files, cmp.Compare(a.Path, b.Path), cmp.Compare(a.From, b.From))
	}
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// combineItems makes one item of several: the directory stands for all of them.
func combineItems(dir string, list []groupItem) groupItem {
	out := groupItem{Item: retake.Item{Path: dir, What: list[0].What}, lock: true, build: true, env: true}
	lines := retake.Item{}
	for _, l := range list {
		if l.What != out.What {
			out.What = retake.Edited
		}
		out.Files += l.Files
		out.Bytes += l.Bytes
		out.tornFiles += l.tornFiles
		out.lock, out.build, out.env = out.lock && l.lock, out.build && l.build, out.env && l.env
		lines.Plus += l.Plus
		lines.Minus += l.Minus
		if !l.lock {
			out.Plus += l.Plus
			out.Minus += l.Minus
		}
	}
	if out.lock {
		out.Plus, out.Minus = lines.Plus, lines.Minus
	}
	out.Note = out.noteText()
	return out
}

// noteText returns the note of a directory: what holds for everything in it, and counts of
// the rest.
func (l *groupItem) noteText() string {
	var notes []string
	if l.build {
		notes = append(notes, noteBuild)
	}
	if l.lock {
		notes = append(notes, noteLock)
	}
	if l.tornFiles > 0 {
		notes = append(notes, strconv.FormatInt(l.tornFiles, 10)+" "+noteTorn)
	}
	return strings.Join(notes, ", ")
}
