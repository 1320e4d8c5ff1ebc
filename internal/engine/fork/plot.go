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

// pendingDir is a directory while it grows. Its handles stay open until all below it is
// done, so that nothing is reached by a path.
type pendingDir struct {
	parent       *pendingDir // nil: the root
	entry        retake.Entry
	path         string
	dir          fsx.Dir
	live         fsx.Dir      // nil: nothing to clone from
	pendingTasks atomic.Int64 // tasks that are not done: its own, those of its files, its sub-directories

	mu          sync.Mutex    // guards the two below
	linkedNames []string      // names of files that have other names
	deferred    []*pendingDir // sub-directories that wait for links
}

// task is a directory to begin, or some of its files.
type task struct {
	dir   *pendingDir
	files []retake.Entry
}

// taskStack gives the newest task first: what was begun is ended before more is begun, so
// that few directories are open at a time.
type taskStack struct {
	mu     sync.Mutex
	cond   sync.Cond
	tasks  []task
	closed bool
}

func (s *taskStack) push(ts ...task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = append(s.tasks, ts...)
	s.cond.Broadcast()
}

// next waits for a task; false: there will be none.
func (s *taskStack) next() (task, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.tasks) == 0 && !s.closed {
		s.cond.Wait()
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

func (s *taskStack) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.cond.Broadcast()
}

// runWorker does tasks until the root is done. After an error the rest is taken off the
// pile and not done, for the handles to be closed.
func (g *builder) runWorker(ctx context.Context) {
	for {
		t, ok := g.tasks.next()
		if !ok {
			return
		}
		g.runTask(func() error {
			if t.files != nil {
				return g.buildFiles(ctx, t.dir, t.files)
			}
			return g.buildDir(ctx, t.dir)
		})
		p := t.dir
		for ; p != nil && p.pendingTasks.Add(-1) == 0; p = p.parent {
			g.runTask(func() error { return g.finishDir(p) })
			p.closeDirs()
		}
		if p == nil {
			g.tasks.close()
		}
	}
}

// runTask runs f unless something failed already. In a process that serves others, one
// fork may not end them all.
func (g *builder) runTask(f func() error) {
	if g.stopped.Load() {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			g.setError(fmt.Errorf("the fork broke off: %v", p))
		}
	}()
	if err := f(); err != nil {
		g.setError(err)
	}
}

// fewFiles are grown by one goroutine; more of one directory, by several.
const filesPerTask = 128

// buildDir makes a directory and what lies in it but for its sub-directories.
func (g *builder) buildDir(ctx context.Context, p *pendingDir) error {
	if err := p.openDirs(); err != nil {
		return wrapPath(p.path, err)
	}
	all, err := g.Trees.Dir(ctx, p.entry.Object)
	if err != nil {
		return wrapPath(p.path, err)
	}
	var tasks []task
	files := make([]retake.Entry, 0, len(all))
	for _, e := range all {
		if e.Kind != retake.KindDir {
			files = append(files, e)
			continue
		}
		below := &pendingDir{parent: p, entry: e, path: joinPath(p.path, e.Name)}
		below.pendingTasks.Store(1)
		tasks = append(tasks, task{dir: below})
	}
	slices.Reverse(tasks) // the pile turns them round again
	mine := files[:min(filesPerTask, len(files))]
	for rest := range slices.Chunk(files[len(mine):], filesPerTask) {
		tasks = append(tasks, task{dir: p, files: rest})
	}
	p.pendingTasks.Add(int64(len(tasks)))
	g.tasks.push(tasks...)
	return g.buildFiles(ctx, p, mine)
}

// openDirs makes the directory and opens both sides. Where the live side is not a
// directory any more, all below comes from the store.
func (p *pendingDir) openDirs() error {
	if p.parent == nil {
		return nil
	}
	if err := p.parent.dir.Mkdir(p.entry.Name, 0o700); err != nil {
		return err
	}
	to, err := p.parent.dir.OpenDir(p.entry.Name)
	if err != nil {
		return err
	}
	p.dir = to
	if p.parent.live == nil {
		return nil
	}
	if live, err := p.parent.live.OpenDir(p.entry.Name); err == nil {
		p.live = live
	}
	return nil
}

// closeDirs leaves the handles of the root to the caller, whose they are.
func (p *pendingDir) closeDirs() {
	for _, d := range []fsx.Dir{p.dir, p.live} {
		if d != nil && p.parent != nil {
			_ = d.Close() // a directory handle: nothing waits in it
		}
	}
	p.dir, p.live = nil, nil
}

// awaitsLinks reports whether links are to come in p or below.
func (p *pendingDir) awaitsLinks() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.linkedNames)+len(p.deferred) > 0
}

// finishDir dresses a directory below which all is done, or keeps it for later.
func (g *builder) finishDir(p *pendingDir) error {
	if !p.awaitsLinks() {
		return g.applyDirMetadata(p.dir, p)
	}
	if p.parent != nil {
		p.parent.mu.Lock()
		defer p.parent.mu.Unlock()
		p.parent.deferred = append(p.parent.deferred, p)
	}
	return nil
}

func (g *builder) applyDirMetadata(d fsx.Dir, p *pendingDir) error {
	give := d.SetOwnMetadata
	if p.parent == nil {
		give = func(dr fsx.Metadata) error { // it was made by another, who may have given it attributes
			if dr.Xattrs == nil {
				dr.Xattrs = map[string][]byte{}
			}
			return d.SetOwnMetadata(dr)
		}
	}
	if err := g.applyMetadata(&p.entry, give); err != nil {
		return wrapPath(p.path, err)
	}
	g.dirs.Add(1)
	return wrapPath(p.path, g.notifyWritten(p.path, d.Stat))
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// wrapPath names the path in an error, once, and leaves a stop bare.
func wrapPath(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%q: %w", path, err)
}
