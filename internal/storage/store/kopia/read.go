package kopia

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/object"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// openObject opens an object and translates the engine's errors. It distinguishes bytes that
// never existed from bytes that are damaged.
func openObject(ctx context.Context, r repo.Repository, id retake.ObjectID) (object.Reader, error) {
	oid, err := parseObject(id)
	if err != nil {
		return nil, fmt.Errorf("open %.80q: %w", id, errors.Join(store.ErrNotFound, err))
	}
	rd, err := r.OpenObject(ctx, oid)
	if err != nil {
		return nil, translateError(id, err)
	}
	return rd, nil
}

func translateError(id retake.ObjectID, err error) error {
	switch {
	case errors.Is(err, object.ErrObjectNotFound), errors.Is(err, content.ErrContentNotFound):
		return fmt.Errorf("open %s: %w", id, errors.Join(store.ErrNotFound, err))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case retake.IsKind(err, retake.Away): // nothing is known of the bytes
		return fmt.Errorf("read %s: %w", id, err)
	case errors.Is(err, blob.ErrBlobNotFound):
		return fmt.Errorf("read %s: a pack is missing: %w", id, errors.Join(store.ErrDamaged, err))
	}
	return fmt.Errorf("read %s: %w", id, errors.Join(store.ErrDamaged, err))
}

func readAll(ctx context.Context, r repo.Repository, id retake.ObjectID) ([]byte, error) {
	rd, err := openObject(ctx, r, id)
	if err != nil {
		return nil, err
	}
	defer rd.Close() //nolint:errcheck // nothing was written
	b, err := io.ReadAll(rd)
	if err != nil {
		return nil, translateError(id, err)
	}
	return b, nil
}

func readDir(ctx context.Context, r repo.Repository, id retake.ObjectID) ([]retake.Entry, error) {
	b, err := readAll(ctx, r, id)
	if err != nil {
		return nil, err
	}
	entries, err := decodeDir(b)
	if err != nil {
		return nil, errors.Join(store.ErrDamaged, fmt.Errorf("read %s: %w", id, err))
	}
	return entries, nil
}

// withFreshView runs f on the store's view and, if something is not found, once more on a new
// view: another process or a writer of ours may have added it.
func withFreshView[T any](ctx context.Context, s *Store, f func(repo.Repository) (T, error)) (v T, err error) {
	err = s.metadata.retry(ctx, func() error {
		v, err = readFresh(ctx, s, f)
		return err
	})
	return v, err
}

func readFresh[T any](ctx context.Context, s *Store, f func(repo.Repository) (T, error)) (T, error) {
	if s.opts.Exclusive {
		r, release, err := s.acquireReader(ctx)
		if err != nil {
			var none T
			return none, err
		}
		defer release()
		return f(r)
	}
	v, err := f(s.rep)
	if err == nil || !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrDamaged) {
		return v, err
	}
	if rerr := s.refresh(ctx); retake.IsKind(rerr, retake.Away) {
		return v, rerr // it may well be there
	} else if rerr != nil {
		return v, errors.Join(err, rerr)
	}
	return f(s.rep)
}

// refresh makes what other processes wrote visible.
func (s *Store) refresh(ctx context.Context) error {
	if s.opts.Exclusive {
		return nil // readers see what writers commit
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for range maxListTries {
		if err = s.blobs.reloadListing(ctx); err == nil {
			err = s.rep.Refresh(ctx)
		}
		if !errors.Is(err, errIndexGone) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("refresh: %w", err)
	}
	return nil
}

// Dir lists a directory.
func (s *Store) Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error) {
	entries, err := withFreshView(ctx, s, func(r repo.Repository) ([]retake.Entry, error) { return readDir(ctx, r, id) })
	return entries, s.damage.note(id, err)
}

// IsRemote reports whether the store is elsewhere.
func (s *Store) IsRemote() bool { return s.opts.Bucket != nil || s.opts.Copy != nil }

// File opens the bytes of a file.
func (s *Store) File(ctx context.Context, id retake.ObjectID) (io.ReadSeekCloser, error) {
	var out *objectFile
	err := s.metadata.retry(ctx, func() (err error) {
		out, err = s.openFile(ctx, id)
		return err
	})
	if err != nil {
		return nil, s.damage.note(id, err)
	}
	return out, nil
}

func (s *Store) openFile(ctx context.Context, id retake.ObjectID) (*objectFile, error) {
	if !s.opts.Exclusive {
		rd, err := readFresh(ctx, s, func(r repo.Repository) (object.Reader, error) { return openObject(ctx, r, id) })
		return &objectFile{rd, s, id, func() {}}, err
	}
	r, release, err := s.acquireReader(ctx)
	if err != nil {
		return nil, err
	}
	rd, err := openObject(ctx, r, id)
	if err != nil {
		release()
		return nil, err
	}
	return &objectFile{rd, s, id, sync.OnceFunc(release)}, nil
}

