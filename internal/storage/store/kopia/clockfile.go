package kopia

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/kopia/kopia/repo/blob"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// After a sweep, a clock that steps back makes the engine lose acknowledged
// writes: bytes written again get an older time than the tombstone they had. So
// the engine's clock never goes back. Its mark is kept in a file, which a sweep
// makes durable before it drops anything; between sweeps the times of the blobs
// themselves, which carry this clock, are mark enough.
//
// The times of blobs in a bucket are the bucket's, which may be behind ours. There a
// sweep also writes the mark as the name of a blob: the list of the index shows it to
// everybody, also to who has lost the file.
const (
	clockFile       = "clock"
	clockMarkPrefix = "xc" // the engine knows xe, xn, xr, xs and xw
)

func clockMarkID(t time.Time) blob.ID {
	return clockMarkPrefix + blob.ID(strconv.FormatInt(t.UnixNano(), 10))
}

func parseClockMark(id blob.ID) (time.Time, bool) {
	text, ok := strings.CutPrefix(string(id), clockMarkPrefix)
	if !ok {
		return time.Time{}, false
	}
	ns, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(0, ns), err == nil
}

// readClockMark reads the mark, or returns the zero time if there is none.
func readClockMark(dir fsx.Dir) (time.Time, error) {
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

// writeClockMark makes the mark durable.
func writeClockMark(dir fsx.Dir, t time.Time) error {
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

// newestIndexTime returns the newest time among index blobs, which this clock stamped. A time
// far ahead of the wall clock came from another writer's wrong clock; we follow it all the
// same, because the engine compares with it.
func newestIndexTime(ctx context.Context, b blobStore) (time.Time, error) {
	found, err := b.findBlobs(ctx, "x")
	if err != nil {
		return time.Time{}, fmt.Errorf("list index blobs: %w", err)
	}
	var t time.Time
	for _, m := range found {
		at := m.Timestamp
		if mark, ok := parseClockMark(m.BlobID); ok {
			at = mark
		}
		if at.After(t) {
			t = at
		}
	}
	return t, ctx.Err()
}

// startClock raises the clock to the highest mark.
func startClock(ctx context.Context, c *clock.Monotonic, home fsx.Dir, b blobStore) error {
	mark, err := readClockMark(home)
	if err != nil {
		return err
	}
	newest, err := newestIndexTime(ctx, b)
	if err != nil {
		return err
	}
	c.RaiseTo(mark)
	c.RaiseTo(newest)
	return nil
}
