package story

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// leaf is an item on its way: one record, or a directory of several.
type leaf struct {
	retake.Item
	lock  bool
	build bool
	env   bool
	torn  int64
}

// groups are the records by theme, in the order of themes. What the machine shows comes
// from facts.
func (t *teller) groups() []retake.Group {
	by := map[retake.Theme][]*record{}
	for _, r := range t.all {
		by[r.theme] = append(by[r.theme], r)
	}
	out := []retake.Group{}
	for _, th := range retake.Themes {
		if th == retake.ThemeMachine {
			if items := machine(t.in.Facts, t.in.Full); len(items) > 0 {
				out = append(out, retake.Group{Theme: th, Items: items})
			}
			continue
		}
		if len(by[th]) > 0 {
			out = append(out, t.group(th, by[th]))
		}
	}
	return out
}

func (t *teller) group(th retake.Theme, list []*record) retake.Group {
	g := retake.Group{Theme: th}
	leaves := make([]leaf, len(list))
	for i, r := range list {
		leaves[i] = r.leaf()
		g.Files++
		g.Bytes += leaves[i].Bytes
		if !leaves[i].lock {
			g.Plus += r.plus
			g.Minus += r.minus
		}
	}
	if !t.in.Full {
		leaves = t.fold(th, leaves)
	}
	slices.SortFunc(leaves, order(th))
	g.Items = make([]retake.Item, len(leaves))
	for i := range leaves {
		g.Items[i] = leaves[i].Item
	}
	return g
}

func (r *record) leaf() leaf {
	l := leaf{
		Item: retake.Item{Path: r.path, What: r.what, From: r.from, Files: 1, Bytes: r.bytes(), Plus: r.plus, Minus: r.minus, Note: strings.Join(r.notes, ", ")},
		lock: r.class == pathclass.Lock, build: r.class == pathclass.Build, env: r.class == pathclass.Env,
	}
	if r.torn {
		l.torn = 1
	}
	return l
}

// order sorts the items of a theme: what people read before what programs made, most lines
// first, lock files last.
func order(th retake.Theme) func(a, b leaf) int {
	return func(a, b leaf) int {
		first := cmp.Or(last(a.lock, b.lock), last(a.build, b.build), last(b.env, a.env))
		lines, files := cmp.Compare(b.Plus+b.Minus, a.Plus+a.Minus), cmp.Compare(b.Files, a.Files)
		if th == retake.ThemeDeleted {
			lines, files = files, lines
		}
		return cmp.Or(first, lines, files, cmp.Compare(a.Path, b.Path), cmp.Compare(a.From, b.From))
	}
}

func last(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// together makes one item of several: the directory stands for all of them.
func together(dir string, list []leaf) leaf {
	out := leaf{Item: retake.Item{Path: dir, What: list[0].What}, lock: true, build: true, env: true}
	lines := retake.Item{}
	for _, l := range list {
		if l.What != out.What {
			out.What = retake.Edited
		}
		out.Files += l.Files
		out.Bytes += l.Bytes
		out.torn += l.torn
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
	out.Note = out.notes()
	return out
}

// notes of a directory say what holds for all in it, and count the rest.
func (l *leaf) notes() string {
	var notes []string
	if l.build {
		notes = append(notes, noteBuild)
	}
	if l.lock {
		notes = append(notes, noteLock)
	}
	if l.torn > 0 {
		notes = append(notes, strconv.FormatInt(l.torn, 10)+" "+noteTorn)
	}
	return strings.Join(notes, ", ")
}