// objectFile translates read errors and holds the view that it reads through.
type objectFile struct {
	object.Reader
	s       *Store
	id      retake.ObjectID
	release func()
}

func (f *objectFile) Close() error {
	defer f.release()
	return f.Reader.Close()
}

// Seek may read the part that it comes to.
func (f *objectFile) Seek(offset int64, whence int) (int64, error) {
	n, err := f.Reader.Seek(offset, whence)
	if err != nil {
		err = f.s.damage.note(f.id, translateError(f.id, err))
	}
	return n, err
}

func (f *objectFile) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = f.s.damage.note(f.id, translateError(f.id, err))
	}
	return n, err
}

// Heads lists the histories.
func (s *Store) Heads(ctx context.Context) (out []store.Head, err error) {
	err = s.metadata.retry(ctx, func() error {
		out, err = s.readHeads(ctx)
		return err
	})
	return out, err
}

func (s *Store) readHeads(ctx context.Context) ([]store.Head, error) {
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	r, release, err := s.acquireReader(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	all, err := findHistories(ctx, r, "")
	if err != nil {
		return nil, err
	}
	var out []store.Head
	var bad []error
	seen := map[retake.WorkspaceID]bool{}
	for _, f := range all { // highest sequence number first
		if seen[f.ws] {
			continue
		}
		seen[f.ws] = true
		l, err := readHistory(ctx, r, f.ws)
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			return out, err
		}
		if err != nil { // the others are whole
			bad = append(bad, err)
			continue
		}
		out = append(out, l.currentHead())
	}
	return out, errors.Join(bad...)
}

// Head returns the head of one history.
func (s *Store) Head(ctx context.Context, ws retake.WorkspaceID) (store.Head, error) {
	l, err := s.readHistory(ctx, ws)
	if err != nil {
		return store.Head{}, err
	}
	return l.currentHead(), nil
}

// readHistory reads a history; manifests of other processes show only after a refresh.
func (s *Store) readHistory(ctx context.Context, ws retake.WorkspaceID) (l *openHistory, err error) {
	err = s.metadata.retry(ctx, func() error {
		if err := s.refresh(ctx); err != nil {
			return err
		}
		r, release, err := s.acquireReader(ctx)
		if err != nil {
			return err
		}
		defer release()
		l, err = readHistory(ctx, r, ws)
		return err
	})
	return l, err
}

// Record returns one checkpoint.
func (s *Store) Record(ctx context.Context, ws retake.WorkspaceID, number int64) (store.Record, error) {
	l, err := s.readHistory(ctx, ws)
	if err != nil {
		return store.Record{}, err
	}
	rec, err := withFreshView(ctx, s, func(r repo.Repository) (*store.Record, error) { return l.findRecord(ctx, r, number) })
	if err != nil {
		return store.Record{}, err
	}
	return *rec, nil
}

// Records calls f for every checkpoint and tombstone above after.
func (s *Store) Records(ctx context.Context, ws retake.WorkspaceID, after int64, f func(*store.Record, *retake.Tombstone) error) error {
	return s.metadata.retry(ctx, func() error {
		l, err := s.readHistory(ctx, ws)
		if err != nil {
			return err
		}
		r, release, err := s.acquireReader(ctx)
		if err != nil {
			return err
		}
		defer release()
		return l.eachGroup(ctx, r, after, func(b *recordGroup) error {
			return b.forEach(ctx, r, after, func(rec *store.Record, t *retake.Tombstone) error {
				err := f(rec, t)
				if err == nil { // a second run goes on behind it
					after = numberOf(rec, t)
				}
				return err
			})
		})
	})
}

func numberOf(rec *store.Record, t *retake.Tombstone) int64 {
	if t != nil {
		return t.Number
	}
	return rec.Card.Checkpoint.Number
}

// forEach calls f for the records and tombstones of a group above after, in rising order.
func (b *recordGroup) forEach(ctx context.Context, r repo.Repository, after int64, f func(*store.Record, *retake.Tombstone) error) error {
	stones := map[int64]*retake.Tombstone{}
	var numbers []int64
	for i := range b.tombstones {
		stones[b.tombstones[i].Number] = &b.tombstones[i]
		numbers = append(numbers, b.tombstones[i].Number)
	}
	for n := range b.records {
		numbers = append(numbers, n)
	}
	for _, n := range sortNumbers(numbers) {
		if n <= after {
			continue
		}
		if t := stones[n]; t != nil {
			if err := f(nil, t); err != nil {
				return err
			}
			continue
		}
		rec, err := readRecord(ctx, r, b.records[n])
		if err != nil {
			return err
		}
		if err := f(rec, nil); err != nil {
			return err
		}
	}
	return ctx.Err()
}
