package catalogtest

import (
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

func testPins(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx, ws := t.Context(), workspaceID(1)
	pin := func(name string, n int) retake.Pin {
		return retake.Pin{Name: name, Checkpoint: checkpointID(n), Number: int64(n), Time: noon}
	}
	see := func(want ...retake.Pin) {
		t.Helper()
		got, err := c.Pins(ctx, ws)
		wantNoError(t, err)
		wantEqual(t, "pins", got, want)
	}
	see()
	wantNoError(t, c.SetPins(ctx, ws, []retake.Pin{pin("good", 1), pin("Über", 2), pin("before it's", 1)}))
	see(pin("before it's", 1), pin("good", 1), pin("Über", 2))
	wantNoError(t, c.SetPins(ctx, workspaceID(2), []retake.Pin{pin("good", 7)}))
	wantNoError(t, c.SetPins(ctx, ws, []retake.Pin{pin("good", 3)}))
	see(pin("good", 3))
	wantError(t, c.SetPins(ctx, ws, []retake.Pin{pin("x", 1), pin("x", 2)}), catalog.ErrExists)
	see(pin("good", 3))
	wantNoError(t, c.SetPins(ctx, ws, nil))
	see()
	got, err := c.Pins(ctx, workspaceID(2))
	wantNoError(t, err)
	wantEqual(t, "pins of another workspace", got, []retake.Pin{pin("good", 7)})
}

// testPutsAgain: what is put as it is already stays as it is, and one thing that differs is
// enough to change it.
func testPutsAgain(t *testing.T, open Opener) {
	c := open(t, "a")
	populate(t, c)
	before := readEverything(t, c)
	ctx, ws := t.Context(), workspaceID(1)
	wantNoError(t, c.PutWorkspace(ctx, workspace(1)))
	wantNoError(t, c.SetPins(ctx, ws, before.Pins))
	wantNoError(t, c.PutVerification(ctx, newVerification(richCheckpoint(1, 2), 1)))
	wantEqual(t, "rows", readEverything(t, c), before)

	moved := workspace(1)
	moved.Root = "/home/caf\xe9"
	wantNoError(t, c.PutWorkspace(ctx, moved))
	moved.Root = "/home/caf\xe8" // the same text to JSON
	wantNoError(t, c.PutWorkspace(ctx, moved))
	got, err := c.Workspace(ctx, ws)
	wantNoError(t, err)
	wantEqual(t, "root", []byte(got.Root), []byte(moved.Root))
	pin := before.Pins[0]
	pin.Time = pin.Time.Add(1)
	wantNoError(t, c.SetPins(ctx, ws, []retake.Pin{pin}))
	pins, err := c.Pins(ctx, ws)
	wantNoError(t, err)
	wantEqual(t, "pins", pins, []retake.Pin{pin})
	wantError(t, c.SetPins(ctx, ws, []retake.Pin{pin, pin}), catalog.ErrExists)
}

func testOutbox(t *testing.T, open Opener) {
	c := openFilled(t, open, 3)
	ctx := t.Context()
	wantNoError(t, c.Bury(ctx, workspaceID(1), []retake.Tombstone{newTombstone(checkpoint(1, 1))}))
	all, err := c.Pending(ctx, 0)
	wantNoError(t, err)
	wantRising(t, all)
	wantEqual(t, "first notice", all[0], catalog.Notice{
		ID: all[0].ID, Topic: "checkpoint.created", Workspace: workspaceID(1), Checkpoint: checkpointID(1001),
		Time: checkpoint(1, 1).Time.Truncate(time.Microsecond),
	})
	wantEqual(t, "last notice", all[3], catalog.Notice{
		ID: all[3].ID, Topic: "checkpoint.forgotten", Workspace: workspaceID(1), Checkpoint: checkpointID(1001),
		Time: newTombstone(checkpoint(1, 1)).At.Truncate(time.Microsecond),
	})
	two, err := c.Pending(ctx, 2)
	wantNoError(t, err)
	wantEqual(t, "oldest two", two, all[:2])

	wantNoError(t, c.Take(ctx, nil))
	wantNoError(t, c.Take(ctx, []int64{all[0].ID, all[2].ID, all[3].ID, 1 << 60}))
	wantNoError(t, c.Take(ctx, []int64{all[0].ID}))
	left, err := c.Pending(ctx, 0)
	wantNoError(t, err)
	wantEqual(t, "left", left, all[1:2])

	// The number of a notice that was taken is not given again.
	wantNoError(t, c.Take(ctx, []int64{all[1].ID}))
	wantNoError(t, c.Append(ctx, checkpoint(1, 4)))
	left, err = c.Pending(ctx, 0)
	wantNoError(t, err)
	wantRising(t, append(all, left...))
}

func wantRising(t *testing.T, all []catalog.Notice) {
	t.Helper()
	for i := 1; i < len(all); i++ {
		if all[i].ID <= all[i-1].ID {
			t.Fatalf("notice %d comes after %d", all[i].ID, all[i-1].ID)
		}
	}
}

func testMarks(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx := t.Context()
	long := strings.Repeat("x", 1<<16)
	for _, want := range []string{"", "one", "two", long, ""} {
		if want != "" {
			wantNoError(t, c.SetMark(ctx, "follow", want))
		} else {
			wantNoError(t, c.Reset(ctx))
		}
		got, err := c.Mark(ctx, "follow")
		wantNoError(t, err)
		wantEqual(t, "mark", got, want)
	}
	wantNoError(t, c.SetMark(ctx, "other", "x"))
	got, err := c.Mark(ctx, "follow")
	wantNoError(t, err)
	wantEqual(t, "mark of another key", got, "")
}

func testReset(t *testing.T, open Opener) {
	c := openFilled(t, open, 2)
	ctx := t.Context()
	populate(t, c)
	old, err := c.Pending(ctx, 0)
	wantNoError(t, err)
	wantNoError(t, c.Reset(ctx))
	wantEqual(t, "rows after a reset", readEverything(t, c), snapshot{})

	// It can be made again, forgotten ones too, and a reader that comes late
	// takes nothing new.
	populate(t, c)
	now, err := c.Pending(ctx, 0)
	wantNoError(t, err)
	wantRising(t, append(old, now...))
	for _, n := range old {
		wantNoError(t, c.Take(ctx, []int64{n.ID}))
	}
	left, err := c.Pending(ctx, 0)
	wantNoError(t, err)
	wantEqual(t, "notices after a late taker", left, now)
}
