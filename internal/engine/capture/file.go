package capture

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// timestampTick is the tick of the coarsest clock that kernels in use stamp files with. Two
// writes within one tick leave the same times.
const timestampTick = 12 * time.Millisecond

// captureEntry captures a name that the index does not know, or not in its current state.
func (v *visitor) captureEntry(ctx context.Context, i int, name, path string, st fsx.Info) error {
	if v.isRefused(name, path, &st) {
		return nil
	}
	r, torn, err := v.readStable(ctx, name, path, st)
	return v.recordRead(i, path, r, torn, err)
}

// isRefused reports whether a file is never read, and records the gap.
func (v *visitor) isRefused(name, path string, st *fsx.Info) bool {
	limit := v.opts.Policy.MaxNewFile
	switch {
	case v.isPastDeadline():
		v.addGap(path, retake.ReasonBudget, "")
	case st.Type == fsx.Regular && limit > 0 && st.Size > limit && v.previousRow(name) == nil:
		v.addGap(path, retake.ReasonTooBig, "")
	case st.Type == fsx.Regular && st.Size-st.Blocks*512 > maxHoles:
		v.addGap(path, retake.ReasonSparse, "")
	default:
		return false
	}
	return true
}

// recordRead records the result of reading a file: a row, a torn row, or a gap.
func (v *visitor) recordRead(i int, path string, r row, torn bool, err error) error {
	var s *sinkError
	switch {
	case errors.As(err, &s), errors.Is(err, context.DeadlineExceeded):
		return err // a failure of the store says nothing about the file
	case errors.Is(err, fs.ErrNotExist):
		v.states[i] = stateVanished
		return nil
	case errors.Is(err, errRefused): // its gap is named
		return nil
	case errors.Is(err, fsx.ErrOtherMount):
		v.addGap(path, retake.ReasonMount, "")
		return nil
	case errors.Is(err, fsx.ErrNotRegular):
		v.addGap(path, retake.ReasonMoving, "became something else while we read")
		return nil
	case err != nil:
		return v.gapFromError(path, err)
	}
	if torn {
		v.addGap(path, retake.ReasonTorn, "")
	}
	if b := v.previousRow(v.names[i]); b == nil || b.entry.Object != r.entry.Object {
		v.newBytes.Add(r.entry.Size)
	}
	v.rows[i], v.states[i] = r, stateKept
	return nil
}

// errRefused means that the opened file is not the one that was examined; it is not read.
var errRefused = errors.New("refused")

// sinkError is an error of the store, not of the file.
type sinkError struct{ err error }

func (e *sinkError) Error() string { return e.err.Error() }
func (e *sinkError) Unwrap() error { return e.err }

// readStable reads a file until it did not change while it was read, at most a few times.
func (v *visitor) readStable(ctx context.Context, name, path string, st fsx.Info) (r row, torn bool, err error) {
	for try := 1; ; try++ {
		var still bool
		if r, still, err = v.readByKind(ctx, name, path, st); err != nil || still {
			break
		}
		if torn = try == maxReadTries; torn {
			break
		}
		if st, err = v.lstat(name); err != nil {
			break
		}
	}
	r.mustReread = torn || v.isRecent(&r)
	return r, torn, err
}

// isRecent reports whether the last change is so close to our scan that another one might
// leave the same times.
func (v *visitor) isRecent(r *row) bool {
	return v.timesUnreliable && r.entry.Kind == retake.KindFile || max(r.ctime, r.entry.ModTime) > v.started-racyWindow
}

func (v *visitor) readByKind(ctx context.Context, name, path string, st fsx.Info) (row, bool, error) {
	switch st.Type {
	case fsx.Regular:
		return v.readFile(ctx, name, path)
	case fsx.Symlink:
		return v.readLink(ctx, name, path, st)
	case fsx.FIFO, fsx.Socket:
		r := newRow(name, &st)
		var err error
		r.entry.Object, err = v.emptyObject(ctx)
		return r, true, err
	case fsx.Directory, fsx.Device:
	}
	return row{}, false, fsx.ErrNotRegular
}

func newRow(name string, i *fsx.Info) row {
	return row{entry: entryOf(name, i), ino: i.Ino, nlink: i.Nlink, ctime: i.Ctime}
}

// readLink reads the text of a symbolic link and reports whether the link did not change
// meanwhile.
func (v *visitor) readLink(ctx context.Context, name, path string, st fsx.Info) (row, bool, error) {
	text, err := v.dir.Readlink(name)
	if err != nil {
		return row{}, false, err
	}
	after, err := v.lstat(name)
	if err != nil {
		return row{}, false, err
	}
	if after.Type != fsx.Symlink { // a row says what was read, never what took its place
		return row{}, false, fsx.ErrNotRegular
	}
	r := newRow(name, &after)
	r.entry.Size = int64(len(text))
	r.entry.Object, _, err = v.storeBytes(ctx, name, path, stringReader(text))
	return r, st.Ino == after.Ino && st.Ctime == after.Ctime, err
}

