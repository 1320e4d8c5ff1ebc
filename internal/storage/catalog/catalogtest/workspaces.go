package catalogtest

import (
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

func testPutWorkspace(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx := t.Context()
	_, err := c.Workspace(ctx, workspaceID(1))
	wantError(t, err, catalog.ErrNotFound)

	ws := workspace(1)
	wantNoError(t, c.PutWorkspace(ctx, ws))
	got, err := c.Workspace(ctx, ws.ID)
	wantNoError(t, err)
	wantEqual(t, "workspace", got, ws)

	ended := noon.Add(48 * time.Hour)
	changed := retake.Workspace{ID: ws.ID, Name: "new", Root: "/new", Dev: 1, Ino: 2, Created: noon.Add(time.Hour), Ended: &ended}
	wantNoError(t, c.PutWorkspace(ctx, changed))
	got, err = c.Workspace(ctx, ws.ID)
	wantNoError(t, err)
	changed.Created = ws.Created // the one thing that does not change
	wantEqual(t, "changed workspace", got, changed)

	changed.Ended = nil
	wantNoError(t, c.PutWorkspace(ctx, changed))
	got, err = c.Workspace(ctx, ws.ID)
	wantNoError(t, err)
	wantEqual(t, "reopened workspace", got, changed)
}

func testRootIsBytes(t *testing.T, open Opener) {
	c := open(t, "a")
	ws := workspace(1)
	ws.Root = "/home/caf\xe9/\n\x1b[31m"
	wantNoError(t, c.PutWorkspace(t.Context(), ws))
	got, err := c.Workspace(t.Context(), ws.ID)
	wantNoError(t, err)
	wantEqual(t, "root", []byte(got.Root), []byte(ws.Root))
	all, err := c.Workspaces(t.Context())
	wantNoError(t, err)
	wantEqual(t, "root in the list", []byte(all[0].Root), []byte(ws.Root))
}

func testListWorkspaces(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx := t.Context()
	all, err := c.Workspaces(ctx)
	wantNoError(t, err)
	wantEqual(t, "workspaces of an empty catalog", all, nil)

	for n := range 4 {
		wantNoError(t, c.PutWorkspace(ctx, workspace(n)))
	}
	// 1 was used last, then 2; 3 was made after 0. A lower number with a later
	// time must not count as the newest.
	late := checkpoint(1, 1)
	late.Time = noon.Add(1000 * time.Minute)
	for _, cp := range []retake.Checkpoint{late, checkpoint(1, 30), checkpoint(2, 20), checkpoint(2, 10), checkpoint(2, 21)} {
		wantNoError(t, c.Append(ctx, cp))
	}
	wantNoError(t, c.Bury(ctx, workspaceID(2), []retake.Tombstone{newTombstone(checkpoint(2, 21))}))
	all, err = c.Workspaces(ctx)
	wantNoError(t, err)
	one, two := checkpoint(1, 30), checkpoint(2, 20)
	wantEqual(t, "workspaces", all, []retake.WorkspaceState{
		{Workspace: workspace(1), Latest: &one, Count: 2},
		{Workspace: workspace(2), Latest: &two, Count: 2},
		{Workspace: workspace(3)},
		{Workspace: workspace(0)},
	})
}
