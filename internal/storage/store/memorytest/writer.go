package memorytest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

var (
	errNumberTooLow   = errors.New("the number is not above the newest")
	errOtherTree      = errors.New("the card names another tree")
	errOtherWorkspace = errors.New("the workspace is another one")
	errDuplicateName  = errors.New("a name is there twice")
	errBadName        = errors.New("not a name")
)

// Begin opens a history for writing. It waits for the other writer and for a sweep.
func (s *Store) Begin(ctx context.Context, ws retake.Workspace) (store.Writer, error) {
	err := s.waitUntil(ctx, func() bool {
		if s.sweeping || s.writing[ws.ID] {
			return false
		}
		s.writing[ws.ID] = true
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("begin %q: %w: %w", ws.ID, store.ErrBusy, err)
	}
	return &writer{s: s, ws: copyWorkspace(ws)}, nil
}

// waitUntil calls take, holding mu, until it returns true or ctx is done.
func (s *Store) waitUntil(ctx context.Context, take func() bool) error {
	for {
		s.mu.Lock()
		if err := ctx.Err(); err != nil {
			s.mu.Unlock()
			return err
		}
		if take() {
			s.mu.Unlock()
			return nil
		}
		moved := s.stateChanged
		s.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
		}
	}
}

// notifyWaiters wakes the goroutines that wait. The caller holds mu.
func (s *Store) notifyWaiters() {
	close(s.stateChanged)
	s.stateChanged = make(chan struct{})
}

// writer adds to one history. Its fields are guarded by the mu of the store.
type writer struct {
	s      *Store
	ws     retake.Workspace // as the caller of Begin knows it, for a history that is new
	closed bool
}

// Head returns the current head; nobody else changes it.
func (w *writer) Head() store.Head {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return copyHead(w.history().head)
}

// history returns the history, or a new one that is not stored until there is something to
// keep. The caller holds mu.
func (w *writer) history() *history {
	if l, ok := w.s.histories[w.ws.ID]; ok {
		return l
	}
	return &history{
		head:       store.Head{Workspace: w.ws},
		records:    map[int64]checkpointRecord{},
		tombstones: map[int64]retake.Tombstone{},
	}
}

func (w *writer) checkOpen(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.closed {
		return store.ErrSealed
	}
	return nil
}

// WriteFile stores the bytes of r.
func (w *writer) WriteFile(ctx context.Context, name string, r io.Reader) (retake.ObjectID, int64, error) {
	if err := w.checkOpen(ctx); err != nil {
		return "", 0, fmt.Errorf("write file %q: %w", name, err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return "", 0, fmt.Errorf("write file %q: %w", name, err)
	}
	// The history may have been given back while r was read.
	if err := w.checkOpen(ctx); err != nil {
		return "", 0, fmt.Errorf("write file %q: %w", name, err)
	}
	return w.s.putObject(filePrefix, b), int64(len(b)), nil
}

// WriteDir stores a directory. Names must be valid and unique.
func (w *writer) WriteDir(ctx context.Context, entries []retake.Entry, modTime int64) (retake.ObjectID, retake.Summary, error) {
	if err := w.checkOpen(ctx); err != nil {
		return "", retake.Summary{}, fmt.Errorf("write directory: %w", err)
	}
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b retake.Entry) int { return strings.Compare(a.Name, b.Name) })
	sum := retake.Summary{Dirs: 1}
	for i, e := range sorted {
		if e.Name == "" || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00") {
			return "", retake.Summary{}, fmt.Errorf("write directory: %q: %w", e.Name, errBadName)
		}
		if i > 0 && sorted[i-1].Name == e.Name {
			return "", retake.Summary{}, fmt.Errorf("write directory: %q: %w", e.Name, errDuplicateName)
		}
		sum.Add(&e)
	}
	if len(sorted) == 0 {
		sum.MaxTime = modTime
	}
	b, err := encodeDir(sorted)
	if err != nil {
		return "", retake.Summary{}, err
	}
	return w.s.putObject(dirPrefix, b), sum, nil
}

// Seal appends a checkpoint.
func (w *writer) Seal(ctx context.Context, sl store.SealRequest) error {
	if err := w.seal(ctx, sl); err != nil {
		return fmt.Errorf("seal checkpoint %d: %w", sl.Card.Checkpoint.Number, err)
	}
	return nil
}

func (w *writer) seal(ctx context.Context, sl store.SealRequest) error {
	number := sl.Card.Checkpoint.Number
	switch {
	case sl.Card.Checkpoint.Tree != sl.Files.Object:
		return errOtherTree
	case number <= w.Head().Latest:
		return errNumberTooLow
	}
	lf, err := w.newRecord(ctx, sl)
	if err != nil {
		return err
	}
	return w.changeHistory(ctx, func(l *history) error {
		l.records[number] = lf
		l.head.Latest = number
		return nil
	})
}

