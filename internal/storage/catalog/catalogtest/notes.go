package catalogtest

import (
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

func pins(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx, ws := t.Context(), workspaceID(1)
	pin := func(name string, n int) retake.Pin {
		return retake.Pin{Name: name, Checkpoint: checkpointID(n), Number: int64(n), Time: noon}
	}
	see := func(want ...retake.Pin) {
		t.Helper()
		got, err := c.Pins(ctx, ws)
		ok(t, err)
		same(t, "pins", got, want)
	}
	see()
	ok(t, c.SetPins(ctx, ws, []retake.Pin{pin("good", 1), pin("Über", 2), pin("before it's", 1)}))
	see(pin("before it's", 1), pin("good", 1), pin("Über", 2))
	ok(t, c.SetPins(ctx, workspaceID(2), []retake.Pin{pin("good", 7)}))
	ok(t, c.SetPins(ctx, ws, []retake.Pin{pin("good", 3)}))
	see(pin("good", 3))
	isErr(t, c.SetPins(ctx, ws, []retake.Pin{pin("x", 1), pin("x", 2)}), catalog.ErrExists)
	see(pin("good", 3))
	ok(t, c.SetPins(ctx, ws, nil))
	see()
	got, err := c.Pins(ctx, workspaceID(2))
	ok(t, err)
	same(t, "pins of another workspace", got, []retake.Pin{pin("good", 7)})
}

// putsAgain: what is put as it is already stays as it is, and one thing that differs is
// enough to change it.
func putsAgain(t *testing.T, open Opener) {
	c := open(t, "a")
	populate(t, c)
	before := everything(t, c)
	ctx, ws := t.Context(), workspaceID(1)
	ok(t, c.PutWorkspace(ctx, workspace(1)))
	ok(t, c.SetPins(ctx, ws, before.Pins))
	ok(t, c.PutVerification(ctx, answer(rich(1, 2), 1)))
	same(t, "rows", everything(t, c), before)

	moved := workspace(1)
	moved.Root = "/home/caf\xe9"
	ok(t, c.PutWorkspace(ctx, moved))
	moved.Root = "/home/caf\xe8" // the same text to JSON
	ok(t, c.PutWorkspace(ctx, moved))
	got, err := c.Workspace(ctx, ws)
	ok(t, err)
	same(t, "root", []byte(got.Root), []byte(moved.Root))
	pin := before.Pins[0]
	pin.Time = pin.Time.Add(1)
	ok(t, c.SetPins(ctx, ws, []retake.Pin{pin}))
	pins, err := c.Pins(ctx, ws)
	ok(t, err)
	same(t, "pins", pins, []retake.Pin{pin})
	isErr(t, c.SetPins(ctx, ws, []retake.Pin{pin, pin}), catalog.ErrExists)
}

func outbox(t *testing.T, open Opener) {
	c := filled(t, open, 3)
	ctx := t.Context()
	ok(t, c.Bury(ctx, workspaceID(1), []retake.Tombstone{stone(checkpoint(1, 1))}))
	all, err := c.Pending(ctx, 0)
	ok(t, err)
	rising(t, all)
	same(t, "first notice", all[0], catalog.Notice{
		ID: all[0].ID, Topic: "checkpoint.created", Workspace: workspaceID(1), Checkpoint: checkpointID(1001),
		Time: checkpoint(1, 1).Time.Truncate(time.Microsecond),
	})
	same(t, "last notice", all[3], catalog.Notice{
		ID: all[3].ID, Topic: "checkpoint.forgotten", Workspace: workspaceID(1), Checkpoint: checkpointID(1001),
		Time: stone(checkpoint(1, 1)).At.Truncate(time.Microsecond),
	})
	two, err := c.Pending(ctx, 2)
	ok(t, err)
	same(t, "oldest two", two, all[:2])

	ok(t, c.Take(ctx, nil))
	ok(t, c.Take(ctx, []int64{all[0].ID, all[2].ID, all[3].ID, 1 << 60}))
	ok(t, c.Take(ctx, []int64{all[0].ID}))
	left, err := c.Pending(ctx, 0)
	ok(t, err)
	same(t, "left", left, all[1:2])

	// The number of a notice that was taken is not given again.
	ok(t, c.Take(ctx, []int64{all[1].ID}))
	ok(t, c.Append(ctx, checkpoint(1, 4)))
	left, err = c.Pending(ctx, 0)
	ok(t, err)
	rising(t, append(all, left...))
}

func rising(t *testing.T, all []catalog.Notice) {
	t.Helper()
	for i := 1; i < len(all); i++ {
		if all[i].ID <= all[i-1].ID {
			t.Fatalf("notice %d comes after %d", all[i].ID, all[i-1].ID)
		}
	}
}

func marks(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx := t.Context()
	long := strings.Repeat("x", 1<<16)
	for _, want := range []string{"", "one", "two", long, ""} {
		if want != "" {
			ok(t, c.SetMark(ctx, "follow", want))
		} else {
			ok(t, c.Reset(ctx))
		}
		got, err := c.Mark(ctx, "follow")
		ok(t, err)
		same(t, "mark", got, want)
	}
	ok(t, c.SetMark(ctx, "other", "x"))
	got, err := c.Mark(ctx, "follow")
	ok(t, err)
	same(t, "mark of another key", got, "")
}

func reset(t *testing.T, open Opener) {
	c := filled(t, open, 2)
	ctx := t.Context()
	populate(t, c)
	old, err := c.Pending(ctx, 0)
	ok(t, err)
	ok(t, c.Reset(ctx))
	same(t, "rows after a reset", everything(t, c), snapshot{})

	// It can be made again, forgotten ones too, and a reader that comes late
	// takes nothing new.
	populate(t, c)
	now, err := c.Pending(ctx, 0)
	ok(t, err)
	rising(t, append(old, now...))
	for _, n := range old {
		ok(t, c.Take(ctx, []int64{n.ID}))
	}
	left, err := c.Pending(ctx, 0)
	ok(t, err)
	same(t, "notices after a late taker", left, now)
}
