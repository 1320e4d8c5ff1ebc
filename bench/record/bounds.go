package record

import (
	"fmt"
	"io"
)

// Limits of a quick run. Those on time are two to three times what a machine with two
// cores needs, and relative to git of the same run, so that a slow machine moves
// both. That on syncs is exact: one more is one more wait for the disk. Its median
// is held, because every fifteenth save packs the heads of the line together.
const (
	maxStoreSyncs  = 4
	openAllowance  = 400 // ms for a process to start and to open the store
	firstToGit     = 1.5
	saveToGit      = 3
	warmToGit      = 6
	storeToPayload = 4
)

// bound is a figure that must not be over its limit.
type bound struct {
	what       string
	got, limit float64
	unit       Unit
	there      bool
}

func (r *Record) bounds() []bound {
	out := []bound{
		syncBound(r, SyncsStore, maxStoreSyncs),
		syncBound(r, SyncsClose, 0),
		besideGit(r, First, First, firstToGit, openAllowance),
		besideGit(r, Random, Random, saveToGit, openAllowance),
		besideGit(r, Together, Together, saveToGit, openAllowance),
		besideGit(r, Same, Same, saveToGit, openAllowance),
		besideGit(r, WarmSave, Same, warmToGit, 0),
		besideGit(r, Flat, Flat, saveToGit, openAllowance),
		payloadBound(r),
	}
	if r.Find(TracedStore) != nil {
		out = append(out, syncBound(r, TracedStore, maxStoreSyncs))
	}
	return out
}

func syncBound(r *Record, key Key, limit float64) bound {
	b := bound{what: string(key), limit: limit, unit: Count}
	w := r.Find(key)
	if b.got, b.there = w.Median(Subject); b.there {
		b.what = w.Title
	}
	return b
}

func besideGit(r *Record, ours, gits Key, times, allowance float64) bound {
	b := bound{what: string(ours), unit: Millis}
	own, ok := r.Find(ours).Median(Subject)
	git, there := r.Find(gits).Median("git")
	if b.there = ok && there; b.there {
		b.what = fmt.Sprintf("%s: %g × git + %g ms", r.Find(ours).Title, times, allowance)
		b.got, b.limit = own, times*git+allowance
	}
	return b
}

func payloadBound(r *Record) bound {
	b := bound{what: string(RandomStore), unit: Bytes}
	w := r.Find(RandomStore)
	if b.got, b.there = w.Median(Subject); b.there {
		base, ok := Median(w.Base)
		b.what = fmt.Sprintf("the store grows by: %g × the compressed files", float64(storeToPayload))
		b.limit, b.there = storeToPayload*base, ok
	}
	return b
}

// Check prints every bound and reports whether all hold. What was not
// measured does not hold, unless git is not there to be measured beside.
func (r *Record) Check(w io.Writer) bool {
	fmt.Fprintln(w)
	held := true
	for _, b := range r.bounds() {
		word := "held"
		switch {
		case !b.there && b.unit == Millis:
			word = "not measured"
		case !b.there || b.got > b.limit:
			word, held = "BROKEN", false
		}
		fmt.Fprintf(w, "%-12s  %s: %.0f, limit %.0f %s\n", word, b.what, b.got, b.limit, b.unit)
	}
	return held
}
