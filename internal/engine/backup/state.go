package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Names in the directory of one workspace.
const (
	stateFile    = "state.json"
	keyFile      = "key"
	plainKeyFile = "key.open" // for the length of a run, when keys are sealed
	hostsFile    = "known_hosts"
	repoDir      = "git"
	homeDir      = "home" // empty
)

const stateVersion = 1

// state is what is stored between runs.
type state struct {
	V      int           `json:"v"`
	Backup retake.Backup `json:"backup"`
	// Counted is the checkpoint that Backup.Left is of; with another one on the branch all is
	// counted anew.
	Counted retake.CheckpointID `json:"counted,omitempty"`
}

func (w *Worker) workspaceDir(ws retake.WorkspaceID) string {
	return filepath.Join(w.opts.Dir, string(ws))
}

// lockWorkspace locks the directory of one workspace, also against other processes.
func (w *Worker) lockWorkspace(ctx context.Context, ws retake.WorkspaceID) (func(), error) {
	if _, err := retake.ParseWorkspaceID(string(ws)); err != nil {
		return nil, newFault(retake.Invalid, ErrNone, err, "not a valid workspace ID", "")
	}
	release, err := w.opts.Locks.Lock(ctx, "backup-"+string(ws), true)
	if err != nil {
		return nil, newFault(retake.Busy, ErrState, err, "a backup of this workspace is under way", "see how far it is: retake backup status")
	}
	return release, nil
}

// loadState reads the state of a workspace. It returns ErrNone if no backup is set.
func (w *Worker) loadState(ws retake.WorkspaceID) (*state, error) {
	b, err := os.ReadFile(filepath.Join(w.workspaceDir(ws), stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notSetError()
	}
	var s state
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err == nil && s.V > stateVersion {
		err = fmt.Errorf("version %d is younger than this program", s.V)
	}
	if err != nil {
		return nil, newFault(retake.Damaged, ErrState, err, "what is known of the backup cannot be read", "set it again: retake help backup set")
	}
	return &s, nil
}

func (w *Worker) saveState(s *state) error {
	s.V = stateVersion
	b, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = fsx.ReplaceFile(filepath.Join(w.workspaceDir(s.Backup.Workspace), stateFile), append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write down the backup: %w", err)
	}
	return nil
}

// State returns the state of a backup.
func (w *Worker) State(ws retake.WorkspaceID) (retake.Backup, error) {
	if _, err := retake.ParseWorkspaceID(string(ws)); err != nil {
		return retake.Backup{}, notSetError()
	}
	s, err := w.loadState(ws)
	if err != nil {
		return retake.Backup{}, err
	}
	return s.Backup, nil
}

// All lists the workspaces that have a backup.
func (w *Worker) All() ([]retake.WorkspaceID, error) {
	names, err := os.ReadDir(w.opts.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	var out []retake.WorkspaceID
	for _, n := range names {
		if id, err := retake.ParseWorkspaceID(n.Name()); err == nil {
			if _, err := os.Stat(filepath.Join(w.workspaceDir(id), stateFile)); err == nil {
				out = append(out, id)
			}
		}
	}
	return out, nil
}

// Drop ends a backup and removes its local files. The remote keeps what it has.
func (w *Worker) Drop(ctx context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	release, err := w.lockWorkspace(ctx, ws)
	if err != nil {
		return retake.Backup{}, err
	}
	defer release()
	s, err := w.loadState(ws)
	if errors.Is(err, ErrNone) {
		return retake.Backup{}, err
	}
	out := retake.Backup{Workspace: ws}
	if err == nil {
		out = s.Backup
	}
	out.Set = false
	if err := os.RemoveAll(w.workspaceDir(ws)); err != nil {
		return out, fmt.Errorf("remove backup: %w", err)
	}
	return out, nil
}

// Forget removes the local copy of what a backup sends. What was pushed stays at the remote
// and would be fetched from there again, so the backup ends until it is set again.
func (w *Worker) Forget(ctx context.Context, ws retake.WorkspaceID) error {
	b, err := w.State(ws)
	if errors.Is(err, ErrNone) {
		return nil
	}
	if err != nil || b.Pushed != nil {
		_, err := w.Drop(ctx, ws)
		return err
	}
	release, err := w.lockWorkspace(ctx, ws)
	if err != nil {
		return err
	}
	defer release()
	if err := os.RemoveAll(filepath.Join(w.workspaceDir(ws), repoDir)); err != nil {
		return fmt.Errorf("remove backup: %w", err)
	}
	return nil
}

// Waits between tries: they double, and what only a person can put right is asked for now
// and then.
const (
	minRetryWait = time.Minute
	maxRetryWait = time.Hour
)

// recordResult records how a run ended and when to try again.
func (s *state) recordResult(now time.Time, err error) {
	b := &s.Backup
	if err == nil {
		b.Trouble = nil
		return
	}
	e := retake.AsError(err)
	t := &retake.BackupTrouble{Kind: e.Kind, What: e.Error(), Hint: e.Hint, Since: now, At: now, Tries: 1}
	if old := b.Trouble; old != nil {
		t.Since, t.Tries = old.Since, old.Tries+1
	}
	wait := maxRetryWait
	if n := t.Tries - 1; n < 6 && (e.Kind == retake.Away || e.Kind == retake.Internal || e.Kind == retake.Busy) {
		wait = min(maxRetryWait, minRetryWait<<n)
	}
	next := now.Add(wait)
	t.Next, b.Trouble = &next, t
}