// newRecord encodes a checkpoint and stores its card and state.
func (w *writer) newRecord(ctx context.Context, sl store.SealRequest) (checkpointRecord, error) {
	state := slices.Clone(sl.StoredState)
	for _, name := range slices.Sorted(maps.Keys(sl.State)) {
		id, size, err := w.WriteFile(ctx, name, strings.NewReader(string(sl.State[name])))
		if err != nil {
			return checkpointRecord{}, err
		}
		state = append(state, retake.Entry{Name: name, Kind: retake.KindFile, Mode: 0o600, Size: size, Object: id})
	}
	slices.SortFunc(state, func(a, b retake.Entry) int { return strings.Compare(a.Name, b.Name) })
	card, err := encodeCard(sl.Card)
	if err != nil {
		return checkpointRecord{}, err
	}
	files, err := encodeDir([]retake.Entry{sl.Files})
	if err != nil {
		return checkpointRecord{}, err
	}
	names, err := encodeDir(state)
	if err != nil {
		return checkpointRecord{}, err
	}
	return checkpointRecord{card: w.s.putObject(cardPrefix, card), files: files, state: names}, nil
}

// Flush has nothing to do: what is written is there.
func (w *writer) Flush(ctx context.Context) error { return w.checkOpen(ctx) }

// Annotate adds to the state of a checkpoint.
func (w *writer) Annotate(ctx context.Context, number int64, state []retake.Entry) error {
	err := w.changeHistory(ctx, func(l *history) error {
		lf, ok := l.records[number]
		if !ok {
			return store.ErrNotFound
		}
		all, err := decodeDir(lf.state)
		if err != nil {
			return err
		}
		for _, e := range state {
			all = slices.DeleteFunc(all, func(o retake.Entry) bool { return o.Name == e.Name })
			all = append(all, e)
		}
		slices.SortFunc(all, func(a, b retake.Entry) int { return strings.Compare(a.Name, b.Name) })
		if lf.state, err = encodeDir(all); err != nil {
			return err
		}
		l.records[number] = lf
		return nil
	})
	if err != nil {
		return fmt.Errorf("annotate checkpoint %d: %w", number, err)
	}
	return nil
}

// Amend changes the workspace and the pins of the history.
func (w *writer) Amend(ctx context.Context, ws retake.Workspace, pins []retake.Pin) error {
	err := w.changeHistory(ctx, func(l *history) error {
		if ws.ID != w.ws.ID {
			return errOtherWorkspace
		}
		l.head.Workspace = copyWorkspace(ws)
		l.head.Pins = slices.Clone(pins)
		slices.SortFunc(l.head.Pins, func(a, b retake.Pin) int { return strings.Compare(a.Name, b.Name) })
		return nil
	})
	if err != nil {
		return fmt.Errorf("amend line %q: %w", w.ws.ID, err)
	}
	return nil
}

// Forget replaces checkpoints with tombstones: all of them, or none.
func (w *writer) Forget(ctx context.Context, stones []retake.Tombstone) error {
	err := w.changeHistory(ctx, func(l *history) error {
		for _, st := range stones {
			if _, ok := l.records[st.Number]; !ok {
				return fmt.Errorf("checkpoint %d: %w", st.Number, store.ErrNotFound)
			}
			pinned := slices.ContainsFunc(l.head.Pins, func(p retake.Pin) bool { return p.Number == st.Number })
			if pinned || st.Number == l.head.Latest {
				return fmt.Errorf("checkpoint %d: %w", st.Number, store.ErrRequired)
			}
		}
		for _, st := range stones {
			delete(l.records, st.Number)
			l.tombstones[st.Number] = st
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forget in line %q: %w", w.ws.ID, err)
	}
	return nil
}

// Revise replaces the content of checkpoints: all of them, or none.
func (w *writer) Revise(ctx context.Context, records []store.Record) error {
	made := map[int64]checkpointRecord{}
	for _, l := range records {
		lf, err := w.newRecord(ctx, store.SealRequest{Card: l.Card, Files: l.Files, StoredState: l.State})
		if err != nil {
			return fmt.Errorf("revise: %w", err)
		}
		made[l.Card.Checkpoint.Number] = lf
	}
	err := w.changeHistory(ctx, func(l *history) error {
		for n := range made {
			if _, ok := l.records[n]; !ok {
				return fmt.Errorf("checkpoint %d: %w", n, store.ErrNotFound)
			}
		}
		maps.Copy(l.records, made)
		return nil
	})
	if err != nil {
		return fmt.Errorf("revise line %q: %w", w.ws.ID, err)
	}
	return nil
}

// changeHistory lets f change the history and increments its sequence number. If f returns an
// error it must have changed nothing.
func (w *writer) changeHistory(ctx context.Context, f func(*history) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.closed {
		return store.ErrSealed
	}
	l := w.history()
	if err := f(l); err != nil {
		return err
	}
	l.head.Seq++
	w.s.histories[w.ws.ID] = l
	return nil
}

// Close releases the history.
func (w *writer) Close() error {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	delete(w.s.writing, w.ws.ID)
	w.s.notifyWaiters()
	return nil
}
