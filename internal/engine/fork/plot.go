package fork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// plot is a directory while it grows. Its handles stay open until all below it is
// done, so that nothing is reached by a path.
type plot struct {
	up   *plot // nil: the root
	e    retake.Entry
	path string
	to   fsx.Dir
	live fsx.Dir      // nil: nothing to clone from
	left atomic.Int64 // tasks that are not done: its own, those of its files, its sub-directories

	mu     sync.Mutex // guards the two below
	linked []string   // names of files that have other names
	later  []*plot    // sub-directories that wait for links
}

// task is a directory to begin, or some of its files.
type task struct {
	p     *plot
	files []retake.Entry
}

// pile gives the newest task first: what was begun is ended before more is begun, so
// that few directories are open at a time.
type pile struct {
	mu    sync.Mutex
	wake  sync.Cond
	tasks []task
	over  bool
}

func (s *pile) push(ts ...task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = append(s.tasks, ts...)
	s.wake.Broadcast()
}

// next waits for a task; false: there will be none.
func (s *pile) next() (task, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.tasks) == 0 && !s.over {
		s.wake.Wait()
	}
	if len(s.tasks) == 0 {
		return task{}, false
	}
	last := len(s.tasks) - 1
	t := s.tasks[last]
	s.tasks[last] = task{}
	s.tasks = s.tasks[:last]
	return t, true
}

func (s *pile) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.wake.Broadcast()
}

// labour does tasks until the root is done. After an error the rest is taken off the
// pile and not done, for the handles to be closed.
func (g *grower) labour(ctx context.Context) {
	for {
		t, ok := g.work.next()
		if !ok {
			return
		}
		g.try(func() error {
			if t.files != nil {
				return g.some(ctx, t.p, t.files)
			}
			return g.begin(ctx, t.p)
		})
		p := t.p
		for ; p != nil && p.left.Add(-1) == 0; p = p.up {
			g.try(func() error { return g.finish(p) })
			p.close()
		}
		if p == nil {
			g.work.end()
		}
	}
}

// try runs f unless something failed already. In a process that serves others, one
// fork may not end them all.
func (g *grower) try(f func() error) {
	if g.stop.Load() {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			g.fail(fmt.Errorf("the fork broke off: %v", p))
		}
	}()
	if err := f(); err != nil {
		g.fail(err)
	}
}

// fewFiles are grown by one goroutine; more of one directory, by several.
const fewFiles = 128

// begin makes a directory and what lies in it but for its sub-directories.
func (g *grower) begin(ctx context.Context, p *plot) error {
	if err := p.open(); err != nil {
		return told(p.path, err)
	}
	all, err := g.Trees.Dir(ctx, p.e.Object)
	if err != nil {
		return told(p.path, err)
	}
	var tasks []task
	files := make([]retake.Entry, 0, len(all))
	for _, e := range all {
		if e.Kind != retake.KindDir {
			files = append(files, e)
			continue
		}
		below := &plot{up: p, e: e, path: join(p.path, e.Name)}
		below.left.Store(1)
		tasks = append(tasks, task{p: below})
	}
	slices.Reverse(tasks) // the pile turns them round again
	mine := files[:min(fewFiles, len(files))]
	for rest := range slices.Chunk(files[len(mine):], fewFiles) {
		tasks = append(tasks, task{p: p, files: rest})
	}
	p.left.Add(int64(len(tasks)))
	g.work.push(tasks...)
	return g.some(ctx, p, mine)
}

// open makes the directory and opens both sides. Where the live side is not a
// directory any more, all below comes from the store.
func (p *plot) open() error {
	if p.up == nil {
		return nil
	}
	if err := p.up.to.Mkdir(p.e.Name, 0o700); err != nil {
		return err
	}
	to, err := p.up.to.OpenDir(p.e.Name)
	if err != nil {
		return err
	}
	p.to = to
	if p.up.live == nil {
		return nil
	}
	if live, err := p.up.live.OpenDir(p.e.Name); err == nil {
		p.live = live
	}
	return nil
}

// close leaves the handles of the root to the caller, whose they are.
func (p *plot) close() {
	for _, d := range []fsx.Dir{p.to, p.live} {
		if d != nil && p.up != nil {
			_ = d.Close() // a directory handle: nothing waits in it
		}
	}
	p.to, p.live = nil, nil
}

// waits reports whether links are to come in p or below.
func (p *plot) waits() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.linked)+len(p.later) > 0
}

// finish dresses a directory below which all is done, or keeps it for later.
func (g *grower) finish(p *plot) error {
	if !p.waits() {
		return g.settle(p.to, p)
	}
	if p.up != nil {
		p.up.mu.Lock()
		defer p.up.mu.Unlock()
		p.up.later = append(p.up.later, p)
	}
	return nil
}

func (g *grower) settle(d fsx.Dir, p *plot) error {
	give := d.DressSelf
	if p.up == nil {
		give = func(dr fsx.Dressing) error { // it was made by another, who may have given it attributes
			if dr.Xattrs == nil {
				dr.Xattrs = map[string][]byte{}
			}
			return d.DressSelf(dr)
		}
	}
	if err := g.dress(&p.e, give); err != nil {
		return told(p.path, err)
	}
	g.dirs.Add(1)
	return told(p.path, g.wrote(p.path, d.Stat))
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// told names the path in an error, once, and leaves a stop bare.
func told(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%q: %w", path, err)
}
