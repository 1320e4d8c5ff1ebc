// Package storetest is the suite that every store.Store passes.
//
// It speaks to the port only and knows nothing of any implementation: ids are
// opaque, times are given, and what the port leaves open is not asked for. It
// touches the store that the harness opens, and nothing else.
package storetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Harness is an empty store and what can be done to it from outside.
type Harness struct {
	Store store.Store
	// Reopen closes the store and opens it again; nil when it cannot be.
	Reopen func(t *testing.T) store.Store
	// Damage spoils the stored bytes of an object; nil when it cannot.
	Damage func(t *testing.T, id retake.ObjectID)
}

// Run runs the suite. open is called for each test and cleans up with t; it may
// be called from several tests at once.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	tests := []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"Files", testFiles}, {"Links", testLinks}, {"Dirs", testDirs}, {"WideDir", testWideDir},
		{"Summary", testSummary}, {"Metadata", testMetadata}, {"ManyWriters", testManyWriters},
		{"Seal", testSeal}, {"Numbers", testNumbers}, {"Unsealed", testUnsealed}, {"Closed", testClosed},
		{"Sequence", testSequence}, {"Leaves", testRecords}, {"Long", testLong}, {"Amend", testAmend}, {"Annotate", testAnnotate}, {"Revise", testRevise}, {"Erase", testErase},
		{"Forget", testForget}, {"Held", testForgetRequired}, {"Sweep", testSweep}, {"WriteAgain", testWriteAgain},
		{"SweepWaits", testSweepWaits}, {"SweepYields", testSweepYields}, {"Busy", testBusy}, {"TwoLines", testTwoHistories},
		{"Scrub", testScrub}, {"DamagedFile", testDamagedFile}, {"DamagedDir", testDamagedDir},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.run(t, open(t))
		})
	}
	t.Run("Unknown", func(t *testing.T) {
		t.Parallel()
		unknown(t, open(t).Store, open(t).Store)
	})
}

// testTimeout ends a test that waits for something that never comes.
const testTimeout = 30 * time.Second

var epoch = time.Date(2026, 3, 14, 15, 9, 26, 535897932, time.UTC)

func newWorkspace() retake.Workspace {
	id := retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString())
	return retake.Workspace{ID: id, Name: "trial", Root: "/trial", Dev: 7, Ino: 1 << 60, Created: epoch}
}

// testWriter is a writer whose errors end the test.
type testWriter struct {
	t  *testing.T
	ws retake.Workspace
	store.Writer
}

func beginWriter(t *testing.T, s store.Store, ws retake.Workspace) testWriter {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	w, err := s.Begin(ctx, ws)
	if err != nil {
		t.Fatalf("Begin: %v", err)
	}
	return testWriter{t, ws, w}
}

func (p testWriter) close() {
	p.t.Helper()
	if err := p.Close(); err != nil {
		p.t.Fatalf("Close: %v", err)
	}
}

func (p testWriter) writeFile(name string, b []byte) retake.Entry {
	p.t.Helper()
	id, n, err := p.WriteFile(p.t.Context(), name, bytes.NewReader(b))
	if err != nil {
		p.t.Fatalf("WriteFile %q: %v", name, err)
	}
	if n != int64(len(b)) {
		p.t.Fatalf("WriteFile %q answers %d bytes, want %d", name, n, len(b))
	}
	return retake.Entry{Name: name, Kind: retake.KindFile, Mode: 0o644, UID: 1000, GID: 1000, Size: n, ModTime: epoch.UnixNano(), Object: id}
}

func (p testWriter) writeDir(name string, entries ...retake.Entry) retake.Entry {
	p.t.Helper()
	id, sum, err := p.WriteDir(p.t.Context(), entries, epoch.UnixNano())
	if err != nil {
		p.t.Fatalf("WriteDir %q: %v", name, err)
	}
	return retake.Entry{Name: name, Kind: retake.KindDir, Mode: 0o755, UID: 1000, GID: 1000, ModTime: epoch.UnixNano(), Object: id, Sum: sum}
}

