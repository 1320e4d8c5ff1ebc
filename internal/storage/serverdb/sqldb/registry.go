package sqldb

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// AddNamespace adds one with its sealed password. ErrExists.
func (l *Ledger) AddNamespace(ctx context.Context, ns retake.Namespace, password []byte) error {
	raw, err := encode(ns)
	if err != nil {
		return err
	}
	return l.act(ctx, ns.ID, fmt.Sprintf("add namespace %s", ns.ID), func(tx *sql.Tx) (deed, error) {
		if err := must(ctx, tx, serverdb.ErrExists, sqlAddNamespace, string(ns.ID), ns.Created.UnixMicro()); err != nil {
			return none, err
		}
		if _, err := tx.ExecContext(ctx, sqlAddTerms, string(ns.ID), raw); err != nil {
			return none, err
		}
		_, err := tx.ExecContext(ctx, sqlAddPassword, string(ns.ID), some(password))
		return deed{"add namespace", string(ns.ID)}, err
	})
}

// PutNamespace changes limits, roots, default and end; the time it was created at stays.
func (l *Ledger) PutNamespace(ctx context.Context, ns retake.Namespace) error {
	return l.act(ctx, ns.ID, fmt.Sprintf("put namespace %s", ns.ID), func(tx *sql.Tx) (deed, error) {
		was, err := one(ctx, tx, whole, sqlTerms, string(ns.ID))
		if err != nil {
			return none, err
		}
		var old retake.Namespace
		if err := decode(was, &old); err != nil {
			return none, err
		}
		ns.Created = old.Created
		raw, err := encode(ns)
		if err != nil || bytes.Equal(raw, was) {
			return none, err
		}
		_, err = tx.ExecContext(ctx, sqlPutTerms, raw, string(ns.ID))
		return deed{"change namespace", string(ns.ID)}, err
	})
}

// Namespace answers one. ErrNotFound.
func (l *Ledger) Namespace(ctx context.Context, ns retake.NamespaceID) (retake.Namespace, error) {
	return find(ctx, l, ns, fmt.Sprintf("find namespace %s", ns), body[retake.Namespace], sqlTerms, string(ns))
}

// Namespaces lists all by id. Each is read from inside it: only ids can be seen from outside.
func (l *Ledger) Namespaces(ctx context.Context) ([]retake.Namespace, error) {
	all := []retake.Namespace{}
	err := l.read(ctx, across, "list namespaces", func(tx *sql.Tx) error {
		ids, err := list(ctx, tx, word, sqlNamespaces)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := l.enter(ctx, tx, retake.NamespaceID(id)); err != nil {
				return err
			}
			ns, err := one(ctx, tx, body[retake.Namespace], sqlTerms, id)
			if err != nil {
				return err
			}
			all = append(all, ns)
		}
		return nil
	})
	return all, err
}

func word(row scanner) (string, error) {
	var s string
	err := row.Scan(&s)
	return s, err
}

// Password answers the sealed password of a namespace's store.
func (l *Ledger) Password(ctx context.Context, ns retake.NamespaceID) ([]byte, error) {
	return find(ctx, l, ns, fmt.Sprintf("find password of %s", ns), whole, sqlPassword, string(ns))
}

// PutPassword replaces it. ErrNotFound.
func (l *Ledger) PutPassword(ctx context.Context, ns retake.NamespaceID, sealed []byte) error {
	return l.act(ctx, ns, fmt.Sprintf("put password of %s", ns), func(tx *sql.Tx) (deed, error) {
		return deed{"put password", string(ns)}, must(ctx, tx, serverdb.ErrNotFound, sqlPutPassword, some(sealed), string(ns))
	})
}

// KeyByDigest answers a key by the digest of its secret, and whose it is. Whose is asked
// from outside of all namespaces, the key itself from inside its own.
func (l *Ledger) KeyByDigest(ctx context.Context, digest [32]byte) (retake.NamespaceID, retake.Key, error) {
	var ns retake.NamespaceID
	var k retake.Key
	err := l.read(ctx, across, "find key by digest", func(tx *sql.Tx) error {
		whose, err := one(ctx, tx, scanWhose, sqlDigest, digest[:])
		if err != nil {
			return err
		}
		ns = retake.NamespaceID(whose.ns)
		if err := l.enter(ctx, tx, ns); err != nil {
			return fmt.Errorf("enter namespace: %w", err)
		}
		k, err = one(ctx, tx, scanKey, sqlKey, whose.ns, whose.id)
		return err
	})
	if err != nil {
		return "", retake.Key{}, err
	}
	return ns, k, nil
}

type whose struct{ ns, id string }

func scanWhose(row scanner) (whose, error) {
	var w whose
	err := row.Scan(&w.ns, &w.id)
	return w, err
}

// find answers one row of a namespace.
func find[T any](ctx context.Context, l *Ledger, ns retake.NamespaceID, doing string, scan func(scanner) (T, error), query string, args ...any) (T, error) {
	var v T
	err := l.read(ctx, ns, doing, func(tx *sql.Tx) (err error) {
		v, err = one(ctx, tx, scan, query, args...)
		return err
	})
	if err != nil {
		var nothing T
		return nothing, err
	}
	return v, nil
}

// findAll answers rows of a namespace.
func findAll[T any](ctx context.Context, l *Ledger, ns retake.NamespaceID, doing string, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	var all []T
	err := l.read(ctx, ns, doing, func(tx *sql.Tx) (err error) {
		all, err = list(ctx, tx, scan, query, args...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
