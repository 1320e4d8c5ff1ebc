package server

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/server/scheduler"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

const (
	tampered      = retake.NamespaceID("a")
	triesOfKind   = 20 // of each of the six kinds
	noted         = 40 // acts of the log, besides the entries about anchors
	notedToAnchor = 10
)

// tamperBed is the data directory of a server with an audit log: its database as it was after every
// act, and the anchors that are kept outside of it.
type tamperBed struct {
	*testing.T
	*Server
	copies   [][]byte // of the database; the last one is the true one
	entries  []int64  // that each copy has
	anchored int64    // the newest entry with an anchor outside
}

func (b *tamperBed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// newTamperBed writes a log with a seed: two seeds are two servers, with keys of their own.
func newTamperBed(t *testing.T, seed uint64) *tamperBed {
	t.Helper()
	b := &tamperBed{T: t, Server: &Server{opts: Options{DataDir: t.TempDir()}}}
	b.anchorKey = ed25519.NewKeyFromSeed([]byte(fmt.Sprintf("%032d", seed)))
	now := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	path := filepath.Join(b.opts.DataDir, "server.db")
	db, book := b.open(path, now)
	l, err := sqldb.New(t.Context(), db, sqldb.Options{Clock: now})
	b.must(err)
	b.must(l.AddNamespace(t.Context(), retake.Namespace{ID: tampered}, []byte("sealed")))
	ctx := serverdb.WithOrigin(retake.WithActor(t.Context(), retake.Actor{Kind: retake.KeyAgent, Key: "key_1", Name: "ci"}), serverdb.Origin{Address: "192.0.2.1", Request: "req-1"})
	for i := range noted + int(seed)*3 {
		now.Advance(time.Second)
		b.must(book.Note(ctx, "append checkpoint", fmt.Sprintf("cp_%d of server %d", i, seed)))
		if i%notedToAnchor == notedToAnchor-1 || i == noted+int(seed)*3-1 {
			b.anchor(book, now.Now())
		}
		b.copy(db, book)
	}
	b.must(db.Close())
	return b
}

// open opens a database and the log in it.
func (b *tamperBed) open(path string, c clock.Clock) (*sql.DB, serverdb.Book) {
	b.Helper()
	db, err := sqlite.OpenDB(b.Context(), path, sqlite.Options{})
	b.must(err)
	l, err := sqldb.New(b.Context(), db, sqldb.Options{Clock: c})
	b.must(err)
	return db, l.Book(tampered)
}

// anchor signs the newest entry, and keeps the anchor in the database and outside of it.
func (b *tamperBed) anchor(book serverdb.Book, now time.Time) {
	b.Helper()
	last, _, err := sqldb.Unanchored(b.Context(), book)
	b.must(err)
	a := serverdb.Anchor{Seq: last.Seq, Hash: last.Hash, Time: now}
	a.Signature = ed25519.Sign(b.anchorKey, scheduler.AnchorText(tampered, a))
	b.must(b.keepAnchor(b.Context(), tampered, a))
	b.must(book.PutAnchor(b.Context(), a))
	b.anchored = a.Seq
}

func (b *tamperBed) copy(db *sql.DB, book serverdb.Book) {
	b.Helper()
	to := filepath.Join(b.TempDir(), "copy.db")
	_, err := db.ExecContext(b.Context(), `VACUUM INTO $1`, to)
	b.must(err)
	raw, err := os.ReadFile(to)
	b.must(err)
	last, err := book.Audit(b.Context(), retake.AuditQuery{Limit: 1})
	b.must(err)
	b.copies, b.entries = append(b.copies, raw), append(b.entries, last[0].Seq)
}

// check opens a database in the place of the true one, lets somebody tamper with it, and checks the
// log as the server does.
func (b *tamperBed) check(raw []byte, tamper func(db *sql.DB, book serverdb.Book)) retake.AuditProof {
	b.Helper()
	path := filepath.Join(b.TempDir(), "server.db")
	b.must(os.WriteFile(path, raw, 0o600))
	db, book := b.open(path, clock.Wall)
	defer db.Close()
	tamper(db, book)
	outside, err := b.keptAnchors(b.Context(), tampered)
	b.must(err)
	proof, err := sqldb.Check(b.Context(), tampered, book, func(a serverdb.Anchor) error { return b.verifyAnchor(tampered, a) }, outside...)
	b.must(err)
	return proof
}

// exec runs texts behind the back of the server.
func (b *tamperBed) exec(db *sql.DB, texts ...string) {
	b.Helper()
	for _, text := range texts {
		_, err := db.ExecContext(b.Context(), text)
		b.must(err)
	}
}

// editEntry changes one column of an entry: its number, or a field of its body.
func (b *tamperBed) editEntry(db *sql.DB, rnd *rand.Rand, seq int64) string {
	b.Helper()
	var raw []byte
	b.must(db.QueryRowContext(b.Context(), `SELECT body FROM audit WHERE ns = 'a' AND seq = $1`, seq).Scan(&raw))
	var e retake.AuditEntry
	b.must(json.Unmarshal(raw, &e))
	fields := map[string]func(){
		"seq": func() { e.Seq += 3 }, "time": func() { e.Time = e.Time.Add(time.Microsecond) }, "kind": func() { e.Actor.Kind = "admin" },
		"key": func() { e.Actor.Key += "2" }, "name": func() { e.Actor.Name = "somebody else" }, "verb": func() { e.Verb = "undo" },
		"subject": func() { e.Subject += "0" }, "address": func() { e.Address += "1" }, "request": func() { e.Request += "x" },
		"prev": func() { e.Prev = strings.Repeat("0", 64) }, "hash": func() { e.Hash = strings.Repeat("f", 64) },
	}
	names := []string{"seq", "time", "kind", "key", "name", "verb", "subject", "address", "request", "prev", "hash", "number"}
	name := names[rnd.IntN(len(names))]
	if name == "number" {
		b.exec(db, fmt.Sprintf(`UPDATE audit SET seq = seq + 1000 WHERE ns = 'a' AND seq = %d`, seq))
		return name
	}
	fields[name]()
	raw, err := json.Marshal(e)
	b.must(err)
	_, err = db.ExecContext(b.Context(), `UPDATE audit SET body = $1 WHERE ns = 'a' AND seq = $2`, raw, seq)
	b.must(err)
	return name
}

// cutAfter removes all entries after one, and with more care the traces of them.
func (b *tamperBed) cutAfter(db *sql.DB, seq int64, careful bool) {
	b.Helper()
	b.exec(db, fmt.Sprintf(`DELETE FROM audit WHERE ns = 'a' AND seq > %d`, seq))
	if !careful {
		return
	}
	b.exec(db, fmt.Sprintf(`DELETE FROM anchor WHERE ns = 'a' AND seq > %d`, seq))
	var raw []byte
	b.must(db.QueryRowContext(b.Context(), `SELECT body FROM audit WHERE ns = 'a' AND seq = $1`, seq).Scan(&raw))
	var e retake.AuditEntry
	b.must(json.Unmarshal(raw, &e))
	_, err := db.ExecContext(b.Context(), `UPDATE audit_head SET seq = $1, hash = $2 WHERE ns = 'a'`, e.Seq, e.Hash)
	b.must(err)
}

// tampering is one try: the database that is there, what is done to it, and between which entries
// the check must find the first bad one.
type tampering struct {
	what     string
	raw      []byte
	do       func(db *sql.DB, book serverdb.Book)
	from, to int64
}

// draw makes one try of a kind.
func (b *tamperBed) draw(kind string, rnd *rand.Rand, i int, other *tamperBed) *tampering {
	whole := b.copies[len(b.copies)-1]
	at := 1 + rnd.Int64N(b.anchored-1) // before the anchored entry
	x := &tampering{what: fmt.Sprintf("%s at %d", kind, at), raw: whole, from: at, to: at}
	switch kind {
	case "edit":
		x.do = func(db *sql.DB, _ serverdb.Book) { x.what += " " + b.editEntry(db, rnd, at) }
	case "delete":
		x.do = func(db *sql.DB, _ serverdb.Book) {
			b.exec(db, fmt.Sprintf(`DELETE FROM audit WHERE ns = 'a' AND seq >= %d AND seq <= %d AND (seq - %d) %% %d = 0`, at, at+rnd.Int64N(8), at, 1+rnd.Int64N(3)))
		}
	case "cut":
		x.from, x.to = at+1, at+1
		x.do = func(db *sql.DB, _ serverdb.Book) { b.cutAfter(db, at, i%2 == 0) }
	case "roll back": // the server goes on in the old database, perhaps past the anchor: then the anchored entry is another
		old := rnd.IntN(len(b.copies) - 1)
		x.what, x.raw = fmt.Sprintf("%s to entry %d", kind, b.entries[old]), b.copies[old]
		x.from, x.to = b.entries[old]+1, b.anchored
		x.do = func(_ *sql.DB, book serverdb.Book) { b.goOn(book, []int{0, 2, 60}[i%3]) }
		if i%3 == 0 {
			x.to = x.from
		}
	case "wipe":
		x.from, x.to = 1, 1
		x.do = func(db *sql.DB, _ serverdb.Book) {
			b.exec(db, []string{`DELETE FROM audit`, `DELETE FROM audit_head`, `DELETE FROM anchor`}[:1+i%3]...)
		}
	case "swap": // for the database of another server with this namespace, at some time
		then := rnd.IntN(len(other.copies))
		x.what, x.raw = fmt.Sprintf("%s for another with %d entries", kind, other.entries[then]), other.copies[then]
		x.from, x.to = 1, b.anchored
		x.do = func(*sql.DB, serverdb.Book) {}
	}
	return x
}

func (b *tamperBed) goOn(book serverdb.Book, n int) {
	for j := range n {
		b.must(book.Note(context.WithoutCancel(b.Context()), "go on", fmt.Sprint(j)))
	}
}

// Whatever is done to the database, the check of the log notices it, and names the first entry that
// is bad: edits, deletions, cuts, an older database, an empty one, that of another server. Without
// the anchors outside of the database a rolled back one passes.
func TestTamperingIsNoticed(t *testing.T) {
	t.Parallel()
	b, other := newTamperBed(t, 1), newTamperBed(t, 2)
	nothing := func(*sql.DB, serverdb.Book) {}
	if p := b.check(b.copies[len(b.copies)-1], nothing); p.Broken != 0 || p.Outside != 1 || p.Entries != b.entries[len(b.entries)-1] {
		t.Fatalf("nobody did anything: %+v", p)
	}
	rnd := rand.New(rand.NewPCG(19, 94))
	tried, noticed := 0, 0
	var older [][]byte
	for _, kind := range []string{"edit", "delete", "cut", "roll back", "wipe", "swap"} {
		for i := range triesOfKind {
			x := b.draw(kind, rnd, i, other)
			p := b.check(x.raw, x.do)
			tried++
			switch {
			case p.Broken == 0 || p.Why == "":
				t.Errorf("%s is not noticed: %+v", x.what, p)
			case p.Broken < x.from || p.Broken > x.to:
				t.Errorf("%s is noticed at entry %d, want %d to %d: %s", x.what, p.Broken, x.from, x.to, p.Why)
			default:
				noticed++
			}
			if kind == "roll back" {
				older = append(older, x.raw)
			}
		}
	}
	t.Logf("%d tried, %d noticed", tried, noticed)

	b.must(os.Remove(b.anchorFile(tampered)))
	for _, raw := range older {
		if p := b.check(raw, nothing); p.Broken != 0 {
			t.Errorf("a rolled back database is noticed without anchors outside of it: %+v", p)
		}
	}
}
