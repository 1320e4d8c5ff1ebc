package kopia

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/mirror"
)

// Metadata is what describes the files of people: indexes, and the packs of directories, cards and
// heads. It is small, and one damaged byte in it can hide many checkpoints, so a store on a disk
// has a second copy of it, made while nobody saves.

// isMirrored reports whether a file of the blobs directory has a second copy. The marker of an
// epoch may be written twice and says little.
func isMirrored(name string) bool {
	id, ok := strings.CutSuffix(name, blobSuffix)
	return ok && len(id) > 1 && (id[0] == 'q' || id[0] == 'x' && id[1] != 'e')
}

// minMirrorRoom is the free space below which nothing is copied.
const minMirrorRoom = 256 << 20

// metadata keeps the second copy.
type metadata struct {
	s      *Store
	mirror *mirror.Mirror // nil: a bucket has its own

	mu       sync.Mutex
	compared time.Time // when all of it was last compared; guarded by mu
	keysSeen time.Time // when the keys were last looked at; guarded by mu
}

// copyNew copies new metadata. Nobody else may write to the store.
func (m *metadata) copyNew(ctx context.Context) error {
	if m.mirror == nil {
		return nil
	}
	free, err := m.s.blobs.freeSpace()
	restored, err := m.mirror.Update(ctx, err != nil || free >= minMirrorRoom)
	if len(restored) > 0 {
		m.report(restored)
		err = errors.Join(err, m.s.blobs.reloadListing(ctx), m.s.retireView(ctx))
	}
	return err
}

func (m *metadata) report(restored []string) {
	for _, name := range restored {
		m.s.reportRepair("put back from its copy: " + name)
	}
}

// restore puts back metadata that differs from its copy, and reports whether there was any. A
// quick comparison looks at sizes only.
func (m *metadata) restore(ctx context.Context, quick bool) (bool, error) {
	if m.mirror == nil {
		return false, nil
	}
	keys := !quick && m.restoreKeys(ctx)
	restored, err := m.mirror.Restore(ctx, m.s.stamp(), quick)
	if len(restored) > 0 {
		m.report(restored)
		err = errors.Join(err, m.s.blobs.reloadListing(ctx))
	}
	return keys || len(restored) > 0, err
}

// keyInterval is the shortest time between two looks at the keys of an open store. The engine reads
// them again every quarter of an hour.
const keyInterval = 10 * time.Second

// lookAfterKeys puts damaged keys of an open store back, before the engine reads them again.
func (m *metadata) lookAfterKeys(ctx context.Context) {
	m.mu.Lock()
	now := m.s.opts.Clock.Now()
	since := now.Sub(m.keysSeen)
	due := m.keysSeen.IsZero() || since < 0 || since >= keyInterval
	if due {
		m.keysSeen = now
	}
	m.mu.Unlock()
	if due {
		m.restoreKeys(ctx)
	}
}

// restoreKeys puts the keys back if they differ from their copies and do not open the store, and
// reports whether it did.
func (m *metadata) restoreKeys(ctx context.Context) bool {
	s := m.s
	if s.opts.Bucket != nil || s.opts.Password != "" || keysAreCopied(s.homeDir) {
		return false
	}
	ctx = context.WithoutCancel(ctx) // who goes away says nothing about the keys
	password, err := readPassword(s.homeDir)
	if err == nil {
		err = s.checkFormat(ctx, password)
	}
	if err == nil {
		s.copyKeysIfOurs() // somebody has changed them, and knows why
	}
	if err == nil || !mayBeDamage(ctx, err) {
		return false
	}
	_, err = s.restoreKeys()
	return err == nil
}

// compareInterval is the shortest time between two comparisons of all metadata: damage in the
// files of people is met again and again, and has no copy.
const compareInterval = time.Minute

// retry runs f and, if it meets damage, once more if metadata could be put back.
func (m *metadata) retry(ctx context.Context, f func() error) error {
	err := f()
	if !errors.Is(err, store.ErrDamaged) || m.mirror == nil || !m.mayCompare() {
		return err
	}
	restored, rerr := m.restoreShared(ctx)
	if rerr != nil {
		m.s.reportRepair(rerr.Error())
	}
	if !restored {
		return err
	}
	if rerr := errors.Join(m.s.retireView(ctx), m.s.refresh(ctx)); rerr != nil {
		return errors.Join(err, rerr)
	}
	return f()
}

// lockWait is how long a comparison waits for a sweep of another process.
const lockWait = time.Second

// restoreShared keeps the sweeps of other processes out while it compares. The caller may hold a
// lock that a waiting sweep waits for, so it does not wait for long.
func (m *metadata) restoreShared(ctx context.Context) (bool, error) {
	if !m.s.opts.Exclusive {
		wait, cancel := context.WithTimeout(ctx, lockWait)
		defer cancel()
		release, err := m.s.lockShared(wait)
		if err != nil {
			return false, err
		}
		defer release()
	}
	return m.restore(ctx, false)
}

func (m *metadata) mayCompare() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.s.opts.Clock.Now()
	if since := now.Sub(m.compared); !m.compared.IsZero() && since >= 0 && since < compareInterval {
		return false
	}
	m.compared = now
	return true
}

// engineError marks an error of the engine as damage if it may come from wrong bytes.
func engineError(ctx context.Context, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case !mayBeDamage(ctx, err), errors.Is(err, store.ErrDamaged), retake.IsKind(err, retake.Denied):
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, errors.Join(store.ErrDamaged, err))
}
