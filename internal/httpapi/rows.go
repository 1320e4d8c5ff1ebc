package httpapi

import (
	"context"

	"github.com/retake-dev/retake"
)

type rowsInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	From      string             `query:"from" doc:"A ref. Empty: the parent of to, or the latest when that is now."`
	To        string             `query:"to" doc:"A ref, or now. Empty: now."`
	Path      string             `query:"path" doc:"Of the database, below the root of the workspace."`
	Table     string             `query:"table" doc:"Its rows are listed. Empty: the tables that differ are counted."`
	What      retake.Difference  `query:"what" doc:"List deleted, edited or added rows only. Empty: all."`
	Skip      int                `query:"skip" doc:"So many rows of what were seen."`
	Limit     int                `query:"limit" doc:"List at most so many rows, up to 1,000. 0: 100."`
}

func (a *api) rows(ctx context.Context, in *rowsInput) (retake.RowsDiff, error) {
	d, err := a.Rows(ctx, retake.RowsQuery{
		Workspace: in.Workspace, From: in.From, To: in.To, Path: in.Path, Table: in.Table, What: in.What, Skip: in.Skip, Limit: in.Limit,
	})
	d.Tables = filled(d.Tables)
	for i := range d.Tables {
		d.Tables[i].Columns, d.Tables[i].Rows = filled(d.Tables[i].Columns), filled(d.Tables[i].Rows)
	}
	return d, err
}
