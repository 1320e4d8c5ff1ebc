package assemble

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/daemonctl"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// RecoveryKey returns the recovery key of the user's store.
func RecoveryKey(c config.Config) ([]byte, error) {
	key, err := kopia.RecoveryKey(fsx.OS(), filepath.Join(c.DataDir, "store"))
	return key, recoveryError("there is no recovery key", err)
}

// RestoreKeys puts the keys of the user's store back from a recovery key, and opens the store with
// them. It changes nothing and returns false if the store opens already.
func RestoreKeys(ctx context.Context, c config.Config, key []byte) (bool, error) {
	dir := filepath.Join(c.DataDir, "store")
	release, err := daemonctl.HoldOff(c)
	if retake.IsKind(err, retake.Busy) {
		return false, &retake.Error{Kind: retake.Busy, What: "a daemon or another command is using this store", Safe: workspace.Unchanged, Hint: "stop it first: retake daemon stop"}
	}
	if err != nil {
		return false, err
	}
	defer release()
	if st, err := openWithKeys(ctx, c); err == nil {
		return false, st.Close()
	}
	undo, err := kopia.RestoreKeys(fsx.OS(), dir, key, clock.Wall.Now().UTC().Format("20060102T150405"))
	if err != nil {
		return false, recoveryError("the keys were not put back", err)
	}
	st, err := openWithKeys(ctx, c)
	if err != nil {
		return false, &retake.Error{
			Kind: retake.Damaged, What: "the store does not open with this recovery key", Err: errors.Join(err, undo()),
			Safe: "What was there was put back.", Hint: "see its state: retake doctor",
		}
	}
	return true, st.Close()
}

func openWithKeys(ctx context.Context, c config.Config) (store.Store, error) {
	return kopia.Open(ctx, kopia.Options{
		Dir: filepath.Join(c.DataDir, "store"), FS: fsx.OS(), Locks: fsx.NewLocks(filepath.Join(c.DataDir, "locks")), Clock: clock.Wall,
	})
}

func recoveryError(what string, err error) error {
	switch {
	case errors.Is(err, kopia.ErrNoRecoveryKey):
		return &retake.Error{Kind: retake.Invalid, What: err.Error(), Safe: workspace.Unchanged, Hint: "it was printed by: retake recovery-key"}
	case errors.Is(err, store.ErrNotFound):
		return &retake.Error{Kind: retake.NotFound, What: what + ": there is no store yet", Safe: workspace.Unchanged, Hint: "protect a directory: retake init"}
	}
	return workspace.WrapError(what, workspace.Unchanged, err)
}
