package kopia

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/content/indexblob"
	"github.com/kopia/kopia/repo/format"
	"github.com/kopia/kopia/repo/manifest"
	"github.com/kopia/kopia/snapshot"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// replicaSource shows a store to its copy. Only an exclusive store has copies: one that others write to
// as well would have to be looked through for every pack.
type replicaSource struct {
	s        *Store
	packSize int
}

var _ replica.Source = replicaSource{}

// NewReplicaSource returns a store as its copy sees it.
func NewReplicaSource(s *Store) replica.Source { return replicaSource{s, maxCopyPack} }

// Format returns the blobs that open a copy.
func (r replicaSource) Format(ctx context.Context) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, id := range []blob.ID{format.KopiaBlobCfgBlobID, format.KopiaRepositoryBlobID} {
		var b readBuffer
		err := r.s.blobs.GetBlob(ctx, id, 0, -1, &b)
		if errors.Is(err, blob.ErrBlobNotFound) && id == format.KopiaBlobCfgBlobID {
			continue // older stores have none
		}
		if err != nil {
			return nil, fmt.Errorf("read what opens the store: %w", err)
		}
		out[string(id)] = bytes.Clone(b.Bytes())
	}
	return out, nil
}

// Family returns the name that this store's copies have in common with those of stores with the same key.
func (r replicaSource) Family() (string, error) {
	password, err := r.password()
	if err != nil {
		return "", err
	}
	return FamilyOf(password)
}

// Sealer returns the key of the heads. It is made of the password, so that a head can be read before the
// repository is open.
func (r replicaSource) Sealer() (replica.Sealer, error) {
	password, err := r.password()
	if err != nil {
		return replica.Sealer{}, err
	}
	return ReplicaSealer(password)
}

func (r replicaSource) password() (string, error) { return PasswordOf(r.s) }

// PasswordOf returns what opens a store and its copies.
func PasswordOf(s *Store) (string, error) {
	if s.opts.Password != "" {
		return s.opts.Password, nil
	}
	return readPassword(s.homeDir)
}

// ReplicaSealer returns the key of the heads of copies. A password has 256 random bits, so the fast
// derivation takes nothing away.
func ReplicaSealer(password string) (replica.Sealer, error) {
	key, err := hkdf.Key(sha256.New, []byte(password), nil, "head of a copy", 32)
	if err != nil {
		return replica.Sealer{}, fmt.Errorf("derive key: %w", err)
	}
	return replica.NewSealer(key)
}

// replicaCopy is a replica.Copy.
type replicaCopy struct {
	s        *Store
	blobs    *copyBlobs
	shared   *content.SharedManager
	contents *content.WriteManager // of what the copy has; it never writes
	packSize int
}

// OpenCopy reads the indexes of a copy.
func (r replicaSource) OpenCopy(ctx context.Context, indexes []replica.Index, get replica.GetFunc) (replica.Copy, error) {
	if !r.s.opts.Exclusive {
		return nil, errors.New("open copy: the store is not ours alone")
	}
	c := &replicaCopy{s: r.s, blobs: newCopyBlobs(indexes, get), packSize: r.packSize}
	err := guardEngine(func() (err error) {
		c.shared, c.contents, err = c.openContents(ctx, c.blobs)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open copy: %w", err)
	}
	return c, nil
}

// guardEngine turns a panic of the engine into an error: it may panic on what it did not write.
func guardEngine(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the engine cannot read it: %v", p)
		}
	}()
	return f()
}

