package kopia

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/kopia/kopia/repo/object"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Names of locks. A sweep asks for the gate first, so that a stream of writers
// cannot keep it waiting for ever.
const (
	gateLock = "gate"
	useLock  = "use"
	lineLock = "line-"
)

// Long sessions read an ever longer index; after this many seals a new view is made.
const sealsPerSession = 200

// writer is the one writer of a line.
type writer struct {
	s       *Store
	v       *session
	l       *openLine
	release []func()
	seals   int
	broken  error // after an unsuccessful flush the session is in doubt; only Close is left
	upkeep  error // index upkeep that did not work out; tried again by a later writer
	top     cachedDir
	mid     cachedDir
}

// cachedDir is the directory of the line that the last seal wrote.
type cachedDir struct {
	name    string
	entries []retake.Entry
}

// Begin opens a line for writing.
func (s *Store) Begin(ctx context.Context, ws retake.Workspace) (store.Writer, error) {
	if _, err := retake.ParseWorkspaceID(string(ws.ID)); err != nil {
		return nil, err
	}
	w := &writer{s: s}
	if err := w.lock(ctx, ws.ID); err != nil {
		w.unlock()
		return nil, err
	}
	err := s.enter(ctx)
	if err == nil {
		if err = w.open(ctx, ws); err != nil {
			s.exit()
		}
	}
	if err != nil {
		w.unlock()
		return nil, fmt.Errorf("begin line: %w", err)
	}
	return w, nil
}

// enter counts a writer of a sole owner. The first after a sync that was refused begins
// with what the disk holds; beside others that wrote before it there is nothing to begin.
func (s *Store) enter(ctx context.Context) error {
	if !s.opts.Exclusive {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writers == 0 && s.blobs.whole() != nil {
		if err := errors.Join(s.retireLocked(ctx), s.blobs.mend(ctx)); err != nil {
			return err
		}
	}
	s.writers++
	return nil
}

func (s *Store) exit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opts.Exclusive {
		s.writers--
	}
}

func (w *writer) lock(ctx context.Context, ws retake.WorkspaceID) error {
	gate, err := w.s.opts.Locks.Lock(ctx, gateLock, false)
	if err != nil {
		return busy(err)
	}
	defer gate()
	for _, l := range []struct {
		name      string
		exclusive bool
	}{{useLock, false}, {lineLock + string(ws), true}} {
		release, err := w.s.opts.Locks.Lock(ctx, l.name, l.exclusive)
		if err != nil {
			return busy(err)
		}
		w.release = append(w.release, release)
		if l.name == useLock {
			gate() // the sweep waits for the use lock from here on, not for the gate
		}
	}
	return nil
}

func busy(err error) error {
	if errors.Is(err, fsx.ErrLocked) {
		return errors.Join(store.ErrBusy, err)
	}
	return fmt.Errorf("lock: %w", err)
}

func (w *writer) unlock() {
	for _, f := range slices.Backward(w.release) {
		f()
	}
	w.release = nil
}

func (w *writer) open(ctx context.Context, ws retake.Workspace) error {
	var err error
	if w.v, err = w.s.newSession(ctx); err != nil {
		return err
	}
	if k, ok := w.s.takeLine(ws.ID); ok {
		w.l, w.top, w.mid = k.l, k.top, k.mid
		return nil
	}
	w.l, err = readLine(ctx, w.v, ws.ID)
	if errors.Is(err, store.ErrNotFound) {
		w.l = &openLine{found: found{ws: ws.ID}, record: lineRecord{V: 1, Workspace: ws}}
		err = w.writeRecord(ctx)
	}
	if err != nil {
		return errors.Join(err, w.v.Close(ctx))
	}
	return nil
}

func (w *writer) Head() store.Head { return w.l.head() }

var copyBuffers = sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}

func (w *writer) WriteFile(ctx context.Context, name string, r io.Reader) (retake.ObjectID, int64, error) {
	if err := w.usable(); err != nil {
		return "", 0, err
	}
	o := w.v.NewObjectWriter(ctx, object.WriterOptions{
		Description: "FILE:" + name, Compressor: compressor, MetadataCompressor: compressor,
		AsyncWrites: 1, // one piece is stored while the next is read
	})
	defer o.Close() //nolint:errcheck // Result tells
	buf := copyBuffers.Get().(*[]byte)
	defer copyBuffers.Put(buf)
	n, err := io.CopyBuffer(struct{ io.Writer }{o}, struct{ io.Reader }{r}, *buf)
	if err != nil {
		return "", n, fmt.Errorf("write file: %w", err)
	}
	id, err := o.Result()
	if err != nil {
		return "", n, fmt.Errorf("write file: %w", err)
	}
	return retake.ObjectID(id.String()), n, nil
}

func (w *writer) WriteDir(ctx context.Context, entries []retake.Entry, modTime int64) (retake.ObjectID, retake.Summary, error) {
	if err := w.usable(); err != nil {
		return "", retake.Summary{}, err
	}
	return w.writeDir(ctx, entries, modTime, false)
}

