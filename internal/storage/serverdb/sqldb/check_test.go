package sqldb_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

var begun = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// chainForger changes rows behind the back of a ledger. The chain of namespace "a" has 15
// entries; 6 and 11 are about anchors at 5 and 10.
type chainForger struct {
	t  *testing.T
	db *sql.DB
	b  serverdb.Book
}

func newChainForger(t *testing.T) *chainForger {
	t.Helper()
	f := &chainForger{t: t, db: database(t, sqlite.Memory)}
	l := open(t, f.db, sqldb.Options{Clock: clock.NewManual(begun)})
	f.b = l.Book("a")
	ctx := retake.WithActor(t.Context(), retake.Actor{Kind: retake.KeyAdmin, Key: "key_1", Name: "Ann"})
	for seq := 1; seq <= 15; seq++ {
		if seq == 6 || seq == 11 {
			f.anchor()
			continue
		}
		wantNoError(t, f.b.Note(ctx, "do", fmt.Sprintf("thing %d", seq)))
		wantNoError(t, l.Book("b").Note(ctx, "do", fmt.Sprintf("thing %d", seq)))
	}
	return f
}

func (f *chainForger) anchor() {
	f.t.Helper()
	e, fresh, err := sqldb.Unanchored(f.t.Context(), f.b)
	wantNoError(f.t, err)
	if !fresh {
		f.t.Fatal("there is nothing to anchor")
	}
	wantNoError(f.t, f.b.PutAnchor(f.t.Context(), serverdb.Anchor{Seq: e.Seq, Hash: e.Hash, Time: begun, Signature: []byte("signed " + e.Hash)}))
}

func (f *chainForger) exec(text string, args ...any) {
	f.t.Helper()
	done, err := f.db.ExecContext(f.t.Context(), text, args...)
	wantNoError(f.t, err)
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		f.t.Fatalf("%s changed nothing: %v", text, err)
	}
}

func (f *chainForger) entries() []retake.AuditEntry {
	f.t.Helper()
	var all []retake.AuditEntry
	wantNoError(f.t, f.b.Walk(f.t.Context(), func(e retake.AuditEntry) error { all = append(all, e); return nil }))
	return all
}

func (f *chainForger) put(e retake.AuditEntry) {
	f.t.Helper()
	raw, err := json.Marshal(e)
	wantNoError(f.t, err)
	f.exec(`UPDATE audit SET body = $1 WHERE ns = 'a' AND seq = $2`, raw, e.Seq)
}

// edit changes one entry and leaves its hash.
func (f *chainForger) edit(seq int64, change func(e *retake.AuditEntry)) {
	f.t.Helper()
	e := f.entries()[seq-1]
	change(&e)
	f.put(e)
}

// rewrite changes one entry and makes the chain fit again up to another.
func (f *chainForger) rewrite(from, to int64) {
	f.t.Helper()
	all := f.entries()
	all[from-1].Subject = "another thing"
	for i := from - 1; i < to; i++ {
		if i > 0 {
			all[i].Prev = all[i-1].Hash
		}
		all[i].Hash = sqldb.Hash("a", all[i])
		f.put(all[i])
	}
}

// cut removes what is after an entry, and makes it the head.
func (f *chainForger) cut(seq int64) {
	f.t.Helper()
	hash := f.entries()[seq-1].Hash
	f.exec(`DELETE FROM audit WHERE ns = 'a' AND seq > $1`, seq)
	f.exec(`UPDATE audit_head SET seq = $1, hash = $2 WHERE ns = 'a'`, seq, hash)
}

func verify(a serverdb.Anchor) error {
	if string(a.Signature) != "signed "+a.Hash {
		return errors.New("the signature is another's")
	}
	return nil
}

