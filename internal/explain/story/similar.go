package story

import (
	"bytes"
	"context"
	"path"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// Bounds of looking for what was renamed and edited at once.
const (
	maxAlike      = 64 << 10 // bytes of a file
	maxCandidates = 300      // pairs that are compared
	minLines      = 4        // that are not empty; fewer prove nothing
	alike         = 60       // per cent of equal lines
	alikeByName   = 50       // when the name is the same
)

// couple is a path that went and one that came, and how many of their lines are equal.
type couple struct {
	went, came *record
	percent    int
}

// liken finds what was renamed and edited: small texts of which most lines are equal.
// Those that are most alike are paired first.
func (t *teller) liken(ctx context.Context) error {
	if t.in.Bytes == nil {
		return nil
	}
	list := t.candidates()
	found := list[:0]
	for _, c := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		need := alike
		if base(c.went.path) == base(c.came.path) {
			need = alikeByName
		}
		a, b := t.texts.small(ctx, c.went.before), t.texts.small(ctx, c.came.after)
		if c.percent = equalLines(a, b); c.percent > need {
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b couple) int { return b.percent - a.percent })
	for _, c := range found {
		if !c.went.gone && c.came.what == retake.Added {
			c.came.become(c.went)
		}
	}
	t.settle()
	return nil
}

// candidates are pairs worth reading: the same name, then the same suffix; never more
// than a few hundred.
func (t *teller) candidates() []couple {
	byName, bySuffix := map[string][]*record{}, map[string][]*record{}
	for _, r := range t.all {
		if r.what == retake.Deleted && r.likely(r.before) {
			byName[base(r.path)] = append(byName[base(r.path)], r)
			bySuffix[path.Ext(r.path)] = append(bySuffix[path.Ext(r.path)], r)
		}
	}
	if len(byName) == 0 {
		return nil
	}
	var list []couple
	add := func(named bool) {
		for _, r := range t.all {
			if r.what != retake.Added || !r.likely(r.after) {
				continue
			}
			from := bySuffix[path.Ext(r.path)]
			if named {
				from = byName[base(r.path)]
			}
			for _, w := range from {
				if len(list) == maxCandidates {
					return
				}
				if named == (base(w.path) == base(r.path)) && near(w.before.Size, r.after.Size) {
					list = append(list, couple{went: w, came: r})
				}
			}
		}
	}
	add(true)
	add(false)
	return list
}

func (r *record) likely(e *retake.Entry) bool {
	return e != nil && e.Kind == retake.KindFile && e.Object != "" && e.Size > 0 && e.Size <= maxAlike && own(r.class) && r.class != pathclass.Asset && r.class != pathclass.Lock && !pathclass.Binary(r.path)
}

// near sizes are those that a text with mostly equal lines can have.
func near(a, b int64) bool { return 2*min(a, b) >= max(a, b)*alikeByName/100 }

// equalLines is the share of lines, those that are empty left out, that two texts have in
// common; 0 for what is too short or no text.
func equalLines(a, b []byte) int {
	if binary(a) || binary(b) {
		return 0
	}
	count := map[string]int{}
	na, nb, both := 0, 0, 0
	for l := range bytes.Lines(a) {
		if l = bytes.TrimSpace(l); len(l) > 0 {
			count[string(l)]++
			na++
		}
	}
	for l := range bytes.Lines(b) {
		if l = bytes.TrimSpace(l); len(l) > 0 {
			nb++
			if count[string(l)] > 0 {
				count[string(l)]--
				both++
			}
		}
	}
	if min(na, nb) < minLines {
		return 0
	}
	return 200 * both / (na + nb)
}
