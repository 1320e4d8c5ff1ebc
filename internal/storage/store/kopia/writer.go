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

	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/object"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Names of locks. A sweep asks for the gate first, so that a stream of writers cannot keep it
// waiting forever.
const (
	gateLock    = "gate"
	useLock     = "use"
	historyLock = "line-"
)

// Long sessions read an ever longer index; after this many seals a new view is made.
const sealsPerSession = 200

// writer is the only writer of a history.
type writer struct {
	s         *Store
	session   *session
	history   *openHistory
	unlocks   []func()
	seals     int
	broken    error // after an unsuccessful flush the session is in doubt; only Close is left
	upkeepErr error // index upkeep that did not work out; tried again by a later writer
	topDir    cachedDir
	midDir    cachedDir
}

// cachedDir is a directory of the history that the last seal wrote.
type cachedDir struct {
	name    string
	entries []retake.Entry
}

// Begin opens a history for writing.
func (s *Store) Begin(ctx context.Context, ws retake.Workspace) (store.Writer, error) {
	if _, err := retake.ParseWorkspaceID(string(ws.ID)); err != nil {
		return nil, err
	}
	w := &writer{s: s}
	if err := w.lockHistory(ctx, ws.ID); err != nil {
		w.unlock()
		return nil, err
	}
	s.metadata.lookAfterKeys(ctx)
	err := s.addWriter(ctx)
	if err == nil {
		err = s.metadata.retry(ctx, func() error { return w.openHistory(ctx, ws) })
		if err != nil {
			s.removeWriter()
		}
	}
	if err != nil {
		w.unlock()
		return nil, fmt.Errorf("begin line: %w", err)
	}
	return w, nil
}

// addWriter counts a writer of an exclusive store. The first one after a failed sync resets
// the storage; beside writers from before the failure there is nothing to reset.
func (s *Store) addWriter(ctx context.Context) error {
	if !s.opts.Exclusive {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writerCount == 0 && s.blobs.publishError() != nil {
		if err := errors.Join(s.retireViewLocked(ctx), s.blobs.resetAfterError(ctx)); err != nil {
			return err
		}
	}
	s.writerCount++
	return nil
}

func (s *Store) removeWriter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opts.Exclusive {
		s.writerCount--
	}
}

// lockHistory takes the locks of a writer: the use lock shared and the history exclusively.
func (w *writer) lockHistory(ctx context.Context, ws retake.WorkspaceID) error {
	w.s.waitingWriters.Add(1)
	defer w.s.waitingWriters.Add(-1)
	use, err := w.s.lockShared(ctx)
	if err != nil {
		return err
	}
	w.unlocks = append(w.unlocks, use)
	history, err := w.s.opts.Locks.Lock(ctx, historyLock+string(ws), true)
	if err != nil {
		return asBusy(err)
	}
	w.unlocks = append(w.unlocks, history)
	return nil
}

func asBusy(err error) error {
	if errors.Is(err, fsx.ErrLocked) {
		return errors.Join(store.ErrBusy, err)
	}
	return fmt.Errorf("lock: %w", err)
}

func (w *writer) unlock() {
	for _, f := range slices.Backward(w.unlocks) {
		f()
	}
	w.unlocks = nil
}

// openHistory opens a session and reads the history, from the cache if possible, or starts a
// new one.
func (w *writer) openHistory(ctx context.Context, ws retake.Workspace) error {
	var err error
	if w.session, err = w.s.newSession(ctx); err != nil {
		return err
	}
	if k, ok := w.s.takeCachedHistory(ws.ID); ok {
		w.history, w.topDir, w.midDir = k.history, k.topDir, k.midDir
		return nil
	}
	w.history, err = readHistory(ctx, w.session, ws.ID)
	if errors.Is(err, store.ErrNotFound) {
		w.history = &openHistory{historyHead: historyHead{ws: ws.ID}, info: historyInfo{V: 1, Workspace: ws}}
		err = w.writeInfo(ctx)
	}
	if err != nil {
		return errors.Join(err, w.session.Close(ctx))
	}
	return nil
}

func (w *writer) Head() store.Head { return w.history.currentHead() }

var copyBuffers = sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}

func (w *writer) WriteFile(ctx context.Context, name string, r io.Reader) (retake.ObjectID, int64, error) {
	if err := w.checkUsable(); err != nil {
		return "", 0, err
	}
	return w.writeFile(ctx, name, r, "")
}

// writeFile writes the bytes of r. The prefix of directories puts them among the metadata.
func (w *writer) writeFile(ctx context.Context, name string, r io.Reader, prefix content.IDPrefix) (retake.ObjectID, int64, error) {
	o := w.session.NewObjectWriter(ctx, object.WriterOptions{
		Description: "FILE:" + name, Prefix: prefix, Compressor: compressor, MetadataCompressor: compressor,
		AsyncWrites: 1, // one piece is stored while the next is read
	})
	defer o.Close() //nolint:errcheck // Result returns the error
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
	if err := w.checkUsable(); err != nil {
		return "", retake.Summary{}, err
	}
	return w.writeDir(ctx, entries, modTime, false)
}

