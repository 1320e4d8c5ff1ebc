package kopia

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/manifest"
	"github.com/kopia/kopia/repo/object"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// indexView is the index as it was read, plus what was committed through it since. It is made
// without deriving the key again. A shared store makes one for every writer; an exclusive
// store keeps one for many writers and replaces it from time to time.
type indexView struct {
	base    repo.DirectRepositoryWriter
	shared  *content.SharedManager
	reader  *session // of an exclusive store; it never writes
	users   int      // guarded by Store.mu, as is retired
	retired bool
}

// newView reads the current index.
func (s *Store) newView(ctx context.Context) (*indexView, error) {
	_, base, err := s.rep.NewDirectWriter(ctx, repo.WriteSessionOptions{Purpose: "base"})
	if err != nil {
		return nil, fmt.Errorf("begin session: %w", err)
	}
	if !s.opts.Exclusive {
		err = s.blobs.reloadListing(ctx)
		if err == nil { // another process may have swept, with a clock ahead of ours
			err = startClock(ctx, s.clock, s.homeDir, s.blobs)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("begin session: %w", errors.Join(err, base.Close(ctx)))
	}
	// No log manager: it would leave an empty log blob, with two syncs, at every close.
	shared, err := content.NewSharedManager(ctx, s.blobs, base.FormatManager(), &content.CachingOptions{},
		&content.ManagerOptions{TimeNow: s.clock.Now}, nil, nil)
	if err != nil {
		if s.opts.Exclusive && errors.Is(err, errIndexGone) { // nobody else replaces indexes
			err = errors.Join(store.ErrDamaged, err)
		}
		return nil, errors.Join(engineError(ctx, "begin session", err), base.Close(ctx))
	}
	vw := &indexView{base: base, shared: shared}
	if s.opts.Exclusive {
		vw.reader, err = s.newSessionOn(ctx, vw, neverPack, nil)
	}
	if err != nil {
		return nil, errors.Join(err, vw.close(ctx))
	}
	return vw, nil
}

func (v *indexView) close(ctx context.Context) error {
	return errors.Join(v.shared.CloseShared(ctx), v.base.Close(ctx))
}

// The engine packs manifests as it reads them, once there are this many; 0 is its
// own choice. A session that only reads must not write.
const neverPack = math.MaxInt

// newSessionOn opens a session on a view; done is called when it ends.
func (s *Store) newSessionOn(ctx context.Context, vw *indexView, pack int, done func(context.Context) error) (*session, error) {
	v := &session{DirectRepositoryWriter: vw.base, blobs: s.blobs, shared: vw.shared, release: done}
	v.contents = content.NewWriteManager(ctx, vw.shared, content.SessionOptions{SessionUser: sessionIdentity, SessionHost: sessionIdentity}, "line")
	var err error
	v.objects, err = object.NewObjectManager(ctx, v.contents, vw.base.FormatManager().ObjectFormat(), nil)
	if err == nil {
		v.manifests, err = manifest.NewManager(ctx, v.contents, manifest.ManagerOptions{TimeNow: s.clock.Now, AutoCompactionThreshold: pack}, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("begin session: %w", errors.Join(err, v.Close(ctx)))
	}
	return v, nil
}

// newSession opens a session on a view of its own or, in an exclusive store, on the shared
// one.
func (s *Store) newSession(ctx context.Context) (*session, error) {
	if s.opts.Exclusive {
		vw, err := s.acquireView(ctx)
		if err != nil {
			return nil, err
		}
		return s.newSessionOn(ctx, vw, 0, func(ctx context.Context) error { return s.endSession(ctx, vw) })
	}
	return s.newOwnSession(ctx)
}

// newOwnSession opens a session on a new view in any case.
func (s *Store) newOwnSession(ctx context.Context) (*session, error) {
	vw, err := s.newView(ctx)
	if err != nil {
		return nil, err
	}
	return s.newSessionOn(ctx, vw, 0, vw.close)
}

func (s *Store) acquireView(ctx context.Context) (*indexView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view == nil {
		vw, err := s.newView(ctx)
		if err != nil {
			return nil, err
		}
		s.view = vw
	}
	s.view.users++
	return s.view, nil
}

// endSession ends a session that may have written. If its view was retired meanwhile, a view
// that was read since may lack what it wrote: that one is retired too, before the history is
// released.
func (s *Store) endSession(ctx context.Context, vw *indexView) error {
	s.mu.Lock()
	var err error
	if vw.retired && s.view != nil && s.view != vw {
		err = s.retireViewLocked(ctx)
	}
	s.mu.Unlock()
	return errors.Join(err, s.releaseView(ctx, vw))
}

func (s *Store) releaseView(ctx context.Context, vw *indexView) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if vw.users--; vw.retired && vw.users == 0 {
		return vw.close(ctx)
	}
	return nil
}

// retireView makes the next session open a new view. The old one is closed by its last user.
func (s *Store) retireView(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.retireViewLocked(ctx)
}

func (s *Store) retireViewLocked(ctx context.Context) error {
	vw := s.view
	s.view, s.cachedHistories = nil, nil
	if vw == nil {
		return nil
	}
	if vw.retired = true; vw.users > 0 {
		return nil
	}
	return vw.close(ctx)
}

// acquireReader returns a repository to read from and a function to release it. An exclusive
// store reads through the view that its writers commit to, and so is never behind them.
func (s *Store) acquireReader(ctx context.Context) (repo.Repository, func(), error) {
	if !s.opts.Exclusive {
		return s.rep, func() {}, nil
	}
	if err := s.readGate.enter(ctx); err != nil {
		return nil, nil, err
	}
	vw, err := s.acquireView(ctx)
	if err != nil {
		s.readGate.leave()
		return nil, nil, err
	}
	return vw.reader, func() {
		_ = s.releaseView(ctx, vw) // closing a view that was only read
		s.readGate.leave()
	}, nil
}

// cachedHistory is a history between two writers of an exclusive store.
type cachedHistory struct {
	history        *openHistory
	topDir, midDir cachedDir
}

// takeCachedHistory takes the history that the last writer left, if it is cached.
func (s *Store) takeCachedHistory(ws retake.WorkspaceID) (cachedHistory, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.cachedHistories[ws]
	delete(s.cachedHistories, ws)
	return k, ok
}

// cacheHistory keeps the history for the next writer, unless its view is no longer the newest.
func (s *Store) cacheHistory(v *session, k cachedHistory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view == nil || s.view.shared != v.shared {
		return
	}
	if s.cachedHistories == nil {
		s.cachedHistories = map[retake.WorkspaceID]cachedHistory{}
	}
	s.cachedHistories[k.history.ws] = k
}
