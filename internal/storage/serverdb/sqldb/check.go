package sqldb

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Check verifies the whole chain of a namespace against its anchors, against the stored head and
// against anchors that were kept outside of the database. verify checks the signature of an anchor;
// nil accepts every one. Mismatches are reported in the proof and are not errors. Entries may be
// added meanwhile.
func Check(ctx context.Context, ns retake.NamespaceID, book serverdb.Book, verify func(serverdb.Anchor) error, outside ...serverdb.Anchor) (retake.AuditProof, error) {
	if verify == nil {
		verify = func(serverdb.Anchor) error { return nil }
	}
	c := &chainCheck{ns: ns, verify: verify, outside: outside, anchors: map[int64]serverdb.Anchor{}, named: map[int64]bool{}}
	c.proof.Outside = int64(len(outside))
	var err error
	// The order matters: what an earlier answer knows, a later one must know too.
	if c.before, err = storedHead(ctx, book); err != nil {
		return c.proof, err
	}
	all, err := book.Anchors(ctx)
	if err != nil {
		return c.proof, err
	}
	for _, a := range all {
		c.anchors[a.Seq] = a
	}
	c.proof.Anchors = int64(len(all))
	if err := book.Walk(ctx, c.checkEntry); err != nil {
		return c.proof, err
	}
	after, err := storedHead(ctx, book)
	if err != nil {
		return c.proof, err
	}
	c.checkEnd(all, after)
	c.proof.Head = c.last.hash
	return c.proof, nil
}

// storedHead returns the head that is stored beside the chain, or the newest entry if the book
// is not ours.
func storedHead(ctx context.Context, book serverdb.Book) (chainHead, error) {
	if b, ours := book.(*Book); ours {
		h, err := findRow(ctx, b.l, b.ns, "find audit head", scanHead, sqlAuditHead, string(b.ns))
		if errors.Is(err, serverdb.ErrNotFound) {
			return chainHead{}, nil
		}
		return h, err
	}
	newest, err := book.Audit(ctx, retake.AuditQuery{Limit: 1})
	if err != nil || len(newest) == 0 {
		return chainHead{}, err
	}
	return chainHead{newest[0].Seq, newest[0].Hash}, nil
}

// chainCheck is a check in progress.
type chainCheck struct {
	ns      retake.NamespaceID
	verify  func(serverdb.Anchor) error
	anchors map[int64]serverdb.Anchor
	outside []serverdb.Anchor
	named   map[int64]bool // anchors that an entry names
	before  chainHead      // before the walk
	last    chainHead      // of what fits
	proof   retake.AuditProof
}

// recordBreak records the first entry that does not fit; entries after it prove nothing.
func (c *chainCheck) recordBreak(seq int64, format string, args ...any) {
	if c.proof.Broken == 0 {
		c.proof.Broken, c.proof.Why = seq, fmt.Sprintf(format, args...)
	}
}

// checkEntry checks that an entry continues the chain.
func (c *chainCheck) checkEntry(e retake.AuditEntry) error {
	c.proof.Entries++
	if c.proof.Broken != 0 {
		return nil
	}
	want := c.last.seq + 1
	switch {
	case e.Seq != want:
		c.recordBreak(want, "entry %d is missing: entry %d is in its place", want, e.Seq)
	case e.Prev != c.last.hash:
		c.recordBreak(want, "entry %d does not follow the one before it", want)
	case e.Hash != Hash(c.ns, e):
		c.recordBreak(want, "entry %d was changed: its hash is another", want)
	default:
		c.checkAgainstAnchors(e)
	}
	if c.proof.Broken == 0 {
		c.last = chainHead{e.Seq, e.Hash}
	}
	return nil
}

// checkAgainstAnchors compares an entry with anchors and heads: a chain that was rewritten
// from some entry on is consistent in itself.
func (c *chainCheck) checkAgainstAnchors(e retake.AuditEntry) {
	if e.Seq == c.before.seq && e.Hash != c.before.hash {
		c.recordBreak(e.Seq, "entry %d is not the head that was kept", e.Seq)
	}
	if a, ok := c.anchors[e.Seq]; ok {
		if a.Hash != e.Hash {
			c.recordBreak(e.Seq, "entry %d is not the one that was anchored", e.Seq)
		} else if err := c.verify(a); err != nil {
			c.recordBreak(e.Seq, "the anchor at entry %d is not good: %v", e.Seq, err)
		}
	}
	c.checkAgainstOutside(e)
	if e.Verb != VerbAnchor {
		return
	}
	var seq int64
	var hash string
	if _, err := fmt.Sscanf(e.Subject, "%d %s", &seq, &hash); err != nil {
		c.recordBreak(e.Seq, "entry %d names no anchor", e.Seq)
		return
	}
	c.named[seq] = true
	// An anchor that came after they were listed is not missing.
	if a, ok := c.anchors[seq]; !ok && e.Seq <= c.before.seq || ok && a.Hash != hash {
		c.recordBreak(e.Seq, "entry %d names an anchor at entry %d that is not there", e.Seq, seq)
	}
}

// checkAgainstOutside compares an entry with the anchors outside of the database.
func (c *chainCheck) checkAgainstOutside(e retake.AuditEntry) {
	for _, a := range c.outside {
		if a.Seq != e.Seq {
			continue
		}
		if a.Hash != e.Hash {
			c.recordBreak(e.Seq, "entry %d is not the one that was anchored outside of the database", e.Seq)
		} else if err := c.verify(a); err != nil {
			c.recordBreak(e.Seq, "the anchor outside of the database at entry %d is not good: %v", e.Seq, err)
		}
	}
}

// checkEnd looks for entries and anchors that are missing at the end.
func (c *chainCheck) checkEnd(anchors []serverdb.Anchor, after chainHead) {
	next := c.last.seq + 1
	for _, a := range c.outside {
		if a.Seq > c.last.seq {
			c.recordBreak(next, "entry %d is missing: an anchor outside of the database is at entry %d", next, a.Seq)
		}
	}
	if c.proof.Entries == 0 && after.seq == 0 {
		c.recordBreak(next, "the log is empty: the entry of the creation of the namespace is missing")
	}
	if c.before.seq > c.last.seq {
		c.recordBreak(next, "entry %d is missing: the head is entry %d", next, c.before.seq)
	}
	if after.seq < c.last.seq {
		c.recordBreak(after.seq+1, "entry %d is past the head, which is entry %d", after.seq+1, after.seq)
	}
	for _, a := range anchors {
		switch {
		case a.Seq > c.last.seq:
			c.recordBreak(next, "entry %d is missing: there is an anchor at entry %d", next, a.Seq)
		case !c.named[a.Seq]:
			c.recordBreak(next, "no entry names the anchor at entry %d", a.Seq)
		}
	}
}
