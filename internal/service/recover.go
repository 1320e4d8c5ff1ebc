package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

func journalName(ws retake.WorkspaceID) string { return string(ws) + ".journal" }

func restoreLockName(ws retake.WorkspaceID) string { return "return-" + string(ws) }

// lockForRestore locks a workspace for one restore. The lock of an interrupted restore
// ended with its process.
func (s *Service) lockForRestore(ctx context.Context, ws retake.WorkspaceID) (func(), error) {
	wait, cancel := context.WithTimeout(ctx, s.parts.LockWait)
	defer cancel()
	release, err := s.parts.Locks.Lock(wait, restoreLockName(ws), true)
	if errors.Is(err, fsx.ErrLocked) {
		return nil, &retake.Error{Kind: retake.Busy, What: "another restore is running here", Safe: unchanged, Hint: "wait for it, then look again"}
	}
	return release, wrapError("not restored", unchanged, err)
}

// readInterrupted returns the interrupted restore of a workspace, or nil.
func (s *Service) readInterrupted(ws retake.WorkspaceID) (*restore.InterruptedRestore, error) {
	d, err := s.parts.FS.OpenRoot(s.parts.RestoreDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for a journal: %w", err)
	}
	defer d.Close() //nolint:errcheck // only looked
	cut, err := restore.ReadJournal(d, journalName(ws))
	if errors.Is(err, restore.ErrJournalDamaged) {
		// Nobody can read it, and it must not stand in the way for ever. What it began from
		// is on the timeline.
		return nil, d.Rename(journalName(ws), d, journalName(ws)+".damaged")
	}
	return cut, err
}

// removeJournal records that the restore is complete.
func (s *Service) removeJournal(ws retake.WorkspaceID) error {
	d, err := s.parts.FS.OpenRoot(s.parts.RestoreDir)
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // a directory handle
	return restore.RemoveJournal(d, journalName(ws))
}

// interruptionOf returns the interrupted restore of a workspace for display, or nil. A
// restore that is still running is not interrupted.
func (s *Service) interruptionOf(ctx context.Context, ws retake.WorkspaceID) *retake.Interruption {
	cut, err := s.readInterrupted(ws)
	if err != nil || cut == nil {
		return nil
	}
	once, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	release, err := s.parts.Locks.Lock(once, restoreLockName(ws), false)
	if err != nil {
		return nil
	}
	release()
	if cut, err = s.readInterrupted(ws); err != nil || cut == nil { // it ended meanwhile
		return nil
	}
	return &retake.Interruption{
		ID: cut.ID, Course: cut.Course, Target: cut.Target.Number, Safety: cut.Safety.Number,
		Done: cut.Done, Total: cut.Total, Since: cut.Since,
	}
}
