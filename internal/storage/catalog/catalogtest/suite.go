// Package catalogtest is the suite that every catalog must pass.
//
// It speaks to the port alone and makes its rows itself; the times and ids in it
// are made up. It tests what the port promises:
//
//	K1  A forgotten checkpoint leaves its tombstone, its number is never given again.
//	K2  A Catalog sees one namespace only.
//	K3  What must follow a row is in the outbox in the same transaction.
package catalogtest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// Opener returns the catalog of a namespace. All calls during one Run must share one database,
// which must be empty before.
type Opener func(t *testing.T, ns string) catalog.Catalog

var tests = map[string]func(*testing.T, Opener){
	"put workspace":            testPutWorkspace,
	"root is bytes":            testRootIsBytes,
	"list workspaces":          testListWorkspaces,
	"append":                   testAppendOne,
	"append again":             testAppendAgain,
	"append taken number":      testAppendTaken,
	"append canceled":          testAppendCanceled,
	"without workspace":        testWithoutWorkspace,
	"by prefix":                testByPrefix,
	"before":                   testBefore,
	"latest":                   testLatest,
	"start":                    testStart,
	"page":                     testPage,
	"page since":               testPageSince,
	"page of a session":        testPageSession,
	"bury":                     testBury,
	"bury again":               testBuryAgain,
	"bury unknown":             testBuryUnknown,
	"bury keeps numbers":       testBuryKeepsNumbers,
	"bury all or none":         testBuryAllOrNone,
	"added":                    testAdded,
	"pins":                     testPins,
	"puts again":               testPutsAgain,
	"outbox":                   testOutbox,
	"marks":                    testMarks,
	"put notes":                testPutNotes,
	"notes of nobody":          testNotesOfNobody,
	"bury drops notes":         testBuryDropsNotes,
	"bare":                     testBare,
	"by head":                  testByHead,
	"mentions":                 testMentions,
	"search words":             testSearchWords,
	"search signs":             testSearchSigns,
	"search long":              testSearchLong,
	"long timeline":            testLongTimeline,
	"put verification":         testPutVerification,
	"list verifications":       testListVerifications,
	"verification first":       testVerificationFirst,
	"verification notices":     testVerificationNotices,
	"many contents":            testManyContents,
	"with content":             testWithContent,
	"readings":                 testReadings,
	"many readings":            testManyReadings,
	"reset":                    testReset,
	"namespaces are apart":     testNamespacesApart,
	"reset of one namespace":   testResetOne,
	"like a model":             testLikeModel,
	"writers side by side":     testWritersSideBySide,
	"race for one number":      testRaceForNumber,
	"race to bury":             testRaceToBury,
	"race of notes":            testRaceOfNotes,
	"race of readings":         testRaceOfReadings,
	"two handles, one outcome": testTwoHandles,
}

// Run runs the suite. Every test has namespaces of its own and closes what it opened.
func Run(t *testing.T, open func(t *testing.T, ns string) catalog.Catalog) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, func(t *testing.T, ns string) catalog.Catalog {
				t.Helper()
				c := open(t, name+"/"+ns)
				t.Cleanup(func() { wantNoError(t, c.Close()) })
				return c
			})
		})
	}
}

// noon is the time that all others are counted from. It has nanoseconds, which
// must come back.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 123456789, time.UTC)

func workspaceID(n int) retake.WorkspaceID {
	return retake.WorkspaceID(fmt.Sprintf("ws_%08x-0000-7000-8000-%012x", n, n))
}

func checkpointID(n int) retake.CheckpointID {
	return retake.CheckpointID(fmt.Sprintf("cp_%08x-0000-7000-8000-%012x", n, n))
}

func workspace(n int) retake.Workspace {
	return retake.Workspace{
		ID: workspaceID(n), Name: fmt.Sprintf("space %d", n), Root: fmt.Sprintf("/home/u/%d", n),
		Dev: 1<<64 - 1, Ino: 1<<63 + uint64(n), Created: noon.Add(time.Duration(n) * time.Minute),
	}
}

// checkpoint makes number n of a workspace, n minutes after noon, with an id
// that no other has.
func checkpoint(ws, n int) retake.Checkpoint {
	return retake.Checkpoint{
		ID: checkpointID(ws*1000 + n), Workspace: workspaceID(ws), Number: int64(n),
		Time: noon.Add(time.Duration(n) * time.Minute), Trigger: retake.TriggerManual, Tree: "kaaaa", Content: "c0ffee",
		Coverage: retake.Coverage{Grade: retake.Complete},
	}
}

// richCheckpoint is a checkpoint with something in every field.
func richCheckpoint(ws, n int) retake.Checkpoint {
	cp := checkpoint(ws, n)
	cp.Parent = checkpointID(ws*1000 + n - 1)
	cp.Time = cp.Time.In(time.FixedZone("", 5400))
	cp.Intent = "it's \"done\"; -- 100%\n\x00 über 🚀"
	cp.Coverage = retake.Cover([]retake.Gap{
		{Path: "a/b", Reason: retake.ReasonUnreadable, Detail: "permission denied"},
		{Path: "node_modules/", Reason: retake.ReasonExcluded},
	})
	cp.Files, cp.Dirs, cp.Bytes, cp.NewBytes = 1, 2, 1<<62, 4
	cp.Changed = retake.Counts{Added: 5, Deleted: 6, Edited: 7}
	cp.Key = "key_9"
	cp.Policy = retake.Policy{GitIgnore: true, MaxNewFile: 8, Exclude: []string{"*.o", "!x'"}}
	return cp
}

func newTombstone(cp retake.Checkpoint) retake.Tombstone {
	return retake.Tombstone{Number: cp.Number, ID: cp.ID, Parent: cp.Parent, Time: cp.Time, At: cp.Time.Add(time.Hour)}
}

func wantNoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

// tb is what rapid's T and testing's have in common.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

func wantEqual[T any](t tb, what string, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// checkpointNumbers are what most tests of a timeline look at.
func checkpointNumbers(all []retake.Checkpoint) []int64 {
	out := []int64{}
	for _, cp := range all {
		out = append(out, cp.Number)
	}
	return out
}

// openFilled is a catalog in which workspace 1 has the numbers from 1 to n.
func openFilled(t *testing.T, open Opener, n int) catalog.Catalog {
	t.Helper()
	c := open(t, "a")
	for i := 1; i <= n; i++ {
		wantNoError(t, c.Append(t.Context(), checkpoint(1, i)))
	}
	return c
}

// pendingTopics are the notices that wait, without their numbers and times.
func pendingTopics(t *testing.T, c catalog.Catalog) []string {
	t.Helper()
	all, err := c.Pending(t.Context(), 0)
	wantNoError(t, err)
	out := []string{}
	for _, n := range all {
		out = append(out, n.Topic+" "+string(n.Checkpoint))
	}
	return out
}

func createdNotice(n int) string   { return "checkpoint.created " + string(checkpointID(n)) }
func forgottenNotice(n int) string { return "checkpoint.forgotten " + string(checkpointID(n)) }
func verifiedNotice(n int) string  { return "checkpoint.verified " + string(checkpointID(n)) }
