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

// pendingDir is a directory that is being built. Its handles stay open until everything below
// it is done, so that nothing is reached by a path.
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

// task is a directory to start, or some of its files to create.
type task struct {
	dir   *pendingDir
	files []retake.Entry
}

// taskStack returns the newest task first: started directories are finished before others are
// started, so that few are open at a time.
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

// next waits for a task. It returns false if there will be none.
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

// runWorker runs tasks until the root is done. After an error the remaining tasks are only
// removed, so that their handles are closed.
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

// runTask runs f unless something failed already. It recovers from panics: in a process that
// serves others, one fork must not end them all.
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

// filesPerTask is the number of files of one directory that one task creates.
const filesPerTask = 128

// buildDir creates a directory and some of its files, and queues tasks for its subdirectories
// and the other files.
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
	slices.Reverse(tasks) // the stack reverses them again
	mine := files[:min(filesPerTask, len(files))]
	for rest := range slices.Chunk(files[len(mine):], filesPerTask) {
		tasks = append(tasks, task{dir: p, files: rest})
	}
	p.pendingTasks.Add(int64(len(tasks)))
	g.tasks.push(tasks...)
	return g.buildFiles(ctx, p, mine)
}

// openDirs creates the directory and opens both sides. If the live side is no longer a
// directory, everything below comes from the store.
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

// closeDirs closes both handles, except those of the root, which belong to the caller.
func (p *pendingDir) closeDirs() {
	for _, d := range []fsx.Dir{p.dir, p.live} {
		if d != nil && p.parent != nil {
			_ = d.Close() // a directory handle: nothing waits in it
		}
	}
	p.dir, p.live = nil, nil
}

// awaitsLinks reports whether links will be created in p or below it.
func (p *pendingDir) awaitsLinks() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.linkedNames)+len(p.deferred) > 0
}

// finishDir sets the metadata of a directory whose contents are complete, or defers it.
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

// wrapPath adds the path to an error, once, and leaves cancellation as it is.
func wrapPath(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%q: %w", path, err)
}
