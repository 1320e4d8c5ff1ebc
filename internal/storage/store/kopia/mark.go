package kopia

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/kopia/kopia/fs"
	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/manifest"
	"github.com/kopia/kopia/repo/object"
	"github.com/kopia/kopia/snapshot"
	"github.com/kopia/kopia/snapshot/snapshotfs"
)

// reachableSet is what the lines reach. It begins beside writers and is brought up to date
// when nobody writes: a directory that was gone through once holds the same for ever,
// so only what came since is gone through again. What was reached in the beginning
// and is not any more stays until the next sweep.
type reachableSet struct {
	walker *snapshotfs.TreeWalker
	rep    repo.Repository // that objects are read from; changed only between two walks
	seed   maphash.Seed

	mu            sync.Mutex
	contentHashes map[uint64]struct{} // guarded by mu; two contents with one sum are kept both
}

// markers is how many go through trees at once, beside who is at work.
const markWorkers = 2

// markReachable goes through the newest heads as they are now. It keeps nobody waiting but
// another sweep. A part that cannot be read is an error: what lies below is not known.
func (s *Store) markReachable(ctx context.Context) (*reachableSet, error) {
	release, err := s.lockShared(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	v, err := s.newSession(ctx)
	if err != nil {
		return nil, err
	}
	m := &reachableSet{rep: v, seed: maphash.MakeSeed(), contentHashes: map[uint64]struct{}{}}
	m.walker, err = snapshotfs.NewTreeWalker(ctx, snapshotfs.TreeWalkerOptions{EntryCallback: m.addObject, Parallelism: markWorkers})
	if err != nil {
		return nil, errors.Join(err, v.Close(ctx))
	}
	err = m.addNewestHeads(ctx, v)
	if err = errors.Join(err, v.Close(context.WithoutCancel(ctx))); err != nil {
		m.close(ctx)
		return nil, err
	}
	return m, nil
}

func (m *reachableSet) close(ctx context.Context) { m.walker.Close(context.WithoutCancel(ctx)) }

// addNewestHeads walks the newest head of every line: what older ones alone reach may go.
func (m *reachableSet) addNewestHeads(ctx context.Context, v *session) error {
	all, err := findHistories(ctx, v, "")
	if err != nil {
		return err
	}
	var ids []manifest.ID
	seen := map[string]bool{}
	for _, f := range all { // highest sequence number first
		if !seen[string(f.ws)] {
			ids = append(ids, f.id)
		}
		seen[string(f.ws)] = true
	}
	return m.walkManifests(ctx, v, ids)
}

// walkManifests goes through what manifests hold and was not gone through yet.
func (m *reachableSet) walkManifests(ctx context.Context, v *session, ids []manifest.ID) error {
	m.rep = v
	all, err := snapshot.LoadSnapshots(ctx, v, ids)
	if err != nil {
		return fmt.Errorf("read heads: %w", err)
	}
	if len(all) != len(ids) {
		return fmt.Errorf("read heads: %d of %d", len(all), len(ids))
	}
	for _, one := range all {
		root, err := snapshotfs.SnapshotRoot(v, one)
		if err != nil {
			return fmt.Errorf("read head: %w", err)
		}
		if err := m.walker.Process(ctx, root, ""); err != nil {
			return fmt.Errorf("walk head: %w", err)
		}
	}
	return ctx.Err()
}

// addObject notes the contents of one object.
func (m *reachableSet) addObject(ctx context.Context, _ fs.Entry, id object.ID, _ string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	contents, err := m.rep.VerifyObject(ctx, id)
	if err != nil {
		return fmt.Errorf("verify %s: %w", id, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range contents {
		m.contentHashes[maphash.Comparable(m.seed, c)] = struct{}{}
	}
	return nil
}

func (m *reachableSet) isReachable(id content.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.contentHashes[maphash.Comparable(m.seed, id)]
	return ok
}

// deleteUnreachable brings the mark up to date, with every manifest there is now, also
// those of another engine, and deletes the contents that none of them reaches. One
// that was deleted and is reached comes back.
func (c *sweeper) deleteUnreachable(ctx context.Context) error {
	ids, err := snapshot.ListSnapshotManifests(ctx, c.session, nil, nil)
	if err != nil {
		return fmt.Errorf("list heads: %w", err)
	}
	if err := c.reachable.walkManifests(ctx, c.session, ids); err != nil {
		return err
	}
	err = c.session.contents.IterateContents(ctx, content.IterateOptions{IncludeDeleted: true}, func(i content.Info) error {
		switch used := c.reachable.isReachable(i.ContentID); {
		case i.ContentID.Prefix() == manifest.ContentPrefix:
			return nil
		case used && i.Deleted:
			return c.session.contents.UndeleteContent(ctx, i.ContentID)
		case !used && !i.Deleted:
			return c.session.contents.DeleteContent(ctx, i.ContentID)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("drop contents: %w", err)
	}
	return c.session.Flush(ctx)
}