func (w *writer) writeDir(ctx context.Context, entries []retake.Entry, modTime int64, bare bool) (retake.ObjectID, retake.Summary, error) {
	b, sum, err := encodeDir(entries, modTime, bare)
	if err != nil {
		return "", sum, fmt.Errorf("write directory: %w", err)
	}
	o := w.session.NewObjectWriter(ctx, object.WriterOptions{Description: "DIR", Prefix: dirPrefix, Compressor: compressor, MetadataCompressor: compressor})
	defer o.Close() //nolint:errcheck // Result returns the error
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
func (w *writer) Seal(ctx context.Context, s store.SealRequest) error {
	if err := w.checkUsable(); err != nil {
		return err
	}
	cp := s.Card.Checkpoint
	if cp.Number <= w.history.latest {
		return fmt.Errorf("seal: number %d is not after %d", cp.Number, w.history.latest)
	}
	if cp.Tree != s.Files.Object {
		return fmt.Errorf("seal: the card names tree %s, the files are %s", cp.Tree, s.Files.Object)
	}
	rec, err := w.writeRecord(ctx, s)
	if err == nil {
		err = w.insertRecord(ctx, cp.Number, rec)
	}
	if err == nil {
		w.history.latest = cp.Number
		err = w.commit(ctx, s.Files.Sum)
	}
	if err != nil {
		return w.markBroken("seal", err)
	}
	w.afterSeal(context.WithoutCancel(ctx))
	return nil
}

func (w *writer) checkUsable() error {
	if w.broken != nil {
		return fmt.Errorf("the session is broken: %w", w.broken)
	}
	if w.unlocks == nil {
		return store.ErrSealed
	}
	return nil
}

// writeRecord writes the directory of a record: its tree, card and state.
func (w *writer) writeRecord(ctx context.Context, s store.SealRequest) (retake.Entry, error) {
	t := s.Card.Checkpoint.Time.UnixNano()
	card, err := w.writeJSON(ctx, cardFile, s.Card, t)
	if err != nil {
		return retake.Entry{}, err
	}
	files := s.Files
	files.Name, files.Kind = filesDir, retake.KindDir
	entries := []retake.Entry{card, files}
	if len(s.State)+len(s.StoredState) > 0 {
		state, err := w.writeState(ctx, s, t)
		if err != nil {
			return retake.Entry{}, err
		}
		entries = append(entries, state)
	}
	id, _, err := w.writeDir(ctx, entries, t, false)
	return dirEntry(strconv.FormatInt(s.Card.Checkpoint.Number, 10), id, t), err
}

// writeState writes what the agent held. It may be large, and is no metadata.
func (w *writer) writeState(ctx context.Context, s store.SealRequest, t int64) (retake.Entry, error) {
	entries := slices.Clone(s.StoredState)
	for _, name := range slices.Sorted(maps.Keys(s.State)) {
		e, err := w.writeBytes(ctx, name, s.State[name], t, "")
		if err != nil {
			return retake.Entry{}, err
		}
		entries = append(entries, e)
	}
	id, sum, err := w.writeDir(ctx, entries, t, false)
	e := dirEntry(stateDir, id, t)
	e.Sum = sum
	return e, err
}

func (w *writer) writeJSON(ctx context.Context, name string, v any, t int64) (retake.Entry, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return retake.Entry{}, fmt.Errorf("encode %s: %w", name, err)
	}
	return w.writeBytes(ctx, name, append(b, '\n'), t, dirPrefix)
}

func (w *writer) writeBytes(ctx context.Context, name string, b []byte, t int64, prefix content.IDPrefix) (retake.Entry, error) {
	id, n, err := w.writeFile(ctx, name, newReader(b), prefix)
	return retake.Entry{Name: name, Kind: retake.KindFile, Mode: 0o600, Size: n, ModTime: t, Object: id}, err
}

func dirEntry(name string, id retake.ObjectID, t int64) retake.Entry {
	return retake.Entry{Name: name, Kind: retake.KindDir, Mode: 0o700, ModTime: t, Object: id}
}

func (w *writer) writeInfo(ctx context.Context) error {
	e, err := w.writeJSON(ctx, infoFile, w.history.info, w.history.info.Workspace.Created.UnixNano())
	if err != nil {
		return err
	}
	w.history.root = replaceEntry(w.history.root, e)
	return nil
}

func replaceEntry(entries []retake.Entry, e retake.Entry) []retake.Entry {
	i := slices.IndexFunc(entries, func(x retake.Entry) bool { return x.Name == e.Name })
	if i < 0 {
		return append(entries, e)
	}
	entries[i] = e
	return entries
}

// Close releases the history.
func (w *writer) Close() error {
	if w.unlocks == nil {
		return nil
	}
	defer w.unlock()
	defer w.s.removeWriter()
	ctx := context.Background() // a cancelled save must still give its locks back
	err := w.upkeepErr
	switch {
	case w.s.opts.Exclusive && w.broken != nil:
		err = errors.Join(err, w.s.retireView(ctx)) // what it left in memory is in doubt
	case w.s.opts.Exclusive && w.history.seq > 0:
		w.s.cacheHistory(w.session, cachedHistory{w.history, w.topDir, w.midDir})
	case w.broken == nil && w.seals > 0 && w.history.seq%epochCheckInterval == 0:
		err = errors.Join(err, advanceEpochs(ctx, w.session))
	}
	return errors.Join(err, w.session.Close(ctx))
}
