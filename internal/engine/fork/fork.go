// Package fork builds a stored tree in an empty directory by the cheapest means the
// file system has: it shares the storage of live files, copies them, or takes the
// bytes from the store.
//
// It may write below the directory it is given, and nowhere else; live files it only
// reads. It works with handles and single names, follows no link, and after an error it
// leaves what it has to its caller, who removes the directory.
//
//	G1  A file gets the bytes of its entry. Those of a live file count only when it
//	    looks as it did at its capture after they were taken.
//	G2  Until all below it is done, a directory is open to its owner alone; its own
//	    mode, owner and time come last.
//	G3  When Build returns no error, what is in the directory survives a power cut.
package fork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Stamp is what a live file looked like when it was captured.
type Stamp struct {
	Ino   uint64 // as InodeNumber returns it
	Nlink uint64
	Size  int64
	Mtime int64
	Ctime int64
}

// Job is a tree to build. FindUnchanged and OnWritten may be called from several goroutines,
// Progress by one at a time.
type Job struct {
	Trees         store.Trees
	Want          retake.Entry // root of the tree
	To            fsx.Dir      // an empty directory that was made for this
	From          fsx.Dir      // the live workspace; nil: all comes from the store
	FindUnchanged func(path string, e retake.Entry) (Stamp, bool)
	InodeNumber   func(fsx.Info) uint64 // the inode number as stamps have it; nil: as it is
	RefuseSetuid  bool                  // an error for a file that would run with more rights than its user has
	Workers       int                   // 0: one for each processor
	Progress      func(retake.Progress)
	// OnWritten hears what stat returned for each path after its last touch; the root is "".
	// Blocks may still change when the file system gives room.
	OnWritten func(path string, i fsx.Info)
}

// Report is what was built.
type Report struct {
	Files    int64 // names that are not directories
	Dirs     int64 // the root included
	Bytes    int64 // a file with several names once
	Cloned   int64 // files that share the storage of a live one
	Copied   int64 // files whose bytes were written; an empty one is neither
	Warnings []retake.Warning
}

// ErrSetuid is a file that would run with the rights of its owner, or with capabilities.
var ErrSetuid = errors.New("a file that runs with more rights than its user has")

var errNotTree = errors.New("the root of a tree is a directory")

// Build creates the tree. After an error the caller removes the directory.
func Build(ctx context.Context, j Job) (Report, error) {
	g := &builder{Job: j, linkTargets: map[linkKey]string{}}
	g.tasks.cond.L = &g.tasks.mu
	if g.Workers <= 0 {
		g.Workers = runtime.GOMAXPROCS(0)
	}
	if g.FindUnchanged == nil {
		g.From = nil
	}
	if err := g.run(ctx); err != nil {
		return g.report(), fmt.Errorf("grow fork: %w", err)
	}
	g.reportProgress()
	return g.report(), nil
}

// builder builds one job.
type builder struct {
	Job
	tasks   taskStack
	stopped atomic.Bool

	mu          sync.Mutex // guards the four below
	err         error
	warnings    []retake.Warning
	linkTargets map[linkKey]string // files with several names, and the path that has the bytes
	links       []pendingLink

	progressMu                         sync.Mutex // held while Progress runs
	files, dirs, bytes, cloned, copied atomic.Int64
	refused                            atomic.Int64 // clones that were not supported
}

// run starts the workers, waits for them, creates the hard links that were deferred and makes
// everything durable.
func (g *builder) run(ctx context.Context) error {
	if g.Want.Kind != retake.KindDir {
		return errNotTree
	}
	names, err := g.To.Names()
	if err == nil && len(names) > 0 {
		err = fsx.ErrNotEmpty
	}
	if err != nil {
		return err
	}
	err = g.To.RemoveXattr(fsx.DefaultACLXattr) // else all that is made in it has one too
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	root := &pendingDir{entry: g.Want, dir: g.To, live: g.From}
	root.pendingTasks.Store(1)
	g.tasks.push(task{dir: root})
	var wg sync.WaitGroup
	for range g.Workers {
		wg.Go(func() { g.runWorker(ctx) })
	}
	wg.Wait()
	if g.stopped.Load() {
		return g.err
	}
	if root.awaitsLinks() {
		if err := g.createLinks(ctx); err != nil {
			return err
		}
		if err := g.finishDeferred(ctx, g.To, root); err != nil {
			return err
		}
	}
	err = g.To.SyncFS()
	if errors.Is(err, fsx.ErrNoWriteback) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// setError keeps the first error; later ones are its consequences.
func (g *builder) setError(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
	}
	g.stopped.Store(true)
}

// addWarning adds a warning once.
func (g *builder) addWarning(code, text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range g.warnings {
		if w.Code == code {
			return
		}
	}
	g.warnings = append(g.warnings, retake.Warning{Code: code, Text: text})
}

func (g *builder) report() Report {
	return Report{
		Files: g.files.Load(), Dirs: g.dirs.Load(), Bytes: g.bytes.Load(),
		Cloned: g.cloned.Load(), Copied: g.copied.Load(), Warnings: g.warnings,
	}
}

const progressInterval = 256

// countName counts a name that is not a directory.
func (g *builder) countName() {
	if g.files.Add(1)%progressInterval == 0 {
		g.reportProgress()
	}
}

func (g *builder) reportProgress() {
	if g.Progress == nil {
		return
	}
	g.progressMu.Lock()
	defer g.progressMu.Unlock()
	g.Progress(retake.Progress{Files: g.files.Load(), Total: g.Want.Sum.Files + g.Want.Sum.Symlinks, Bytes: g.bytes.Load()})
}

func (g *builder) notifyWritten(path string, stat func() (fsx.Info, error)) error {
	if g.OnWritten == nil {
		return nil
	}
	i, err := stat()
	if err == nil {
		g.OnWritten(path, i)
	}
	return err
}
