package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

func JournalName(ws retake.WorkspaceID) string { return string(ws) + ".journal" }

func RestoreLockName(ws retake.WorkspaceID) string { return "return-" + string(ws) }

// LockForRestore locks a workspace for one restore. The lock of an interrupted restore
// ended with its process.
func (s *Registry) LockForRestore(ctx context.Context, ws retake.WorkspaceID) (func(), error) {
	wait, cancel := context.WithTimeout(ctx, s.LockWait)
	defer cancel()
	release, err := s.Locks.Lock(wait, RestoreLockName(ws), true)
	if errors.Is(err, fsx.ErrLocked) {
		return nil, &retake.Error{Kind: retake.Busy, What: "another restore is running here", Safe: Unchanged, Hint: "wait for it, then look again"}
	}
	return release, WrapError("not restored", Unchanged, err)
}

// ReadInterrupted returns the interrupted restore of a workspace, or nil.
func (s *Registry) ReadInterrupted(ws retake.WorkspaceID) (*restore.InterruptedRestore, error) {
	d, err := s.FS.OpenRoot(s.RestoreDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for a journal: %w", err)
	}
	defer d.Close() //nolint:errcheck // only looked
	cut, err := restore.ReadJournal(d, JournalName(ws))
	if errors.Is(err, restore.ErrJournalDamaged) {
		// Nobody can read it, and it must not stand in the way for ever. What it began from
		// is on the timeline.
		return nil, d.Rename(JournalName(ws), d, JournalName(ws)+".damaged")
	}
	return cut, err
}

// RemoveJournal records that the restore is complete.
func (s *Registry) RemoveJournal(ws retake.WorkspaceID) error {
	d, err := s.FS.OpenRoot(s.RestoreDir)
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // a directory handle
	return restore.RemoveJournal(d, JournalName(ws))
}

// InterruptionOf returns the interrupted restore of a workspace for display, or nil. A
// restore that is still running is not interrupted.
func (s *Registry) InterruptionOf(ctx context.Context, ws retake.WorkspaceID) *retake.Interruption {
	cut, err := s.ReadInterrupted(ws)
	if err != nil || cut == nil {
		return nil
	}
	once, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	release, err := s.Locks.Lock(once, RestoreLockName(ws), false)
	if err != nil {
		return nil
	}
	release()
	if cut, err = s.ReadInterrupted(ws); err != nil || cut == nil { // it ended meanwhile
		return nil
	}
	return &retake.Interruption{
		ID: cut.ID, Course: cut.Course, Target: cut.Target.Number, Safety: cut.Safety.Number,
		Done: cut.Done, Total: cut.Total, Since: cut.Since,
	}
}
