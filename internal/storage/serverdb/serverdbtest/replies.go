package serverdbtest

import (
	"testing"
	"time"

	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// begins wants a state, and answers the reply.
func begins(t *testing.T, b serverdb.Book, key, request string, at time.Duration, want serverdb.ReplyState) serverdb.Reply {
	t.Helper()
	r, state, err := b.BeginReply(t.Context(), key, digestOf(request), after(at), time.Minute)
	ok(t, err)
	if state != want {
		t.Fatalf("%s for %q at %v: state %d, want %d", key, request, at, state, want)
	}
	if state != serverdb.ReplyKnown && (r.Status != 0 || r.Body != nil || r.Type != "") {
		t.Fatalf("%s for %q: there is a reply: %v", key, request, r)
	}
	return r
}

func replyStates(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	claim := begins(t, b, "k", "one", 0, serverdb.ReplyFresh)
	begins(t, b, "k", "one", 1, serverdb.ReplyHeld)
	begins(t, b, "k", "two", 1, serverdb.ReplyOther)
	begins(t, b, "other", "two", 1, serverdb.ReplyFresh)

	reply := serverdb.Reply{Status: 201, Type: "application/json", Body: []byte("{\"a\":\x00\xff}")}
	reply.Stamp = claim.Stamp
	ok(t, b.EndReply(ctx, "k", reply, after(time.Hour)))
	reply.Stamp = 0
	same(t, "reply", begins(t, b, "k", "one", 2*time.Minute, serverdb.ReplyKnown), reply)
	begins(t, b, "k", "two", 2*time.Minute, serverdb.ReplyOther)
	// What is kept can be neither ended again nor given back.
	isErr(t, b.EndReply(ctx, "k", serverdb.Reply{Status: 500}, after(time.Hour)), serverdb.ErrNotFound)
	ok(t, b.DropReply(ctx, "k"))
	same(t, "reply", begins(t, b, "k", "one", time.Hour-time.Microsecond, serverdb.ReplyKnown), reply)
	begins(t, b, "k", "two", time.Hour, serverdb.ReplyFresh)
	begins(t, b, "k", "one", time.Hour, serverdb.ReplyOther)
}

func replyLeases(t *testing.T, open Opener) {
	b := newBook(t, open)
	begins(t, b, "k", "one", 0, serverdb.ReplyFresh)
	begins(t, b, "k", "one", time.Minute-time.Microsecond, serverdb.ReplyHeld)
	begins(t, b, "k", "one", time.Minute, serverdb.ReplyFresh)
	begins(t, b, "k", "one", time.Minute, serverdb.ReplyHeld)
	begins(t, b, "k", "two", 2*time.Minute, serverdb.ReplyFresh) // nothing came of the other
	ok(t, b.DropReply(t.Context(), "k"))
	begins(t, b, "k", "three", 2*time.Minute, serverdb.ReplyFresh)
}

// replyLost: who lost its claim does not answer for whoever has it now.
func replyLost(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	lost := begins(t, b, "k", "one", 0, serverdb.ReplyFresh)
	ours := begins(t, b, "k", "two", time.Minute, serverdb.ReplyFresh)
	lost.Status, ours.Status = 500, 200
	isErr(t, b.EndReply(ctx, "k", lost, after(time.Hour)), serverdb.ErrNotFound)
	begins(t, b, "k", "two", time.Minute, serverdb.ReplyHeld)
	ok(t, b.EndReply(ctx, "k", ours, after(time.Hour)))
	same(t, "status", begins(t, b, "k", "two", 2*time.Minute, serverdb.ReplyKnown).Status, 200)
	isErr(t, b.EndReply(ctx, "nobody", ours, after(time.Hour)), serverdb.ErrNotFound)
	ok(t, b.DropReply(ctx, "nobody"))
	// Without a stamp it is whoever holds the key, and a claim that ended late but was
	// taken by nobody still counts.
	begins(t, b, "slow", "one", 0, serverdb.ReplyFresh)
	ok(t, b.EndReply(ctx, "slow", serverdb.Reply{Status: 204}, after(time.Hour)))
	same(t, "status", begins(t, b, "slow", "one", 10*time.Minute, serverdb.ReplyKnown).Status, 204)
}

// replyKeys: a key is what a client sent.
func replyKeys(t *testing.T, open Opener) {
	b := newBook(t, open)
	for _, key := range []string{"", "a\x00b", "a\x00c", "\xff", "\xfe", "é", "' --"} {
		begins(t, b, key, "one", 0, serverdb.ReplyFresh)
		begins(t, b, key, "one", 0, serverdb.ReplyHeld)
	}
}
