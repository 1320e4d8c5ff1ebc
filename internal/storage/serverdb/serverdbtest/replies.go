package serverdbtest

import (
	"slices"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// wantBegin wants a state, and returns the reply.
func wantBegin(t *testing.T, b serverdb.Book, key, request string, at time.Duration, want serverdb.ReplyState) serverdb.Reply {
	t.Helper()
	r, state, err := b.BeginReply(t.Context(), key, digestOf(request), afterStart(at), time.Minute)
	wantNoError(t, err)
	if state != want {
		t.Fatalf("%s for %q at %v: state %d, want %d", key, request, at, state, want)
	}
	if state != serverdb.ReplyKnown && (r.Status != 0 || r.Body != nil || r.Type != "") {
		t.Fatalf("%s for %q: there is a reply: %v", key, request, r)
	}
	return r
}

func testReplyStates(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	claim := wantBegin(t, b, "k", "one", 0, serverdb.ReplyFresh)
	wantBegin(t, b, "k", "one", 1, serverdb.ReplyHeld)
	wantBegin(t, b, "k", "two", 1, serverdb.ReplyOther)
	wantBegin(t, b, "other", "two", 1, serverdb.ReplyFresh)

	reply := serverdb.Reply{Status: 201, Type: "application/json", Body: []byte("{\"a\":\x00\xff}")}
	reply.Stamp = claim.Stamp
	wantNoError(t, b.EndReply(ctx, "k", reply, afterStart(time.Hour)))
	reply.Stamp = 0
	wantEqual(t, "reply", wantBegin(t, b, "k", "one", 2*time.Minute, serverdb.ReplyKnown), reply)
	wantBegin(t, b, "k", "two", 2*time.Minute, serverdb.ReplyOther)
	// What is kept can be neither ended again nor given back.
	wantError(t, b.EndReply(ctx, "k", serverdb.Reply{Status: 500}, afterStart(time.Hour)), serverdb.ErrNotFound)
	wantNoError(t, b.DropReply(ctx, "k"))
	wantEqual(t, "reply", wantBegin(t, b, "k", "one", time.Hour-time.Microsecond, serverdb.ReplyKnown), reply)
	wantBegin(t, b, "k", "two", time.Hour, serverdb.ReplyFresh)
	wantBegin(t, b, "k", "one", time.Hour, serverdb.ReplyOther)
}

func testReplyLeases(t *testing.T, open Opener) {
	b := newBook(t, open)
	wantBegin(t, b, "k", "one", 0, serverdb.ReplyFresh)
	wantBegin(t, b, "k", "one", time.Minute-time.Microsecond, serverdb.ReplyHeld)
	wantBegin(t, b, "k", "one", time.Minute, serverdb.ReplyFresh)
	wantBegin(t, b, "k", "one", time.Minute, serverdb.ReplyHeld)
	wantBegin(t, b, "k", "two", 2*time.Minute, serverdb.ReplyFresh) // nothing came of the other
	wantNoError(t, b.DropReply(t.Context(), "k"))
	wantBegin(t, b, "k", "three", 2*time.Minute, serverdb.ReplyFresh)
}

// testReplyLost: who lost its claim does not answer for whoever has it now.
func testReplyLost(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	lost := wantBegin(t, b, "k", "one", 0, serverdb.ReplyFresh)
	ours := wantBegin(t, b, "k", "two", time.Minute, serverdb.ReplyFresh)
	lost.Status, ours.Status = 500, 200
	wantError(t, b.EndReply(ctx, "k", lost, afterStart(time.Hour)), serverdb.ErrNotFound)
	wantBegin(t, b, "k", "two", time.Minute, serverdb.ReplyHeld)
	wantNoError(t, b.EndReply(ctx, "k", ours, afterStart(time.Hour)))
	wantEqual(t, "status", wantBegin(t, b, "k", "two", 2*time.Minute, serverdb.ReplyKnown).Status, 200)
	wantError(t, b.EndReply(ctx, "nobody", ours, afterStart(time.Hour)), serverdb.ErrNotFound)
	wantNoError(t, b.DropReply(ctx, "nobody"))
	// Without a stamp it is whoever holds the key, and a claim that ended late but was
	// taken by nobody still counts.
	wantBegin(t, b, "slow", "one", 0, serverdb.ReplyFresh)
	wantNoError(t, b.EndReply(ctx, "slow", serverdb.Reply{Status: 204}, afterStart(time.Hour)))
	wantEqual(t, "status", wantBegin(t, b, "slow", "one", 10*time.Minute, serverdb.ReplyKnown).Status, 204)
}

// testReplyKeys: a key is what a client sent.
func testReplyKeys(t *testing.T, open Opener) {
	b := newBook(t, open)
	for _, key := range []string{"", "a\x00b", "a\x00c", "\xff", "\xfe", "é", "' --"} {
		wantBegin(t, b, key, "one", 0, serverdb.ReplyFresh)
		wantBegin(t, b, key, "one", 0, serverdb.ReplyHeld)
	}
}

// testReplyBodies: bodies that were sealed with another key are found and replaced.
func testReplyBodies(t *testing.T, open Opener) {
	l := open(t)
	b, other := l.Book(retake.NamespaceID(uniqueName("ns"))), l.Book(retake.NamespaceID(uniqueName("ns")))
	ctx := t.Context()
	head := []byte("\x01\xff\x00345678")
	put := func(b serverdb.Book, key string, body []byte) {
		r := wantBegin(t, b, key, "one", 0, serverdb.ReplyFresh)
		r.Status, r.Body = 200, body
		wantNoError(t, b.EndReply(ctx, key, r, afterStart(time.Hour)))
	}
	put(b, "k1", append(slices.Clone(head), "current"...))
	put(b, "k2", []byte("\x01old key\x00"))
	put(b, "k3\x00\xff", []byte("short"))
	put(other, "k5", []byte("of another namespace"))
	wantBegin(t, b, "k6", "one", 0, serverdb.ReplyFresh) // not there yet

	list := func(after string, at time.Duration, limit int) []serverdb.SealedReply {
		return mustValue[[]serverdb.SealedReply](t)(b.OtherReplies(ctx, head, after, afterStart(at), limit))
	}
	want := []serverdb.SealedReply{{Key: "k2", Body: []byte("\x01old key\x00")}, {Key: "k3\x00\xff", Body: []byte("short")}}
	wantEqual(t, "others", list("", 0, 0), want)
	wantEqual(t, "the first", list("", 0, 1), want[:1])
	wantEqual(t, "after it", list("k2", 0, 1), want[1:])
	wantEqual(t, "expired", list("", time.Hour, 0), nil)

	again := append(slices.Clone(head), "again"...)
	wantNoError(t, b.PutReplyBody(ctx, "k2", want[0].Body, again))
	wantError(t, b.PutReplyBody(ctx, "k2", want[0].Body, []byte("too late")), serverdb.ErrChanged)
	wantError(t, b.PutReplyBody(ctx, "k5", []byte("of another namespace"), again), serverdb.ErrChanged)
	wantError(t, b.PutReplyBody(ctx, "k6", nil, again), serverdb.ErrChanged)
	wantEqual(t, "others", list("", 0, 0), want[1:])
	wantEqual(t, "the body", wantBegin(t, b, "k2", "one", 0, serverdb.ReplyKnown).Body, again)
}