var forgeries = map[string]struct {
	do     func(f *chainForger)
	broken int64
	why    string
}{
	"nothing": {func(*chainForger) {}, 0, ""},
	"verb":    {func(f *chainForger) { f.edit(3, func(e *retake.AuditEntry) { e.Verb = "undo" }) }, 3, "changed"},
	"subject": {func(f *chainForger) { f.edit(1, func(e *retake.AuditEntry) { e.Subject = "" }) }, 1, "changed"},
	"time":    {func(f *chainForger) { f.edit(15, func(e *retake.AuditEntry) { e.Time = e.Time.Add(time.Microsecond) }) }, 15, "changed"},
	"kind":    {func(f *chainForger) { f.edit(7, func(e *retake.AuditEntry) { e.Actor.Kind = retake.KeyAgent }) }, 7, "changed"},
	"key":     {func(f *chainForger) { f.edit(7, func(e *retake.AuditEntry) { e.Actor.Key = "key_2" }) }, 7, "changed"},
	"name":    {func(f *chainForger) { f.edit(7, func(e *retake.AuditEntry) { e.Actor.Name = "Bob" }) }, 7, "changed"},
	"words between fields": {func(f *chainForger) {
		f.edit(7, func(e *retake.AuditEntry) { e.Verb, e.Subject = "dothing", " 7" })
	}, 7, "changed"},
	"number":  {func(f *chainForger) { f.exec(`UPDATE audit SET seq = 99 WHERE ns = 'a' AND seq = 8`) }, 8, "missing"},
	"garbage": {func(f *chainForger) { f.exec(`UPDATE audit SET body = $1 WHERE ns = 'a' AND seq = 9`, []byte("{")) }, 9, "not follow"},
	"exchange": {func(f *chainForger) {
		all := f.entries()
		all[6].Seq, all[7].Seq = 8, 7
		f.put(all[6])
		f.put(all[7])
	}, 7, "not follow"},
	"of another namespace": {func(f *chainForger) {
		f.exec(`UPDATE audit SET body = (SELECT o.body FROM audit o WHERE o.ns = 'b' AND o.seq = 1) WHERE ns = 'a' AND seq = 1`)
	}, 1, "changed"},
	"one entry and its hash":          {func(f *chainForger) { f.rewrite(3, 3) }, 4, "not follow"},
	"the chain up to an anchor":       {func(f *chainForger) { f.rewrite(3, 15) }, 5, "anchored"},
	"the chain after the last anchor": {func(f *chainForger) { f.rewrite(12, 15) }, 15, "head that was kept"},
	"the first entry gone":            {func(f *chainForger) { f.exec(`DELETE FROM audit WHERE ns = 'a' AND seq = 1`) }, 1, "missing"},
	"an entry gone":                   {func(f *chainForger) { f.exec(`DELETE FROM audit WHERE ns = 'a' AND seq = 7`) }, 7, "missing"},
	"the last entry gone":             {func(f *chainForger) { f.exec(`DELETE FROM audit WHERE ns = 'a' AND seq = 15`) }, 15, "missing"},
	"all gone":                        {func(f *chainForger) { f.exec(`DELETE FROM audit WHERE ns = 'a'`) }, 1, "missing"},
	"cut before an anchor":            {func(f *chainForger) { f.cut(8) }, 9, "there is an anchor"},
	"cut at an anchor":                {func(f *chainForger) { f.cut(10) }, 11, "no entry names"},
	"the head gone":                   {func(f *chainForger) { f.exec(`DELETE FROM audit_head WHERE ns = 'a'`) }, 1, "past the head"},
	"the head back":                   {func(f *chainForger) { f.exec(`UPDATE audit_head SET seq = 12 WHERE ns = 'a'`) }, 12, "head that was kept"},
	"an anchor gone":                  {func(f *chainForger) { f.exec(`DELETE FROM anchor WHERE ns = 'a' AND seq = 5`) }, 6, "not there"},
	"the last anchor gone":            {func(f *chainForger) { f.exec(`DELETE FROM anchor WHERE ns = 'a' AND seq = 10`) }, 11, "not there"},
	"all anchors gone":                {func(f *chainForger) { f.exec(`DELETE FROM anchor WHERE ns = 'a'`) }, 6, "not there"},
	"an anchor of another hash":       {func(f *chainForger) { f.swap(5, `"hash":"`, `"hash":"00`) }, 5, "anchored"},
	"an anchor that nobody signed":    {func(f *chainForger) { f.swap(10, `"signature":"`, `"signature":"AAAA`) }, 10, "not good"},
	"an anchor of which nobody told":  {func(f *chainForger) { f.forgeAnchor(3) }, 16, "no entry names"},
	"the entry about an anchor":       {func(f *chainForger) { f.edit(6, func(e *retake.AuditEntry) { e.Subject = "4 x" }) }, 6, "changed"},
	"the chain and all anchors of it": {func(f *chainForger) { f.rewrite(3, 15); f.exec(`DELETE FROM anchor WHERE ns = 'a'`) }, 6, "not there"},
	"an entry that is there once again": {func(f *chainForger) {
		f.exec(`INSERT INTO audit SELECT ns, 16, body FROM audit WHERE ns = 'a' AND seq = 15`)
	}, 16, "missing"},
}

