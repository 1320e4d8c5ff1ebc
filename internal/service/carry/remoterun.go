package carry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
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
	r.tellStalled()
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

// tellStalled calls OnFail when uploads have failed for a while, once.
func (r *remote) tellStalled() {
	d := r.describe()
	if t := d.Trouble; r.u.opts.OnFail != nil && t != nil && t.At.Sub(t.Since) >= stallTime && t.At.Sub(t.Since) < stallTime+maxBackoff {
		r.u.opts.OnFail(d, errors.New(t.What))
	}
}

// open opens the place and the copy in it. The caller holds running.
func (r *remote) open(ctx context.Context) error {
	if r.copy != nil {
		return nil
	}
	if !r.u.workspaces.Exclusive {
		return &retake.Error{Kind: retake.Invalid, What: "only the daemon uploads", Safe: workspace.Unchanged, Hint: "start it: retake daemon start"}
	}
	_, source, err := r.source(ctx)
	if err != nil {
		return err
	}
	if r.place, err = r.openPlace(ctx, source, r.state.Store); err != nil {
		return err
	}
	o := replica.Options{
		Source: source, Place: r.place, Clock: r.u.workspaces.Clock, Writer: r.state.Store, Rate: r.state.Rate, Begun: r.state.Begun, Date: r.u.Date,
		Want: r.wants, Erased: r.isErased,
	}
	if dir := cacheDir(r.u.opts.Dir, r.state.Name); os.MkdirAll(dir, 0o700) == nil {
		if d, err := fsx.OS().OpenRoot(dir); err == nil {
			o.Cache, r.cache = d, d
		}
	}
	r.copy = replica.New(o)
	return nil
}

func (r *remote) isErased(id retake.WorkspaceID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.state.Erased, id)
}

func (r *remote) source(ctx context.Context) (store.Store, replica.Source, error) {
	st, err := r.u.workspaces.Store(ctx)
	if err != nil {
		return nil, nil, err
	}
	source := r.u.opts.Source(st)
	if source == nil {
		return nil, nil, &retake.Error{Kind: retake.Invalid, What: "this store has no copies", Safe: workspace.Unchanged}
	}
	return st, source, nil
}

// openPlace opens the place of a store's copy, or with "" of the list of copies.
func (r *remote) openPlace(ctx context.Context, source replica.Source, storeName string) (replica.Place, error) {
	at, err := r.u.opts.Address(r.state.URL)
	if err != nil {
		return nil, err
	}
	family, err := source.Family()
	if err != nil {
		return nil, err
	}
	name := replica.Copies(family)
	if storeName != "" {
		name = replica.CopyOf(family, storeName)
	}
	p, err := at.Open(ctx, name, r.state.Access)
	if err != nil {
		return nil, err
	}
	return guarded{p, r.u.workspaces.Diag.Log()}, nil
}

// greet finds out whether the place lets us in and what it promises, and adds our store to its list.
func (r *remote) greet(ctx context.Context) error {
	ctx, stop := r.whileAlive(ctx)
	defer stop()
	_, source, err := r.source(ctx)
	if err != nil {
		return err
	}
	list, err := r.openPlace(ctx, source, "")
	if err != nil {
		return err
	}
	defer list.Close() //nolint:errcheck // what was put is there
	key, err := source.Sealer()
	if err != nil {
		return err
	}
	i := r.u.opts.Machine
	i.Store, i.Created = r.state.Store, r.state.Created
	if err := replica.PutStore(ctx, list, key, i); err != nil {
		return err
	}
	t, err := list.Traits(ctx)
	if err != nil {
		return err
	}
	r.state.Protection = retake.RemoteProtection{Refuses: t.Refuses, Versioned: t.Versioned, LockDays: int64(t.Locked / (24 * time.Hour))}
	return nil
}

// check reads back what the copy has.
func (r *remote) check(ctx context.Context, share float64) (retake.RemoteCheck, error) {
	ctx, stop := r.whileAlive(ctx)
	defer stop()
	st, source, err := r.source(ctx)
	if err != nil {
		return retake.RemoteCheck{}, err
	}
	place, err := r.openPlace(ctx, source, r.state.Store)
	if err != nil {
		return retake.RemoteCheck{}, err
	}
	defer place.Close()                                      //nolint:errcheck // only read
	if err := os.MkdirAll(r.u.opts.Dir, 0o700); err != nil { // somebody may have deleted it
		return retake.RemoteCheck{}, err
	}
	dir, err := os.MkdirTemp(r.u.opts.Dir, "check-")
	if err != nil {
		return retake.RemoteCheck{}, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is looked at no more
	rep, err := r.u.opts.Check(ctx, CheckRequest{Store: st, Place: place, Dir: dir, Share: share})
	if err != nil {
		return retake.RemoteCheck{}, err
	}
	c := retake.RemoteCheck{At: r.u.workspaces.Clock.Now().UTC(), Checkpoints: rep.Checkpoints, Objects: rep.Objects, Bytes: rep.Bytes, Failed: rep.Failed}
	if c.Failed == nil {
		c.Failed = []string{}
	}
	r.change(func(s *remoteState) { s.Check = &c })
	return c, nil
}

// close closes the copy until it is needed again.
func (r *remote) close() {
	r.running.Lock()
	defer r.running.Unlock()
	r.closeHeld()
}

func (r *remote) closeHeld() {
	if r.copy != nil {
		_ = r.copy.Close(context.Background()) // nothing waits in it
		r.copy = nil
	}
	if r.cache != nil {
		_ = r.cache.Close() // only indexes that are at the place, too
		r.cache = nil
	}
	if r.place != nil {
		_ = r.place.Close() // what was put is there
		r.place = nil
	}
}

// end ends the uploads for good. It reports whether nobody did before.
func (r *remote) end() bool {
	r.die()
	r.mu.Lock()
	ended := r.ended
	r.ended = true
	r.mu.Unlock()
	r.close()
	return !ended
}

// explain says of a failure what it means and what to do.
func (r *remote) explain(err error, what string) error {
	var e *retake.Error
	if errors.As(err, &e) || errors.Is(err, context.Canceled) {
		return err
	}
	out := &retake.Error{Kind: retake.Away, What: what, Err: err, Safe: "All checkpoints are here."}
	again := "begin a new copy there: retake remote remove " + r.state.Name + "; then: retake remote add " + r.state.URL + " --new-copy"
	switch {
	case errors.Is(err, replica.ErrOtherWriter), errors.Is(err, replica.ErrBehind):
		out.Kind, out.Hint = retake.Moved, again
	case errors.Is(err, replica.ErrLost):
		out.Kind, out.Hint = retake.Moved, "if it is a disk, mount it\n"+again
	case errors.Is(err, replica.ErrMoved):
		out.Kind = retake.Busy
	case errors.Is(err, replica.ErrDenied):
		out.Kind, out.Hint = retake.Denied, "look at its keys: retake help remote add"
	default:
		out.Hint = "try it now: retake remote sync"
	}
	return out
}
