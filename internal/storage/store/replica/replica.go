package replica

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// ErrOtherWriter means that another machine wrote the newest head. Nothing is put any more: two stores
// must not write to one copy.
var ErrOtherWriter = errors.New("another machine writes to this copy")

// ErrLost means that the place does not have the copy any more that it had: a disk that is not mounted, or
// somebody removed it. Nothing is put, since a directory below a mount point would be filled.
var ErrLost = errors.New("the copy is not there any more")

// Options say what is copied, and where.
type Options struct {
	Source Source
	Place  Place
	Clock  clock.Clock
	Writer string                        // names this machine in heads; it never changes
	Want   func(retake.WorkspaceID) bool // which histories; nil: all
	Erased func(retake.WorkspaceID) bool // histories that were erased on purpose, and leave the copy; nil: none
	Begun  bool                          // the place had a head: one without has lost the copy
	Cache  fsx.Dir                       // for indexes of the copy, which would be read again; nil: nowhere
	Rate   int64                         // bytes per second; 0: as fast as it goes
	Window time.Duration                 // how long what is dead stays; 0: DefaultWindow
	Date   func() time.Time              // for the window: a clock that is not believed at once; nil: Clock

	// Pause waits between two tries; nil: as long as it is told.
	Pause func(ctx context.Context, d time.Duration) error
}

// DefaultWindow is how long an object that no head names any more can still be read, by who has read an
// older head.
const DefaultWindow = 24 * time.Hour

// Replica is one copy of a store. Its methods may be called from several goroutines; they wait for each
// other.
type Replica struct {
	opts  Options
	limit limiter

	mu    sync.Mutex // held while the copy is written
	key   Sealer
	copy  Copy // nil: not open
	head  *Head
	fresh map[string][]byte // indexes that were put since the copy was opened; without a cache

	seen      sync.Mutex
	published Head // guarded by seen
}

// New returns the copy of a store at a place. It asks nobody before the first Sync.
func New(o Options) *Replica {
	if o.Window == 0 {
		o.Window = DefaultWindow
	}
	if o.Pause == nil {
		o.Pause = pause
	}
	if o.Date == nil {
		o.Date = o.Clock.Now
	}
	r := &Replica{opts: o, limit: limiter{rate: o.Rate, now: o.Clock.Now, pause: o.Pause}, fresh: map[string][]byte{}}
	r.opts.Place = patientPlace{o.Place, r}
	return r
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Head returns the newest head that is known to be there. Its number is 0 before the first Sync.
func (r *Replica) Head() Head {
	r.seen.Lock()
	defer r.seen.Unlock()
	return r.published
}

// Close forgets what was read. The place stays open.
func (r *Replica) Close(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.forget(ctx)
}

// forget makes the next call read the head again. After a failure it is not known what the place has.
func (r *Replica) forget(ctx context.Context) error {
	c := r.copy
	r.copy, r.head = nil, nil
	clear(r.fresh)
	if c == nil {
		return nil
	}
	return c.Close(context.WithoutCancel(ctx))
}

// open reads the head and its indexes. A place without a copy gets what opens one.
func (r *Replica) open(ctx context.Context) error {
	if r.copy != nil {
		return nil
	}
	var err error
	if r.key, err = r.opts.Source.Sealer(); err != nil {
		return fmt.Errorf("open copy: %w", err)
	}
	h, err := ReadHead(ctx, r.opts.Place, r.key)
	if err != nil {
		return fmt.Errorf("open copy: %w", err)
	}
	if h.Number > 0 && h.Writer != r.opts.Writer {
		return fmt.Errorf("open copy: head %d: %w", h.Number, ErrOtherWriter)
	}
	if h.Number == 0 && r.opts.Begun {
		return fmt.Errorf("open copy: %w", ErrLost)
	}
	if h.Number == 0 {
		if err := r.putFormat(ctx); err != nil {
			return fmt.Errorf("begin copy: %w", err)
		}
	}
	r.dropCached(h)
	c, err := r.opts.Source.OpenCopy(ctx, h.Indexes, r.get)
	if err != nil && r.opts.Cache != nil { // it may be the cache that is damaged
		r.dropCached(&Head{})
		c, err = r.opts.Source.OpenCopy(ctx, h.Indexes, r.get)
	}
	if err != nil {
		return fmt.Errorf("open copy: %w", err)
	}
	r.copy, r.head = c, h
	r.publish(h)
	return nil
}

func (r *Replica) publish(h *Head) {
	r.seen.Lock()
	defer r.seen.Unlock()
	r.published = *h
	r.opts.Begun = h.Number > 0
}

// putFormat puts the blobs that open a copy. If there are others, the place has a copy of another store.
func (r *Replica) putFormat(ctx context.Context) error {
	format, err := r.opts.Source.Format(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(format)) {
		if err := r.put(ctx, name, format[name]); err != nil {
			return err
		}
	}
	return nil
}

// Report says what a Sync or a Sweep did.
type Report struct {
	Puts    int
	Bytes   int64
	Deleted int
	Freed   int64
	Missing int // contents that are damaged in the store, and so are not in the copy
}

// Sync puts what the copy lacks. After an error all that was put is kept; the next call goes on.
func (r *Replica) Sync(ctx context.Context) (Report, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &work{r: r}
	err := w.sync(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("upload: %w", err), r.forget(ctx))
	}
	return w.report(), err
}