// swap replaces text in the row of an anchor.
func (f *chainForger) swap(seq int64, old, with string) {
	f.t.Helper()
	var raw []byte
	wantNoError(f.t, f.db.QueryRowContext(f.t.Context(), `SELECT body FROM anchor WHERE ns = 'a' AND seq = $1`, seq).Scan(&raw))
	f.exec(`UPDATE anchor SET body = $1 WHERE ns = 'a' AND seq = $2`, bytes.Replace(raw, []byte(old), []byte(with), 1), seq)
}

func (f *chainForger) forgeAnchor(seq int64) {
	f.t.Helper()
	hash := f.entries()[seq-1].Hash
	raw, err := json.Marshal(serverdb.Anchor{Seq: seq, Hash: hash, Time: begun, Signature: []byte("signed " + hash)})
	wantNoError(f.t, err)
	f.exec(`INSERT INTO anchor (ns, seq, body) VALUES ('a', $1, $2)`, seq, raw)
}

// TestForgeries: whatever was changed is found, at its number.
func TestForgeries(t *testing.T) {
	t.Parallel()
	for name, c := range forgeries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newChainForger(t)
			whole := f.entries()
			c.do(f)
			proof, err := sqldb.Check(t.Context(), "a", f.b, verify)
			wantNoError(t, err)
			if proof.Broken != c.broken || !strings.Contains(proof.Why, c.why) || (c.why == "") != (proof.Why == "") {
				t.Fatalf("broken at %d (%s), want %d (%s)", proof.Broken, proof.Why, c.broken, c.why)
			}
			if c.broken == 0 && (proof.Entries != 15 || proof.Anchors != 2 || proof.Head != whole[14].Hash) {
				t.Errorf("proof %+v", proof)
			}
			other, err := sqldb.Check(t.Context(), "b", open(t, f.db, sqldb.Options{}).Book("b"), nil)
			wantNoError(t, err)
			if other.Broken != 0 || other.Entries != 13 {
				t.Errorf("the chain of another namespace: %+v", other)
			}
		})
	}
}

// TestUnanchored: to anchor a log leaves nothing to anchor.
func TestUnanchored(t *testing.T) {
	t.Parallel()
	l := open(t, database(t, sqlite.Memory), sqldb.Options{})
	f := &chainForger{t: t, b: l.Book("a")}
	is := func(want bool) {
		t.Helper()
		if _, got, err := sqldb.Unanchored(t.Context(), f.b); err != nil || got != want {
			t.Fatalf("unanchored: %v, %v", got, err)
		}
	}
	is(false)
	wantNoError(t, f.b.Note(t.Context(), "do", "x"))
	is(true)
	head, _, err := sqldb.Unanchored(t.Context(), f.b)
	wantNoError(t, err)
	wantNoError(t, f.b.Note(t.Context(), "do", "y")) // it comes between
	wantNoError(t, f.b.PutAnchor(t.Context(), serverdb.Anchor{Seq: head.Seq, Hash: head.Hash}))
	is(true)
	f.anchor()
	is(false)
}

