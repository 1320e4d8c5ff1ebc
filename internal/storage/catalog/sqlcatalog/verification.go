package sqlcatalog

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// PutVerification adds or replaces a result. It may come before its checkpoint when a catalog
// is rebuilt; for a buried one nothing is stored. A result that is no longer running adds a
// notice.
func (c *Catalog) PutVerification(ctx context.Context, v retake.Verification) error {
	output := []byte(v.Output)
	v.Output = ""
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode verification: %w", err)
	}
	return c.inAuditedTx(ctx, "put verification", func(tx *sql.Tx) ([]string, error) {
		if yes, err := rowExists(ctx, tx, sqlBuried, c.ns, string(v.Checkpoint)); err != nil || yes {
			return nil, err
		}
		if yes, err := rowExists(ctx, tx, sqlAnswered, c.ns, string(v.ID), raw, output); err != nil || yes {
			return nil, err
		}
		_, err := tx.ExecContext(ctx, sqlPutVerification, c.ns, string(v.ID), string(v.Workspace), string(v.Checkpoint), v.Number,
			string(v.Content), []byte(validUTF8(v.Name)), []byte(validUTF8(v.Command)), v.Started.UnixMicro(), raw, output)
		if err != nil || v.Verdict == retake.Running {
			return []string{string(v.ID)}, err
		}
		n := catalog.Notice{Topic: topicVerified, Workspace: v.Workspace, Checkpoint: v.Checkpoint, Time: v.Started}
		return []string{string(v.ID)}, c.addNotice(ctx, tx, n)
	})
}

// Verifications lists the results of live checkpoints, the last started first. Without a limit
// it lists all.
func (c *Catalog) Verifications(ctx context.Context, q catalog.VerificationQuery) ([]retake.Verification, error) {
	contents := slices.Compact(slices.Sorted(slices.Values(q.Contents)))
	portions := slices.Collect(slices.Chunk(contents, idsPerQuery))
	if len(portions) == 0 {
		portions = [][]retake.ContentID{nil}
	}
	all := []retake.Verification{}
	err := c.inReadTx(ctx, "list verifications", func(tx *sql.Tx) error {
		for _, some := range portions {
			a := c.verificationsQuery(q, some)
			err := eachRow(ctx, tx, func(rows *sql.Rows) (bool, error) {
				v, err := scanVerification(rows, q.Output)
				all = append(all, v)
				return true, err
			}, a.text.String(), a.args...)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b retake.Verification) int {
		return cmp.Or(cmp.Compare(b.Started.UnixMicro(), a.Started.UnixMicro()), cmp.Compare(b.ID, a.ID))
	})
	return all[:min(int64(len(all)), limitOrMax(q.Limit))], nil
}

// verificationsQuery builds the query for some of the contents.
func (c *Catalog) verificationsQuery(q catalog.VerificationQuery, contents []retake.ContentID) *queryBuilder {
	text, order := sqlVerifications, sqlVerificationsOrder
	if q.Output {
		text = sqlVerificationsFull
	}
	a := newQuery(text+sqlVerificationsWhere, c.ns, string(q.Workspace))
	if len(contents) > 0 {
		addIn(a, "v.content", contents)
		order = sqlVerificationsSort
	}
	if q.Name != "" {
		a.addText(" AND v.name = ").addArg([]byte(validUTF8(q.Name)))
	}
	if q.Command != "" {
		a.addText(" AND v.command = ").addArg([]byte(validUTF8(q.Command)))
	}
	return a.addText(order).addArg(limitOrMax(q.Limit))
}

func scanVerification(rows *sql.Rows, full bool) (retake.Verification, error) {
	var v retake.Verification
	var raw, output []byte
	into := []any{&raw}
	if full {
		into = append(into, &output)
	}
	if err := rows.Scan(into...); err != nil {
		return v, err
	}
	err := decodeJSON(raw, &v)
	v.Output = string(output)
	return v, err
}

// WithContent lists the live checkpoints with this content, the highest number first.
func (c *Catalog) WithContent(ctx context.Context, ws retake.WorkspaceID, content retake.ContentID) ([]retake.Checkpoint, error) {
	return queryList(ctx, c, "list equal checkpoints", scanJSON[retake.Checkpoint], sqlWithContent, c.ns, string(ws), string(content))
}