func (w *writer) writeDir(ctx context.Context, entries []retake.Entry, modTime int64, bare bool) (retake.ObjectID, retake.Summary, error) {
	b, sum, err := encodeDir(entries, modTime, bare)
	if err != nil {
		return "", sum, fmt.Errorf("write directory: %w", err)
	}
	o := w.v.NewObjectWriter(ctx, object.WriterOptions{Description: "DIR", Prefix: dirPrefix, Compressor: compressor, MetadataCompressor: compressor})
	defer o.Close() //nolint:errcheck // Result tells
	if _, err := o.Write(b); err != nil {
		return "", sum, fmt.Errorf("write directory: %w", err)
	}
	id, err := o.Result()
	if err != nil {
		return "", sum, fmt.Errorf("write directory: %w", err)
	}
	return retake.ObjectID(id.String()), sum, nil
}

// Seal appends a checkpoint.
func (w *writer) Seal(ctx context.Context, s store.Sealing) error {
	if err := w.usable(); err != nil {
		return err
	}
	cp := s.Card.Checkpoint
	if cp.Number <= w.l.latest {
		return fmt.Errorf("seal: number %d is not after %d", cp.Number, w.l.latest)
	}
	if cp.Tree != s.Files.Object {
		return fmt.Errorf("seal: the card names tree %s, the files are %s", cp.Tree, s.Files.Object)
	}
	leaf, err := w.writeLeaf(ctx, s)
	if err == nil {
		err = w.insert(ctx, cp.Number, leaf)
	}
	if err == nil {
		w.l.latest = cp.Number
		err = w.commit(ctx, s.Files.Sum)
	}
	if err != nil {
		return w.doubt("seal", err)
	}
	w.afterSeal(context.WithoutCancel(ctx))
	return nil
}

func (w *writer) usable() error {
	if w.broken != nil {
		return fmt.Errorf("the session is broken: %w", w.broken)
	}
	if w.release == nil {
		return store.ErrSealed
	}
	return nil
}

func (w *writer) writeLeaf(ctx context.Context, s store.Sealing) (retake.Entry, error) {
	t := s.Card.Checkpoint.Time.UnixNano()
	card, err := w.writeJSON(ctx, cardFile, s.Card, t)
	if err != nil {
		return retake.Entry{}, err
	}
	files := s.Files
	files.Name, files.Kind = filesDir, retake.KindDir
	entries := []retake.Entry{card, files}
	if len(s.State)+len(s.Held) > 0 {
		state, err := w.writeState(ctx, s, t)
		if err != nil {
			return retake.Entry{}, err
		}
		entries = append(entries, state)
	}
	id, _, err := w.writeDir(ctx, entries, t, false)
	return lineDir(strconv.FormatInt(s.Card.Checkpoint.Number, 10), id, t), err
}

func (w *writer) writeState(ctx context.Context, s store.Sealing, t int64) (retake.Entry, error) {
	entries := slices.Clone(s.Held)
	for _, name := range slices.Sorted(maps.Keys(s.State)) {
		e, err := w.writeBytes(ctx, name, s.State[name], t)
		if err != nil {
			return retake.Entry{}, err
		}
		entries = append(entries, e)
	}
	id, sum, err := w.writeDir(ctx, entries, t, false)
	e := lineDir(stateDir, id, t)
	e.Sum = sum
	return e, err
}

func (w *writer) writeJSON(ctx context.Context, name string, v any, t int64) (retake.Entry, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return retake.Entry{}, fmt.Errorf("encode %s: %w", name, err)
	}
	return w.writeBytes(ctx, name, append(b, '\n'), t)
}

func (w *writer) writeBytes(ctx context.Context, name string, b []byte, t int64) (retake.Entry, error) {
	id, n, err := w.WriteFile(ctx, name, newReader(b))
	return retake.Entry{Name: name, Kind: retake.KindFile, Mode: 0o600, Size: n, ModTime: t, Object: id}, err
}

func lineDir(name string, id retake.ObjectID, t int64) retake.Entry {
	return retake.Entry{Name: name, Kind: retake.KindDir, Mode: 0o700, ModTime: t, Object: id}
}

func (w *writer) writeRecord(ctx context.Context) error {
	e, err := w.writeJSON(ctx, lineFile, w.l.record, w.l.record.Workspace.Created.UnixNano())
	if err != nil {
		return err
	}
	w.l.root = withEntry(w.l.root, e)
	return nil
}

func withEntry(entries []retake.Entry, e retake.Entry) []retake.Entry {
	i := slices.IndexFunc(entries, func(x retake.Entry) bool { return x.Name == e.Name })
	if i < 0 {
		return append(entries, e)
	}
	entries[i] = e
	return entries
}

// Close gives the line back.
func (w *writer) Close() error {
	if w.release == nil {
		return nil
	}
	defer w.unlock()
	defer w.s.exit()
	ctx := context.Background() // a cancelled save must still give its locks back
	err := w.upkeep
	switch {
	case w.s.opts.Exclusive && w.broken != nil:
		err = errors.Join(err, w.s.retire(ctx)) // what it left in memory is in doubt
	case w.s.opts.Exclusive && w.l.seq > 0:
		w.s.keepLine(w.v, kept{w.l, w.top, w.mid})
	case w.broken == nil && w.seals > 0 && w.l.seq%epochStep == 0:
		err = errors.Join(err, stepEpoch(ctx, w.v))
	}
	return errors.Join(err, w.v.Close(ctx))
}
