package scheduler_test

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/server/scheduler"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

func (h *fixture) checkAudit(public ed25519.PublicKey) retake.AuditProof {
	h.Helper()
	p, err := sqldb.Check(h.Context(), acme, h.book, func(a serverdb.Anchor) error {
		if !ed25519.Verify(public, scheduler.AnchorText(acme, a), a.Signature) {
			return errors.New("its signature does not fit")
		}
		return nil
	})
	h.must(err)
	return p
}

func (h *fixture) anchors() []serverdb.Anchor {
	h.Helper()
	all, err := h.book.Anchors(h.Context())
	h.must(err)
	return all
}

// A log is anchored while it grows, every few minutes, and not otherwise.
func TestAnchors(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	tt := h.newScheduler()
	h.must(tt.EnrollNamespace(t.Context(), acme))
	for i := range 5 {
		if i != 3 { // nothing happens
			h.must(h.book.Note(t.Context(), "test.act", "it"))
		}
		h.clock.Advance(6 * time.Minute)
		h.runDue(tt, serverdb.QueueAnchor)
	}
	all := h.anchors()
	if len(all) != 4 {
		t.Fatalf("%d anchors", len(all))
	}
	for _, a := range all {
		if !ed25519.Verify(h.public, scheduler.AnchorText(acme, a), a.Signature) {
			t.Errorf("the signature of %+v does not fit", a)
		}
		if ed25519.Verify(h.public, scheduler.AnchorText("other", a), a.Signature) {
			t.Error("an anchor fits another namespace")
		}
	}
	if d := cmp.Diff(all, h.kept); d != "" {
		t.Errorf("outside of the database (-want +got):\n%s", d)
	}
	p := h.checkAudit(h.public)
	if p.Broken != 0 || p.Anchors != 4 || p.Entries <= all[3].Seq {
		t.Errorf("%+v", p)
	}
	stranger, _, err := ed25519.GenerateKey(nil)
	h.must(err)
	if p := h.checkAudit(stranger); p.Broken != all[0].Seq {
		t.Errorf("anchors that another signed are taken: %+v", p)
	}
}

// An anchor that could not be kept outside of the database is kept there later.
func TestAnchorIsKeptOutsideLater(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	tt := h.newScheduler()
	h.must(tt.EnrollNamespace(t.Context(), acme))
	h.must(h.book.Note(t.Context(), "test.act", "it"))
	h.keepError = errors.New("the bucket is away")
	h.clock.Advance(6 * time.Minute)
	h.runDue(tt, serverdb.QueueAnchor)
	if len(h.anchors()) != 1 || len(h.kept) != 1 {
		t.Fatalf("%d anchors, %d tries", len(h.anchors()), len(h.kept))
	}
	h.keepError = nil
	h.clock.Advance(6 * time.Minute)
	h.runDue(tt, serverdb.QueueAnchor)
	if len(h.anchors()) != 1 || len(h.kept) != 2 || h.kept[1].Seq != h.anchors()[0].Seq {
		t.Errorf("%d anchors, %d tries", len(h.anchors()), len(h.kept))
	}
}

// A place that was away for long is tried again within minutes, not after the day of a parked job.
func TestAnchorsAreNotParked(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	tt := h.newScheduler()
	h.must(tt.EnrollNamespace(t.Context(), acme))
	h.must(h.book.Note(t.Context(), "test.act", "it"))
	h.keepError = errors.New("the bucket is away")
	for range serverdb.MaxTries + 5 {
		h.clock.Advance(8 * time.Minute)
		h.runDue(tt, serverdb.QueueAnchor)
	}
	if n := len(h.kept); n != serverdb.MaxTries+5 {
		t.Errorf("tried %d times of %d", n, serverdb.MaxTries+5)
	}
}

// rewriteEntry changes an entry, all hashes after it and the head, so that the chain is
// consistent again.
func (h *fixture) rewriteEntry(seq int64) {
	h.Helper()
	var all []retake.AuditEntry
	h.must(h.book.Walk(h.Context(), func(e retake.AuditEntry) error {
		all = append(all, e)
		return nil
	}))
	prev := ""
	for _, e := range all {
		if e.Seq == seq {
			e.Subject = "somebody else"
		}
		e.Prev = prev
		e.Hash = sqldb.Hash(acme, e)
		prev = e.Hash
		raw, err := json.Marshal(e)
		h.must(err)
		_, err = h.db.ExecContext(h.Context(), `UPDATE audit SET body = $1 WHERE ns = $2 AND seq = $3`, raw, string(acme), e.Seq)
		h.must(err)
	}
	_, err := h.db.ExecContext(h.Context(), `UPDATE audit_head SET hash = $1 WHERE ns = $2`, prev, string(acme))
	h.must(err)
}

// Anchors detect that the whole chain was rewritten; without them it is not detected.
func TestAnchorsFindARewrittenChain(t *testing.T) {
	t.Parallel()
	for _, anchored := range []bool{true, false} {
		h := newFixture(t)
		h.saveCheckpoints(3, time.Minute)
		tt := h.newScheduler()
		h.must(tt.EnrollNamespace(t.Context(), acme))
		if anchored {
			h.clock.Advance(5 * time.Minute)
			h.runDue(tt, serverdb.QueueAnchor)
		}
		if p := h.checkAudit(h.public); p.Broken != 0 || (p.Anchors == 1) != anchored {
			t.Fatalf("%+v", p)
		}
		h.rewriteEntry(2)
		if p := h.checkAudit(h.public); (p.Broken != 0) != anchored {
			t.Errorf("anchored %v: %+v", anchored, p)
		}
	}
}

// A server without a signing key writes no anchors and queues no work for them.
func TestNoAnchorsWithoutKey(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	o := h.options()
	o.SignAnchor = nil
	tt := scheduler.New(o)
	h.must(tt.EnrollNamespace(t.Context(), acme))
	h.clock.Advance(time.Hour)
	h.runDue(tt, serverdb.QueueAnchor)
	if n, _, err := h.ledger.Depth(t.Context(), serverdb.QueueAnchor); n != 0 || err != nil || len(h.anchors()) != 0 {
		t.Errorf("%d due, %d anchors, %v", n, len(h.anchors()), err)
	}
}
