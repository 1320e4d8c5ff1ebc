package catalogtest

import (
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// snapshot is all that a catalog says about workspace 1, and of itself.
type snapshot struct {
	Workspaces []retake.WorkspaceState
	Page       []retake.Checkpoint
	Stones     []retake.Tombstone
	Pins       []retake.Pin
	Topics     []string
	Mark       string
	Live, Last int64
	Added      []catalog.Added
	Known      known
	Equal      []retake.Checkpoint
	Readings   map[catalog.ReadingKey][]byte
}

var someReading = catalog.ReadingKey{Object: "k0ffee", Reader: "npm/1"}

func readEverything(t *testing.T, c catalog.Catalog) snapshot {
	t.Helper()
	ctx, ws := t.Context(), workspaceID(1)
	var s snapshot
	var err error
	s.Workspaces, err = c.Workspaces(ctx)
	wantNoError(t, err)
	s.Page, err = c.Page(ctx, retake.LogQuery{Workspace: ws})
	wantNoError(t, err)
	s.Stones, err = c.Tombstones(ctx, ws)
	wantNoError(t, err)
	s.Pins, err = c.Pins(ctx, ws)
	wantNoError(t, err)
	s.Mark, err = c.Mark(ctx, "m")
	wantNoError(t, err)
	s.Live, s.Last, err = c.Counts(ctx, ws)
	wantNoError(t, err)
	s.Added, err = c.Added(ctx)
	wantNoError(t, err)
	s.Topics = pendingTopics(t, c)
	s.Known = readKnown(t, c)
	s.Equal, err = c.WithContent(ctx, ws, "c0ffee")
	wantNoError(t, err)
	s.Readings, err = c.Readings(ctx, []catalog.ReadingKey{someReading})
	wantNoError(t, err)
	return s
}

// populate puts a row into every table.
func populate(t *testing.T, c catalog.Catalog) {
	t.Helper()
	ctx, ws := t.Context(), workspaceID(1)
	wantNoError(t, c.PutWorkspace(ctx, workspace(1)))
	wantNoError(t, c.Append(ctx, checkpoint(1, 1)))
	wantNoError(t, c.Append(ctx, richCheckpoint(1, 2)))
	wantNoError(t, c.Bury(ctx, ws, []retake.Tombstone{newTombstone(checkpoint(1, 1))}))
	wantNoError(t, c.SetPins(ctx, ws, []retake.Pin{{Name: "p", Checkpoint: checkpointID(1002), Number: 2, Time: noon}}))
	wantNoError(t, c.SetMark(ctx, "m", "v"))
	wantNoError(t, c.PutNotes(ctx, notesFor(richCheckpoint(1, 2))))
	wantNoError(t, c.PutVerification(ctx, newVerification(richCheckpoint(1, 2), 1)))
	wantNoError(t, c.PutReadings(ctx, map[catalog.ReadingKey][]byte{someReading: []byte("read")}))
}

// testNamespacesApart: nothing that is done in one namespace shows in another, not
// for the same ids either.
func testNamespacesApart(t *testing.T, open Opener) {
	a, b := open(t, "a"), open(t, "b")
	ctx, ws := t.Context(), workspaceID(1)
	populate(t, a)
	full := readEverything(t, a)
	wantEqual(t, "the other namespace", readEverything(t, b), snapshot{})
	_, err := b.Checkpoint(ctx, checkpointID(1002))
	wantError(t, err, catalog.ErrNotFound)
	_, err = b.Workspace(ctx, ws)
	wantError(t, err, catalog.ErrNotFound)
	all, err := b.ByPrefix(ctx, ws, "cp_")
	wantNoError(t, err)
	wantEqual(t, "by prefix", all, nil)

	// The same ids, in another order of life and death.
	mine := checkpoint(1, 1)
	mine.Intent = "mine"
	wantNoError(t, b.Append(ctx, mine))
	wantNoError(t, b.Bury(ctx, ws, []retake.Tombstone{newTombstone(checkpoint(1, 2))}))
	got, err := b.Checkpoint(ctx, mine.ID)
	wantNoError(t, err)
	wantEqual(t, "same id", got, mine)
	wantNoError(t, b.PutNotes(ctx, catalog.Notes{Workspace: ws, Checkpoint: mine.ID, Gist: retake.Gist{Head: "abc1"}}))
	wantNoError(t, b.PutVerification(ctx, newVerification(mine, 101))) // the id of the other
	wantNoError(t, b.PutReadings(ctx, map[catalog.ReadingKey][]byte{someReading: []byte("mine")}))
	bare, err := a.Bare(ctx, ws, 0, 0)
	wantNoError(t, err)
	wantEqual(t, "without a gist", bare, nil)
	head, err := a.ByHead(ctx, ws, "abc1")
	wantNoError(t, err)
	wantEqual(t, "by head", head.Number, 2)
	wantNoError(t, b.SetPins(ctx, ws, nil))
	wantNoError(t, b.SetMark(ctx, "m", "w"))
	notices, err := a.Pending(ctx, 0)
	wantNoError(t, err)
	for _, n := range notices {
		wantNoError(t, b.Take(ctx, []int64{n.ID}))
	}
	wantEqual(t, "the first namespace", readEverything(t, a), full)
}

func testResetOne(t *testing.T, open Opener) {
	a, b := open(t, "a"), open(t, "b")
	populate(t, a)
	populate(t, b)
	full := readEverything(t, a)
	if len(full.Known.Gists)*len(full.Known.Found)*len(full.Known.Mentions)*len(full.Known.Answers)*len(full.Readings) == 0 {
		t.Fatalf("rows are missing: %+v", full)
	}
	wantNoError(t, b.Reset(t.Context()))
	wantEqual(t, "the first namespace", readEverything(t, a), full)
	wantEqual(t, "the one that was reset", readEverything(t, b), snapshot{})
}

// testTwoHandles: two catalogs of one namespace are one.
func testTwoHandles(t *testing.T, open Opener) {
	one, two := open(t, "a"), open(t, "a")
	populate(t, one)
	wantEqual(t, "the other handle", readEverything(t, two), readEverything(t, one))
	wantNoError(t, two.Append(t.Context(), checkpoint(1, 3)))
	wantEqual(t, "the first handle", readEverything(t, one), readEverything(t, two))
}
