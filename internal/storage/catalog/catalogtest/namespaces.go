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
	Known      known
	Equal      []retake.Checkpoint
	Readings   map[catalog.ReadingKey][]byte
}

var someReading = catalog.ReadingKey{Object: "k0ffee", Reader: "npm/1"}

func everything(t *testing.T, c catalog.Catalog) snapshot {
	t.Helper()
	ctx, ws := t.Context(), workspaceID(1)
	var s snapshot
	var err error
	s.Workspaces, err = c.Workspaces(ctx)
	ok(t, err)
	s.Page, err = c.Page(ctx, retake.LogQuery{Workspace: ws})
	ok(t, err)
	s.Stones, err = c.Tombstones(ctx, ws)
	ok(t, err)
	s.Pins, err = c.Pins(ctx, ws)
	ok(t, err)
	s.Mark, err = c.Mark(ctx, "m")
	ok(t, err)
	s.Live, s.Last, err = c.Counts(ctx, ws)
	ok(t, err)
	s.Topics = topics(t, c)
	s.Known = know(t, c)
	s.Equal, err = c.WithContent(ctx, ws, "c0ffee")
	ok(t, err)
	s.Readings, err = c.Readings(ctx, []catalog.ReadingKey{someReading})
	ok(t, err)
	return s
}

// populate puts a row into every table.
func populate(t *testing.T, c catalog.Catalog) {
	t.Helper()
	ctx, ws := t.Context(), workspaceID(1)
	ok(t, c.PutWorkspace(ctx, workspace(1)))
	ok(t, c.Append(ctx, checkpoint(1, 1)))
	ok(t, c.Append(ctx, rich(1, 2)))
	ok(t, c.Bury(ctx, ws, []retake.Tombstone{stone(checkpoint(1, 1))}))
	ok(t, c.SetPins(ctx, ws, []retake.Pin{{Name: "p", Checkpoint: checkpointID(1002), Number: 2, Time: noon}}))
	ok(t, c.SetMark(ctx, "m", "v"))
	ok(t, c.PutNotes(ctx, noted(rich(1, 2))))
	ok(t, c.PutVerification(ctx, answer(rich(1, 2), 1)))
	ok(t, c.PutReadings(ctx, map[catalog.ReadingKey][]byte{someReading: []byte("read")}))
}

// namespacesApart: nothing that is done in one namespace shows in another, not
// for the same ids either.
func namespacesApart(t *testing.T, open Opener) {
	a, b := open(t, "a"), open(t, "b")
	ctx, ws := t.Context(), workspaceID(1)
	populate(t, a)
	full := everything(t, a)
	same(t, "the other namespace", everything(t, b), snapshot{})
	_, err := b.Checkpoint(ctx, checkpointID(1002))
	isErr(t, err, catalog.ErrNotFound)
	_, err = b.Workspace(ctx, ws)
	isErr(t, err, catalog.ErrNotFound)
	all, err := b.ByPrefix(ctx, ws, "cp_")
	ok(t, err)
	same(t, "by prefix", all, nil)

	// The same ids, in another order of life and death.
	mine := checkpoint(1, 1)
	mine.Intent = "mine"
	ok(t, b.Append(ctx, mine))
	ok(t, b.Bury(ctx, ws, []retake.Tombstone{stone(checkpoint(1, 2))}))
	got, err := b.Checkpoint(ctx, mine.ID)
	ok(t, err)
	same(t, "same id", got, mine)
	ok(t, b.PutNotes(ctx, catalog.Notes{Workspace: ws, Checkpoint: mine.ID, Gist: retake.Gist{Head: "abc1"}}))
	ok(t, b.PutVerification(ctx, answer(mine, 101))) // the id of the other
	ok(t, b.PutReadings(ctx, map[catalog.ReadingKey][]byte{someReading: []byte("mine")}))
	bare, err := a.Bare(ctx, ws, 0, 0)
	ok(t, err)
	same(t, "without a gist", bare, nil)
	head, err := a.ByHead(ctx, ws, "abc1")
	ok(t, err)
	same(t, "by head", head.Number, 2)
	ok(t, b.SetPins(ctx, ws, nil))
	ok(t, b.SetMark(ctx, "m", "w"))
	notices, err := a.Pending(ctx, 0)
	ok(t, err)
	for _, n := range notices {
		ok(t, b.Take(ctx, []int64{n.ID}))
	}
	same(t, "the first namespace", everything(t, a), full)
}

func resetOne(t *testing.T, open Opener) {
	a, b := open(t, "a"), open(t, "b")
	populate(t, a)
	populate(t, b)
	full := everything(t, a)
	if len(full.Known.Gists)*len(full.Known.Found)*len(full.Known.Mentions)*len(full.Known.Answers)*len(full.Readings) == 0 {
		t.Fatalf("rows are missing: %+v", full)
	}
	ok(t, b.Reset(t.Context()))
	same(t, "the first namespace", everything(t, a), full)
	same(t, "the one that was reset", everything(t, b), snapshot{})
}

// twoHandles: two catalogs of one namespace are one.
func twoHandles(t *testing.T, open Opener) {
	one, two := open(t, "a"), open(t, "a")
	populate(t, one)
	same(t, "the other handle", everything(t, two), everything(t, one))
	ok(t, two.Append(t.Context(), checkpoint(1, 3)))
	same(t, "the first handle", everything(t, one), everything(t, two))
}
