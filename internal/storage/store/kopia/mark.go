package kopia

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/kopia/kopia/fs"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/manifest"
	"github.com/kopia/kopia/repo/object"
	"github.com/kopia/kopia/snapshot"
	"github.com/kopia/kopia/snapshot/snapshotfs"
)

// reachableSet is the set of contents that the histories reach. Marking starts while others
// write and is completed when nobody does: a directory never changes, so only what was added
// since is visited again. What was reachable at first and is not any more stays until the next
// sweep.
type reachableSet struct {
	walker *snapshotfs.TreeWalker
	rep    *session // that objects are read from; changed only between two walks
	seed   maphash.Seed
	damage *damageList

	mu            sync.Mutex
	contentHashes map[uint64]struct{} // guarded by mu; two contents with one sum are kept both
}

// markWorkers is the number of goroutines that walk trees, beside other work.
const markWorkers = 2

// markReachable walks the newest heads. It blocks only other sweeps. A part that cannot be
// read is an error: what is below it is unknown.
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
	m, err := newReachableSet(ctx, s, v)
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

// newReachableSet returns a set without contents. It must be closed.
func newReachableSet(ctx context.Context, s *Store, v *session) (m *reachableSet, err error) {
	m = &reachableSet{rep: v, damage: &s.damage, seed: maphash.MakeSeed(), contentHashes: map[uint64]struct{}{}}
	m.walker, err = snapshotfs.NewTreeWalker(ctx, snapshotfs.TreeWalkerOptions{EntryCallback: m.addObject, Parallelism: markWorkers})
	return m, err
}

func (m *reachableSet) close(ctx context.Context) { m.walker.Close(context.WithoutCancel(ctx)) }

// addNewestHeads walks the newest head of every history. What only older heads reach may be
// deleted.
func (m *reachableSet) addNewestHeads(ctx context.Context, v *session) error {
	all, err := findHistories(ctx, v, "")
	if err != nil {
		return err
	}
	return m.walkNewest(ctx, v, all)
}

// walkNewest walks the newest of the heads of each history.
func (m *reachableSet) walkNewest(ctx context.Context, v *session, all []historyHead) error {
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

// walkManifests walks the manifests, except for what was already visited.
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

// addObject adds the contents of one object.
func (m *reachableSet) addObject(ctx context.Context, e fs.Entry, id object.ID, _ string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	contents, err := m.rep.VerifyObject(ctx, id)
	if err != nil && !e.IsDir() { // what is below a damaged directory is unknown; a damaged file is its parts
		contents, err = m.knownParts(ctx, id, err)
	}
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

// knownParts lists the parts of a file of which some are known to be damaged and gone. If another
// one is missing, it returns the error.
func (m *reachableSet) knownParts(ctx context.Context, id object.ID, cause error) ([]content.ID, error) {
	parts, err := partsOf(ctx, m.rep, id)
	if err != nil {
		return nil, cause
	}
	for _, c := range parts {
		if _, err := m.rep.contents.ContentInfo(ctx, c); err != nil && !m.damage.has(c) {
			return nil, cause
		}
	}
	return parts, nil
}

func (m *reachableSet) isReachable(id content.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.contentHashes[maphash.Comparable(m.seed, id)]
	return ok
}

// deleteUnreachable completes the mark with every manifest, including those of other engines,
// and deletes the contents that none of them reaches. A deleted content that is reachable is
// restored.
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
			err := c.session.contents.UndeleteContent(ctx, i.ContentID)
			if err != nil && c.s.damage.has(i.ContentID) && mayBeDamage(ctx, err) {
				return nil // it is damaged, as was known: there is nothing to restore it from
			}
			return err
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
