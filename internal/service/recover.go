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

func lockName(ws retake.WorkspaceID) string { return "return-" + string(ws) }

// returning holds a workspace for one restore. A restore that was cut off holds
// nothing: its process is gone.
func (s *Service) returning(ctx context.Context, ws retake.WorkspaceID) (func(), error) {
	wait, cancel := context.WithTimeout(ctx, s.p.Wait)
	defer cancel()
	release, err := s.p.Locks.Lock(wait, lockName(ws), true)
	if errors.Is(err, fsx.ErrLocked) {
		return nil, &retake.Error{Kind: retake.Busy, What: "another restore is running here", Safe: unchanged, Hint: "wait for it, then look again"}
	}
	return release, fault("not restored", unchanged, err)
}

// cutOff answers the restore of a workspace that was cut off, if one was.
func (s *Service) cutOff(ws retake.WorkspaceID) (*restore.InterruptedRestore, error) {
	d, err := s.p.FS.OpenRoot(s.p.Returns)
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

// endReturn says that nothing is left to be done.
func (s *Service) endReturn(ws retake.WorkspaceID) error {
	d, err := s.p.FS.OpenRoot(s.p.Returns)
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // a directory handle
	return restore.RemoveJournal(d, journalName(ws))
}

// interrupted tells of a restore that was cut off; one that is running is none.
func (s *Service) interrupted(ctx context.Context, ws retake.WorkspaceID) *retake.Interruption {
	cut, err := s.cutOff(ws)
	if err != nil || cut == nil {
		return nil
	}
	once, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	release, err := s.p.Locks.Lock(once, lockName(ws), false)
	if err != nil {
		return nil
	}
	release()
	if cut, err = s.cutOff(ws); err != nil || cut == nil { // it ended meanwhile
		return nil
	}
	return &retake.Interruption{
		ID: cut.ID, Course: cut.Course, Target: cut.Target.Number, Safety: cut.Safety.Number,
		Done: cut.Done, Total: cut.Total, Since: cut.Since,
	}
}
