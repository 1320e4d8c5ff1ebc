//go:build linux

package serverbed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/retake-dev/retake"
	_ "github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
)

// RowView looks at the rows of a server past the server.
type RowView struct {
	db       *sql.DB
	Conn     *sql.Conn
	Postgres bool
	Tables   map[string][]string // columns by table
}

// restless are columns that change by themselves: who has claimed what is due, and when
// a key was last used.
var restless = map[string][]string{"due": {"lease_us", "stamp"}, "api_key": {"used_us"}, "lease": {"until_us", "holder", "name"}}

func ViewRows(dir, dsn string) (*RowView, error) {
	v := &RowView{Postgres: dsn != "", Tables: map[string][]string{}}
	var err error
	if v.Postgres {
		v.db, err = sql.Open("pgx", dsn)
	} else {
		v.db, err = sql.Open("sqlite", "file:"+filepath.Join(dir, "server.db")+"?_pragma=busy_timeout(10000)")
	}
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	if v.Conn, err = v.db.Conn(ctx); err != nil {
		return nil, errors.Join(err, v.db.Close())
	}
	return v, nil
}

func (v *RowView) Close() error { return errors.Join(v.Conn.Close(), v.db.Close()) }

// Learn reads the names of tables and columns.
func (v *RowView) Learn(ctx context.Context) error {
	text := `SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid`
	if v.Postgres {
		text = `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position`
	}
	rows, err := v.Conn.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err has what matters
	clear(v.Tables)
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return err
		}
		v.Tables[table] = append(v.Tables[table], column)
	}
	return rows.Err()
}

// Stamp changes when anything was written; it may change without that.
func (v *RowView) Stamp() string {
	text := `PRAGMA data_version`
	if v.Postgres {
		text = `SELECT pg_current_wal_insert_lsn()::text`
	}
	var s string
	if err := v.Conn.QueryRowContext(context.Background(), text).Scan(&s); err != nil {
		return err.Error()
	}
	return s
}

// Enter lets Postgres show the rows of a namespace: its owner, too, sees no others.
func (v *RowView) Enter(ns retake.NamespaceID) error {
	if !v.Postgres {
		return nil
	}
	_, err := v.Conn.ExecContext(context.Background(), `SELECT set_config('retake.ns', $1, false)`, string(ns))
	return err
}

// Dump reads all rows of a namespace, and those of nobody.
func (v *RowView) Dump(ns retake.NamespaceID) (map[string][]string, error) {
	out := map[string][]string{}
	if err := v.Enter(ns); err != nil {
		return nil, err
	}
	for table, columns := range v.Tables {
		columns = slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return slices.Contains(restless[table], c) })
		if len(columns) == 0 {
			continue
		}
		text := `SELECT "` + strings.Join(columns, `", "`) + `" FROM "` + table + `"`
		if slices.Contains(columns, "ns") {
			text += ` WHERE ns = '` + string(ns) + `'`
		}
		all, err := v.List(text, len(columns))
		if err != nil {
			return nil, fmt.Errorf("read table %s: %w", table, err)
		}
		out[table] = all
	}
	return out, nil
}

// List reads rows as text, sorted.
func (v *RowView) List(text string, columns int) ([]string, error) {
	rows, err := v.Conn.QueryContext(context.Background(), text)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err has what matters
	var all []string
	for rows.Next() {
		values, into := make([]any, columns), make([]any, columns)
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		var b strings.Builder
		for _, x := range values {
			if raw, ok := x.([]byte); ok {
				x = string(raw)
			}
			fmt.Fprintf(&b, "%v | ", x)
		}
		all = append(all, b.String())
	}
	slices.Sort(all)
	return all, rows.Err()
}

// Count answers a number.
func (v *RowView) Count(text string, args ...any) int64 {
	var n int64
	if err := v.Conn.QueryRowContext(context.Background(), text, args...).Scan(&n); err != nil {
		return -1
	}
	return n
}

const turn = 3 * time.Second

// Settled waits until nothing is due that a write left behind, also what only waits its turn.
func (h *Hall) Settled() bool {
	return daemonbed.Await(func() bool {
		return h.Rows.Count(fmt.Sprintf(`SELECT COUNT(*) FROM due WHERE queue IN ('outbox', 'delivery') AND at_us <= %d`, time.Now().Add(turn).UnixMicro())) == 0
	})
}

// State is all that a namespace has.
type State struct {
	Rows  map[string][]string
	Files map[string]string
}

func (h *Hall) State(ns retake.NamespaceID) (State, error) {
	rows, err := h.Rows.Dump(ns)
	if err != nil {
		return State{}, err
	}
	files, err := h.Listing(ns)
	return State{rows, files}, err
}

// fleeting are directories of what is under way: who holds a lock, how far a session of an
// agent is.
var fleeting = []string{"locks", "sessions", "signals"}

// Listing is every file of a namespace that stays.
func (h *Hall) Listing(ns retake.NamespaceID) (map[string]string, error) {
	out, root := map[string]string{}, filepath.Join(h.Dir, "ns", string(ns))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if filepath.Dir(path) == filepath.Join(root, "own") && slices.Contains(fleeting, filepath.Base(path)) {
			return fs.SkipDir
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !info.IsDir() {
			out[strings.TrimPrefix(path, root)] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
		} else if err == nil {
			out[strings.TrimPrefix(path, root)] = fmt.Sprint(info.Mode())
		}
		return err
	})
	return out, err
}

// Unlike tells what differs between two states, in a few words.
func (s State) Unlike(t State) []string {
	var out []string
	for table, was := range s.Rows {
		is := t.Rows[table]
		if slices.Equal(was, is) {
			continue
		}
		gone, come := Apart(was, is)
		out = append(out, fmt.Sprintf("table %s: gone %.300q, come %.300q", table, gone, come))
	}
	for name, was := range s.Files {
		if is, ok := t.Files[name]; !ok || is != was {
			out = append(out, fmt.Sprintf("file %s: %q, was %q", name, is, was))
		}
	}
	for name := range t.Files {
		if _, ok := s.Files[name]; !ok {
			out = append(out, "file "+name+" came")
		}
	}
	slices.Sort(out)
	return out
}

// Apart answers what only one of two sorted lists has.
func Apart(a, b []string) (onlyA, onlyB []string) {
	for _, x := range a {
		if _, ok := slices.BinarySearch(b, x); !ok {
			onlyA = append(onlyA, x)
		}
	}
	for _, x := range b {
		if _, ok := slices.BinarySearch(a, x); !ok {
			onlyB = append(onlyB, x)
		}
	}
	return onlyA, onlyB
}

// PlantFile writes a file of a workspace as its user would.
func PlantFile(path, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
}