func (c *replicaCopy) openContents(ctx context.Context, b blob.Storage) (*content.SharedManager, *content.WriteManager, error) {
	shared, err := content.NewSharedManager(ctx, b, c.s.rep.FormatManager(), &content.CachingOptions{},
		&content.ManagerOptions{TimeNow: c.s.clock.Now}, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	return shared, content.NewWriteManager(ctx, shared, content.SessionOptions{SessionUser: sessionIdentity, SessionHost: sessionIdentity}, "copy"), nil
}

func (c *replicaCopy) Close(ctx context.Context) error { return c.shared.CloseShared(ctx) }

func (c *replicaCopy) Use(ctx context.Context, indexes []replica.Index) error {
	c.blobs.useIndexes(indexes)
	err := guardEngine(func() error {
		em, ok, err := c.contents.EpochManager(ctx)
		if err == nil && ok {
			em.Invalidate()
		}
		return errors.Join(err, c.contents.Refresh(ctx))
	})
	if err != nil {
		return fmt.Errorf("read indexes of the copy: %w", err)
	}
	return nil
}

// has reports whether the copy has a content.
func (c *replicaCopy) has(ctx context.Context, id content.ID) bool {
	i, err := c.contents.ContentInfo(ctx, id)
	return err == nil && !i.Deleted
}

func (c *replicaCopy) encryption() *indexblob.EncryptionManager {
	return indexblob.NewEncryptionManager(c.blobs, c.s.rep.FormatManager(), nil, nil)
}

// Merge makes one index of several. The engine knows what a later entry replaces.
func (c *replicaCopy) Merge(ctx context.Context, indexes []replica.Index) ([]replica.Blob, error) {
	em, _, err := c.contents.EpochManager(ctx)
	if err != nil {
		return nil, fmt.Errorf("merge indexes: %w", err)
	}
	var ids []blob.ID
	entries := 0
	for _, x := range indexes {
		ids = append(ids, blob.ID(x.Name))
		entries += x.Entries
	}
	fm := c.s.rep.FormatManager()
	m := indexblob.NewManagerV1(c.blobs, c.encryption(), em, c.s.clock.Now, fm, nil)
	c.blobs.takeAdded()
	if err := m.CompactEpoch(ctx, ids, copyIndexPrefix); err != nil {
		return nil, fmt.Errorf("merge indexes: %w", err)
	}
	var out []replica.Blob
	for id, data := range c.blobs.takeAdded() {
		out = append(out, replica.Blob{Data: data, Index: replica.Index{Name: string(id), Length: int64(len(data)), Entries: entries}})
	}
	return out, nil
}

// copyIndexPrefix begins the names of all indexes of a copy: it has no epochs.
const copyIndexPrefix = "xn0_"

// newestLines returns the newest heads of the histories, and the manifests that belong to no history.
func (c *replicaCopy) newestLines(ctx context.Context) (lines, others []replica.Line, err error) {
	err = c.read(ctx, func(v *session) error {
		heads, err := findHistories(ctx, v, "")
		if err != nil {
			return err
		}
		seen := map[retake.WorkspaceID]bool{}
		for _, h := range heads { // highest sequence number first
			if seen[h.ws] {
				continue
			}
			seen[h.ws] = true
			l := replica.Line{Workspace: h.ws, Seq: h.seq, Latest: h.latest, Manifest: string(h.id)}
			if err := readManifest(ctx, v, &l); err != nil {
				return err
			}
			lines = append(lines, l)
		}
		all, err := v.FindManifests(ctx, nil)
		for _, m := range all {
			if m.Labels[manifest.TypeLabelKey] != snapshot.ManifestType && err == nil {
				l := replica.Line{Manifest: string(m.ID)}
				err = readManifest(ctx, v, &l)
				others = append(others, l)
			}
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read heads: %w", err)
	}
	return lines, others, nil
}

func readManifest(ctx context.Context, v *session, l *replica.Line) error {
	m, err := v.GetManifest(ctx, manifest.ID(l.Manifest), &l.Payload)
	if err != nil {
		return err
	}
	l.Labels = m.Labels
	return nil
}

// rootOf returns the object that a line points to.
func rootOf(l replica.Line) (retake.ObjectID, error) {
	var m snapshot.Manifest
	if err := json.Unmarshal(l.Payload, &m); err != nil {
		return "", fmt.Errorf("decode head of %s: %w", l.Workspace, err)
	}
	return retake.ObjectID(m.RootObjectID().String()), nil
}

// read runs f on the newest view of the store. It must be short: a sweep that wipes waits for it.
func (c *replicaCopy) read(ctx context.Context, f func(v *session) error) error {
	r, release, err := c.s.acquireReader(ctx)
	if err != nil {
		return err
	}
	defer release()
	return f(r.(*session))
}
