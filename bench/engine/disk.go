package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kopia/kopia/repo/blob"
	"golang.org/x/sync/errgroup"
)

const suffix = ".f"

// disk keeps blobs in one directory and makes them durable in the order of the
// store: packs are left unsynced until an index names them, then packs and index
// are synced side by side, then the directory. Lists of index blobs come from
// memory, because this process is the only one.
type disk struct {
	blob.DefaultProviderImplementation
	path string
	dir  *os.File

	mu       sync.Mutex
	unsynced []*os.File                // guarded by mu
	known    map[blob.ID]blob.Metadata // guarded by mu
}

func newDisk(path string) (*disk, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make blobs: %w", err)
	}
	dir, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open blobs: %w", err)
	}
	return &disk{path: path, dir: dir, known: map[blob.ID]blob.Metadata{}}, nil
}

func (d *disk) name(id blob.ID) string { return filepath.Join(d.path, string(id)+suffix) }

func (d *disk) PutBlob(_ context.Context, id blob.ID, data blob.Bytes, opts blob.PutOptions) error {
	if opts.HasRetentionOptions() || opts.DoNotRecreate {
		return blob.ErrUnsupportedPutBlobOption
	}
	tmp := filepath.Join(d.path, string(id)+".tmp."+rand.Text()[:12])
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write blob: %w", err)
	}
	if _, err := data.WriteTo(f); err != nil {
		return fmt.Errorf("write blob: %w", errors.Join(err, f.Close()))
	}
	if err := d.publish(id, tmp, f); err != nil {
		return fmt.Errorf("publish blob: %w", err)
	}
	now := time.Now()
	d.mu.Lock()
	d.known[id] = blob.Metadata{BlobID: id, Length: int64(data.Length()), Timestamp: now}
	d.mu.Unlock()
	if opts.GetModTime != nil {
		*opts.GetModTime = now
	}
	return nil
}

func (d *disk) publish(id blob.ID, tmp string, f *os.File) error {
	switch id[0] {
	case 'p', 'q': // a pack
		d.mu.Lock()
		d.unsynced = append(d.unsynced, f)
		d.mu.Unlock()
		return os.Rename(tmp, d.name(id))
	case 's': // a marker of a session
		return errors.Join(f.Close(), os.Rename(tmp, d.name(id)))
	}
	if err := d.syncWith(f); err != nil {
		return err
	}
	return errors.Join(os.Rename(tmp, d.name(id)), d.dir.Sync())
}

func (d *disk) syncWith(f *os.File) error {
	d.mu.Lock()
	files := append(d.unsynced, f)
	d.unsynced = nil
	d.mu.Unlock()
	var g errgroup.Group
	for _, f := range files {
		g.Go(func() error { return errors.Join(f.Sync(), f.Close()) })
	}
	return g.Wait()
}

func (d *disk) GetBlob(_ context.Context, id blob.ID, offset, length int64, out blob.OutputBuffer) error {
	out.Reset()
	f, err := os.Open(d.name(id))
	if errors.Is(err, os.ErrNotExist) {
		return blob.ErrBlobNotFound
	}
	if err != nil {
		return fmt.Errorf("open blob: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	var from io.Reader = f
	if length >= 0 {
		from = io.NewSectionReader(f, offset, length)
	}
	if _, err := io.Copy(out, from); err != nil {
		return fmt.Errorf("read blob: %w", err)
	}
	return blob.EnsureLengthExactly(out.Length(), length)
}

func (d *disk) GetMetadata(_ context.Context, id blob.ID) (blob.Metadata, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, ok := d.known[id]
	if !ok {
		return m, blob.ErrBlobNotFound
	}
	return m, nil
}

func (d *disk) ListBlobs(_ context.Context, prefix blob.ID, cb func(blob.Metadata) error) error {
	d.mu.Lock()
	var found []blob.Metadata
	for id, m := range d.known {
		if strings.HasPrefix(string(id), string(prefix)) {
			found = append(found, m)
		}
	}
	d.mu.Unlock()
	slices.SortFunc(found, func(a, b blob.Metadata) int { return strings.Compare(string(a.BlobID), string(b.BlobID)) })
	for _, m := range found {
		if err := cb(m); err != nil {
			return err
		}
	}
	return nil
}

func (d *disk) DeleteBlob(_ context.Context, id blob.ID) error {
	d.mu.Lock()
	delete(d.known, id)
	d.mu.Unlock()
	if err := os.Remove(d.name(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("delete blob: %w", err)
	}
	return nil
}

func (d *disk) Close(context.Context) error { return nil } // the engine closes it more than once; Engine.Close does it

func (d *disk) ConnectionInfo() blob.ConnectionInfo {
	return blob.ConnectionInfo{Type: storageType, Config: &mountOptions{}}
}

func (d *disk) DisplayName() string { return "bench" }
