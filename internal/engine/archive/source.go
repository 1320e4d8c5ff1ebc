package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// inflatedSource reads a decompressed tar stream and limits its length.
type inflatedSource struct {
	ctx         context.Context
	raw         *rawReader
	r           io.Reader
	closeReader func()
	bytesRead   int64 // bytes given
	limit       int64 // raised with every entry
	ended       bool  // somebody asked for more than there is
}

// What an inflated archive may contain besides the bytes of its files: headers and padding
// of each entry, and attributes of a few.
const (
	overheadPerEntry = 4 << 10
	overheadBase     = 1 << 20

	maxInflateMemory = 64 << 20 // memory that inflating an archive may take
)

var errInflatesTooFar = errors.New("it inflates to more than it may")

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// newSource detects the compression of r by its first bytes.
func newSource(ctx context.Context, r io.Reader, most int64) (*inflatedSource, error) {
	raw := &rawReader{r: r}
	s := &inflatedSource{ctx: ctx, raw: raw, limit: most + overheadBase, closeReader: func() {}}
	buffered := bufio.NewReaderSize(raw, 64<<10)
	first, err := buffered.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, raw.classifyError(ctx, err)
	}
	switch {
	case bytes.HasPrefix(first, gzipMagic):
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, raw.classifyError(ctx, err)
		}
		s.r = z
	case bytes.HasPrefix(first, zstdMagic):
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxInflateMemory))
		if err != nil {
			return nil, raw.classifyError(ctx, err)
		}
		s.r, s.closeReader = z, z.Close
	default:
		s.r = buffered
	}
	return s, nil
}

// Read returns io.EOF only to a caller that asks for more than there is: a complete archive
// has said before that it ends.
func (s *inflatedSource) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if s.bytesRead >= s.limit {
		return 0, errInflatesTooFar
	}
	n, err := s.r.Read(p[:min(int64(len(p)), s.limit-s.bytesRead)])
	s.bytesRead += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		return n, nil
	}
	if n == 0 && err == io.EOF {
		s.ended = true
	}
	return n, err
}

// rawReader remembers whether the input failed, as opposed to being malformed.
type rawReader struct {
	r         io.Reader
	bytesRead int64 // bytes that came
	err       error
}

func (w *rawReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.bytesRead += int64(n)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

// classifyError separates errors of the input from errors of the archive.
func (w *rawReader) classifyError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case w.err != nil:
		return w.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return invalidArchive("it ends too early")
	}
	return invalidArchive("%v", err)
}
