package sqldb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// VerbAnchor is the action of storing an anchor. The chain names its anchors, so that a
// missing one is noticed.
const VerbAnchor = "put anchor"

// auditAct is what an audit entry says. One without a verb is not recorded.
type auditAct struct{ verb, subject string }

var noAct auditAct

// chainHead is the last entry of a chain.
type chainHead struct {
	seq  int64
	hash string
}

// inAuditedTx runs f in a transaction that holds the audit log of a namespace, and records
// what f did.
func (l *Ledger) inAuditedTx(ctx context.Context, ns retake.NamespaceID, doing string, f func(tx *sql.Tx) (auditAct, error)) error {
	return l.inWriteTx(ctx, ns, doing, func(tx *sql.Tx) error {
		h, err := lockAudit(ctx, tx, ns)
		if err != nil {
			return err
		}
		d, err := f(tx)
		if err != nil || d.verb == "" {
			return err
		}
		return l.appendEntry(ctx, tx, ns, h, d)
	})
}

func lockAudit(ctx context.Context, tx *sql.Tx, ns retake.NamespaceID) (chainHead, error) {
	h, err := scanHead(tx.QueryRowContext(ctx, sqlLockAudit, string(ns)))
	if err != nil {
		return h, fmt.Errorf("lock audit log: %w", err)
	}
	return h, nil
}

func scanHead(row scanner) (chainHead, error) {
	var h chainHead
	err := row.Scan(&h.seq, &h.hash)
	return h, err
}

// appendEntry adds an entry after the head, which must be locked.
func (l *Ledger) appendEntry(ctx context.Context, tx *sql.Tx, ns retake.NamespaceID, h chainHead, d auditAct) error {
	e := retake.AuditEntry{
		Seq: h.seq + 1, Time: l.clock.Now().UTC().Truncate(time.Microsecond), Actor: currentActor(ctx),
		Verb: sanitizeText(d.verb), Subject: sanitizeText(d.subject), Prev: h.hash,
	}
	origin := serverdb.OriginOf(ctx)
	e.Address, e.Request = sanitizeText(origin.Address), sanitizeText(origin.Request)
	e.Hash = Hash(ns, e)
	raw, err := encodeJSON(e)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, sqlAddAudit, string(ns), e.Seq, raw); err != nil {
		return fmt.Errorf("append audit entry: %w", err)
	}
	_, err = tx.ExecContext(ctx, sqlSetAudit, e.Seq, e.Hash, string(ns))
	return err
}

// currentActor returns the actor of a context, in a form that does not change when it is
// stored.
func currentActor(ctx context.Context) retake.Actor {
	a, ok := retake.ActorOf(ctx)
	if !ok {
		return retake.Actor{Name: "server"}
	}
	return retake.Actor{Kind: retake.KeyKind(sanitizeText(string(a.Kind))), Key: retake.KeyID(sanitizeText(string(a.Key))), Name: sanitizeText(a.Name)}
}

// Hash returns the hash of an entry: over the previous hash, its namespace, its number and all
// its fields except Hash, each with its length.
func Hash(ns retake.NamespaceID, e retake.AuditEntry) string {
	h := sha256.New()
	parts := []string{
		e.Prev, string(ns), strconv.FormatInt(e.Seq, 10), strconv.FormatInt(e.Time.UnixMicro(), 10),
		string(e.Actor.Kind), string(e.Actor.Key), e.Actor.Name, e.Verb, e.Subject,
	}
	if e.Address != "" || e.Request != "" { // older entries have neither
		parts = append(parts, e.Address, e.Request)
	}
	for _, part := range parts {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part)))) // a hash takes everything
		_, _ = h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// OnChange returns the function that a catalog calls last in a transaction that changed
// something: it records the action and makes the catalog's outbox due. The catalog has locked
// its own rows by then; nothing may be locked after it.
func (l *Ledger) OnChange(ns retake.NamespaceID) func(ctx context.Context, tx *sql.Tx, verb, subject string) error {
	return func(ctx context.Context, tx *sql.Tx, verb, subject string) error {
		h, err := lockAudit(ctx, tx, ns)
		if err != nil {
			return err
		}
		if err := l.appendEntry(ctx, tx, ns, h, auditAct{verb, subject}); err != nil {
			return err
		}
		return putDue(ctx, tx, l.newDueNow(serverdb.QueueOutbox, ns, ""))
	}
}

// Note adds an entry about an action that has no row of its own.
func (b *Book) Note(ctx context.Context, verb, subject string) error {
	return b.l.inAuditedTx(ctx, b.ns, "note act", func(*sql.Tx) (auditAct, error) { return auditAct{verb, subject}, nil })
}

// Audit lists entries, newest first. Without a limit it lists all.
func (b *Book) Audit(ctx context.Context, q retake.AuditQuery) ([]retake.AuditEntry, error) {
	if q.OldestFirst {
		return findRows(ctx, b.l, b.ns, "list audit log", scanEntry, sqlAuditUp, string(b.ns), q.After, limitOrMax(q.Limit))
	}
	top := int64(math.MaxInt64)
	if q.Before > 0 {
		top = q.Before
	}
	return findRows(ctx, b.l, b.ns, "list audit log", scanEntry, sqlAudit, string(b.ns), top, limitOrMax(q.Limit))
}

// chainEntry is an entry at its stored position, which may differ from the one it claims.
type chainEntry struct {
	seq   int64
	entry retake.AuditEntry
}

// scanChainEntry reads an entry. An unreadable one is returned with its number alone, so that
// a check can name it and the others can still be listed.
func scanChainEntry(row scanner) (chainEntry, error) {
	var s chainEntry
	var raw []byte
	if err := row.Scan(&s.seq, &raw); err != nil {
		return s, err
	}
	if json.Unmarshal(raw, &s.entry) != nil {
		s.entry = retake.AuditEntry{Seq: s.seq}
	}
	return s, nil
}

func scanEntry(row scanner) (retake.AuditEntry, error) {
	s, err := scanChainEntry(row)
	return s.entry, err
}

// walkBatch is how many entries Walk reads at once.
const walkBatch = 500

// Walk calls f for every entry, oldest first. No transaction is open while f runs.
func (b *Book) Walk(ctx context.Context, f func(retake.AuditEntry) error) error {
	for last := int64(0); ; {
		page, err := findRows(ctx, b.l, b.ns, "walk audit log", scanChainEntry, sqlAuditUp, string(b.ns), last, walkBatch)
		if err != nil {
			return err
		}
		for _, s := range page {
			if err := f(s.entry); err != nil {
				return err
			}
			last = s.seq
		}
		if len(page) < walkBatch {
			return nil
		}
	}
}
