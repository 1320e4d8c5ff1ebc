package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/explain/verify"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

// SetBackup says where the checkpoints of a workspace also go.
func (s *Service) SetBackup(ctx context.Context, req retake.BackupRequest) (retake.Backup, error) {
	ws, err := s.backedRow(ctx, req.Workspace)
	if err != nil {
		return retake.Backup{}, err
	}
	b, err := s.p.Backup.Set(ctx, ws, req)
	if err != nil {
		return b, fault("the backup is not set", unchanged, err)
	}
	if b.Set {
		s.backer.forget(ws.ID) // what is new waits for no old trouble
	}
	return s.howFar(ctx, b)
}

// Backup tells how far a backup is.
func (s *Service) Backup(ctx context.Context, id retake.WorkspaceID) (retake.Backup, error) {
	if _, err := s.backedRow(ctx, id); err != nil {
		return retake.Backup{}, err
	}
	b, err := s.p.Backup.State(id)
	if err != nil {
		return b, fault("the state of the backup can't be read", unchanged, err)
	}
	return s.howFar(ctx, b)
}

// PushBackup sends what is not there yet, and waits for it.
func (s *Service) PushBackup(ctx context.Context, id retake.WorkspaceID) (retake.Backup, error) {
	if _, err := s.backedRow(ctx, id); err != nil {
		return retake.Backup{}, err
	}
	b, err := s.backer.send(ctx, id)
	if err != nil {
		return b, fault("not backed up", unchanged, err)
	}
	s.backer.forget(id) // nothing waits for old trouble any more
	if b, err = s.howFar(ctx, b); err == nil && b.Behind > 0 && s.p.Exclusive {
		s.backer.later(id, settle) // what came meanwhile
	}
	return b, err
}

// DropBackup ends a backup.
func (s *Service) DropBackup(ctx context.Context, id retake.WorkspaceID) (retake.Backup, error) {
	if _, err := s.backedRow(ctx, id); err != nil {
		return retake.Backup{}, err
	}
	s.backer.forget(id)
	b, err := s.p.Backup.Drop(ctx, id)
	return b, fault("the backup was not turned off", unchanged, err)
}

func (s *Service) backedRow(ctx context.Context, id retake.WorkspaceID) (retake.Workspace, error) {
	if s.p.Backup == nil {
		return retake.Workspace{}, &retake.Error{Kind: retake.Invalid, What: "there are no backups here", Safe: unchanged}
	}
	ws, err := s.row(ctx, id)
	return ws, fault("no such workspace", unchanged, err)
}

// howFar counts the checkpoints that the remote does not have.
func (s *Service) howFar(ctx context.Context, b retake.Backup) (retake.Backup, error) {
	var sent int64
	if b.Pushed != nil {
		sent = b.Pushed.Number
	}
	err := s.eachCheckpoint(ctx, retake.LogQuery{Workspace: b.Workspace}, func(page []retake.Checkpoint) (bool, error) {
		for _, cp := range page {
			if cp.Number <= sent {
				return false, nil
			}
			b.Behind++
		}
		return true, nil
	})
	return b, fault("the timeline cannot be read", unchanged, err)
}

// backupOf is for a status: nil when there is none, or when it cannot be told.
func (s *Service) backupOf(ctx context.Context, id retake.WorkspaceID) *retake.Backup {
	if s.p.Backup == nil {
		return nil
	}
	b, err := s.Backup(ctx, id)
	if err != nil {
		return nil
	}
	return &b
}

// backedUp warns beside a save when checkpoints do not arrive.
func (s *Service) backedUp(id retake.WorkspaceID) []retake.Warning {
	if s.p.Backup == nil {
		return nil
	}
	b, err := s.p.Backup.State(id)
	if err != nil || b.Trouble == nil {
		return nil
	}
	return []retake.Warning{{Code: "backup", Text: fmt.Sprintf("the backup fails since %s: %s", b.Trouble.Since.UTC().Format(time.RFC3339), b.Trouble.What)}}
}

// history is what a backup reads.
type history struct {
	store.Trees
	s  *Service
	ws retake.WorkspaceID
}

// After goes up number by number: forgotten ones are not there.
func (h history) After(ctx context.Context, n int64, f func(backup.Checkpoint) error) error {
	_, last, err := h.s.p.Catalog.Counts(ctx, h.ws)
	for n++; err == nil && n <= last; n++ {
		var m backup.Checkpoint
		m, err = h.checkpoint(ctx, n)
		if errors.Is(err, catalog.ErrNotFound) {
			err = nil
			continue
		}
		if err == nil {
			err = f(m)
		}
	}
	return err
}

func (h history) checkpoint(ctx context.Context, n int64) (backup.Checkpoint, error) {
	cp, err := h.s.p.Catalog.ByNumber(ctx, h.ws, n)
	if err != nil {
		return backup.Checkpoint{}, err
	}
	m := backup.Checkpoint{Checkpoint: cp}
	if about, err := h.s.answersAbout(ctx, h.ws, []retake.Checkpoint{cp}); err == nil {
		m.Answers = verify.Answers(cp, nil, about[cp.Content])
	}
	if gists, err := h.s.p.Catalog.Gists(ctx, h.ws, []retake.CheckpointID{cp.ID}); err == nil {
		m.Gist = gists[cp.ID].Lead
	}
	return m, nil
}

