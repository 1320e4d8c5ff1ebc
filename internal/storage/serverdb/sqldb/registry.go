package sqldb

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// AddNamespace adds a namespace with its sealed password. ErrExists.
func (l *Ledger) AddNamespace(ctx context.Context, ns retake.Namespace, password []byte) error {
	raw, err := encodeJSON(ns)
	if err != nil {
		return err
	}
	return l.inAuditedTx(ctx, ns.ID, fmt.Sprintf("add namespace %s", ns.ID), func(tx *sql.Tx) (auditAct, error) {
		if err := execRequired(ctx, tx, serverdb.ErrExists, sqlAddNamespace, string(ns.ID), ns.Created.UnixMicro()); err != nil {
			return noAct, err
		}
		if _, err := tx.ExecContext(ctx, sqlAddTerms, string(ns.ID), raw); err != nil {
			return noAct, err
		}
		_, err := tx.ExecContext(ctx, sqlAddPassword, string(ns.ID), notNil(password))
		return auditAct{"add namespace", string(ns.ID)}, err
	})
}

// ChangeNamespace changes limits, roots, default and end; the creation time stays.
func (l *Ledger) ChangeNamespace(ctx context.Context, ns retake.NamespaceID, change func(*retake.Namespace) error) (retake.Namespace, error) {
	var out retake.Namespace
	err := l.inAuditedTx(ctx, ns, fmt.Sprintf("change namespace %s", ns), func(tx *sql.Tx) (auditAct, error) {
		was, err := queryOne(ctx, tx, scanBytes, sqlTerms, string(ns))
		if err != nil {
			return noAct, err
		}
		out = retake.Namespace{}
		if err := decodeJSON(was, &out); err != nil {
			return noAct, err
		}
		old := out
		if err := change(&out); err != nil {
			return noAct, err
		}
		out.ID, out.Created = old.ID, old.Created
		raw, err := encodeJSON(out)
		if err != nil || bytes.Equal(raw, was) {
			return noAct, err
		}
		_, err = tx.ExecContext(ctx, sqlPutTerms, raw, string(ns))
		return auditAct{"change namespace", string(ns)}, err
	})
	return out, err
}

// Namespace returns a namespace. ErrNotFound.
func (l *Ledger) Namespace(ctx context.Context, ns retake.NamespaceID) (retake.Namespace, error) {
	return findRow(ctx, l, ns, fmt.Sprintf("find namespace %s", ns), scanJSON[retake.Namespace], sqlTerms, string(ns))
}

// Namespaces lists all namespaces by id. Each is read in its own transaction: only ids are
// visible from outside.
func (l *Ledger) Namespaces(ctx context.Context) ([]retake.Namespace, error) {
	all := []retake.Namespace{}
	err := l.inReadTx(ctx, allNamespaces, "list namespaces", func(tx *sql.Tx) error {
		ids, err := queryList(ctx, tx, scanString, sqlNamespaces)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := l.enter(ctx, tx, retake.NamespaceID(id)); err != nil {
				return err
			}
			ns, err := queryOne(ctx, tx, scanJSON[retake.Namespace], sqlTerms, id)
			if err != nil {
				return err
			}
			all = append(all, ns)
		}
		return nil
	})
	return all, err
}

func scanString(row scanner) (string, error) {
	var s string
	err := row.Scan(&s)
	return s, err
}

// Password returns the sealed password of a namespace's store.
func (l *Ledger) Password(ctx context.Context, ns retake.NamespaceID) ([]byte, error) {
	return findRow(ctx, l, ns, fmt.Sprintf("find password of %s", ns), scanBytes, sqlPassword, string(ns))
}

// PutPassword replaces the sealed password that was. ErrNotFound, ErrChanged.
func (l *Ledger) PutPassword(ctx context.Context, ns retake.NamespaceID, was, sealed []byte) error {
	return l.inAuditedTx(ctx, ns, fmt.Sprintf("put password of %s", ns), func(tx *sql.Tx) (auditAct, error) {
		if _, err := queryOne(ctx, tx, scanBytes, sqlPassword, string(ns)); err != nil {
			return noAct, err
		}
		return auditAct{"put password", string(ns)}, execRequired(ctx, tx, serverdb.ErrChanged, sqlPutPassword, notNil(sealed), string(ns), notNil(was))
	})
}

// KeyByDigest returns a key by the digest of its secret, and its namespace. The namespace is
// looked up outside of all namespaces, the key inside its own.
func (l *Ledger) KeyByDigest(ctx context.Context, digest [32]byte) (retake.NamespaceID, retake.Key, error) {
	var ns retake.NamespaceID
	var k retake.Key
	err := l.inReadTx(ctx, allNamespaces, "find key by digest", func(tx *sql.Tx) error {
		whose, err := queryOne(ctx, tx, scanKeyOwner, sqlDigest, digest[:])
		if err != nil {
			return err
		}
		ns = retake.NamespaceID(whose.ns)
		if err := l.enter(ctx, tx, ns); err != nil {
			return fmt.Errorf("enter namespace: %w", err)
		}
		k, err = queryOne(ctx, tx, scanKey, sqlKey, whose.ns, whose.id)
		return err
	})
	if err != nil {
		return "", retake.Key{}, err
	}
	return ns, k, nil
}

type keyOwner struct{ ns, id string }

func scanKeyOwner(row scanner) (keyOwner, error) {
	var w keyOwner
	err := row.Scan(&w.ns, &w.id)
	return w, err
}

// findRow returns one row of a namespace.
func findRow[T any](ctx context.Context, l *Ledger, ns retake.NamespaceID, doing string, scan func(scanner) (T, error), query string, args ...any) (T, error) {
	var v T
	err := l.inReadTx(ctx, ns, doing, func(tx *sql.Tx) (err error) {
		v, err = queryOne(ctx, tx, scan, query, args...)
		return err
	})
	if err != nil {
		var nothing T
		return nothing, err
	}
	return v, nil
}

// findRows returns rows of a namespace.
func findRows[T any](ctx context.Context, l *Ledger, ns retake.NamespaceID, doing string, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	var all []T
	err := l.inReadTx(ctx, ns, doing, func(tx *sql.Tx) (err error) {
		all, err = queryList(ctx, tx, scan, query, args...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
