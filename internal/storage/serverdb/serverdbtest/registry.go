package serverdbtest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

func testNamespaces(t *testing.T, open Opener) {
	l := open(t)
	a, b := newNamespace(uniqueName("ns-a")), newNamespace(uniqueName("ns-b"))
	_, err := l.Namespace(t.Context(), a.ID)
	wantError(t, err, serverdb.ErrNotFound)
	wantNoError(t, l.AddNamespace(t.Context(), b, []byte("b")))
	wantNoError(t, l.AddNamespace(t.Context(), a, []byte("a")))
	wantError(t, l.AddNamespace(t.Context(), a, []byte("other")), serverdb.ErrExists)
	wantEqual(t, "namespace", mustValue[retake.Namespace](t)(l.Namespace(t.Context(), a.ID)), a)
	wantEqual(t, "password", mustValue[[]byte](t)(l.Password(t.Context(), a.ID)), []byte("a"))

	all := mustValue[[]retake.Namespace](t)(l.Namespaces(t.Context()))
	ours := slices.DeleteFunc(all, func(ns retake.Namespace) bool { return ns.ID != a.ID && ns.ID != b.ID })
	wantEqual(t, "ours among all", ours, []retake.Namespace{a, b})
}

// putNamespace changes a namespace to ns.
func putNamespace(ctx context.Context, l serverdb.Ledger, ns retake.Namespace) error {
	_, err := l.ChangeNamespace(ctx, ns.ID, func(n *retake.Namespace) error {
		*n = ns
		return nil
	})
	return err
}

func testNamespaceTerms(t *testing.T, open Opener) {
	l := open(t)
	ns := newNamespace(uniqueName("ns"))
	wantError(t, putNamespace(t.Context(), l, ns), serverdb.ErrNotFound)
	wantNoError(t, l.AddNamespace(t.Context(), ns, []byte("x")))
	end := afterStart(time.Hour)
	want := ns
	want.Limits.Store, want.Roots, want.Default, want.Ended = 7, nil, "ws_2", &end
	put := want
	put.Created = afterStart(24 * time.Hour)
	wantNoError(t, putNamespace(t.Context(), l, put))
	wantEqual(t, "namespace", mustValue[retake.Namespace](t)(l.Namespace(t.Context(), ns.ID)), want)
	wantNoError(t, putNamespace(t.Context(), l, want))
	refused := errors.New("refused")
	_, err := l.ChangeNamespace(t.Context(), ns.ID, func(n *retake.Namespace) error {
		n.Limits.Store = 8
		return refused
	})
	wantError(t, err, refused)
	wantEqual(t, "namespace after a refused change", mustValue[retake.Namespace](t)(l.Namespace(t.Context(), ns.ID)), want)
	wantEqual(t, "entries", auditVerbs(t, l.Book(ns.ID)), []string{"add namespace " + string(ns.ID), "change namespace " + string(ns.ID)})
}

func testPasswords(t *testing.T, open Opener) {
	l := open(t)
	ns := newNamespace(uniqueName("ns"))
	_, err := l.Password(t.Context(), ns.ID)
	wantError(t, err, serverdb.ErrNotFound)
	wantError(t, l.PutPassword(t.Context(), ns.ID, nil, []byte("x")), serverdb.ErrNotFound)
	sealed := []byte{0, 255, 1, 254}
	wantNoError(t, l.AddNamespace(t.Context(), ns, sealed))
	wantEqual(t, "sealed", mustValue[[]byte](t)(l.Password(t.Context(), ns.ID)), sealed)
	wantNoError(t, l.PutPassword(t.Context(), ns.ID, sealed, []byte("again")))
	wantError(t, l.PutPassword(t.Context(), ns.ID, sealed, []byte("too late")), serverdb.ErrChanged)
	wantEqual(t, "sealed again", mustValue[[]byte](t)(l.Password(t.Context(), ns.ID)), []byte("again"))
	wantEqual(t, "entries", auditVerbs(t, l.Book(ns.ID)), []string{"add namespace " + string(ns.ID), "put password " + string(ns.ID)})
}

func testKeyByDigest(t *testing.T, open Opener) {
	l := open(t)
	secret := uniqueName("secret")
	_, _, err := l.KeyByDigest(t.Context(), digestOf(secret))
	wantError(t, err, serverdb.ErrNotFound)
	// Two namespaces may call their keys alike.
	for _, name := range []string{uniqueName("ns"), uniqueName("ns")} {
		ns := retake.NamespaceID(name)
		k := newKey("key_1")
		k.Name = name
		wantNoError(t, l.Book(ns).AddKey(t.Context(), k, digestOf(secret+name)))
		whose, got, err := l.KeyByDigest(t.Context(), digestOf(secret+name))
		wantNoError(t, err)
		wantEqual(t, "whose", whose, ns)
		wantEqual(t, "key", got, k)
	}
}

