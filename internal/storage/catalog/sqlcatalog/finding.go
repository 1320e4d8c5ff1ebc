package sqlcatalog

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// PutNotes replaces what is known about a checkpoint. For one that is not live in that
// workspace it stores nothing.
func (c *Catalog) PutNotes(ctx context.Context, n catalog.Notes) error {
	e, err := encodeNotes(n)
	if err != nil {
		return err
	}
	return c.inWriteTx(ctx, "put notes", func(tx *sql.Tx) error {
		var known int64
		err := tx.QueryRowContext(ctx, sqlNumber, c.ns, string(n.Checkpoint), string(n.Workspace)).Scan(&e.number, &known)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if known > 0 { // all notes come with a finding
			if err := c.deleteNotes(ctx, tx, n.Checkpoint); err != nil {
				return err
			}
		}
		return c.insertNotes(ctx, tx, n, e)
	})
}

// encodedNotes are the encoded bodies of notes.
type encodedNotes struct {
	number       int64
	gist, places []byte
	facts        [][]byte
}

// encodeNotes runs before the namespace is locked, since notes may be long.
func encodeNotes(n catalog.Notes) (e encodedNotes, err error) {
	if e.gist, err = json.Marshal(n.Gist); err != nil {
		return e, fmt.Errorf("encode gist: %w", err)
	}
	for _, f := range n.Facts {
		raw, err := json.Marshal(f)
		if err != nil {
			return e, fmt.Errorf("encode fact: %w", err)
		}
		e.facts = append(e.facts, raw)
	}
	e.places, err = encodePlaces(n.Words)
	return e, err
}

func (c *Catalog) deleteNotes(ctx context.Context, tx *sql.Tx, id retake.CheckpointID) error {
	for _, text := range sqlDropNotes {
		if _, err := tx.ExecContext(ctx, text, c.ns, string(id)); err != nil {
			return err
		}
	}
	return nil
}

// insertNotes inserts the rows of encoded notes.
func (c *Catalog) insertNotes(ctx context.Context, tx *sql.Tx, n catalog.Notes, e encodedNotes) error {
	id, ws := string(n.Checkpoint), string(n.Workspace)
	_, err := tx.ExecContext(ctx, sqlPutFinding, c.ns, id, ws, e.number, n.Gist.V, commitKey(n.Gist.Head), e.gist)
	if err != nil {
		return err
	}
	if len(n.Words) > 0 {
		if _, err := tx.ExecContext(ctx, sqlPutPlace, c.ns, id, ws, e.number, foldPlaces(n.Words), e.places); err != nil {
			return err
		}
	}
	if len(n.Facts) == 0 {
		return nil
	}
	put, err := tx.PrepareContext(ctx, sqlPutFact)
	if err != nil {
		return err
	}
	defer func() { _ = put.Close() }() // it goes with the transaction too
	for i, f := range n.Facts {
		if _, err := put.ExecContext(ctx, c.ns, id, i, ws, e.number, sanitizeText(string(f.Kind)), nameKey(f.Name), e.facts[i]); err != nil {
			return err
		}
	}
	return nil
}

// maxCommitLen is the length of the longest name of a commit.
const maxCommitLen = 64

// commitKey returns a head as it is stored for lookups. What is longer than any commit is
// stored as "", since not every database could index it.
func commitKey(head string) string {
	if len(head) > maxCommitLen {
		return ""
	}
	return sanitizeText(head)
}

// validUTF8 replaces invalid UTF-8 as encoding to JSON does.
func validUTF8(s string) string { return string([]rune(s)) }

// maxKeyLen limits names: not every database indexes long ones.
const maxKeyLen = 512

// nameKey returns a name as it is stored for lookups.
func nameKey(name string) []byte {
	raw := []byte(validUTF8(name))
	if len(raw) <= maxKeyLen {
		return raw
	}
	sum := sha256.Sum256(raw)
	return sum[:]
}

// Gists returns the gists that exist.
func (c *Catalog) Gists(ctx context.Context, ws retake.WorkspaceID, ids []retake.CheckpointID) (map[retake.CheckpointID]retake.Gist, error) {
	all := map[retake.CheckpointID]retake.Gist{}
	scan := func(rows *sql.Rows) (bool, error) {
		var id retake.CheckpointID
		var in retake.WorkspaceID
		var raw []byte
		var g retake.Gist
		if err := rows.Scan(&id, &in, &raw); err != nil || in != ws {
			return true, err
		}
		err := decodeJSON(raw, &g)
		all[id] = g
		return true, err
	}
	return all, c.inReadTx(ctx, "list gists", func(tx *sql.Tx) error {
		for some := range slices.Chunk(ids, idsPerQuery) {
			a := newQuery(sqlGists, c.ns)
			addIn(a, "checkpoint", some)
			if err := eachRow(ctx, tx, scan, a.text.String(), a.args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// Bare lists live checkpoints without a gist of version v or above, the highest number first.
func (c *Catalog) Bare(ctx context.Context, ws retake.WorkspaceID, v, limit int) ([]retake.Checkpoint, error) {
	return queryList(ctx, c, "list checkpoints without a gist", scanJSON[retake.Checkpoint], sqlBare, c.ns, string(ws), v, limitOrMax(limit))
}

// ByHead returns the live checkpoint with the lowest number whose commit begins with sha.
func (c *Catalog) ByHead(ctx context.Context, ws retake.WorkspaceID, sha string) (retake.Checkpoint, error) {
	doing := fmt.Sprintf("find commit %.60q", sha)
	if sha == "" || sanitizeText(sha) != sha {
		return retake.Checkpoint{}, fmt.Errorf("%s: %w", doing, catalog.ErrNotFound)
	}
	return c.findOne(ctx, doing, sqlByHead, c.ns, string(ws), sha, sha+lastRune)
}

// Mentions lists the checkpoints with a fact of that name, the highest number
// first, each with those facts in the order in which they were put. Without a
// limit it lists all.
func (c *Catalog) Mentions(ctx context.Context, q retake.ChronicleQuery) ([]retake.Mention, error) {
	all := []retake.Mention{}
	a := newQuery(sqlMentions, c.ns, string(q.Workspace), nameKey(q.Name))
	if q.Kind != "" {
		a.addText(" AND f.kind = ").addArg(sanitizeText(string(q.Kind)))
	}
	a.addText(sqlMentionsOrder)
	err := c.queryRows(ctx, "list mentions", func(rows *sql.Rows) (bool, error) {
		var fact, raw []byte
		var f retake.Fact
		var cp retake.Checkpoint
		if err := rows.Scan(&fact, &raw); err != nil {
			return false, err
		}
		if err := errors.Join(decodeJSON(fact, &f), decodeJSON(raw, &cp)); err != nil {
			return false, err
		}
		if n := len(all); n > 0 && all[n-1].Checkpoint.ID == cp.ID {
			all[n-1].Facts = append(all[n-1].Facts, f)
			return true, nil
		}
		if int64(len(all)) >= limitOrMax(q.Limit) {
			return false, nil
		}
		all = append(all, retake.Mention{Checkpoint: cp, Facts: []retake.Fact{f}})
		return true, nil
	}, a.text.String(), a.args...)
	return all, err
}
