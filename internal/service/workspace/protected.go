package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Unprotected says why no checkpoint of a workspace could be taken now, or nil. It is the only
// place that decides whether a workspace is called protected: it asks for all that a save would
// meet first, and saves nothing itself.
func (s *Registry) Unprotected(ctx context.Context, ws retake.Workspace) *retake.Unprotected {
	err := checkSave(ctx, s, ws)
	if err == nil || ctx.Err() != nil {
		return nil
	}
	e := retake.AsError(err)
	return &retake.Unprotected{Why: strings.TrimPrefix(e.What, "can't save: "), Hint: e.Hint}
}

// checkSave returns the error that a save would meet.
func checkSave(ctx context.Context, s *Registry, ws retake.Workspace) error {
	free, floor, err := s.DiskSpace()
	if err != nil {
		return WrapError("the disk of the store cannot be reached", NotSaved, err)
	}
	if free < floor {
		return LowDiskError(free, floor)
	}
	if err := s.writable.check(s.FS, s.DataDir, s.Clock.Now()); err != nil {
		return WrapError(unwritableText(err), NotSaved, err)
	}
	if s.Exclusive { // else each command would open the store, only to say that it can
		st, err := s.Store(ctx)
		if err != nil {
			return WrapError("the store cannot be opened", NotSaved, err)
		}
		if _, err := st.Head(ctx, ws.ID); errors.Is(err, store.ErrDamaged) {
			return WrapError("the history in the store is damaged", NotSaved, err)
		}
	}
	root, err := s.FS.OpenRoot(ws.Root)
	if err != nil {
		return WrapError("the directory cannot be opened", NotSaved, err)
	}
	_ = root.Close() // nothing was written
	return s.CacheFor(ws.ID).lastSaveError()
}

func unwritableText(err error) string {
	if errors.Is(err, fsx.ErrNoSpace) {
		return "the disk of the store is full"
	}
	if errors.Is(err, syscall.EROFS) {
		return "the disk of the store is read-only"
	}
	return "the store cannot be written to"
}

// writeTest is the last answer of check.
type writeTest struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// writableInterval is how long an answer counts: a list asks for each of many workspaces. The
// disk may be full a moment later.
const writableInterval = 20 * time.Millisecond

// check makes files in a directory and removes them, and so meets a disk that is read-only, full or
// has no inodes left.
func (w *writeTest) check(f fsx.FS, dir string, now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if since := now.Sub(w.at); !w.at.IsZero() && since >= 0 && since < writableInterval {
		return w.err
	}
	w.at, w.err = now, tryWrite(f, dir)
	return w.err
}

// A save makes about as many files as the test.
const (
	writeTestFile  = "write-test"
	writeTestFiles = 16
)

func tryWrite(on fsx.FS, path string) error {
	dir, err := on.OpenRoot(path)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // a directory handle
	for i := range writeTestFiles {
		name := fmt.Sprintf("%s-%d", writeTestFile, i)
		defer func() { _ = dir.Remove(name) }() // it may not have been made
		f, err := dir.Create(name, 0o600)
		if errors.Is(err, fs.ErrExist) { // of a process that asked the same, or what is left of one
			continue
		}
		if err != nil {
			return err
		}
		_, err = f.Write([]byte("retake\n"))
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// NoteSave remembers how a save ended. A limit, such as a full disk, is asked for anew each time
// instead: it may be lifted without a save.
func (l *Cache) NoteSave(err error) {
	l.saved.mu.Lock()
	defer l.saved.mu.Unlock()
	if err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || retake.IsKind(err, retake.Limit) || retake.IsKind(err, retake.Busy)) {
		return
	}
	l.saved.err = err
}

func (l *Cache) lastSaveError() error {
	l.saved.mu.Lock()
	defer l.saved.mu.Unlock()
	if l.saved.err == nil {
		return nil
	}
	e := retake.AsError(l.saved.err)
	what := strings.TrimPrefix(e.What, "can't save: ")
	if e.Err != nil && what == "not saved" {
		what, _, _ = strings.Cut(e.Err.Error(), "\n")
	}
	return &retake.Error{Kind: e.Kind, What: "the last save failed: " + what, Safe: NotSaved, Hint: e.Hint, Err: l.saved.err}
}
