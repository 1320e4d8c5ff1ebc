package story

import (
	"bytes"
	"context"
	"path"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// Limits on looking for files that were renamed and edited at once.
const (
	maxSimilarSize            = 64 << 10 // bytes of a file
	maxSimilarPairs           = 300      // pairs that are compared
	minSimilarLines           = 4        // that are not empty; fewer prove nothing
	minSimilarPercent         = 60       // per cent of equal lines
	minSimilarPercentSameName = 50       // when the name is the same
)

// similarPair is a deleted and an added path, and the percentage of their lines that are
// equal.
type similarPair struct {
	deleted, added *pathRecord
	percent        int
}

// findSimilarRenames finds files that were renamed and edited: small texts most of whose
// lines are equal. The most similar ones are paired first.
func (t *storyBuilder) findSimilarRenames(ctx context.Context) error {
	if t.input.OpenObject == nil {
		return nil
	}
	list := t.similarPairs()
	found := list[:0]
	for _, c := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		need := minSimilarPercent
		if baseName(c.deleted.path) == baseName(c.added.path) {
			need = minSimilarPercentSameName
		}
		a, b := t.texts.readCached(ctx, c.deleted.before), t.texts.readCached(ctx, c.added.after)
		if c.percent = equalLinePercent(a, b); c.percent > need {
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b similarPair) int { return b.percent - a.percent })
	for _, c := range found {
		if !c.deleted.absorbed && c.added.what == retake.Added {
			c.added.markRenamedFrom(c.deleted)
		}
	}
	t.dropAbsorbed()
	return nil
}

// similarPairs returns the pairs worth comparing: equal names first, then equal suffixes,
// at most maxSimilarPairs.
func (t *storyBuilder) similarPairs() []similarPair {
	byName, bySuffix := map[string][]*pathRecord{}, map[string][]*pathRecord{}
	for _, r := range t.records {
		if r.what == retake.Deleted && r.canBeSimilar(r.before) {
			byName[baseName(r.path)] = append(byName[baseName(r.path)], r)
			bySuffix[path.Ext(r.path)] = append(bySuffix[path.Ext(r.path)], r)
		}
	}
	if len(byName) == 0 {
		return nil
	}
	var list []similarPair
	add := func(named bool) {
		for _, r := range t.records {
			if r.what != retake.Added || !r.canBeSimilar(r.after) {
				continue
			}
			from := bySuffix[path.Ext(r.path)]
			if named {
				from = byName[baseName(r.path)]
			}
			for _, w := range from {
				if len(list) == maxSimilarPairs {
					return
				}
				if named == (baseName(w.path) == baseName(r.path)) && isSimilarSize(w.before.Size, r.after.Size) {
					list = append(list, similarPair{deleted: w, added: r})
				}
			}
		}
	}
	add(true)
	add(false)
	return list
}

// canBeSimilar reports whether an entry is a small text file of people.
func (r *pathRecord) canBeSimilar(e *retake.Entry) bool {
	return e != nil && e.Kind == retake.KindFile && e.Object != "" && e.Size > 0 && e.Size <= maxSimilarSize && isUserContent(r.class) && r.class != pathclass.Asset && r.class != pathclass.Lock && !pathclass.IsBinary(r.path)
}

// isSimilarSize reports whether two texts of these sizes can have mostly equal lines.
func isSimilarSize(a, b int64) bool { return 2*min(a, b) >= max(a, b)*minSimilarPercentSameName/100 }

// equalLinePercent returns the percentage of non-empty lines that two texts have in common,
// or 0 if one of them is too short or is not a text.
func equalLinePercent(a, b []byte) int {
	if isBinary(a) || isBinary(b) {
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
	if min(na, nb) < minSimilarLines {
		return 0
	}
	return 200 * both / (na + nb)
}
