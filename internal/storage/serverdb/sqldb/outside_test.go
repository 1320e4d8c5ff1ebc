package sqldb_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

// replaceLog puts another log in the place of the one that is there: entries with numbers and hashes
// that fit, their head, and no anchors. It is what somebody can do who can write to the database and
// has no key to sign with.
func (f *chainForger) replaceLog(all []retake.AuditEntry) {
	f.t.Helper()
	for _, table := range []string{"audit", "anchor", "audit_head"} {
		f.exec(`DELETE FROM ` + table + ` WHERE ns = 'a'`)
	}
	head := retake.AuditEntry{}
	for _, e := range all {
		if e.Verb == sqldb.VerbAnchor {
			e.Verb = "do" // it would name an anchor that is gone
		}
		e.Seq, e.Prev = head.Seq+1, head.Hash
		e.Hash = sqldb.Hash("a", e)
		f.exec(`INSERT INTO audit (ns, seq, body) VALUES ('a', $1, '{}')`, e.Seq)
		f.put(e)
		head = e
	}
	if len(all) > 0 {
		f.exec(`INSERT INTO audit_head (ns, seq, hash) VALUES ('a', $1, $2)`, head.Seq, head.Hash)
	}
}

// Whatever is done to the database alone, an anchor outside of it tells: 100 of 100. Without one, a
// log that was forged well is taken for the true one.
func TestOutsideAnchorsTell(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 11))
	noticed, fooled := 0, 0
	for i := range 100 {
		f := newChainForger(t)
		all := f.entries()
		last := all[len(all)-1]
		outside := serverdb.Anchor{Seq: last.Seq, Hash: last.Hash, Time: begun, Signature: []byte("signed " + last.Hash)}
		at := rnd.IntN(len(all))
		var what string
		switch i % 6 {
		case 0:
			what = "edit"
			all[at].Subject += ", but another"
		case 1:
			what = "delete"
			all = slices.Delete(all, at, at+1)
		case 2:
			what = "cut"
			all = all[:at]
		case 3:
			what = "roll back and go on"
			all = append(all[:at], retake.AuditEntry{Verb: "do", Subject: "new", Time: begun}, retake.AuditEntry{Verb: "do", Subject: "newer", Time: begun})
		case 4:
			what = "wipe"
			all = nil
		case 5:
			what = "swap"
			for j := range all {
				all[j].Subject = fmt.Sprint("of another server ", i, j)
			}
		}
		f.replaceLog(all)
		proof, err := sqldb.Check(t.Context(), "a", f.b, verify, outside)
		wantNoError(t, err)
		if proof.Broken == 0 || proof.Why == "" || proof.Outside != 1 {
			t.Errorf("%s at %d is not noticed: %+v", what, at, proof)
		} else {
			noticed++
		}
		if proof, err = sqldb.Check(t.Context(), "a", f.b, verify); err == nil && proof.Broken == 0 {
			fooled++
		}
	}
	t.Logf("%d of 100 noticed; without an anchor outside %d of 100 pass", noticed, fooled)
	if fooled < 50 {
		t.Errorf("only %d forgeries are good: this test proves little", fooled)
	}
}

// What is true passes, also while entries are added after the anchor, and an anchor that nobody
// signed does not.
func TestOutsideAnchorsOfATrueLog(t *testing.T) {
	t.Parallel()
	f := newChainForger(t)
	e := f.entries()[7]
	good := serverdb.Anchor{Seq: e.Seq, Hash: e.Hash, Time: begun, Signature: []byte("signed " + e.Hash)}
	if p, err := sqldb.Check(t.Context(), "a", f.b, verify, good); err != nil || p.Broken != 0 || p.Outside != 1 {
		t.Errorf("%+v %v", p, err)
	}
	good.Signature = []byte("signed by another")
	if p, err := sqldb.Check(t.Context(), "a", f.b, verify, good); err != nil || p.Broken != e.Seq {
		t.Errorf("%+v %v", p, err)
	}
}
