package kopiastore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake/internal/clock"
	"github.com/retake-dev/retake/internal/fsx"
)

// After a sweep, a clock that steps back makes the engine lose acknowledged
// writes: bytes written again get an older time than the tombstone they had. So
// the engine's clock never goes back. Its mark is kept in a file, which a sweep
// makes durable before it drops anything; between sweeps the times of the blobs
// themselves, which carry this clock, are mark enough.
const clockFile = "clock"

func readMark(dir fsx.Dir) (time.Time, error) {
	f, err := dir.OpenFile(clockFile)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("open clock mark: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		return time.Time{}, fmt.Errorf("read clock mark: %w", err)
	}
	ns, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read clock mark: %w", err)
	}
	return time.Unix(0, ns), nil
}

// writeMark makes the mark durable.
func writeMark(dir fsx.Dir, t time.Time) error {
	const tmp = clockFile + ".new"
	if err := dir.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write clock mark: %w", err)
	}
	f, err := dir.Create(tmp, 0o600)
	if err != nil {
		return fmt.Errorf("write clock mark: %w", err)
	}
	_, err = f.Write([]byte(strconv.FormatInt(t.UnixNano(), 10) + "\n"))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(tmp, dir, clockFile)
	}
	if err == nil {
		err = dir.Sync()
	}
	if err != nil {
		return fmt.Errorf("write clock mark: %w", err)
	}
	return nil
}

// newestBlob is the newest time among index blobs, which this clock stamped. A
// stamp far ahead of the wall clock came from another writer's wrong clock; we
// follow it all the same, because the engine compares with it.
func newestBlob(ctx context.Context, d *disk) (time.Time, error) {
	found, err := d.list.find("x", d.dir)
	if err != nil {
		return time.Time{}, fmt.Errorf("list index blobs: %w", err)
	}
	var t time.Time
	for _, m := range found {
		if m.Timestamp.After(t) {
			t = m.Timestamp
		}
	}
	return t, ctx.Err()
}

// startClock raises the clock to every mark there is.
func startClock(ctx context.Context, c *clock.Monotone, home fsx.Dir, d *disk) error {
	mark, err := readMark(home)
	if err != nil {
		return err
	}
	newest, err := newestBlob(ctx, d)
	if err != nil {
		return err
	}
	c.Raise(mark)
	c.Raise(newest)
	return nil
}
