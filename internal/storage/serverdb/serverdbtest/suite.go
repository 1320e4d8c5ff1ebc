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

// Opener answers a ledger. All calls during one Run must lead to the same rows, each by a
// handle of its own where that can be.
type Opener func(t *testing.T) serverdb.Ledger

var tests = map[string]func(*testing.T, Opener){
	"namespaces":               namespaces,
	"namespace terms":          namespaceTerms,
	"passwords":                passwords,
	"key by digest":            keyByDigest,
	"add key again":            addKeyAgain,
	"revoke key":               revokeKey,
	"used key":                 usedKey,
	"put earlier wins":         putEarlierWins,
	"claim oldest first":       claimOldestFirst,
	"claim comes back":         claimComesBack,
	"put ends a claim":         putEndsClaim,
	"postpone":                 postpone,
	"old claims stay old":      oldClaims,
	"depth":                    depth,
	"queue like a model":       queueLikeModel,
	"race of claims":           raceOfClaims,
	"race of put and finish":   raceOfPutAndFinish,
	"lease":                    lease,
	"race for a lease":         raceForLease,
	"webhooks":                 webhooks,
	"schedules":                schedules,
	"deletions":                deletions,
	"odd ids":                  oddIDs,
	"publish":                  publish,
	"publish again":            publishAgain,
	"publish all or none":      publishAllOrNone,
	"race of publishers":       raceOfPublishers,
	"delivery":                 delivery,
	"list deliveries":          listDeliveries,
	"acts are entered":         actsEntered,
	"failed acts are not":      failedActs,
	"who acted":                whoActed,
	"list audit log":           listAudit,
	"long chain":               longChain,
	"race of acts":             raceOfActs,
	"anchors":                  anchors,
	"reply states":             replyStates,
	"reply leases":             replyLeases,
	"reply that is lost":       replyLost,
	"reply keys are bytes":     replyKeys,
	"race of replies":          raceOfReplies,
	"race of old replies":      raceOfOldReplies,
	"books are apart":          booksApart,
	"twins are apart":          twinsApart,
	"canceled acts are not":    canceled,
	"two handles, one outcome": twoHandles,
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

var drawn atomic.Int64

// unique answers a name that nobody else has.
func unique(what string) string { return fmt.Sprintf("%s-%d", what, drawn.Add(1)) }

// newBook answers a book that nobody else has.
func newBook(t *testing.T, open Opener) serverdb.Book {
	t.Helper()
	return open(t).Book(retake.NamespaceID(unique("ns")))
}

// start is when everything begins.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// late is after everything that a ledger calls now.
var late = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return start.Add(d) }

func digestOf(s string) [32]byte { return sha256.Sum256([]byte(s)) }

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func isErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

func same[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// must answers the value of a call that has to go well.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		ok(t, err)
		return v
	}
}

func newNamespace(id string) retake.Namespace {
	return retake.Namespace{
		ID: retake.NamespaceID(id), Created: after(0), Default: "ws_1", Limits: retake.DefaultLimits(), Roots: []string{"/srv/a", "/srv/b"},
	}
}

func newKey(id string) retake.Key {
	end := after(time.Hour)
	return retake.Key{
		ID: retake.KeyID(id), Kind: retake.KeyAgent, Name: "ci", Tail: "abcd", Workspaces: []string{"ws_1"}, Created: after(0), Expires: &end,
	}
}

func newHook(id string, types ...retake.EventType) serverdb.Hook {
	turned := after(time.Minute)
	return serverdb.Hook{
		Webhook: retake.Webhook{
			ID: retake.WebhookID(id), URL: "https://example.com/" + id, Types: types, Scheme: retake.SchemePair, Public: "whpk_x",
			Created: after(0), Why: "why", Rotated: &turned,
		},
		Secret: []byte("sealed\x00\xff"), Old: []byte("older"),
	}
}

func newSchedule(id string) retake.Schedule {
	return retake.Schedule{ID: id, Work: retake.WorkSave, Workspace: "ws_1", Cron: "0 3 * * *", Jitter: time.Minute, Created: after(0), Next: after(time.Hour)}
}

func newDeletion(id string) retake.Deletion {
	return retake.Deletion{
		ID: id, Workspace: "ws_1", Checkpoints: []retake.CheckpointID{"cp_1", "cp_2"}, Why: "asked", State: retake.DeletionWaiting,
		Asked: after(0), Due: after(time.Hour),
	}
}

func newEvent(id string, kind retake.EventType) retake.Event {
	return retake.Event{ID: id, Type: kind, Time: after(0), Data: []byte(`{"b": 1, "a": "<&>"}`)}
}

// messageOf makes messages whose ids say what they are about.
func messageOf(e retake.Event, h serverdb.Hook, name retake.EventType) (string, []byte) {
	return fmt.Sprintf("msg/%s/%s/%s", e.ID, h.ID, name), []byte(fmt.Sprintf("%d %s %s", e.Seq, e.ID, name))
}
