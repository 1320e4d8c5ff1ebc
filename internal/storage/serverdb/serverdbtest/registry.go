package serverdbtest

import (
	"slices"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

func namespaces(t *testing.T, open Opener) {
	l := open(t)
	a, b := newNamespace(unique("ns-a")), newNamespace(unique("ns-b"))
	_, err := l.Namespace(t.Context(), a.ID)
	isErr(t, err, serverdb.ErrNotFound)
	ok(t, l.AddNamespace(t.Context(), b, []byte("b")))
	ok(t, l.AddNamespace(t.Context(), a, []byte("a")))
	isErr(t, l.AddNamespace(t.Context(), a, []byte("other")), serverdb.ErrExists)
	same(t, "namespace", must[retake.Namespace](t)(l.Namespace(t.Context(), a.ID)), a)
	same(t, "password", must[[]byte](t)(l.Password(t.Context(), a.ID)), []byte("a"))

	all := must[[]retake.Namespace](t)(l.Namespaces(t.Context()))
	ours := slices.DeleteFunc(all, func(ns retake.Namespace) bool { return ns.ID != a.ID && ns.ID != b.ID })
	same(t, "ours among all", ours, []retake.Namespace{a, b})
}

func namespaceTerms(t *testing.T, open Opener) {
	l := open(t)
	ns := newNamespace(unique("ns"))
	isErr(t, l.PutNamespace(t.Context(), ns), serverdb.ErrNotFound)
	ok(t, l.AddNamespace(t.Context(), ns, []byte("x")))
	end := after(time.Hour)
	want := ns
	want.Limits.Store, want.Roots, want.Default, want.Ended = 7, nil, "ws_2", &end
	put := want
	put.Created = after(24 * time.Hour)
	ok(t, l.PutNamespace(t.Context(), put))
	same(t, "namespace", must[retake.Namespace](t)(l.Namespace(t.Context(), ns.ID)), want)
	ok(t, l.PutNamespace(t.Context(), want))
	same(t, "entries", verbs(t, l.Book(ns.ID)), []string{"add namespace " + string(ns.ID), "change namespace " + string(ns.ID)})
}

func passwords(t *testing.T, open Opener) {
	l := open(t)
	ns := newNamespace(unique("ns"))
	_, err := l.Password(t.Context(), ns.ID)
	isErr(t, err, serverdb.ErrNotFound)
	isErr(t, l.PutPassword(t.Context(), ns.ID, []byte("x")), serverdb.ErrNotFound)
	sealed := []byte{0, 255, 1, 254}
	ok(t, l.AddNamespace(t.Context(), ns, sealed))
	same(t, "sealed", must[[]byte](t)(l.Password(t.Context(), ns.ID)), sealed)
	ok(t, l.PutPassword(t.Context(), ns.ID, []byte("again")))
	same(t, "sealed again", must[[]byte](t)(l.Password(t.Context(), ns.ID)), []byte("again"))
}

func keyByDigest(t *testing.T, open Opener) {
	l := open(t)
	secret := unique("secret")
	_, _, err := l.KeyByDigest(t.Context(), digestOf(secret))
	isErr(t, err, serverdb.ErrNotFound)
	// Two namespaces may call their keys alike.
	for _, name := range []string{unique("ns"), unique("ns")} {
		ns := retake.NamespaceID(name)
		k := newKey("key_1")
		k.Name = name
		ok(t, l.Book(ns).AddKey(t.Context(), k, digestOf(secret+name)))
		whose, got, err := l.KeyByDigest(t.Context(), digestOf(secret+name))
		ok(t, err)
		same(t, "whose", whose, ns)
		same(t, "key", got, k)
	}
}

func addKeyAgain(t *testing.T, open Opener) {
	l := open(t)
	ns, other := retake.NamespaceID(unique("ns")), retake.NamespaceID(unique("ns"))
	one, two := digestOf(unique("secret")), digestOf(unique("secret"))
	ok(t, l.Book(ns).AddKey(t.Context(), newKey("key_1"), one))
	isErr(t, l.Book(ns).AddKey(t.Context(), newKey("key_1"), two), serverdb.ErrExists)
	// A digest is one key's, in all namespaces, and a key that was not added leaves nothing.
	isErr(t, l.Book(other).AddKey(t.Context(), newKey("key_2"), one), serverdb.ErrExists)
	_, _, err := l.KeyByDigest(t.Context(), two)
	isErr(t, err, serverdb.ErrNotFound)
	same(t, "keys of the other", must[[]retake.Key](t)(l.Book(other).Keys(t.Context())), nil)
	whose, _, err := l.KeyByDigest(t.Context(), one)
	ok(t, err)
	same(t, "whose", whose, ns)
}

func revokeKey(t *testing.T, open Opener) {
	l := open(t)
	ns := retake.NamespaceID(unique("ns"))
	b := l.Book(ns)
	_, err := b.RevokeKey(t.Context(), "key_1", after(0))
	isErr(t, err, serverdb.ErrNotFound)
	digest := digestOf(unique("secret"))
	k := newKey("key_1")
	ok(t, b.AddKey(t.Context(), k, digest))
	ok(t, b.UsedKey(t.Context(), k.ID, after(time.Second)))
	used, first := after(time.Second), after(time.Minute)
	k.Used, k.Revoked = &used, &first
	same(t, "revoked", must[retake.Key](t)(b.RevokeKey(t.Context(), k.ID, first)), k)
	same(t, "revoked again", must[retake.Key](t)(b.RevokeKey(t.Context(), k.ID, after(time.Hour))), k)
	_, got, err := l.KeyByDigest(t.Context(), digest)
	ok(t, err)
	same(t, "by digest", got, k)
	same(t, "entries", verbs(t, b), []string{"add key key_1", "revoke key key_1"})
}

func usedKey(t *testing.T, open Opener) {
	b := newBook(t, open)
	isErr(t, b.UsedKey(t.Context(), "key_1", after(0)), serverdb.ErrNotFound)
	one, two := newKey("key_1"), newKey("key_2")
	two.Created = after(-time.Hour)
	ok(t, b.AddKey(t.Context(), one, digestOf(unique("secret"))))
	ok(t, b.AddKey(t.Context(), two, digestOf(unique("secret"))))
	ok(t, b.UsedKey(t.Context(), "key_1", after(2*time.Minute)))
	ok(t, b.UsedKey(t.Context(), "key_1", after(time.Minute))) // it came late
	used := after(2 * time.Minute)
	one.Used = &used
	same(t, "keys", must[[]retake.Key](t)(b.Keys(t.Context())), []retake.Key{two, one})
	same(t, "entries", verbs(t, b), []string{"add key key_1", "add key key_2"})
}
