package serverdbtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// auditVerbs lists what the audit log says, oldest first.
func auditVerbs(t *testing.T, b serverdb.Book) []string {
	t.Helper()
	var all []string
	for _, e := range walkAudit(t, b) {
		all = append(all, e.Verb+" "+e.Subject)
	}
	return all
}

// walkAudit lists the audit log, oldest first, and holds its links together.
func walkAudit(t *testing.T, b serverdb.Book) []retake.AuditEntry {
	t.Helper()
	var all []retake.AuditEntry
	prev := ""
	wantNoError(t, b.Walk(t.Context(), func(e retake.AuditEntry) error {
		if e.Seq != int64(len(all)+1) || e.Prev != prev || len(e.Hash) != 64 || e.Hash == prev || e.Time.IsZero() {
			return fmt.Errorf("entry %d does not follow: %v", len(all)+1, e)
		}
		prev = e.Hash
		all = append(all, e)
		return nil
	}))
	return all
}

// testActsEntered: every method that changes something enters one act, every other none.
func testActsEntered(t *testing.T, open Opener) {
	l := open(t)
	ns := newNamespace(uniqueName("ns"))
	b := l.Book(ns.ID)
	digest := digestOf(uniqueName("secret"))
	hook, hooked := newHook("wh_1"), newHook("wh_1")
	hooked.URL = "https://example.com/other"
	ran := newSchedule("sc_1")
	ran.Next, ran.Missed = afterStart(24*time.Hour), 2
	changed := ns
	changed.Limits.Store++
	anchor := func(ctx context.Context) error {
		last := mustValue[[]retake.AuditEntry](t)(b.Audit(ctx, retake.AuditQuery{Limit: 1}))[0]
		return b.PutAnchor(ctx, serverdb.Anchor{Seq: last.Seq, Hash: last.Hash})
	}
	for i, step := range []struct {
		verb string
		do   func(ctx context.Context) error
	}{
		{"add namespace", func(ctx context.Context) error { return l.AddNamespace(ctx, ns, []byte("x")) }},
		{"change namespace", func(ctx context.Context) error { return putNamespace(ctx, l, changed) }},
		{"", func(ctx context.Context) error { return putNamespace(ctx, l, changed) }},
		{"put password", func(ctx context.Context) error { return l.PutPassword(ctx, ns.ID, []byte("x"), []byte("y")) }},
		{"add key", func(ctx context.Context) error { return b.AddKey(ctx, newKey("key_1"), digest) }},
		{"", func(ctx context.Context) error { return b.UsedKey(ctx, "key_1", afterStart(0)) }},
		{"revoke key", func(ctx context.Context) error { _, err := b.RevokeKey(ctx, "key_1", afterStart(0)); return err }},
		{"", func(ctx context.Context) error { _, err := b.RevokeKey(ctx, "key_1", afterStart(0)); return err }},
		{"add webhook", func(ctx context.Context) error { return b.PutHook(ctx, hook) }},
		{"", func(ctx context.Context) error { return b.PutHook(ctx, hook) }},
		{"change webhook", func(ctx context.Context) error { return b.PutHook(ctx, hooked) }},
		{"", func(ctx context.Context) error {
			return b.Publish(ctx, []retake.Event{newEvent("e1", retake.EventForked)}, messageOf)
		}},
		{"", func(ctx context.Context) error {
			return b.PutDelivery(ctx, retake.Delivery{ID: "msg/e1/wh_1/workspace.forked", State: retake.DeliveryDead})
		}},
		{"drop webhook", func(ctx context.Context) error { return b.DropHook(ctx, "wh_1") }},
		{"add schedule", func(ctx context.Context) error { return b.PutSchedule(ctx, newSchedule("sc_1")) }},
		{"", func(ctx context.Context) error { return b.PutSchedule(ctx, ran) }},
		{"drop schedule", func(ctx context.Context) error { return b.DropSchedule(ctx, "sc_1") }},
		{"ask for deletion", func(ctx context.Context) error { return b.PutDeletion(ctx, newDeletion("del_1")) }},
		{"send greetings", func(ctx context.Context) error { return b.Note(ctx, "send greetings", "all") }},
		{"put anchor", anchor},
		{"", func(ctx context.Context) error {
			_, _, err := b.BeginReply(ctx, "k", digest, afterStart(0), time.Minute)
			return err
		}},
		{"", func(ctx context.Context) error {
			return b.EndReply(ctx, "k", serverdb.Reply{Status: 200}, afterStart(time.Hour))
		}},
		{"", func(ctx context.Context) error { return b.DropReply(ctx, "k2") }},
		{"", func(ctx context.Context) error {
			return l.Put(ctx, serverdb.Due{Queue: uniqueName("queue"), Namespace: ns.ID})
		}},
	} {
		before := walkAudit(t, b)
		wantNoError(t, step.do(t.Context()))
		now := walkAudit(t, b)
		switch {
		case step.verb == "" && len(now) != len(before):
			t.Errorf("step %d is no act, and entered %v", i, now[len(before):])
		case step.verb != "" && (len(now) != len(before)+1 || now[len(before)].Verb != step.verb):
			t.Errorf("step %d must enter %q, and entered %v", i, step.verb, now[len(before):])
		}
	}
}

