package insight

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Rows compares the rows of a database at two checkpoints, in the child process.
func (s *Insight) Rows(ctx context.Context, q retake.RowsQuery) (retake.RowsDiff, error) {
	if err := validateRowsQuery(q); err != nil {
		return retake.RowsDiff{}, err
	}
	out, err := s.findRowsEnds(ctx, q)
	if err != nil {
		return out, err
	}
	path := history.CleanPath(q.Path)
	ask := xray.RowsRequest{Table: q.Table, What: q.What, Skip: q.Skip, Limit: q.Limit}
	if ask.Before, err = s.openDatabaseAt(ctx, out.From, path); err != nil {
		return out, workspace.WrapError(fmt.Sprintf("cannot read %s", path), workspace.Unchanged, err)
	}
	if out.To == nil {
		ask.After, err = s.openLiveDatabase(ctx, out.From.Workspace, path)
	} else {
		ask.After, err = s.openDatabaseAt(ctx, out.To, path)
	}
	if err != nil {
		return out, workspace.WrapError(fmt.Sprintf("cannot read %s", path), workspace.Unchanged, err)
	}
	if ask.Before == nil && ask.After == nil {
		return out, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no file %s at these checkpoints", path), Safe: workspace.Unchanged, Hint: "list files: retake ls latest"}
	}
	return s.queryRows(ctx, ask, out)
}

// queryRows lets the child process compare the rows.
func (s *Insight) queryRows(ctx context.Context, ask xray.RowsRequest, out retake.RowsDiff) (retake.RowsDiff, error) {
	if s.opts.Readers == nil {
		out.Why = errNoReader.Error()
		return out, nil
	}
	got, err := s.opts.Readers.Rows(ctx, ask)
	if err != nil {
		return out, workspace.WrapError("the rows cannot be compared", workspace.Unchanged, err)
	}
	if got.Missing {
		return out, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no table %q on either side", ask.Table), Safe: workspace.Unchanged, Hint: "ask without a table for those that differ"}
	}
	if got.Tables != nil {
		out.Tables = got.Tables
	}
	out.Same, out.Why = got.Same, got.Why
	return out, nil
}

// validateRowsQuery refuses contradictory queries.
func validateRowsQuery(q retake.RowsQuery) error {
	wrong := func(what, hint string) error {
		return &retake.Error{Kind: retake.Invalid, What: what, Safe: workspace.Unchanged, Hint: hint}
	}
	switch q.What {
	case "", retake.Added, retake.Deleted, retake.Edited:
	default:
		return wrong(fmt.Sprintf("no row can be %q", q.What), "rows are deleted, edited or added")
	}
	switch {
	case q.Path == "":
		return wrong("no database is named", "give its path below the root")
	case q.Skip < 0 || q.Limit < 0:
		return wrong("a number of rows is below zero", "leave it out")
	case q.Skip > 0 && (q.What == "" || q.Table == ""):
		return wrong("it is not said which rows to skip", "name a table, and deleted, edited or added")
	}
	return nil
}

// findRowsEnds finds the two checkpoints, as Diff does.
func (s *Insight) findRowsEnds(ctx context.Context, q retake.RowsQuery) (out retake.RowsDiff, err error) {
	out.Tables = []retake.TableRows{}
	if q.To == "" || q.To == history.LiveRef {
		from, err := s.history.Find(ctx, q.Workspace, cmp.Or(q.From, "latest"))
		out.From = &from
		return out, err
	}
	to, err := s.history.Find(ctx, q.Workspace, q.To)
	if err != nil {
		return out, err
	}
	out.To = &to
	out.From, err = s.history.DiffBase(ctx, retake.DiffQuery{Workspace: q.Workspace, From: q.From}, to)
	return out, err
}

// openDatabaseAt returns a database at a checkpoint with its log, or nil if there is no
// such file.
func (s *Insight) openDatabaseAt(ctx context.Context, cp *retake.Checkpoint, path string) (*xray.DatabaseSource, error) {
	if cp == nil {
		return nil, nil
	}
	e, err := s.history.FindEntry(ctx, *cp, path)
	if err != nil || e == nil || e.Kind != retake.KindFile {
		return nil, err
	}
	src := &xray.DatabaseSource{Size: e.Size, Open: s.storedOpener(e.Object)}
	name, _ := xray.LogPath("sqlite", path)
	if log, err := s.history.FindEntry(ctx, *cp, name); err != nil {
		return nil, err
	} else if log != nil && log.Kind == retake.KindFile {
		src.Log = s.storedOpener(log.Object)
	}
	return src, nil
}

func (s *Insight) storedOpener(id retake.ObjectID) func(context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) { return s.history.Bytes(ctx, id) }
}

// openLiveDatabase returns the live database with its log, or nil. If it is written
// meanwhile, the reader may find it inconsistent and says so.
func (s *Insight) openLiveDatabase(ctx context.Context, ws retake.WorkspaceID, path string) (*xray.DatabaseSource, error) {
	_, root, err := s.workspaces.OpenRoot(ctx, ws)
	if err != nil {
		return nil, err // without a root nothing is known of the files below
	}
	_ = root.Close() // only looked
	size, there, err := s.liveFileSize(ctx, ws, path)
	if err != nil || !there {
		return nil, err
	}
	live := func(path string) func(context.Context) (io.ReadCloser, error) {
		return func(ctx context.Context) (io.ReadCloser, error) {
			r, _, err := s.history.OpenLiveFile(ctx, ws, path)
			return r, err
		}
	}
	src := &xray.DatabaseSource{Size: size, Open: live(path)}
	name, _ := xray.LogPath("sqlite", path)
	if _, there, err = s.liveFileSize(ctx, ws, name); err != nil {
		return nil, err
	} else if there {
		src.Log = live(name)
	}
	return src, nil
}

// liveFileSize returns the size of a live file, if it is a regular one.
func (s *Insight) liveFileSize(ctx context.Context, ws retake.WorkspaceID, path string) (size int64, there bool, err error) {
	dir, last, err := s.history.OpenLiveDir(ctx, ws, path)
	if err == nil {
		defer dir.Close() //nolint:errcheck // only looked
		i, stat := dir.Lstat(last)
		if err = workspace.WrapError(fmt.Sprintf("cannot read %s", path), workspace.Unchanged, stat); err == nil {
			return i.Size, i.Type == fsx.Regular, nil
		}
	}
	if retake.IsKind(err, retake.NotFound) {
		return 0, false, nil
	}
	return 0, false, err
}
