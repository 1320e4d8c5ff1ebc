// Package memory is the store in memory: the same promises as a store on disk
// but for the power cut.
//
// It may touch memory and the clock, nothing else. It serves tests and trials,
// and never gives out bytes that do not match their address.
//
//	M1  What callers hand in and get back is copied; nobody shares memory with the store.
//	M2  mu guards everything; no caller's code runs while it is held.
//	M3  A line exists from its first durable change on.
//	M4  While a sweep waits or runs, no writer begins.
package memory

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
	mu      sync.Mutex
	objects map[retake.ObjectID][]byte
	lines   map[retake.WorkspaceID]*line
	held    map[retake.WorkspaceID]bool // lines that a writer holds
	sweep   bool                        // a sweep waits or runs
	moved   chan struct{}               // closed and replaced when held or sweep changes
}

var _ store.Store = (*Store)(nil)

// line is the history of one workspace.
type line struct {
	head   store.Head
	leaves map[int64]leaf
	stones map[int64]retake.Tombstone
}

// leaf holds addresses only, so that a sweep marks what it finds here and below.
type leaf struct {
	card  retake.ObjectID
	files []byte // the root entry, encoded
	state []byte // the state entries, encoded
}

// New makes an empty store.
func New() *Store {
	return &Store{
		objects: map[retake.ObjectID][]byte{},
		lines:   map[retake.WorkspaceID]*line{},
		held:    map[retake.WorkspaceID]bool{},
		moved:   make(chan struct{}),
	}
}

// Close does nothing: the bytes live as long as the value.
func (s *Store) Close() error { return nil }

// Dir lists a directory, sorted by name.
func (s *Store) Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error) {
	b, err := s.read(ctx, id, dirPrefix)
	if err != nil {
		return nil, fmt.Errorf("read directory %q: %w", id, err)
	}
	return decodeDir(b)
}

// File opens the bytes of a file or the text of a link.
func (s *Store) File(ctx context.Context, id retake.ObjectID) (io.ReadSeekCloser, error) {
	b, err := s.read(ctx, id, filePrefix)
	if err != nil {
		return nil, fmt.Errorf("open file %q: %w", id, err)
	}
	return reader{bytes.NewReader(b)}, nil
}

type reader struct{ *bytes.Reader }

func (reader) Close() error { return nil }

// read answers bytes that match their address. Stored bytes are replaced and
// never written to, so they can be read without the lock.
func (s *Store) read(ctx context.Context, id retake.ObjectID, prefix string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	b, ok := s.objects[id]
	s.mu.Unlock()
	if !ok || !hasPrefix(id, prefix) {
		return nil, store.ErrNotFound
	}
	if address(prefix, b) != id {
		return nil, store.ErrDamaged
	}
	return b, nil
}

func (s *Store) put(prefix string, b []byte) retake.ObjectID {
	id := address(prefix, b)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[id] = b
	return id
}

// Heads lists the lines, by the id of their workspace.
func (s *Store) Heads(ctx context.Context) ([]store.Head, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	heads := []store.Head{}
	for _, id := range slices.Sorted(maps.Keys(s.lines)) {
		heads = append(heads, copyHead(s.lines[id].head))
	}
	return heads, nil
}

// Erase removes a line.
func (s *Store) Erase(ctx context.Context, ws retake.WorkspaceID) error {
	err := s.wait(ctx, func() bool { return !s.held[ws] })
	if err != nil {
		return fmt.Errorf("erase line %q: %w: %w", ws, store.ErrBusy, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lines, ws)
	return nil
}

// Head answers one line.
func (s *Store) Head(ctx context.Context, ws retake.WorkspaceID) (store.Head, error) {
	if err := ctx.Err(); err != nil {
		return store.Head{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.lines[ws]
	if !ok {
		return store.Head{}, fmt.Errorf("read head of %q: %w", ws, store.ErrNotFound)
	}
	return copyHead(l.head), nil
}

// Leaf answers one checkpoint of a line.
func (s *Store) Leaf(ctx context.Context, ws retake.WorkspaceID, number int64) (store.Leaf, error) {
	s.mu.Lock()
	l, ok := s.lines[ws]
	var lf leaf
	if ok {
		lf, ok = l.leaves[number]
	}
	s.mu.Unlock()
	if !ok {
		return store.Leaf{}, fmt.Errorf("read checkpoint %d of %q: %w", number, ws, store.ErrNotFound)
	}
	return s.open(ctx, lf)
}

func (s *Store) open(ctx context.Context, lf leaf) (store.Leaf, error) {
	b, err := s.read(ctx, lf.card, cardPrefix)
	if err != nil {
		return store.Leaf{}, fmt.Errorf("read card %q: %w", lf.card, err)
	}
	card, err := decodeCard(b)
	if err != nil {
		return store.Leaf{}, err
	}
	files, err := decodeDir(lf.files)
	if err != nil {
		return store.Leaf{}, err
	}
	state, err := decodeDir(lf.state)
	if err != nil {
		return store.Leaf{}, err
	}
	return store.Leaf{Card: card, Files: files[0], State: state}, nil
}

// Leaves calls f for every checkpoint and tombstone above after, in rising order.
func (s *Store) Leaves(ctx context.Context, ws retake.WorkspaceID, after int64, f func(*store.Leaf, *retake.Tombstone) error) error {
	s.mu.Lock()
	l, ok := s.lines[ws]
	if !ok {
		s.mu.Unlock()
		return fmt.Errorf("read line %q: %w", ws, store.ErrNotFound)
	}
	leaves, stones := maps.Clone(l.leaves), maps.Clone(l.stones)
	s.mu.Unlock()

	numbers := slices.AppendSeq(slices.Collect(maps.Keys(leaves)), maps.Keys(stones))
	slices.Sort(numbers)
	for _, n := range numbers {
		if n <= after {
			continue
		}
		if err := s.visit(ctx, leaves, stones, n, f); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) visit(ctx context.Context, leaves map[int64]leaf, stones map[int64]retake.Tombstone, n int64, f func(*store.Leaf, *retake.Tombstone) error) error {
	if stone, ok := stones[n]; ok {
		return f(nil, &stone)
	}
	lf, err := s.open(ctx, leaves[n])
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
