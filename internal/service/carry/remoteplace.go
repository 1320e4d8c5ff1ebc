package carry

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

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
