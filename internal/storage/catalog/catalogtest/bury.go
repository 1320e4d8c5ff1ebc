package catalogtest

import (
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

func testBury(t *testing.T, open Opener) {
	c := openFilled(t, open, 3)
	ctx, ws := t.Context(), workspaceID(1)
	two := newTombstone(checkpoint(1, 2))
	two.Parent = checkpointID(1001)
	one := newTombstone(checkpoint(1, 1))
	wantNoError(t, c.Bury(ctx, ws, []retake.Tombstone{two, one}))

	stones, err := c.Tombstones(ctx, ws)
	wantNoError(t, err)
	wantEqual(t, "tombstones", stones, []retake.Tombstone{one, two})
	_, err = c.Checkpoint(ctx, two.ID)
	wantError(t, err, catalog.ErrNotFound)
	_, err = c.ByNumber(ctx, ws, 2)
	wantError(t, err, catalog.ErrNotFound)
	all, err := c.ByPrefix(ctx, ws, string(two.ID))
	wantNoError(t, err)
	wantEqual(t, "by prefix", all, nil)
	live, last, err := c.Counts(ctx, ws)
	wantNoError(t, err)
	wantEqual(t, "counts", []int64{live, last}, []int64{1, 3})
	wantEqual(t, "notices", pendingTopics(t, c), []string{
		createdNotice(1001), createdNotice(1002), createdNotice(1003), forgottenNotice(1002), forgottenNotice(1001),
	})
}

// What was added goes up with a checkpoint and down with its tombstone, once each.
func testAdded(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx := t.Context()
	added := func(ws, n int, key retake.KeyID, bytes int64) retake.Checkpoint {
		cp := checkpoint(ws, n)
		cp.Key, cp.NewBytes = key, bytes
		wantNoError(t, c.Append(ctx, cp))
		wantNoError(t, c.Append(ctx, cp))
		return cp
	}
	want := func(want ...catalog.Added) {
		t.Helper()
		got, err := c.Added(ctx)
		wantNoError(t, err)
		wantEqual(t, "added", got, append([]catalog.Added{}, want...))
	}
	want()
	one := added(1, 1, "key_1", 100)
	added(1, 2, "key_1", 20)
	added(1, 3, "", 3)
	added(2, 1, "key_2", 1<<40)
	want(catalog.Added{Workspace: workspaceID(1), Bytes: 3}, catalog.Added{Workspace: workspaceID(1), Key: "key_1", Bytes: 120},
		catalog.Added{Workspace: workspaceID(2), Key: "key_2", Bytes: 1 << 40})
	for range 2 {
		wantNoError(t, c.Bury(ctx, one.Workspace, []retake.Tombstone{newTombstone(one), newTombstone(checkpoint(1, 3))}))
	}
	wantNoError(t, c.Bury(ctx, workspaceID(2), []retake.Tombstone{newTombstone(checkpoint(2, 7))})) // never appended
	want(catalog.Added{Workspace: workspaceID(1), Key: "key_1", Bytes: 20}, catalog.Added{Workspace: workspaceID(2), Key: "key_2", Bytes: 1 << 40})
	wantNoError(t, c.Reset(ctx))
	want()
}

func testBuryAgain(t *testing.T, open Opener) {
	c := openFilled(t, open, 1)
	first := newTombstone(checkpoint(1, 1))
	again := first
	again.At = again.At.AddDate(1, 0, 0)
	wantNoError(t, c.Bury(t.Context(), workspaceID(1), []retake.Tombstone{first, first}))
	wantNoError(t, c.Bury(t.Context(), workspaceID(1), []retake.Tombstone{again}))
	wantNoError(t, c.Bury(t.Context(), workspaceID(1), nil))
	stones, err := c.Tombstones(t.Context(), workspaceID(1))
	wantNoError(t, err)
	wantEqual(t, "tombstones", stones, []retake.Tombstone{first})
	wantEqual(t, "notices", pendingTopics(t, c), []string{createdNotice(1001), forgottenNotice(1001)})
}

func testBuryUnknown(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx, ws := t.Context(), workspaceID(1)
	cp := checkpoint(1, 8)
	wantNoError(t, c.Bury(ctx, ws, []retake.Tombstone{newTombstone(cp)}))
	live, last, err := c.Counts(ctx, ws)
	wantNoError(t, err)
	wantEqual(t, "counts", []int64{live, last}, []int64{0, 8})

	wantNoError(t, c.Append(ctx, cp)) // it stays buried
	_, err = c.Checkpoint(ctx, cp.ID)
	wantError(t, err, catalog.ErrNotFound)
	wantEqual(t, "notices", pendingTopics(t, c), []string{forgottenNotice(1008)})
}

func testBuryKeepsNumbers(t *testing.T, open Opener) {
	c := openFilled(t, open, 2)
	ctx, ws := t.Context(), workspaceID(1)
	wantNoError(t, c.Bury(ctx, ws, []retake.Tombstone{newTombstone(checkpoint(1, 2))}))
	_, last, err := c.Counts(ctx, ws)
	wantNoError(t, err)
	wantEqual(t, "last", last, 2)

	other := checkpoint(1, 9)
	other.Number = 2
	wantError(t, c.Append(ctx, other), catalog.ErrExists)
	wantError(t, c.Bury(ctx, ws, []retake.Tombstone{newTombstone(other)}), catalog.ErrExists)
	wantNoError(t, c.Append(ctx, checkpoint(1, 2)))
	_, err = c.ByNumber(ctx, ws, 2)
	wantError(t, err, catalog.ErrNotFound)
	wantNoError(t, c.Append(ctx, checkpoint(1, 3)))
}

func testBuryAllOrNone(t *testing.T, open Opener) {
	c := openFilled(t, open, 3)
	ctx, ws := t.Context(), workspaceID(1)
	held := pendingTopics(t, c)
	wrongID := newTombstone(checkpoint(1, 3))
	wrongID.ID = checkpointID(77)
	wrongNumber := newTombstone(checkpoint(1, 3))
	wrongNumber.Number = 77
	for _, bad := range []retake.Tombstone{wrongID, wrongNumber} {
		wantError(t, c.Bury(ctx, ws, []retake.Tombstone{newTombstone(checkpoint(1, 1)), bad}), catalog.ErrExists)
	}
	wantError(t, c.Bury(ctx, workspaceID(2), []retake.Tombstone{newTombstone(checkpoint(1, 3))}), catalog.ErrExists)
	all, err := c.Page(ctx, retake.LogQuery{Workspace: ws})
	wantNoError(t, err)
	wantEqual(t, "page", checkpointNumbers(all), []int64{3, 2, 1})
	stones, err := c.Tombstones(ctx, ws)
	wantNoError(t, err)
	wantEqual(t, "tombstones", stones, nil)
	wantEqual(t, "notices", pendingTopics(t, c), held)
}