// readFile reads as many bytes as the file had when it was opened, so that a file that grows
// forever ends. The file is stable if nothing changed while we read; one that may hide writes
// through a mapping is read twice.
func (v *visitor) readFile(ctx context.Context, name, path string) (row, bool, error) {
	f, err := v.dir.OpenFile(name)
	if err != nil {
		return row{}, false, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	before, err := f.Stat()
	if err != nil {
		return row{}, false, err
	}
	v.normalizeInode(&before)
	if v.isRefused(name, path, &before) { // another file than the one we looked at
		return row{}, false, errRefused
	}
	if !v.opts.FineTimes {
		if err := v.waitTimestampTick(ctx, &before); err != nil {
			return row{}, false, err
		}
	}
	r := newRow(name, &before)
	if r.entry.Extra, err = readExtra(f, &before); err != nil {
		return row{}, false, err
	}
	var n int64
	if r.entry.Object, n, err = v.storeBytes(ctx, name, path, io.LimitReader(f, before.Size)); err != nil {
		return row{}, false, err
	}
	r.entry.Size = n
	still := n == before.Size
	if still && v.mayHideWrites(name, &before) {
		again, _, err := v.storeBytes(ctx, name, path, io.NewSectionReader(f, 0, before.Size))
		if err != nil {
			return row{}, false, err
		}
		still = again == r.entry.Object
	}
	if still && v.hasNewCompanion(f, name) {
		return r, false, nil
	}
	after, err := f.Stat()
	return r, still && isUnmodified(&before, &after), err
}

// mayHideWrites reports whether somebody may write to the file without changing its times
// while we read. A tracker knows which files are mapped; without one, any file that changed
// recently may be.
func (v *visitor) mayHideWrites(name string, i *fsx.Info) bool {
	switch {
	case v.sink == nil:
		return false
	case v.opts.Dirty != nil:
		return v.node.target.child(name).isMapped()
	}
	return v.timesUnreliable || i.Ctime >= v.started-int64(timestampTick)
}

// isUnmodified reports whether the bytes belong to one point in time. Losing a link changes
// the change time but no byte: a file that is replaced by renaming is complete, although it is
// no longer there.
func isUnmodified(before, after *fsx.Info) bool {
	return after.Size == before.Size && after.Mtime == before.Mtime &&
		(after.Ctime == before.Ctime || after.Nlink < before.Nlink)
}

// waitTimestampTick waits until the clock of the file system has moved on from the last
// change, so that the next one is visible.
func (v *visitor) waitTimestampTick(ctx context.Context, i *fsx.Info) error {
	age := v.opts.Clock.Now().Sub(time.Unix(0, i.Ctime))
	if age < 0 || age > timestampTick {
		return nil
	}
	t := time.NewTimer(timestampTick - age)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// readExtra reads the extended attributes and holes of a file.
func readExtra(f fsx.File, i *fsx.Info) (*retake.Extra, error) {
	var x retake.Extra
	var err error
	if x.Xattrs, err = f.Xattrs(); err != nil {
		return nil, err
	}
	if i.Blocks*512 < i.Size && i.Size >= 64<<10 {
		holes, err := f.Holes()
		if err != nil {
			return nil, err
		}
		for _, h := range holes {
			x.Holes = append(x.Holes, retake.Hole(h))
		}
	}
	if len(x.Xattrs) == 0 && len(x.Holes) == 0 {
		return nil, nil
	}
	return &x, nil
}

// storeBytes writes bytes to the sink. If nothing is stored, it compares them with those the
// index knows and returns their address, or none if they differ.
func (v *visitor) storeBytes(ctx context.Context, name, path string, r io.Reader) (retake.ObjectID, int64, error) {
	c := &sourceReader{r: r}
	if v.sink == nil {
		b := v.previousRow(name)
		if b == nil || b.entry.Object == "" {
			n, err := io.Copy(io.Discard, c)
			return "", n, err
		}
		same, err := v.equal(ctx, b.entry.Object, c)
		if err == nil {
			_, err = io.Copy(io.Discard, c)
		}
		if !same {
			return "", c.n, err
		}
		return b.entry.Object, c.n, err
	}
	id, n, err := v.sink.WriteFile(ctx, path, c)
	v.byteCount.Add(n)
	if err != nil && c.err == nil {
		err = &sinkError{err}
	} else if c.err != nil {
		err = c.err
	}
	return id, n, err
}

// sourceReader separates errors of the source from errors of the sink.
type sourceReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *sourceReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

func (w *walker) emptyObject(ctx context.Context) (retake.ObjectID, error) {
	if w.sink == nil {
		return "", nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.emptyID == "" {
		id, _, err := w.sink.WriteFile(ctx, "", stringReader(""))
		if err != nil {
			return "", &sinkError{err}
		}
		w.emptyID = id
	}
	return w.emptyID, nil
}
