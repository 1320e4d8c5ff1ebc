package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/ui/term"
)

// Bounds of what is asked of one database.
const (
	mostTables     = 5  // whose rows are drawn
	mostTablesJSON = 50 // whose rows are given to a program
)

// rowsAnswer is a database that was asked for by its path.
type rowsAnswer struct {
	Path string `json:"path"`
	retake.RowsDiff
}

// requestedDatabases are those that were asked for by path: what changed, and what is named itself,
// because a database may have changed in its log alone.
func requestedDatabases(q retake.DiffQuery, changes []retake.Change) []string {
	var out []string
	for _, c := range changes {
		if pathclass.IsSQLite(c.Path) && !c.IsDir() && (c.What == retake.Edited || c.What == retake.Added || c.What == retake.Deleted) {
			out = append(out, c.Path)
		}
	}
	for _, p := range q.Paths {
		if pathclass.IsSQLite(p) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// readRows asks for the tables of a database that differ, and for the rows of some of them,
// those that lost rows first. Without an answer ok is false.
func readRows(ctx context.Context, s retake.Service, q retake.DiffQuery, name string, tables, rows int) (d retake.RowsDiff, full []retake.TableRows, ok bool) {
	ask := retake.RowsQuery{Workspace: q.Workspace, From: q.From, To: q.To, Path: name, Limit: rows}
	d, err := s.Rows(ctx, ask)
	if err != nil {
		return d, nil, false
	}
	for _, lost := range []bool{true, false} {
		for _, t := range d.Tables {
			if t.Deleted > 0 != lost || t.What == "" || len(full) == tables {
				continue
			}
			ask.Table = t.Name
			if one, err := s.Rows(ctx, ask); err == nil && len(one.Tables) == 1 {
				full = append(full, one.Tables[0])
			}
		}
	}
	return d, full, true
}

// rowsAnswers are the databases that were asked for, with as many rows as one answer holds.
func rowsAnswers(ctx context.Context, s retake.Service, q retake.DiffQuery, changes []retake.Change) []rowsAnswer {
	if len(q.Paths) == 0 {
		return nil
	}
	var out []rowsAnswer
	for _, name := range requestedDatabases(q, changes) {
		d, full, ok := readRows(ctx, s, q, name, mostTablesJSON, retake.MostRows)
		if !ok {
			continue
		}
		for i, t := range d.Tables {
			if at := slices.IndexFunc(full, func(f retake.TableRows) bool { return f.Name == t.Name }); at >= 0 {
				d.Tables[i] = full[at]
			}
		}
		out = append(out, rowsAnswer{name, d})
	}
	return out
}

// drawRows draws a database; empty: it is none, and is drawn as any file.
func (c *diffCmd) drawRows(ctx context.Context, s retake.Service, name string, what retake.Difference) string {
	d, full, ok := readRows(ctx, s, c.query, name, mostTables, term.MaxRowsShown)
	if !ok || strings.HasSuffix(d.Why, "is not a SQLite database") {
		return ""
	}
	return term.RenderRows(c.stdoutStyle(), name, what, d, full)
}

// drawRequestedRows draws the databases that were asked for by path, by their names. One that
// changed in its log alone is in no group, and is written at once.
func (c *diffCmd) drawRequestedRows(ctx context.Context, w io.Writer, s retake.Service, gs []term.ChangeGroup) map[string]string {
	if len(c.paths) == 0 {
		return nil
	}
	var changes []retake.Change
	for _, g := range gs {
		changes = append(changes, g.Changes...)
	}
	drawn := map[string]string{}
	for _, name := range requestedDatabases(c.query, changes) {
		i := slices.IndexFunc(changes, func(ch retake.Change) bool { return ch.Path == name })
		if i >= 0 {
			drawn[name] = c.drawRows(ctx, s, name, changes[i].What)
		} else if d, err := s.Rows(ctx, retake.RowsQuery{Workspace: c.query.Workspace, From: c.query.From, To: c.query.To, Path: name}); err == nil && len(d.Tables) > 0 {
			fmt.Fprint(w, c.drawRows(ctx, s, name, retake.Edited))
			c.changedInWAL = append(c.changedInWAL, name)
		}
	}
	return drawn
}

// walSuffix ends the name of the log beside a database. What was written last is in there.
const walSuffix = "-wal"

// drawRowCounts tells how many rows of a database differ, table by table; empty: it is none,
// or was told before. A log is told as the database that it belongs to: by itself it is
// bytes that nobody reads.
func (c *diffCmd) drawRowCounts(ctx context.Context, s retake.Service, ch retake.Change, told map[string]bool) string {
	name := strings.TrimSuffix(ch.Path, walSuffix)
	if ch.What != retake.Edited && name == ch.Path || !pathclass.IsSQLite(name) || told[name] || len(told) >= mostTables {
		return ""
	}
	d, err := s.Rows(ctx, retake.RowsQuery{Workspace: c.query.Workspace, From: c.query.From, To: c.query.To, Path: name})
	if err != nil || d.Why != "" || len(d.Tables) == 0 {
		return ""
	}
	told[name] = true
	return term.RenderRowCounts(c.stdoutStyle(), name, retake.Edited, d)
}
