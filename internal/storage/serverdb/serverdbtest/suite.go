// Package serverdbtest is the suite that every ledger must pass.
//
// It speaks to the port alone and makes its rows itself; the times and ids in it are made
// up. Every test takes namespaces and queues that no other has. It tests what the port
// promises:
//
//	J1  A Book sees one namespace only.
//	J2  The audit log and the events only grow. An act and its entry are one transaction.
//	J3  What is due is claimed by one at a time; a claim that nobody ends comes back.
package serverdbtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Opener returns a ledger. All calls during one Run must lead to the same rows, each by a
// handle of its own where that can be.
type Opener func(t *testing.T) serverdb.Ledger

var tests = map[string]func(*testing.T, Opener){
	"namespaces":               testNamespaces,
	"namespace terms":          testNamespaceTerms,
	"passwords":                testPasswords,
	"key by digest":            testKeyByDigest,
	"add key again":            testAddKeyAgain,
	"revoke key":               testRevokeKey,
	"used key":                 testUsedKey,
	"ended sessions":           testEndedSessions,
	"put earlier wins":         testPutEarlierWins,
	"put new":                  testPutNew,
	"claim oldest first":       testClaimOldestFirst,
	"claim comes back":         testClaimComesBack,
	"put ends a claim":         testPutEndsClaim,
	"extend":                   testExtend,
	"postpone":                 testPostpone,
	"old claims stay old":      testOldClaims,
	"depth":                    testDepth,
	"queue like a model":       testQueueLikeModel,
	"race of claims":           testRaceOfClaims,
	"race of put and finish":   testRaceOfPutAndFinish,
	"lease":                    testLease,
	"race for a lease":         testRaceForLease,
	"webhooks":                 testWebhooks,
	"change a webhook":         testChangeHook,
	"race of hook changes":     testRaceOfHookChanges,
	"schedules":                testSchedules,
	"deletions":                testDeletions,
	"odd ids":                  testOddIDs,
	"publish":                  testPublish,
	"publish again":            testPublishAgain,
	"publish all or none":      testPublishAllOrNone,
	"race of publishers":       testRaceOfPublishers,
	"delivery":                 testDelivery,
	"list deliveries":          testListDeliveries,
	"acts are entered":         testActsEntered,
	"failed acts are not":      testFailedActs,
	"who acted":                testWhoActed,
	"list audit log":           testListAudit,
	"long chain":               testLongChain,
	"race of acts":             testRaceOfActs,
	"anchors":                  testAnchors,
	"reply states":             testReplyStates,
	"reply leases":             testReplyLeases,
	"reply that is lost":       testReplyLost,
	"reply keys are bytes":     testReplyKeys,
	"bodies of replies":        testReplyBodies,
	"race of replies":          testRaceOfReplies,
	"race of old replies":      testRaceOfOldReplies,
	"books are apart":          testBooksApart,
	"twins are apart":          testTwinsApart,
	"canceled acts are not":    testCanceled,
	"two handles, one outcome": testTwoHandles,
}

// Run runs the suite.
func Run(t *testing.T, open Opener) {
	for name, f := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, open)
		})
	}
}

var uniqueCounter atomic.Int64

// uniqueName returns a name that nobody else has.
func uniqueName(what string) string { return fmt.Sprintf("%s-%d", what, uniqueCounter.Add(1)) }

// newBook returns a book that nobody else has.
func newBook(t *testing.T, open Opener) serverdb.Book {
	t.Helper()
	return open(t).Book(retake.NamespaceID(uniqueName("ns")))
}

// start is when everything begins.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// late is after everything that a ledger calls now.
var late = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

func afterStart(d time.Duration) time.Time { return start.Add(d) }

func digestOf(s string) [32]byte { return sha256.Sum256([]byte(s)) }

func wantNoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

func wantEqual[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// mustValue returns the value of a call that has to go well.
func mustValue[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		wantNoError(t, err)
		return v
	}
}

func newNamespace(id string) retake.Namespace {
	return retake.Namespace{
		ID: retake.NamespaceID(id), Created: afterStart(0), Default: "ws_1", Limits: retake.DefaultLimits(), Roots: []string{"/srv/a", "/srv/b"},
	}
}

func newKey(id string) retake.Key {
	end := afterStart(time.Hour)
	return retake.Key{
		ID: retake.KeyID(id), Kind: retake.KeyAgent, Name: "ci", Tail: "abcd", Workspaces: []string{"ws_1"}, Created: afterStart(0), Expires: &end,
	}
}

func newHook(id string, types ...retake.EventType) serverdb.Hook {
	turned := afterStart(time.Minute)
	return serverdb.Hook{
		Webhook: retake.Webhook{
			ID: retake.WebhookID(id), URL: "https://example.com/" + id, Types: types, Scheme: retake.SchemePair, Public: "whpk_x",
			Created: afterStart(0), Why: "why", Rotated: &turned,
		},
		Secret: []byte("sealed\x00\xff"), Old: []byte("older"),
	}
}

func newSchedule(id string) retake.Schedule {
	return retake.Schedule{ID: id, Work: retake.WorkSave, Workspace: "ws_1", Cron: "0 3 * * *", Jitter: time.Minute, Created: afterStart(0), Next: afterStart(time.Hour)}
}

func newDeletion(id string) retake.Deletion {
	return retake.Deletion{
		ID: id, Workspace: "ws_1", Checkpoints: []retake.CheckpointID{"cp_1", "cp_2"}, Why: "asked", State: retake.DeletionWaiting,
		Asked: afterStart(0), Due: afterStart(time.Hour),
	}
}

func newEvent(id string, kind retake.EventType) retake.Event {
	return retake.Event{ID: id, Type: kind, Time: afterStart(0), Data: []byte(`{"b": 1, "a": "<&>"}`)}
}

// messageOf makes messages whose ids say what they are about.
func messageOf(e retake.Event, h serverdb.Hook, name retake.EventType) (string, []byte) {
	return fmt.Sprintf("msg/%s/%s/%s", e.ID, h.ID, name), []byte(fmt.Sprintf("%d %s %s", e.Seq, e.ID, name))
}