// TestCheckWhileWriting: a chain that grows while it is checked is whole.
func TestCheckWhileWriting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "server.db")
	const writers, each = 8, 12
	var g errgroup.Group
	for range writers {
		b := open(t, database(t, path), sqldb.Options{}).Book("a")
		g.Go(func() error {
			for n := range each {
				if err := b.Note(t.Context(), "do", fmt.Sprint(n)); err != nil {
					return err
				}
				e, fresh, err := sqldb.Unanchored(t.Context(), b)
				if err == nil && fresh && n%3 == 0 {
					err = b.PutAnchor(t.Context(), serverdb.Anchor{Seq: e.Seq, Hash: e.Hash, Signature: []byte("signed " + e.Hash)})
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	b := open(t, database(t, path), sqldb.Options{}).Book("a")
	wantNoError(t, b.Note(t.Context(), "do", "a first thing")) // a log is never empty
	done := make(chan error, 1)
	go func() { done <- g.Wait() }()
	for checks, over := 0, false; !over; checks++ {
		select {
		case err := <-done:
			wantNoError(t, err)
			over = true
		default:
		}
		proof, err := sqldb.Check(t.Context(), "a", b, verify)
		wantNoError(t, err)
		if proof.Broken != 0 {
			t.Fatalf("check %d: broken at %d: %s", checks, proof.Broken, proof.Why)
		}
		if over && (proof.Entries != 1+writers*each+proof.Anchors || proof.Anchors == 0) {
			t.Errorf("after %d checks: %+v", checks, proof)
		}
	}
}

// lateBook is a book that somebody anchors right after its anchors were listed.
type lateBook struct {
	serverdb.Book
	then func()
}

func (b lateBook) Anchors(ctx context.Context) ([]serverdb.Anchor, error) {
	all, err := b.Book.Anchors(ctx)
	b.then()
	return all, err
}

// TestAnchoredMeanwhile: an anchor that came after they were listed is not missing.
func TestAnchoredMeanwhile(t *testing.T) {
	t.Parallel()
	f := newChainForger(t)
	proof, err := sqldb.Check(t.Context(), "a", lateBook{f.b, f.anchor}, verify)
	wantNoError(t, err)
	if proof.Broken != 0 || proof.Entries != 16 || proof.Anchors != 2 {
		t.Errorf("proof %+v", proof)
	}
	f.exec(`DELETE FROM anchor WHERE ns = 'a' AND seq = 15`)
	if proof, err = sqldb.Check(t.Context(), "a", lateBook{f.b, func() {}}, verify); err != nil || proof.Broken != 16 {
		t.Errorf("proof %+v, %v", proof, err)
	}
}

// TestHash: the hash of an entry is fixed; chains outlive programs.
func TestHash(t *testing.T) {
	t.Parallel()
	e := retake.AuditEntry{
		Seq: 7, Time: begun, Actor: retake.Actor{Kind: retake.KeyAdmin, Key: "key_1", Name: "Ann"}, Verb: "add key", Subject: "key_2", Prev: "00ff",
	}
	const want = "f0fec988da78175b5e754ccdd5f45a5b206ed48d52ab68b6906ccd6b10e1647b"
	if got := sqldb.Hash("acme", e); got != want {
		t.Errorf("hash %s", got)
	}
	e.Time = begun.In(time.FixedZone("east", 3600))
	e.Hash = "anything"
	if got := sqldb.Hash("acme", e); got != want {
		t.Errorf("hash of the same words: %s", got)
	}
}
