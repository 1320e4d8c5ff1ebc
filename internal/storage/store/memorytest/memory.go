// Package memorytest is the store in memory: the same promises as a store on disk
// but for the power cut.
//
// It may touch memory and the clock, nothing else. It serves tests and trials,
// and never gives out bytes that do not match their address.
//
//	M1  What callers hand in and get back is copied; nobody shares memory with the store.
//	M2  mu guards everything; no caller's code runs while it is held.
//	M3  A history exists from its first durable change on.
//	M4  While a sweep waits or runs, no writer begins.
package memorytest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Store is a store.Store in memory. Close keeps the bytes, so that the same
// value serves as the reopened store.
type Store struct {
	mu           sync.Mutex
	objects      map[retake.ObjectID][]byte
	histories    map[retake.WorkspaceID]*history
	writing      map[retake.WorkspaceID]bool // histories that a writer holds
	sweeping     bool                        // a sweep waits or runs
	stateChanged chan struct{}               // closed and replaced when writing or sweeping changes
}

var _ store.Store = (*Store)(nil)

// history is the history of one workspace.
type history struct {
	head       store.Head
	records    map[int64]checkpointRecord
	tombstones map[int64]retake.Tombstone
}

// checkpointRecord holds only addresses, so that a sweep marks what it finds here and below.
type checkpointRecord struct {
	card  retake.ObjectID
	files []byte // the root entry, encoded
	state []byte // the state entries, encoded
}

// New makes an empty store.
func New() *Store {
	return &Store{
		objects:      map[retake.ObjectID][]byte{},
		histories:    map[retake.WorkspaceID]*history{},
		writing:      map[retake.WorkspaceID]bool{},
		stateChanged: make(chan struct{}),
	}
}

// Close does nothing: the bytes live as long as the value.
func (s *Store) Close() error { return nil }

// Dir lists a directory, sorted by name.
func (s *Store) Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error) {
	b, err := s.readObject(ctx, id, dirPrefix)
	if err != nil {
		return nil, fmt.Errorf("read directory %q: %w", id, err)
	}
	return decodeDir(b)
}

// File opens the bytes of a file or the text of a link.
func (s *Store) File(ctx context.Context, id retake.ObjectID) (io.ReadSeekCloser, error) {
	b, err := s.readObject(ctx, id, filePrefix)
	if err != nil {
		return nil, fmt.Errorf("open file %q: %w", id, err)
	}
	return reader{bytes.NewReader(b)}, nil
}

type reader struct{ *bytes.Reader }

func (reader) Close() error { return nil }

// readObject returns the bytes of an address and verifies them. Stored bytes are replaced and
// never modified, so they can be read without the lock.
func (s *Store) readObject(ctx context.Context, id retake.ObjectID, prefix string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	b, ok := s.objects[id]
	s.mu.Unlock()
	if !ok || !hasPrefix(id, prefix) {
		return nil, store.ErrNotFound
	}
	if objectID(prefix, b) != id {
		return nil, store.ErrDamaged
	}
	return b, nil
}

func (s *Store) putObject(prefix string, b []byte) retake.ObjectID {
	id := objectID(prefix, b)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[id] = b
	return id
}

// Heads lists the histories, by the id of their workspace.
func (s *Store) Heads(ctx context.Context) ([]store.Head, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	heads := []store.Head{}
	for _, id := range slices.Sorted(maps.Keys(s.histories)) {
		heads = append(heads, copyHead(s.histories[id].head))
	}
	return heads, nil
}

// Erase removes a history.
func (s *Store) Erase(ctx context.Context, ws retake.WorkspaceID) error {
	err := s.waitUntil(ctx, func() bool { return !s.writing[ws] })
	if err != nil {
		return fmt.Errorf("erase line %q: %w: %w", ws, store.ErrBusy, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.histories, ws)
	return nil
}

// Head returns one history.
func (s *Store) Head(ctx context.Context, ws retake.WorkspaceID) (store.Head, error) {
	if err := ctx.Err(); err != nil {
		return store.Head{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.histories[ws]
	if !ok {
		return store.Head{}, fmt.Errorf("read head of %q: %w", ws, store.ErrNotFound)
	}
	return copyHead(l.head), nil
}

// Record returns one checkpoint of a history.
func (s *Store) Record(ctx context.Context, ws retake.WorkspaceID, number int64) (store.Record, error) {
	s.mu.Lock()
	l, ok := s.histories[ws]
	var lf checkpointRecord
	if ok {
		lf, ok = l.records[number]
	}
	s.mu.Unlock()
	if !ok {
		return store.Record{}, fmt.Errorf("read checkpoint %d of %q: %w", number, ws, store.ErrNotFound)
	}
	return s.openRecord(ctx, lf)
}

func (s *Store) openRecord(ctx context.Context, lf checkpointRecord) (store.Record, error) {
	b, err := s.readObject(ctx, lf.card, cardPrefix)
	if err != nil {
		return store.Record{}, fmt.Errorf("read card %q: %w", lf.card, err)
	}
	card, err := decodeCard(b)
	if err != nil {
		return store.Record{}, err
	}
	files, err := decodeDir(lf.files)
	if err != nil {
		return store.Record{}, err
	}
	state, err := decodeDir(lf.state)
	if err != nil {
		return store.Record{}, err
	}
	return store.Record{Card: card, Files: files[0], State: state}, nil
}

// Records calls f for every checkpoint and tombstone above after, in rising order.
func (s *Store) Records(ctx context.Context, ws retake.WorkspaceID, after int64, f func(*store.Record, *retake.Tombstone) error) error {
	s.mu.Lock()
	l, ok := s.histories[ws]
	if !ok {
		s.mu.Unlock()
		return fmt.Errorf("read line %q: %w", ws, store.ErrNotFound)
	}
	records, stones := maps.Clone(l.records), maps.Clone(l.tombstones)
	s.mu.Unlock()

	numbers := slices.AppendSeq(slices.Collect(maps.Keys(records)), maps.Keys(stones))
	slices.Sort(numbers)
	for _, n := range numbers {
		if n <= after {
			continue
		}
		if err := s.visitNumber(ctx, records, stones, n, f); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) visitNumber(ctx context.Context, records map[int64]checkpointRecord, stones map[int64]retake.Tombstone, n int64, f func(*store.Record, *retake.Tombstone) error) error {
	if stone, ok := stones[n]; ok {
		return f(nil, &stone)
	}
	lf, err := s.openRecord(ctx, records[n])
	if err != nil {
		return err
	}
	return f(&lf, nil)
}

func copyHead(h store.Head) store.Head {
	h.Pins = slices.Clone(h.Pins)
	h.Workspace = copyWorkspace(h.Workspace)
	return h
}

func copyWorkspace(ws retake.Workspace) retake.Workspace {
	if ws.Ended != nil {
		ended := *ws.Ended
		ws.Ended = &ended
	}
	return ws
}
