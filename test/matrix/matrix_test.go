//go:build linux

package matrix_test

import (
	"flag"
	"maps"
	"slices"
	"testing"

	"github.com/retake-dev/retake/test/matrix"
)

var full = flag.Bool("full", false, "ask with all forms of all ids in all fields, with several seeds")

// No key reaches what its role, its workspaces or its namespace do not allow.
func TestEveryOperationWithEveryKey(t *testing.T) {
	t.Parallel()
	seeds, least := []uint64{1}, 1500
	if *full {
		seeds, least = []uint64{1, 2, 3}, 5000
	}
	var sum matrix.Report
	for i, seed := range seeds {
		b, err := matrix.Open(t.TempDir(), "../../docs/API.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range b.Unclassified() {
			t.Errorf("nobody has decided what %s names: see fields.go", f)
		}
		revoked := make(chan []string, 1)
		go func() { revoked <- b.Streams() }()
		r, err := b.Sweep(seed, *full)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, f := range slices.Concat(r.Failures, <-revoked) {
			t.Errorf("seed %d: %s", seed, f)
		}
		t.Logf("seed %d: %s; by place: %v; busy: %d", seed, r, r.Places, r.Busy)
		sum.Add(r)
		if i == 0 {
			checkHoles(t, b)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Log(sum.String())
	if sum.Tried < least || sum.Allowed < sum.Tried/10 || sum.Busy > sum.Tried/100 {
		t.Errorf("%s, %d busy: want at least %d, a tenth of them allowed", sum.String(), sum.Busy, least)
	}
}

// checkHoles is the control: each fault that is planted in front of the server must be seen.
func checkHoles(t *testing.T, b *matrix.Bed) {
	t.Helper()
	seen, err := b.Holes()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if seen[name] == 0 {
			t.Errorf("nobody sees the hole: %s", name)
		}
	}
	t.Logf("%d holes, all seen: %v", len(seen), seen)
}
