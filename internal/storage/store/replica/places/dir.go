package places

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// The layout of a stock repository in a directory, all names in one directory.
const (
	suffix       = ".f"
	tempMark     = ".tmp."
	shardsFile   = ".shards"
	shardsConfig = `{"default":[],"maxNonShardedLength":20}` + "\n"
	oldTemp      = 24 * time.Hour
)

// Dir is a place in a directory.
type Dir struct {
	dir fsx.Dir
	now func() time.Time
}

var _ replica.Place = (*Dir)(nil)

// OpenDir returns the place in a directory, which must exist and be of this copy alone. It removes what
// puts that were cut off long ago left.
func OpenDir(fsys fsx.FS, path string, now func() time.Time) (*Dir, error) {
	dir, err := fsys.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open directory of the copy: %w", err)
	}
	d := &Dir{dir, now}
	if err := errors.Join(d.putLayout(), d.removeTemps()); err != nil {
		return nil, errors.Join(fmt.Errorf("open directory of the copy: %w", err), dir.Close())
	}
	return d, nil
}

func (d *Dir) putLayout() error {
	err := d.putFile(shardsFile, []byte(shardsConfig))
	if errors.Is(err, replica.ErrExists) {
		return nil
	}
	return err
}

func (d *Dir) removeTemps() error {
	names, err := d.dir.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.Contains(name, tempMark) {
			continue
		}
		if i, err := d.dir.Lstat(name); err == nil && d.now().Sub(time.Unix(0, i.Mtime)) > oldTemp {
			_ = d.dir.Remove(name) // another time
		}
	}
	return nil
}

func (d *Dir) Put(ctx context.Context, name string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.putFile(name+suffix, data)
}

// putFile writes a file and gives it its name once it is durable.
func (d *Dir) putFile(name string, data []byte) error {
	if _, err := d.dir.Lstat(name); err == nil {
		return replica.ErrExists
	}
	tmp := name + tempMark + rand.Text()[:12]
	f, err := d.dir.Create(tmp, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.dir.RenameNoReplace(tmp, d.dir, name)
	}
	if err != nil {
		_ = d.dir.Remove(tmp) // it is removed later, too
		if errors.Is(err, fs.ErrExist) {
			return replica.ErrExists
		}
		return err
	}
	return d.dir.Sync()
}

func (d *Dir) Get(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := d.dir.OpenFile(name + suffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(replica.ErrMissing, err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	i, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if length < 0 {
		length = i.Size - offset
	}
	if offset < 0 || length < 0 || offset+length > i.Size {
		return nil, fmt.Errorf("read %s: %d bytes from %d of %d: %w", name, length, offset, i.Size, io.ErrUnexpectedEOF)
	}
	out := make([]byte, length)
	if _, err := f.ReadAt(out, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return out, nil
}

func (d *Dir) List(ctx context.Context, prefix string) ([]replica.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	names, err := d.dir.Names()
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var out []replica.Object
	for _, name := range names {
		plain, ok := strings.CutSuffix(name, suffix)
		if !ok || !strings.HasPrefix(plain, prefix) {
			continue
		}
		i, err := d.dir.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, replica.Object{Name: plain, Size: i.Size, Since: time.Unix(0, i.Mtime)})
	}
	return out, nil
}

func (d *Dir) Delete(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := d.dir.Remove(name + suffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (d *Dir) Traits(context.Context) (replica.Traits, error) {
	return replica.Traits{Refuses: true}, nil
}

func (d *Dir) Close() error { return d.dir.Close() }
