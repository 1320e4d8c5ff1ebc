package carry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

const (
	groupDelay    = 3 * time.Second  // checkpoints of one piece of work go together
	firstBackoff  = 10 * time.Second // after a failed upload; it doubles
	maxBackoff    = 10 * time.Minute
	lookInterval  = 10 * time.Minute // how often it is looked whether something is left to do
	sweepInterval = replica.DefaultWindow + time.Hour
)

// remote is one place that the store is copied to.
type remote struct {
	u    *Uploads
	wake chan struct{}
	life context.Context // ends with the remote, and with the service
	die  context.CancelFunc

	running sync.Mutex // held while something is asked of the place
	place   replica.Place
	cache   fsx.Dir          // of indexes; may be nil
	copy    *replica.Replica // nil: not open

	mu    sync.Mutex
	state remoteState // guarded by mu, as what follows
	sweep bool        // something has to leave the copy soon
	ended bool
}

func newRemote(u *Uploads, st remoteState) *remote {
	r := &remote{u: u, state: st, wake: make(chan struct{}, 1)}
	r.life, r.die = context.WithCancel(u.ctx)
	return r
}

// whileAlive returns a context that ends with the remote, too, for who asks for something and waits.
func (r *remote) whileAlive(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(r.life, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

func (r *remote) wants(id retake.WorkspaceID) bool {
	return len(r.state.Workspaces) == 0 || slices.Contains(r.state.Workspaces, id) // it never changes
}

func (r *remote) uploaded(id retake.WorkspaceID) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Lines[id]
}

func (r *remote) requestRun() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// requestSweep has the remote swept with the next run.
func (r *remote) requestSweep() {
	r.keepSweep()
	r.requestRun()
}

func (r *remote) noteErased(id retake.WorkspaceID) {
	r.change(func(s *remoteState) { s.Erased = append(s.Erased, id) })
	r.requestSweep()
}

func (r *remote) leftText() string {
	return fmt.Sprintf("the remote %s (%s): what was uploaded is deleted there within two days of uploads", r.state.Name, r.state.URL)
}

// change changes the state and keeps it. A state that cannot be written is written with the next change.
func (r *remote) change(f func(*remoteState)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.state)
	if !r.ended {
		r.u.workspaces.Diag.Note(workspace.TaskUpload, r.state.save(r.u.opts.Dir))
	}
}

// describe tells the state without what this store has.
func (r *remote) describe() retake.Remote {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.state.clone()
	out := retake.Remote{
		Name: s.Name, URL: s.URL, Created: s.Created, Limited: len(s.Workspaces) > 0, Workspaces: []retake.RemoteWorkspace{}, Uploaded: s.Uploaded,
		Sent: s.Sent, Damaged: s.Damaged, Protection: s.Protection, Check: s.Check, Trouble: s.Trouble,
	}
	if !s.Swept.IsZero() {
		out.Swept = &s.Swept
	}
	return out
}

// loop uploads in the background until ctx ends. A save waits for none of it.
func (r *remote) loop(ctx context.Context) {
	wait := r.u.opts.Gap
	for {
		idle := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			idle.Stop()
			r.close()
			return
		case <-idle.C:
		case <-r.wake:
			idle.Stop()
			if r.rest(ctx) != nil {
				continue // it ends
			}
		}
		wait = lookInterval
		if !r.hasWork(ctx) {
			r.close() // what was read of the copy takes memory
			continue
		}
		r.u.workspaces.RunTask(workspace.TaskUpload, func() error { return r.run(ctx, r.isSweepDue()) })
		if d := r.backoff(); d > 0 {
			wait = d
		}
	}
}

// rest waits for more of the same work, and as long as the last failure asks for.
func (r *remote) rest(ctx context.Context) error {
	t := time.NewTimer(max(r.u.opts.Gap, r.backoff()))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// backoff is how long to wait after the last failure; 0 if there was none. One that is longer than any was
// written down by a clock that was wrong.
func (r *remote) backoff() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.state.Trouble; t != nil && t.Next != nil {
		if d := t.Next.Sub(r.u.workspaces.Clock.Now()); d <= maxBackoff {
			return d
		}
	}
	return 0
}

