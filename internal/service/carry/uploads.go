package carry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// UploadOptions are the dependencies and settings of Uploads.
type UploadOptions struct {
	Dir     string                                                          // ours alone; "": there are no remotes here
	Machine replica.StoreInfo                                               // what a remote is told of this machine
	Source  func(store.Store) replica.Source                                // how a store is copied
	Check   func(context.Context, CheckRequest) (retake.ScrubReport, error) // reads a copy back
	Address func(text string) (replica.Address, error)                      // of a remote
	Attach  AttachOptions
	Gap     time.Duration // between a checkpoint and its upload; 0: groupDelay
}

// CheckRequest names a copy that is to be read back.
type CheckRequest struct {
	Store store.Store // whose copy it is
	Place replica.Place
	Dir   string // empty, for the length of the check
	Share float64
}

// Uploads keeps copies of the store at remotes.
type Uploads struct {
	workspaces *workspace.Registry
	history    *history.History
	opts       UploadOptions
	Date       func() time.Time // a clock that is not believed at once; nil: the clock

	mu      sync.Mutex
	remotes map[string]*remote // guarded by mu, as what follows
	broken  error              // what is kept of the remotes cannot be read
	started bool
	stopped bool

	ctx    context.Context // ends with Stop
	cancel context.CancelFunc
	runs   sync.WaitGroup
}

// NewUploads returns the remotes of a store.
func NewUploads(w *workspace.Registry, h *history.History, o UploadOptions) *Uploads {
	o.Gap = cmp.Or(o.Gap, groupDelay)
	u := &Uploads{workspaces: w, history: h, opts: o, remotes: map[string]*remote{}}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	if o.Dir == "" {
		return u
	}
	states, err := loadRemotes(o.Dir)
	u.broken = err
	for _, st := range states {
		u.remotes[st.Name] = newRemote(u, st)
	}
	return u
}

// Start begins to upload in the background, for an exclusive service.
func (u *Uploads) Start() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.started = true
	for _, r := range u.remotes {
		u.goLoop(r)
	}
	u.fetchRest()
}

// add writes a remote down and uploads to it from now on, if nobody added such a one meanwhile.
func (u *Uploads) add(r *remote) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.checkNewHeld(r.state); err != nil {
		return err
	}
	if err := r.state.save(u.opts.Dir); err != nil {
		return workspace.WrapError("the remote is not added", workspace.Unchanged, err)
	}
	u.remotes[r.state.Name] = r
	if u.started {
		u.goLoop(r)
	}
	return nil
}

// goLoop uploads to a remote. The caller holds mu.
func (u *Uploads) goLoop(r *remote) {
	if u.stopped {
		return
	}
	u.runs.Go(func() { r.loop(r.life) })
}

// Stop ends the uploads; the next service goes on with them.
func (u *Uploads) Stop() {
	u.mu.Lock()
	u.stopped = true
	u.mu.Unlock()
	u.cancel()
	u.runs.Wait()
}

// OnCheckpoint asks for an upload soon.
func (u *Uploads) OnCheckpoint(cp retake.Checkpoint) {
	for _, r := range u.all() {
		if r.wants(cp.Workspace) {
			r.requestRun()
		}
	}
}

// all returns the remotes by name.
func (u *Uploads) all() []*remote {
	u.mu.Lock()
	defer u.mu.Unlock()
	var out []*remote
	for _, r := range u.remotes {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *remote) int { return strings.Compare(a.state.Name, b.state.Name) })
	return out
}

func (u *Uploads) find(name string) (*remote, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if r := u.remotes[name]; r != nil {
		return r, nil
	}
	return nil, noRemote(name)
}

func noRemote(name string) error {
	return &retake.Error{Kind: retake.NotFound, What: "there is no remote " + name, Safe: workspace.Unchanged, Hint: "see which there are: retake remote list"}
}

func (u *Uploads) checkEnabled() error {
	if u.opts.Dir == "" {
		return &retake.Error{Kind: retake.Invalid, What: "there are no remotes here", Safe: workspace.Unchanged}
	}
	return u.broken
}

// AddRemote asks the place whether it lets us in, and begins to upload.
func (u *Uploads) AddRemote(ctx context.Context, req retake.RemoteRequest) (retake.Remote, error) {
	if err := u.checkEnabled(); err != nil {
		return retake.Remote{}, err
	}
	at, err := u.opts.Address(req.URL)
	if err != nil {
		return retake.Remote{}, &retake.Error{Kind: retake.Invalid, What: err.Error(), Safe: workspace.Unchanged, Hint: "see which there are: retake help remote add"}
	}
	for _, id := range req.Workspaces {
		if _, err := u.workspaces.LoadWorkspace(ctx, id); err != nil {
			return retake.Remote{}, workspace.WrapError("no such workspace", workspace.Unchanged, err)
		}
	}
	r := newRemote(u, remoteState{
		Name: cmp.Or(req.Name, at.Name()), URL: at.String(), Access: req.Access, Workspaces: req.Workspaces, Rate: max(req.Rate, 0), Created: u.workspaces.Clock.Now().UTC(),
	})
	added := false
	defer func() {
		if !added {
			r.die()
		}
	}()
	if err := u.checkNew(r.state); err != nil {
		return retake.Remote{}, err
	}
	if r.state.Store, err = storeName(u.opts.Dir, req.NewCopy); err != nil {
		return retake.Remote{}, workspace.WrapError("the remote is not added", workspace.Unchanged, err)
	}
	if err := r.greet(ctx); err != nil {
		e := *retake.AsError(r.explain(err, "the remote is not added"))
		e.Safe, e.Hint = workspace.Unchanged, strings.ReplaceAll(e.Hint, "retake remote sync", "retake help remote add")
		if errors.Is(err, fs.ErrNotExist) {
			e.Kind, e.Hint = retake.NotFound, "make the directory, or mount its disk"
		}
		return retake.Remote{}, &e
	}
	if err := u.add(r); err != nil {
		return retake.Remote{}, err
	}
	added = true
	r.requestRun()
	return u.describe(ctx, r)
}

