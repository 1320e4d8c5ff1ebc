package fork

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

var errHoles = errors.New("the holes do not fit the file")

// copySparse writes the bytes of src, which must be as many as the entry says, and keeps
// holes. It writes by offset, because an abandoned clone or copy has moved the position.
func copySparse(f fsx.File, src io.ReadSeeker, e *retake.Entry) error {
	size, err := src.Seek(0, io.SeekEnd)
	if err == nil {
		err = checkLength(e.Size, size)
	}
	if err != nil {
		return err
	}
	at, holes := int64(0), holesOf(e)
	if len(holes) > 0 {
		if err := f.Truncate(size); err != nil {
			return err
		}
	}
	for _, h := range holes {
		if h.Length < 0 || h.Offset < at || h.Length > size-h.Offset {
			return errHoles
		}
		if err := copyRange(f, src, at, h.Offset); err != nil {
			return err
		}
		at = h.Offset + h.Length
	}
	return copyRange(f, src, at, size)
}

func holesOf(e *retake.Entry) []retake.Hole {
	if e.Extra == nil {
		return nil
	}
	return e.Extra.Holes
}

const bufferSize = 256 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// copyRange writes the bytes between two offsets.
func copyRange(f fsx.File, src io.ReadSeeker, from, end int64) error {
	if from == end {
		return nil
	}
	if _, err := src.Seek(from, io.SeekStart); err != nil {
		return err
	}
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	n, err := io.CopyBuffer(&offsetWriter{f, from}, io.LimitReader(src, end-from), buf[:])
	if err == nil && n < end-from {
		err = fmt.Errorf("%d bytes of %d came: %w", n, end-from, io.ErrUnexpectedEOF)
	}
	return err
}

type offsetWriter struct {
	f      fsx.File
	offset int64
}

func (w *offsetWriter) Write(p []byte) (int, error) {
	n, err := w.f.WriteAt(p, w.offset)
	w.offset += int64(n)
	return n, err
}