// hasWork reports whether the remote lacks something, as the catalog says, so that nobody has to open the
// store for nothing.
func (r *remote) hasWork(ctx context.Context) bool {
	d, err := r.u.describe(ctx, r)
	return err != nil || d.Pending > 0 || d.Trouble != nil || d.Uploaded != nil && r.isSweepDue() || slices.ContainsFunc(d.Workspaces, r.isBehind)
}

// isBehind reports whether the remote has more of a workspace than the store: it was put back to an older state.
func (r *remote) isBehind(w retake.RemoteWorkspace) bool { return r.uploaded(w.Workspace) > w.Newest }

func (r *remote) isSweepDue() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	since := r.state.Swept
	if since.IsZero() {
		since = r.state.Created
	}
	passed := r.u.workspaces.Clock.Now().Sub(since)
	return r.sweep || passed >= sweepInterval || passed < 0 // the clock was wrong then
}

// run uploads once, and sweeps.
func (r *remote) run(ctx context.Context, sweep bool) error {
	ctx, stop := r.whileAlive(ctx)
	defer stop()
	r.running.Lock()
	defer r.running.Unlock()
	if r.life.Err() != nil {
		return context.Canceled // it was removed, or the service closes
	}
	err := r.open(ctx)
	var rep replica.Report
	switch {
	case err != nil:
	case sweep:
		r.takeSweep()
		rep, err = r.copy.Sweep(ctx)
	default:
		rep, err = r.copy.Sync(ctx)
	}
	if r.copy != nil {
		r.record(rep, sweep, err)
	} else if err != nil {
		r.change(func(s *remoteState) {
			s.recordFailure(r.u.workspaces.Clock.Now().UTC(), r.explain(err, "can't upload"))
		})
	}
	if err == nil {
		return nil
	}
	if sweep {
		r.keepSweep() // what had to leave is still there
	}
	r.closeHeld()
	return r.explain(err, "can't upload to "+r.state.URL)
}

func (r *remote) takeSweep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep = false
}

func (r *remote) keepSweep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep = true
}

// record notes what is there now.
func (r *remote) record(rep replica.Report, swept bool, err error) {
	now := r.u.workspaces.Clock.Now().UTC()
	h := r.copy.Head()
	r.change(func(s *remoteState) {
		s.Sent += rep.Bytes
		if h.Number > 0 {
			s.Begun, s.Lines = true, map[retake.WorkspaceID]int64{}
			for _, l := range h.Lines {
				s.Lines[l.Workspace] = l.Latest
			}
		}
		if errors.Is(err, replica.ErrBehind) {
			s.Lines = nil // what has these numbers there is not what has them here
		}
		if err != nil {
			s.recordFailure(now, r.explain(err, "can't upload"))
			return
		}
		s.Erased = slices.DeleteFunc(s.Erased, func(id retake.WorkspaceID) bool { _, there := s.Lines[id]; return !there })
		s.Uploaded, s.Trouble, s.Told, s.Damaged = &now, nil, false, int64(rep.Missing)
		if swept {
			s.Swept = now
		}
	})
}

// recordFailure notes why an upload failed, and when to try again.
func (s *remoteState) recordFailure(now time.Time, err error) {
	e := retake.AsError(err)
	if e.Kind == retake.Canceled {
		return
	}
	cause := e.What
	if e.Err != nil {
		cause = e.Err.Error()
	}
	t := &retake.BackupTrouble{Kind: e.Kind, What: cause, Hint: e.Hint, Since: now, At: now, Tries: 1}
	if old := s.Trouble; old != nil {
		t.Since, t.Tries = old.Since, old.Tries+1
	}
	next := now.Add(min(maxBackoff, firstBackoff<<min(t.Tries-1, 10)))
	t.Next, s.Trouble = &next, t
}

// stallText returns what a person should be told of a trouble that lasts; with once, one time only.
func (r *remote) stallText(once bool) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.state.Trouble
	if t == nil || once && r.state.Told || r.u.workspaces.Clock.Now().Sub(t.Since) < stallTime {
		return ""
	}
	r.state.Told = r.state.Told || once
	return fmt.Sprintf("can't upload to %s since %s: %s. Nothing is lost; checkpoints wait here", r.state.URL, t.Since.Format(time.RFC3339), t.What)
}
