package kopia_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// What is kept in memory answers as the bucket does, within its bounds.
func TestNearbyIsTrue(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	blobs := map[string][]byte{}
	var ids []string
	for i := range 90 {
		id := fmt.Sprintf("%c%d", "qpx"[i%3], i)
		blobs[id] = randomBytes(uint64(i), []int{1, 5000, 256 << 10, 1<<20 + 7, 3 << 20}[r.IntN(5)])
		ids = append(ids, id)
	}
	read, held := kopia.Nearby(blobs)
	for range 4000 {
		id := ids[r.IntN(len(ids))]
		all := blobs[id]
		offset := r.Int64N(int64(len(all)))
		length := 1 + r.Int64N(min(int64(len(all))-offset, []int64{100, 9000, 300 << 10, 3 << 20}[r.IntN(4)]))
		want := all[offset : offset+length]
		if id[0] == 'x' {
			offset, length, want = 0, -1, all
		}
		got, err := read(id, offset, length)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s of %d bytes, %d from %d: %d bytes, %v", id, len(all), length, offset, len(got), err)
		}
		if n := held(); n < 0 || n > 32<<20 {
			t.Fatalf("%d bytes are held", n)
		}
	}
	if n := held(); n < 16<<20 {
		t.Errorf("only %d bytes are held: nothing was ever pushed out", n)
	}
	for _, id := range ids {
		if _, err := read(id, int64(len(blobs[id]))-1, 2); id[0] != 'x' && err == nil {
			t.Errorf("%s: more than there is was read", id)
		}
	}
	if _, err := read("q-none", 0, 10); err == nil {
		t.Error("a blob that is not there was read")
	}
}

// Directories lie together: to read many takes few requests.
func TestDirectoriesAreReadInPages(t *testing.T) {
	t.Parallel()
	f := newFakeS3(t)
	o := inBucket(t, f, false)
	y := newBucketSweepTest(t, o)
	ctx := t.Context()
	w, err := y.s.Begin(ctx, y.ws)
	if err != nil {
		t.Fatal(err)
	}
	var dirs []retake.Entry
	for i := range 50 {
		var entries []retake.Entry
		for n := range 400 {
			sum := sha256.Sum256(fmt.Append(nil, i, n))
			entries = append(entries, retake.Entry{Name: hex.EncodeToString(sum[:]), Kind: retake.KindDir, Mode: 0o700, Object: "k1234567890abcdef1234567890abcdef"})
		}
		id, sum, err := w.WriteDir(ctx, entries, 1)
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, retake.Entry{Name: fmt.Sprint(i), Kind: retake.KindDir, Object: id, Sum: sum})
	}
	id, sum, err := w.WriteDir(ctx, dirs, 1)
	if err != nil {
		t.Fatal(err)
	}
	cp := retake.Checkpoint{ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: y.ws.ID, Number: 1, Tree: id}
	if err := w.Seal(ctx, store.SealRequest{Card: retake.Card{V: 1, Checkpoint: cp}, Files: retake.Entry{Kind: retake.KindDir, Object: id, Sum: sum}}); err != nil {
		t.Fatal(err)
	}
	w.Close()
	s := createIn(t, o)
	f.requestCounts()
	for _, d := range dirs {
		if entries, err := s.Dir(ctx, d.Object); err != nil || len(entries) != 400 {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
	}
	got := f.requestCounts()
	t.Logf("50 directories: %v", got)
	if n := got["GET"]; n > 20 || n == 0 {
		t.Errorf("50 directories take %v", got)
	}
}
