package carry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// fetchRest fetches what is still at the remote only, in the background. It is tried again when the daemon starts
// the next time.
func (u *Uploads) fetchRest() {
	if _, err := os.Stat(filepath.Join(u.opts.Dir, BaseFile)); err != nil || !u.workspaces.Exclusive {
		return
	}
	u.runs.Go(func() {
		u.workspaces.RunTask(workspace.TaskFetch, func() error { return u.fetchBase(u.ctx) })
	})
}

// fetchBase fetches the rest, and lets the copy go.
func (u *Uploads) fetchBase(ctx context.Context) error {
	file := filepath.Join(u.opts.Dir, BaseFile)
	text, err := os.ReadFile(file)
	var b BaseState
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return fmt.Errorf("read where the history began: %w", err)
	}
	st, err := u.workspaces.Store(ctx)
	if err != nil {
		return err
	}
	if err := u.opts.Attach.Fetch(ctx, st, ""); err != nil {
		return err
	}
	at, err := u.opts.Address(b.URL)
	if err != nil {
		return err
	}
	place, err := at.Open(ctx, b.Name, b.Access)
	if err != nil {
		return err
	}
	if err := errors.Join(replica.Unpin(ctx, place, b.Head, b.Who), place.Close()); err != nil {
		return err
	}
	return os.Remove(file)
}
