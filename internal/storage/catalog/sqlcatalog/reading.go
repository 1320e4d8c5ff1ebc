package sqlcatalog

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

const (
	maxReadings     = 20_000  // of one namespace
	maxReadingBytes = 1 << 20 // bytes; what is longer is read again
)

// Readings returns the readings that exist.
func (c *Catalog) Readings(ctx context.Context, keys []catalog.ReadingKey) (map[catalog.ReadingKey][]byte, error) {
	objects := map[string][]retake.ObjectID{}
	for _, k := range keys {
		objects[k.Reader] = append(objects[k.Reader], k.Object)
	}
	all := map[catalog.ReadingKey][]byte{}
	return all, c.inReadTx(ctx, "list readings", func(tx *sql.Tx) error {
		for reader, ids := range objects {
			scan := func(rows *sql.Rows) (bool, error) {
				k := catalog.ReadingKey{Reader: reader}
				var raw []byte
				err := rows.Scan(&k.Object, &raw)
				all[k] = raw
				return true, err
			}
			for some := range slices.Chunk(ids, idsPerQuery) {
				a := newQuery(sqlReadings, c.ns, reader)
				addIn(a, "object", some)
				if err := eachRow(ctx, tx, scan, a.text.String(), a.args...); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// PutReadings adds or replaces readings. The oldest are removed if there are too many; one
// that is too long is not stored.
func (c *Catalog) PutReadings(ctx context.Context, readings map[catalog.ReadingKey][]byte) error {
	keys := slices.SortedFunc(maps.Keys(readings), func(a, b catalog.ReadingKey) int {
		return cmp.Or(cmp.Compare(a.Reader, b.Reader), cmp.Compare(a.Object, b.Object))
	})
	keys = slices.DeleteFunc(keys, func(k catalog.ReadingKey) bool { return len(readings[k]) > maxReadingBytes })
	if len(keys) == 0 {
		return nil
	}
	return c.inWriteTx(ctx, "put readings", func(tx *sql.Tx) error {
		if err := c.insertReadings(ctx, tx, keys, readings); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, sqlTrimReadings, c.ns, maxReadings); err != nil {
			return fmt.Errorf("trim readings: %w", err)
		}
		return nil
	})
}

// insertReadings inserts readings with rising sequence numbers.
func (c *Catalog) insertReadings(ctx context.Context, tx *sql.Tx, keys []catalog.ReadingKey, readings map[catalog.ReadingKey][]byte) error {
	var last int64
	if err := tx.QueryRowContext(ctx, sqlLastReading, c.ns).Scan(&last); err != nil {
		return err
	}
	put, err := tx.PrepareContext(ctx, sqlPutReading)
	if err != nil {
		return err
	}
	defer func() { _ = put.Close() }() // it goes with the transaction too
	for i, k := range keys {
		raw := append([]byte{}, readings[k]...) // nil would be no value
		if _, err := put.ExecContext(ctx, c.ns, k.Reader, string(k.Object), last+1+int64(i), raw); err != nil {
			return err
		}
	}
	return nil
}
