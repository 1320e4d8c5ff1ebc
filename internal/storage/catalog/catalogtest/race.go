package catalogtest

import (
	"errors"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

const (
	writers  = 8
	perWrite = 12
)

// testWritersSideBySide: everything arrives, once, and every notice has its number.
func testWritersSideBySide(t *testing.T, open Opener) {
	c := open(t, "a")
	var g errgroup.Group
	for w := range writers {
		g.Go(func() error {
			for n := 1; n <= perWrite; n++ {
				if err := c.Append(t.Context(), checkpoint(w, n)); err != nil {
					return err
				}
				if got, err := c.Latest(t.Context(), workspaceID(w), 0); err != nil || got.Number != int64(n) {
					return errors.Join(err, errors.New("a writer does not see its own row"))
				}
			}
			return c.Bury(t.Context(), workspaceID(w), []retake.Tombstone{newTombstone(checkpoint(w, 1))})
		})
	}
	wantNoError(t, g.Wait())
	for w := range writers {
		live, last, err := c.Counts(t.Context(), workspaceID(w))
		wantNoError(t, err)
		wantEqual(t, "counts", []int64{live, last}, []int64{perWrite - 1, perWrite})
	}
	all, err := c.Pending(t.Context(), 0)
	wantNoError(t, err)
	wantRising(t, all)
	wantEqual(t, "number of notices", len(all), writers*(perWrite+1))
}

// testRaceForNumber: of several ids for one number, one wins.
func testRaceForNumber(t *testing.T, open Opener) {
	c := open(t, "a")
	var won, lost atomic.Int64
	var g errgroup.Group
	for w := range writers {
		g.Go(func() error {
			cp := checkpoint(1, w+1)
			cp.Number = 1
			err := c.Append(t.Context(), cp)
			switch {
			case err == nil:
				won.Add(1)
			case errors.Is(err, catalog.ErrExists):
				lost.Add(1)
			default:
				return err
			}
			return nil
		})
	}
	wantNoError(t, g.Wait())
	wantEqual(t, "won and lost", []int64{won.Load(), lost.Load()}, []int64{1, writers - 1})
	wantEqual(t, "number of notices", len(pendingTopics(t, c)), 1)
}

// testRaceToBury: append and bury of one checkpoint at once leave it buried.
func testRaceToBury(t *testing.T, open Opener) {
	c := open(t, "a")
	cp := checkpoint(1, 1)
	var g errgroup.Group
	for range writers / 2 {
		g.Go(func() error { return c.Append(t.Context(), cp) })
		g.Go(func() error { return c.Bury(t.Context(), cp.Workspace, []retake.Tombstone{newTombstone(cp)}) })
	}
	wantNoError(t, g.Wait())
	live, last, err := c.Counts(t.Context(), cp.Workspace)
	wantNoError(t, err)
	wantEqual(t, "counts", []int64{live, last}, []int64{0, 1})
	buried := 0
	for _, topic := range pendingTopics(t, c) {
		if topic == forgottenNotice(1001) {
			buried++
		}
	}
	wantEqual(t, "notices of the burial", buried, 1)
}

// testRaceOfNotes: notes that come while their checkpoint is buried leave nothing,
// and of several notes one stays whole.
func testRaceOfNotes(t *testing.T, open Opener) {
	c := openFilled(t, open, 2)
	dead, lives := checkpoint(1, 1), checkpoint(1, 2)
	var g errgroup.Group
	for range writers / 2 {
		for _, cp := range []retake.Checkpoint{dead, lives} {
			g.Go(func() error { return c.PutNotes(t.Context(), notesFor(cp)) })
			g.Go(func() error { return c.PutVerification(t.Context(), newVerification(cp, 1)) })
		}
		g.Go(func() error { return c.Bury(t.Context(), dead.Workspace, []retake.Tombstone{newTombstone(dead)}) })
		g.Go(func() error {
			_, err := c.Search(t.Context(), retake.SearchQuery{Workspace: lives.Workspace, Text: "login"})
			return err
		})
	}
	wantNoError(t, g.Wait())
	wantEqual(t, "known", readKnown(t, c), expectKnown(lives))
}

// testRaceOfReadings: everybody's readings arrive, and one of those for the same key.
func testRaceOfReadings(t *testing.T, open Opener) {
	c := open(t, "a")
	keys := []catalog.ReadingKey{someReading}
	want := map[catalog.ReadingKey][]byte{someReading: []byte("shared")}
	var g errgroup.Group
	for w := range writers {
		mine := catalog.ReadingKey{Object: retake.ObjectID(checkpointID(w)), Reader: "r"}
		keys, want[mine] = append(keys, mine), []byte{byte(w)}
		g.Go(func() error {
			return c.PutReadings(t.Context(), map[catalog.ReadingKey][]byte{mine: {byte(w)}, someReading: []byte("shared")})
		})
	}
	wantNoError(t, g.Wait())
	got, err := c.Readings(t.Context(), keys)
	wantNoError(t, err)
	wantEqual(t, "readings", got, want)
}