// sealFile seals a tree that holds one file with the given bytes.
func (p testWriter) sealFile(number int64, content []byte) retake.Card {
	p.t.Helper()
	return p.sealTree(number, p.writeDir("", p.writeFile("a", content)), nil)
}

func (p testWriter) sealTree(number int64, root retake.Entry, state map[string][]byte) retake.Card {
	p.t.Helper()
	card := newCard(p.ws, number, root)
	if err := p.Seal(p.t.Context(), store.SealRequest{Card: card, Files: root, State: state}); err != nil {
		p.t.Fatalf("Seal %d: %v", number, err)
	}
	return card
}

// newCard gives higher numbers earlier times: a store must not trust times.
func newCard(ws retake.Workspace, number int64, root retake.Entry) retake.Card {
	return retake.Card{V: retake.CardVersion, Checkpoint: retake.Checkpoint{
		ID:        retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()),
		Workspace: ws.ID,
		Number:    number,
		Time:      epoch.Add(-time.Duration(number) * time.Hour),
		Trigger:   retake.TriggerManual,
		Intent:    fmt.Sprintf("try %d\n\x1b[31m “again”", number),
		Tree:      root.Object,
		Content:   "content",
		Coverage:  retake.Cover([]retake.Gap{{Path: "dev/", Reason: retake.ReasonMount, Detail: "proc"}}),
		Files:     root.Sum.Files,
		Dirs:      root.Sum.Dirs,
		Bytes:     root.Sum.Bytes,
		Changed:   retake.Counts{Added: number},
		Policy:    retake.Policy{Exclude: []string{"*.o"}},
	}}
}

func newTombstone(card retake.Card) retake.Tombstone {
	c := card.Checkpoint
	return retake.Tombstone{Number: c.Number, ID: c.ID, Parent: c.Parent, Time: c.Time, At: epoch}
}

func reopen(t *testing.T, h Harness) store.Store {
	t.Helper()
	if h.Reopen == nil {
		return h.Store
	}
	return h.Reopen(t)
}

func readHead(t *testing.T, s store.Store, ws retake.Workspace) store.Head {
	t.Helper()
	h, err := s.Head(t.Context(), ws.ID)
	if err != nil {
		t.Fatalf("Head: %v", err)
	}
	return h
}

func readAll(ctx context.Context, s store.Store, id retake.ObjectID) (_ []byte, err error) {
	r, err := s.File(ctx, id)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	return io.ReadAll(r)
}

func wantBytes(t *testing.T, s store.Store, id retake.ObjectID, want []byte) {
	t.Helper()
	got, err := readAll(t.Context(), s, id)
	if err != nil {
		t.Fatalf("read %q: %v", id, err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("read %q: %d bytes that differ from the %d written", id, len(got), len(want))
	}
}

func wantDir(t *testing.T, s store.Store, id retake.ObjectID, want []retake.Entry) {
	t.Helper()
	got, err := s.Dir(t.Context(), id)
	if err != nil {
		t.Fatalf("Dir %q: %v", id, err)
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("Dir %q (-want +got):\n%s", id, d)
	}
}

// wantRecord reads the one-file tree of a checkpoint that pen.seal made.
func wantRecord(t *testing.T, s store.Store, card retake.Card, content []byte) {
	t.Helper()
	leaf, err := s.Record(t.Context(), card.Checkpoint.Workspace, card.Checkpoint.Number)
	if err != nil {
		t.Fatalf("Leaf %d: %v", card.Checkpoint.Number, err)
	}
	if d := cmp.Diff(card, leaf.Card, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("card %d (-want +got):\n%s", card.Checkpoint.Number, d)
	}
	entries, err := s.Dir(t.Context(), leaf.Files.Object)
	if err != nil || len(entries) != 1 {
		t.Fatalf("Dir of checkpoint %d: %v, %v", card.Checkpoint.Number, entries, err)
	}
	wantBytes(t, s, entries[0].Object, content)
}

// randomBytes is n bytes that do not compress, the same for the same seed.
func randomBytes(seed byte, n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	return b
}
