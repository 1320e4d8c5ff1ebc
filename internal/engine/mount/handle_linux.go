package mount

import (
	"context"
	"io"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// maxWhole is the longest file that is read into memory as one.
const maxWhole = 8 << 20

// handle is one open file. It asks for bytes when somebody reads, not before: what
// the kernel still knows is not asked for again.
type handle struct {
	n *node

	mu    sync.Mutex
	bytes []byte        // guarded by mu: all of a short file
	r     io.ReadCloser // guarded by mu: of a long file
	at    int64         // guarded by mu: where r stands
}

func (h *handle) Read(_ context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := h.n.e.Size - off
	if off < 0 || left <= 0 {
		return fuse.ReadResultData(nil), 0
	}
	dest = dest[:min(int64(len(dest)), left)]
	read := h.long
	if h.n.e.Size <= maxWhole {
		read = h.short
	}
	if err := read(dest, off); err != nil {
		return nil, syscall.EIO
	}
	return fuse.ReadResultData(dest), 0
}

func (h *handle) short(dest []byte, off int64) error {
	if h.bytes == nil {
		b, err := h.n.whole(maxWhole)
		if err != nil {
			return err
		}
		h.bytes = b
	}
	copy(dest, h.bytes[off:])
	return nil
}

// long goes on where the last read ended, and begins again when it must go back.
func (h *handle) long(dest []byte, off int64) error {
	err := h.seek(off)
	if err == nil {
		var n int
		n, err = io.ReadFull(h.r, dest)
		h.at += int64(n)
	}
	if err != nil {
		h.drop()
	}
	return err
}

func (h *handle) seek(off int64) error {
	if s, ok := h.r.(io.Seeker); ok && off != h.at {
		at, err := s.Seek(off, io.SeekStart)
		h.at = at
		return err
	}
	if h.r != nil && off < h.at {
		h.drop()
	}
	if h.r == nil {
		r, err := h.n.show.o.Service.Bytes(h.n.show.ctx, h.n.e.Object)
		if err != nil {
			return err
		}
		h.r, h.at = r, 0
	}
	n, err := io.CopyN(io.Discard, h.r, off-h.at)
	h.at += n
	return err
}

func (h *handle) drop() {
	if h.r != nil {
		_ = h.r.Close() // nothing was written
	}
	h.r, h.at = nil, 0
}

func (h *handle) Release(context.Context) syscall.Errno {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop()
	h.bytes = nil
	return 0
}
