package httpapi

import (
	"context"

	"github.com/retake-dev/retake"
)

type rowsInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	From      string             `query:"from" doc:"The earlier checkpoint, as a ref. Empty means the parent of to, or the latest one if to is now."`
	To        string             `query:"to" doc:"The later checkpoint, as a ref, or now. Empty means the current files."`
	Path      string             `query:"path" doc:"The path of the database, relative to the workspace's root."`
	Table     string             `query:"table" doc:"List the rows of this table. Empty means to count the rows of all tables that differ."`
	What      retake.Difference  `query:"what" doc:"List only deleted, edited or added rows. Empty means all."`
	Skip      int                `query:"skip" doc:"The number of rows to skip, to get the next part."`
	Limit     int                `query:"limit" doc:"The largest number of rows to list, up to 1,000. 0 means 100."`
}

// compareRows compares the rows of a database at two checkpoints.
func (a *api) compareRows(ctx context.Context, in *rowsInput) (retake.RowsDiff, error) {
	d, err := a.Rows(ctx, retake.RowsQuery{
		Workspace: in.Workspace, From: in.From, To: in.To, Path: in.Path, Table: in.Table, What: in.What, Skip: in.Skip, Limit: in.Limit,
	})
	d.Tables = nonNil(d.Tables)
	for i := range d.Tables {
		d.Tables[i].Columns, d.Tables[i].Rows = nonNil(d.Tables[i].Columns), nonNil(d.Tables[i].Rows)
	}
	return d, err
}
