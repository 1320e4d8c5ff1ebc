package kopia

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"
	"time"

	"github.com/kopia/kopia/repo/blob"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

func readBlobs(dir fsx.Dir, want func(blob.ID) bool) ([]blob.Metadata, error) {
	names, err := dir.Names()
	if err != nil {
		return nil, err
	}
	var out []blob.Metadata
	for _, n := range names {
		id, ok := strings.CutSuffix(n, blobSuffix)
		if !ok || id == "" || !want(blob.ID(id)) {
			continue
		}
		i, err := dir.Lstat(n)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since it was listed
		}
		if err != nil {
			return nil, err
		}
		out = append(out, blob.Metadata{BlobID: blob.ID(id), Length: i.Size, Timestamp: time.Unix(0, i.Mtime)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].BlobID < out[j].BlobID })
	return out, nil
}

// removePartial removes what an interrupted Create left. Without a password nothing can be in
// it.
func (d *disk) removePartial(ctx context.Context) error {
	names, err := d.dir.Names()
	if err != nil {
		return err
	}
	for _, n := range names {
		if n[0] == 'p' { // an interrupted Create has written no files of anybody
			return fmt.Errorf("blobs are there and their password is not: put %s back: %w", passwordFile, store.ErrDamaged)
		}
	}
	for _, n := range names {
		if err := d.dir.Remove(n); err != nil {
			return fmt.Errorf("clear a half-made store: %w", err)
		}
	}
	if err := d.reloadListing(ctx); err != nil {
		return err
	}
	return d.writeShards()
}

func (d *disk) writeShards() error {
	f, err := d.dir.Create(shardsFile, 0o600)
	if err != nil {
		return fmt.Errorf("write layout: %w", err)
	}
	if _, err = f.Write([]byte(shardsConfig)); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.dir.Sync()
	}
	if err != nil {
		return fmt.Errorf("write layout: %w", err)
	}
	return nil
}

// saveClockMark has nothing to do: the mark is in a file beside the blobs.
func (d *disk) saveClockMark(context.Context, time.Time) error { return nil }

func (d *disk) freeSpace() (int64, error) {
	free, _, err := d.diskSpace()
	return free, err
}

func (d *disk) dropCache() {} // the system's cache is not ours

func (d *disk) releaseHandles() error { return d.dir.Close() }

// foreignIndexes returns none: a lock keeps all others away from a directory.
func (d *disk) foreignIndexes(context.Context) ([]blob.ID, error) { return nil, nil }

// removeOldTemps removes files that writers left behind, if they are older than age.
func (d *disk) removeOldTemps(age time.Duration) error {
	names, err := d.dir.Names()
	if err != nil {
		return err
	}
	limit := d.now().Add(-age).UnixNano()
	for _, n := range names {
		if !strings.Contains(n, ".tmp.") {
			continue
		}
		if i, err := d.dir.Lstat(n); err == nil && i.Mtime < limit {
			if err := d.dir.Remove(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
