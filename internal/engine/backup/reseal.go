package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// ErrKeyChanged means that a key is another than the one that was to be replaced.
var ErrKeyChanged = errors.New("the key of the backup was changed meanwhile")

// SealedKey is the sealed private key of a workspace.
type SealedKey struct {
	Workspace retake.WorkspaceID
	Purpose   string
	Sealed    []byte
}

// SealedKeys lists the sealed private keys, including those of workspaces that are gone.
func (w *Worker) SealedKeys() ([]SealedKey, error) {
	names, err := os.ReadDir(w.opts.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list keys of backups: %w", err)
	}
	var out []SealedKey
	for _, n := range names {
		ws, err := retake.ParseWorkspaceID(n.Name())
		if err != nil {
			continue
		}
		sealed, err := os.ReadFile(filepath.Join(w.workspaceDir(ws), keyFile))
		if errors.Is(err, fs.ErrNotExist) { // a path needs no key
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read key of backup: %w", err)
		}
		out = append(out, SealedKey{ws, keyPurpose + string(ws), sealed})
	}
	return out, nil
}

// ReplaceKey replaces a sealed private key with the same one, sealed again, when the sealing key
// changes. It waits for a backup of the workspace until ctx ends. ErrKeyChanged.
func (w *Worker) ReplaceKey(ctx context.Context, was SealedKey, sealed []byte) error {
	release, err := w.lockWorkspace(ctx, was.Workspace)
	if err != nil {
		return err
	}
	defer release()
	at := filepath.Join(w.workspaceDir(was.Workspace), keyFile)
	now, err := os.ReadFile(at)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(now, was.Sealed) {
		return ErrKeyChanged
	}
	if err == nil {
		err = fsx.ReplaceFile(at, sealed, 0o600)
	}
	if err != nil {
		return fmt.Errorf("replace key of backup: %w", err)
	}
	return nil
}
