package catalogtest

import (
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

func bury(t *testing.T, open Opener) {
	c := filled(t, open, 3)
	ctx, ws := t.Context(), workspaceID(1)
	two := stone(checkpoint(1, 2))
	two.Parent = checkpointID(1001)
	one := stone(checkpoint(1, 1))
	ok(t, c.Bury(ctx, ws, []retake.Tombstone{two, one}))

	stones, err := c.Tombstones(ctx, ws)
	ok(t, err)
	same(t, "tombstones", stones, []retake.Tombstone{one, two})
	_, err = c.Checkpoint(ctx, two.ID)
	isErr(t, err, catalog.ErrNotFound)
	_, err = c.ByNumber(ctx, ws, 2)
	isErr(t, err, catalog.ErrNotFound)
	all, err := c.ByPrefix(ctx, ws, string(two.ID))
	ok(t, err)
	same(t, "by prefix", all, nil)
	live, last, err := c.Counts(ctx, ws)
	ok(t, err)
	same(t, "counts", []int64{live, last}, []int64{1, 3})
	same(t, "notices", topics(t, c), []string{
		createdNotice(1001), createdNotice(1002), createdNotice(1003), forgottenNotice(1002), forgottenNotice(1001),
	})
}

func buryAgain(t *testing.T, open Opener) {
	c := filled(t, open, 1)
	first := stone(checkpoint(1, 1))
	again := first
	again.At = again.At.AddDate(1, 0, 0)
	ok(t, c.Bury(t.Context(), workspaceID(1), []retake.Tombstone{first, first}))
	ok(t, c.Bury(t.Context(), workspaceID(1), []retake.Tombstone{again}))
	ok(t, c.Bury(t.Context(), workspaceID(1), nil))
	stones, err := c.Tombstones(t.Context(), workspaceID(1))
	ok(t, err)
	same(t, "tombstones", stones, []retake.Tombstone{first})
	same(t, "notices", topics(t, c), []string{createdNotice(1001), forgottenNotice(1001)})
}

func buryUnknown(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx, ws := t.Context(), workspaceID(1)
	cp := checkpoint(1, 8)
	ok(t, c.Bury(ctx, ws, []retake.Tombstone{stone(cp)}))
	live, last, err := c.Counts(ctx, ws)
	ok(t, err)
	same(t, "counts", []int64{live, last}, []int64{0, 8})

	ok(t, c.Append(ctx, cp)) // it stays buried
	_, err = c.Checkpoint(ctx, cp.ID)
	isErr(t, err, catalog.ErrNotFound)
	same(t, "notices", topics(t, c), []string{forgottenNotice(1008)})
}

func buryKeepsNumbers(t *testing.T, open Opener) {
	c := filled(t, open, 2)
	ctx, ws := t.Context(), workspaceID(1)
	ok(t, c.Bury(ctx, ws, []retake.Tombstone{stone(checkpoint(1, 2))}))
	_, last, err := c.Counts(ctx, ws)
	ok(t, err)
	same(t, "last", last, 2)

	other := checkpoint(1, 9)
	other.Number = 2
	isErr(t, c.Append(ctx, other), catalog.ErrExists)
	isErr(t, c.Bury(ctx, ws, []retake.Tombstone{stone(other)}), catalog.ErrExists)
	ok(t, c.Append(ctx, checkpoint(1, 2)))
	_, err = c.ByNumber(ctx, ws, 2)
	isErr(t, err, catalog.ErrNotFound)
	ok(t, c.Append(ctx, checkpoint(1, 3)))
}

func buryAllOrNone(t *testing.T, open Opener) {
	c := filled(t, open, 3)
	ctx, ws := t.Context(), workspaceID(1)
	held := topics(t, c)
	wrongID := stone(checkpoint(1, 3))
	wrongID.ID = checkpointID(77)
	wrongNumber := stone(checkpoint(1, 3))
	wrongNumber.Number = 77
	for _, bad := range []retake.Tombstone{wrongID, wrongNumber} {
		isErr(t, c.Bury(ctx, ws, []retake.Tombstone{stone(checkpoint(1, 1)), bad}), catalog.ErrExists)
	}
	isErr(t, c.Bury(ctx, workspaceID(2), []retake.Tombstone{stone(checkpoint(1, 3))}), catalog.ErrExists)
	all, err := c.Page(ctx, retake.LogQuery{Workspace: ws})
	ok(t, err)
	same(t, "page", numbers(all), []int64{3, 2, 1})
	stones, err := c.Tombstones(ctx, ws)
	ok(t, err)
	same(t, "tombstones", stones, nil)
	same(t, "notices", topics(t, c), held)
}