func (u *Uploads) checkNew(st remoteState) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.checkNewHeld(st)
}

// checkNewHeld is checkNew for a caller who holds mu.
func (u *Uploads) checkNewHeld(st remoteState) error {
	if !isRemoteName(st.Name) {
		return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%q is not a name of a remote: small letters, digits and dashes", st.Name), Safe: workspace.Unchanged, Hint: "name it with --name: retake help remote add"}
	}
	for _, r := range u.remotes {
		switch {
		case r.state.Name == st.Name:
			return &retake.Error{Kind: retake.Exists, What: "there is a remote " + st.Name + " already", Safe: workspace.Unchanged, Hint: "give this one another with --name: retake help remote add"}
		case r.state.URL == st.URL:
			return &retake.Error{Kind: retake.Exists, What: st.URL + " is the remote " + r.state.Name + " already", Safe: workspace.Unchanged}
		}
	}
	return nil
}

// Remotes lists the remotes. It asks none of them.
func (u *Uploads) Remotes(ctx context.Context) ([]retake.Remote, error) {
	if u.opts.Dir == "" {
		return []retake.Remote{}, nil
	}
	if u.broken != nil {
		return nil, u.broken
	}
	out := []retake.Remote{}
	for _, r := range u.all() {
		d, err := u.describe(ctx, r)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// RemoveRemote ends the uploads to a remote and forgets how it is opened.
func (u *Uploads) RemoveRemote(ctx context.Context, name string) (retake.Remote, error) {
	if err := u.checkEnabled(); err != nil {
		return retake.Remote{}, err
	}
	r, err := u.find(name)
	if err != nil {
		return retake.Remote{}, err
	}
	out, err := u.describe(ctx, r)
	if err != nil {
		return retake.Remote{}, err
	}
	if !r.end() {
		return retake.Remote{}, noRemote(name)
	}
	err = removeState(u.opts.Dir, name) // before another may have the name
	u.mu.Lock()
	delete(u.remotes, name)
	u.mu.Unlock()
	if err != nil {
		return retake.Remote{}, workspace.WrapError("the remote is not removed for good", "Its uploads have ended until the daemon is started again.", err)
	}
	return out, nil
}

// SyncRemotes uploads what is missing and waits for it.
func (u *Uploads) SyncRemotes(ctx context.Context, q retake.SyncQuery) ([]retake.Remote, error) {
	if err := u.checkEnabled(); err != nil {
		return nil, err
	}
	todo := u.all()
	if q.Name != "" {
		r, err := u.find(q.Name)
		if err != nil {
			return nil, err
		}
		todo = []*remote{r}
	}
	todo = slices.DeleteFunc(todo, func(r *remote) bool { return q.Workspace != "" && !r.wants(q.Workspace) })
	if len(todo) == 0 {
		return nil, &retake.Error{Kind: retake.NotFound, What: "there is no remote to upload to", Safe: workspace.Unchanged, Hint: "add one: retake help remote add"}
	}
	out := []retake.Remote{}
	var failed error
	there := false
	for _, r := range todo {
		err := r.run(ctx, false)
		failed = errors.Join(failed, err)
		there = there || err == nil || q.Number > 0 && r.uploaded(q.Workspace) >= q.Number
		d, derr := u.describe(ctx, r)
		if derr != nil {
			return nil, derr
		}
		out = append(out, d)
		if q.Number > 0 && there {
			return out, nil
		}
	}
	return out, failed
}

// CheckRemote reads back what a remote has.
func (u *Uploads) CheckRemote(ctx context.Context, q retake.RemoteCheckQuery) (retake.RemoteCheck, error) {
	if err := u.checkEnabled(); err != nil {
		return retake.RemoteCheck{}, err
	}
	if !(q.Share >= 0 && q.Share <= 1) { // also if it is no number
		return retake.RemoteCheck{}, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("the share %v is not between 0 and 1", q.Share), Safe: workspace.Unchanged}
	}
	r, err := u.find(q.Name)
	if err != nil {
		return retake.RemoteCheck{}, err
	}
	c, err := r.check(ctx, q.Share)
	if err != nil {
		return c, r.explain(err, "the remote is not checked")
	}
	return c, nil
}