func testFailedActs(t *testing.T, open Opener) {
	l := open(t)
	b := newBook(t, open)
	other := newBook(t, open)
	ctx := t.Context()
	digest := digestOf(uniqueName("secret"))
	wantNoError(t, b.AddKey(ctx, newKey("key_1"), digest))
	wantError(t, b.AddKey(ctx, newKey("key_1"), digestOf(uniqueName("secret"))), serverdb.ErrExists)
	wantError(t, b.AddKey(ctx, newKey("key_2"), digest), serverdb.ErrExists)
	wantError(t, other.AddKey(ctx, newKey("key_1"), digest), serverdb.ErrExists)
	wantError(t, putNamespace(ctx, l, newNamespace(uniqueName("ns"))), serverdb.ErrNotFound)
	wantError(t, b.DropSchedule(ctx, "sc_1"), serverdb.ErrNotFound)
	wantEqual(t, "entries", auditVerbs(t, b), []string{"add key key_1"})
	wantEqual(t, "entries of the other", auditVerbs(t, other), nil)
}

func testWhoActed(t *testing.T, open Opener) {
	b := newBook(t, open)
	who := retake.Actor{Kind: retake.KeyAdmin, Key: "key_1", Name: "An\x00n \xff"}
	wantNoError(t, b.Note(retake.WithActor(t.Context(), who), "do", "sub\x00ject \xfe"))
	wantNoError(t, b.Note(t.Context(), "do", ""))
	all := walkAudit(t, b)
	who.Name = "An\uFFFDn \uFFFD"
	wantEqual(t, "who asked", all[0].Actor, who)
	wantEqual(t, "subject", all[0].Subject, "sub\uFFFDject \uFFFD")
	wantEqual(t, "nobody said who", all[1].Actor, retake.Actor{Name: "server"})
}

func testListAudit(t *testing.T, open Opener) {
	b := newBook(t, open)
	for n := range 5 {
		wantNoError(t, b.Note(t.Context(), "do", fmt.Sprint(n+1)))
	}
	for what, q := range map[string]struct {
		retake.AuditQuery
		want []int64
	}{
		"all":                 {retake.AuditQuery{}, []int64{5, 4, 3, 2, 1}},
		"two":                 {retake.AuditQuery{Limit: 2}, []int64{5, 4}},
		"below":               {retake.AuditQuery{Before: 4, Limit: 2}, []int64{3, 2}},
		"first":               {retake.AuditQuery{Before: 1}, nil},
		"oldest first":        {retake.AuditQuery{OldestFirst: true}, []int64{1, 2, 3, 4, 5}},
		"oldest first, two":   {retake.AuditQuery{OldestFirst: true, Limit: 2}, []int64{1, 2}},
		"oldest first, after": {retake.AuditQuery{OldestFirst: true, After: 3, Limit: 9}, []int64{4, 5}},
		"behind the last":     {retake.AuditQuery{OldestFirst: true, After: 5}, nil},
	} {
		var got []int64
		for _, e := range mustValue[[]retake.AuditEntry](t)(b.Audit(t.Context(), q.AuditQuery)) {
			got = append(got, e.Seq)
		}
		wantEqual(t, what, got, q.want)
	}
}

// testLongChain: a walk passes through more than it reads at once, and f may ask meanwhile.
func testLongChain(t *testing.T, open Opener) {
	b := newBook(t, open)
	const entries = 507
	for range entries {
		wantNoError(t, b.Note(t.Context(), "do", "x"))
	}
	n := 0
	wantNoError(t, b.Walk(t.Context(), func(e retake.AuditEntry) error {
		n++
		if n%100 != 0 {
			return nil
		}
		_, err := b.Audit(t.Context(), retake.AuditQuery{Limit: 1})
		return err
	}))
	wantEqual(t, "walked", n, entries)
}

func testRaceOfActs(t *testing.T, open Opener) {
	ns := retake.NamespaceID(uniqueName("ns"))
	ledgers := []serverdb.Ledger{open(t), open(t)}
	const writers, each = 8, 10
	var g errgroup.Group
	for w := range writers {
		b := ledgers[w%2].Book(ns)
		g.Go(func() error {
			for n := range each {
				var err error
				if n%2 == 0 {
					err = b.Note(t.Context(), "do", fmt.Sprintf("%d-%d", w, n))
				} else {
					err = b.PutHook(t.Context(), newHook(fmt.Sprintf("wh_%d_%d", w, n)))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	wantNoError(t, g.Wait())
	wantEqual(t, "entries", len(walkAudit(t, ledgers[0].Book(ns))), writers*each)
}

func testAnchors(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	wantError(t, b.PutAnchor(ctx, serverdb.Anchor{Seq: 1, Hash: "x"}), serverdb.ErrNotFound)
	for range 3 {
		wantNoError(t, b.Note(ctx, "do", "x"))
	}
	all := walkAudit(t, b)
	wantError(t, b.PutAnchor(ctx, serverdb.Anchor{Seq: 3, Hash: all[1].Hash}), serverdb.ErrNotFound)
	late := serverdb.Anchor{Seq: 3, Hash: all[2].Hash, Time: afterStart(time.Minute), Signature: []byte{0, 255}}
	early := serverdb.Anchor{Seq: 1, Hash: all[0].Hash, Time: afterStart(0), Signature: []byte("s")}
	wantNoError(t, b.PutAnchor(ctx, late))
	wantNoError(t, b.PutAnchor(ctx, early))
	again := late
	again.Signature = []byte("other")
	wantNoError(t, b.PutAnchor(ctx, again))
	wantEqual(t, "anchors", mustValue[[]serverdb.Anchor](t)(b.Anchors(ctx)), []serverdb.Anchor{early, late})
	wantEqual(t, "entries", auditVerbs(t, b)[3:], []string{"put anchor 3 " + late.Hash, "put anchor 1 " + early.Hash})
}
