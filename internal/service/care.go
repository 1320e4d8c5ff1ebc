package service

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// care looks after the store and the trackers between saves. It begins when the
// saves pause, or when they do not pause for long, and never in the middle of one.
type care struct {
	s      *Service
	kicked chan struct{}
	life   context.Context // ends when the service stops looking after things
	heavy  atomic.Bool     // a capture took much memory that nobody needs any more
	end    context.CancelFunc
	done   sync.WaitGroup
}

const (
	pause     = 300 * time.Millisecond // after the last save
	patience  = 5 * time.Second        // when the saves do not pause
	checkStep = time.Minute            // between two looks whether a check is due
)

func newCare(s *Service) *care {
	ctx, cancel := context.WithCancel(context.Background())
	c := &care{s: s, kicked: make(chan struct{}, 1), life: ctx, end: cancel}
	c.done.Go(func() { c.upkeep(ctx) })
	c.done.Go(func() { c.checks(ctx) })
	c.done.Go(func() { c.waiting(ctx) })
	c.done.Go(func() { c.silences(ctx) })
	return c
}

func (c *care) stop() {
	c.end()
	c.done.Wait()
}

// kick says that something was saved.
func (c *care) kick() {
	if c == nil {
		return
	}
	select {
	case c.kicked <- struct{}{}:
	default:
	}
}

// heavyFiles is how many files make a look at everything heavy.
const heavyFiles = 50_000

// looked says that everything was looked at.
func (c *care) looked(files int64) {
	if c != nil && files > heavyFiles {
		c.heavy.Store(true)
	}
}

// upkeep tends the store in the pauses. What does not work out is tried after the
// next save; every command that needs the store will meet the same trouble.
func (c *care) upkeep(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.kicked:
		}
		if !c.paused(ctx) {
			return
		}
		c.s.mu.Lock()
		st := c.s.st
		c.s.mu.Unlock()
		if st != nil {
			c.s.background(taskMaintenance, func() error { return st.Maintain(ctx) })
		}
		c.s.background(taskRetention, func() error {
			if c.s.tidy(ctx, st) {
				c.kick()
			}
			return nil
		})
		if c.heavy.Swap(false) {
			debug.FreeOSMemory() // a look at everything leaves several times what is kept
		}
	}
}

// paused waits until nothing was saved for a while, or until room runs out.
func (c *care) paused(ctx context.Context) bool {
	last := time.NewTimer(patience)
	defer last.Stop()
	for {
		quiet := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			quiet.Stop()
			return false
		case <-last.C:
			quiet.Stop()
			return true
		case <-quiet.C:
			return true
		case <-c.kicked:
			if quiet.Stop(); c.s.hurry() {
				return true
			}
		}
	}
}

// spoolStep is how often we look whether a signal waits that no hook could tell: one
// that gave up while we were busy comes to nobody else.
const spoolStep = 2 * time.Second

func (c *care) waiting(ctx context.Context) {
	t := time.NewTicker(spoolStep)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			c.s.background(taskEvents, func() error {
				_, err := c.s.hearOlder("")
				return err
			})
		}
	}
}

// A check looks at every file; it may take this share of one processor.
const checkShare = 1000

const firstCheck = 10 * time.Minute

// checks compares now and then, when nobody works, all files with what the tracker
// told. The next one waits a thousand times as long as the last one took.
func (c *care) checks(ctx context.Context) {
	next := map[retake.WorkspaceID]time.Time{}
	t := time.NewTicker(checkStep)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		c.s.forgetIdle()
		c.s.background(taskTurns, func() error { c.s.lookAfter(ctx); return nil })
		c.s.background(taskDrill, func() error { return c.s.drills(ctx) })
		if c.s.pressed() { // and no save may be let in that would tell
			c.kick()
		}
		for _, id := range c.s.watched() {
			now := c.s.p.Clock.Now()
			if next[id].IsZero() {
				next[id] = now.Add(firstCheck)
			}
			if now.Before(next[id]) {
				continue
			}
			c.s.background(taskCrossCheck, func() error {
				_, err := c.s.CrossCheck(ctx, id)
				if retake.IsKind(err, retake.NotFound) {
					return nil // a root that is away is told by whoever needs it
				}
				return err
			})
			took := c.s.p.Clock.Now().Sub(now)
			next[id] = c.s.p.Clock.Now().Add(max(firstCheck, checkShare*took))
		}
	}
}

// watched are the workspaces that a tracker follows.
func (s *Service) watched() []retake.WorkspaceID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []retake.WorkspaceID
	for id, l := range s.lives {
		if l.mu.TryLock() { // one that is being saved is not idle
			if l.watch != nil && l.doubt == "" {
				out = append(out, id)
			}
			l.mu.Unlock()
		}
	}
	return out
}

// CrossCheck looks at every file and names what changed without the tracker having
// told of it. Then it is not trusted any more: every save looks at everything.
func (s *Service) CrossCheck(ctx context.Context, id retake.WorkspaceID) (retake.CrossCheck, error) {
	ws, root, err := s.openRoot(ctx, id)
	if err != nil {
		return retake.CrossCheck{}, err
	}
	defer root.Close() //nolint:errcheck // only looked
	l := s.liveOf(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, end := context.WithCancel(ctx)
	defer end()
	l.checking.Store(&end)
	defer l.checking.Store(nil)
	s.drain(l, ws.Root)
	out := retake.CrossCheck{At: s.p.Clock.Now()}
	if l.doubt != "" || l.x == nil || l.tip == nil {
		return out, nil // the next save looks at everything anyway
	}
	out.Files = l.tip.Files
	missed, err := s.missed(ctx, l, ws, root)
	if err != nil {
		return out, fault("the workspace cannot be compared", unchanged, err)
	}
	if out.Missed = missed; len(missed) > 0 {
		l.why = "the tracker missed changes: " + strings.Join(missed[:min(3, len(missed))], ", ")
		l.distrusted = true
		s.unwatch(l)
	}
	l.check = &out
	return out, nil
}

// missed are the paths that differ and are not found by a look at what was told. What
// comes and goes between two looks is asked for twice.
func (s *Service) missed(ctx context.Context, l *live, ws retake.Workspace, root fsx.Dir) ([]string, error) {
	first, err := s.untold(ctx, l, ws, root)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	again, err := s.untold(ctx, l, ws, root)
	return slices.DeleteFunc(again, func(p string) bool { return !slices.Contains(first, p) }), err
}

func (s *Service) untold(ctx context.Context, l *live, ws retake.Workspace, root fsx.Dir) ([]string, error) {
	o, err := s.captureOptions(ws.ID, ws.Root, 0, nil)
	if err != nil {
		return nil, err
	}
	all, _, err := capture.Diff(ctx, root, l.x, o, s.equal)
	if err != nil {
		return nil, err
	}
	if s.drain(l, ws.Root); l.doubt != "" {
		return nil, nil
	}
	l.narrow(&o)
	told, _, err := capture.Diff(ctx, root, l.x, o, s.equal)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, c := range told {
		known[c.Path] = true
	}
	var out []string
	for _, c := range all {
		if !known[c.Path] {
			out = append(out, c.Path)
		}
	}
	return out, nil
}