// Known answers the id of a number.
func (h history) Known(ctx context.Context, n int64) (retake.CheckpointID, error) {
	cp, err := h.s.p.Catalog.ByNumber(ctx, h.ws, n)
	if errors.Is(err, catalog.ErrNotFound) {
		return "", nil
	}
	return cp.ID, err
}

// backer sends checkpoints in the background, one run of a workspace at a time. No save waits
// for it, and none fails by it.
type backer struct {
	s    *Service
	life context.Context
	end  context.CancelFunc
	runs sync.WaitGroup

	mu     sync.Mutex
	timers map[retake.WorkspaceID]*time.Timer // guarded by mu; a run that is to come
	busy   map[retake.WorkspaceID]bool        // guarded by mu; a run is under way: true when another is to follow
	ended  bool                               // guarded by mu
}

const (
	settle   = 2 * time.Second // lets the checkpoints of one piece of work go together
	troubled = time.Minute     // at least, after one that did not work out
)

// backed are the triggers after which something is worth sending.
var backed = []retake.Trigger{
	retake.TriggerInit, retake.TriggerManual, retake.TriggerComplete, retake.TriggerReturn, retake.TriggerFork, retake.TriggerTurn, retake.TriggerTask, retake.TriggerSession,
}

func newBacker(s *Service) *backer {
	b := &backer{s: s, timers: map[retake.WorkspaceID]*time.Timer{}, busy: map[retake.WorkspaceID]bool{}}
	b.life, b.end = context.WithCancel(context.Background())
	if s.p.Backup == nil || !s.p.Exclusive {
		return b
	}
	all, err := s.p.Backup.All()
	if err != nil {
		return b // whoever asks for one meets the same trouble
	}
	for _, ws := range all {
		b.later(ws, b.due(ws))
	}
	return b
}

// checkpoint says that there is one more.
func (b *backer) checkpoint(cp retake.Checkpoint) {
	if b.s.p.Backup != nil && b.s.p.Exclusive && slices.Contains(backed, cp.Trigger) {
		b.later(cp.Workspace, settle)
	}
}

// later asks for a run. After trouble one is to come already, at its time.
func (b *backer) later(ws retake.WorkspaceID, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, running := b.busy[ws]; running {
		b.busy[ws] = true
		return
	}
	if b.ended || b.timers[ws] != nil {
		return // the one that is to come takes this along
	}
	b.timers[ws] = time.AfterFunc(max(wait, settle), func() { b.run(ws) })
}

// due is how long the last trouble asks to wait.
func (b *backer) due(ws retake.WorkspaceID) time.Duration {
	st, err := b.s.p.Backup.State(ws)
	if err != nil || st.Trouble == nil || st.Trouble.Next == nil {
		return settle
	}
	return st.Trouble.Next.Sub(b.s.p.Clock.Now())
}

// run is one try in the background.
func (b *backer) run(ws retake.WorkspaceID) {
	if !b.enter(ws) {
		return
	}
	defer b.runs.Done()
	err := b.try(ws)
	if !errors.Is(err, backup.ErrNone) && b.life.Err() == nil {
		b.s.p.Diag.Note(taskBackup, err)
	}
	again := b.leave(ws)
	switch {
	case errors.Is(err, backup.ErrNone) || b.life.Err() != nil:
	case err != nil:
		b.later(ws, max(b.due(ws), troubled))
	case again:
		b.later(ws, settle)
	}
}

// try ends with an error when it breaks off: the checkpoints are safe without it.
func (b *backer) try(ws retake.WorkspaceID) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("back up: %v", v)
		}
	}()
	_, err = b.send(b.life, ws)
	return err
}

func (b *backer) enter(ws retake.WorkspaceID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.timers, ws)
	if b.ended {
		return false
	}
	b.busy[ws] = false
	b.runs.Add(1)
	return true
}

func (b *backer) leave(ws retake.WorkspaceID) (again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	again = b.busy[ws]
	delete(b.busy, ws)
	return again
}

// send does a backup and tells who wants to know.
func (b *backer) send(ctx context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	if _, err := b.s.p.Backup.State(ws); err != nil {
		return retake.Backup{}, err
	}
	st, err := b.s.store(ctx)
	if err != nil {
		return retake.Backup{}, err
	}
	kept := new(listings) // what a checkpoint has, the next one is compared with
	out, err := b.s.p.Backup.Run(ctx, ws, history{Trees: kept.over(st), s: b.s, ws: ws})
	if b.s.p.Backed != nil && ctx.Err() == nil {
		b.s.p.Backed(out, err)
	}
	return out, err
}

// forget drops a run that is to come.
func (b *backer) forget(ws retake.WorkspaceID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.timers[ws]; t != nil {
		t.Stop()
		delete(b.timers, ws)
	}
}

// stop ends what runs; the next service goes on with it.
func (b *backer) stop() {
	b.mu.Lock()
	b.ended = true
	for _, t := range b.timers {
		t.Stop()
	}
	b.mu.Unlock()
	b.end()
	b.runs.Wait()
}