func testEndedSessions(t *testing.T, open Opener) {
	l := open(t)
	ours, other := l.Book(retake.NamespaceID(uniqueName("ns"))), l.Book(retake.NamespaceID(uniqueName("ns")))
	later := clock.Wall.Now().Add(240 * time.Hour)
	wantNoError(t, ours.EndSession(t.Context(), "old", clock.Wall.Now().Add(-240*time.Hour)))
	wantNoError(t, ours.EndSession(t.Context(), "one", later))
	wantNoError(t, ours.EndSession(t.Context(), "one", later))
	for _, c := range []struct {
		in   serverdb.Book
		id   string
		want bool
	}{{ours, "one", true}, {ours, "two", false}, {ours, "old", false}, {other, "one", false}} {
		ended, err := c.in.HasSessionEnded(t.Context(), c.id)
		wantNoError(t, err)
		wantEqual(t, "ended "+c.id, ended, c.want)
	}
}

func testAddKeyAgain(t *testing.T, open Opener) {
	l := open(t)
	ns, other := retake.NamespaceID(uniqueName("ns")), retake.NamespaceID(uniqueName("ns"))
	one, two := digestOf(uniqueName("secret")), digestOf(uniqueName("secret"))
	wantNoError(t, l.Book(ns).AddKey(t.Context(), newKey("key_1"), one))
	wantError(t, l.Book(ns).AddKey(t.Context(), newKey("key_1"), two), serverdb.ErrExists)
	// A digest is one key's, in all namespaces, and a key that was not added leaves nothing.
	wantError(t, l.Book(other).AddKey(t.Context(), newKey("key_2"), one), serverdb.ErrExists)
	_, _, err := l.KeyByDigest(t.Context(), two)
	wantError(t, err, serverdb.ErrNotFound)
	wantEqual(t, "keys of the other", mustValue[[]retake.Key](t)(l.Book(other).Keys(t.Context())), nil)
	whose, _, err := l.KeyByDigest(t.Context(), one)
	wantNoError(t, err)
	wantEqual(t, "whose", whose, ns)
}

func testRevokeKey(t *testing.T, open Opener) {
	l := open(t)
	ns := retake.NamespaceID(uniqueName("ns"))
	b := l.Book(ns)
	_, err := b.RevokeKey(t.Context(), "key_1", afterStart(0))
	wantError(t, err, serverdb.ErrNotFound)
	digest := digestOf(uniqueName("secret"))
	k := newKey("key_1")
	wantNoError(t, b.AddKey(t.Context(), k, digest))
	wantNoError(t, b.UsedKey(t.Context(), k.ID, afterStart(time.Second)))
	used, first := afterStart(time.Second), afterStart(time.Minute)
	k.Used, k.Revoked = &used, &first
	wantEqual(t, "revoked", mustValue[retake.Key](t)(b.RevokeKey(t.Context(), k.ID, first)), k)
	wantEqual(t, "revoked again", mustValue[retake.Key](t)(b.RevokeKey(t.Context(), k.ID, afterStart(time.Hour))), k)
	_, got, err := l.KeyByDigest(t.Context(), digest)
	wantNoError(t, err)
	wantEqual(t, "by digest", got, k)
	wantEqual(t, "entries", auditVerbs(t, b), []string{"add key key_1", "revoke key key_1"})
}

func testUsedKey(t *testing.T, open Opener) {
	b := newBook(t, open)
	wantError(t, b.UsedKey(t.Context(), "key_1", afterStart(0)), serverdb.ErrNotFound)
	one, two := newKey("key_1"), newKey("key_2")
	two.Created = afterStart(-time.Hour)
	wantNoError(t, b.AddKey(t.Context(), one, digestOf(uniqueName("secret"))))
	wantNoError(t, b.AddKey(t.Context(), two, digestOf(uniqueName("secret"))))
	wantNoError(t, b.UsedKey(t.Context(), "key_1", afterStart(2*time.Minute)))
	wantNoError(t, b.UsedKey(t.Context(), "key_1", afterStart(time.Minute))) // it came late
	used := afterStart(2 * time.Minute)
	one.Used = &used
	wantEqual(t, "keys", mustValue[[]retake.Key](t)(b.Keys(t.Context())), []retake.Key{two, one})
	wantEqual(t, "entries", auditVerbs(t, b), []string{"add key key_1", "add key key_2"})
}
