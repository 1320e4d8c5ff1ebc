package mount

import (
	"context"
	"io"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// maxBufferedFile is the size up to which a file is read into memory.
const maxBufferedFile = 8 << 20

// fileHandle is an open file. It opens the stored bytes on the first read: what the kernel has
// cached is not asked for again.
type fileHandle struct {
	node *treeNode

	mu     sync.Mutex
	data   []byte        // guarded by mu: all of a short file
	reader io.ReadCloser // guarded by mu: of a long file
	offset int64         // guarded by mu: position of reader
}

// Read serves a read of the kernel, from memory for small files and from a stream for others.
func (h *fileHandle) Read(_ context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := h.node.entry.Size - off
	if off < 0 || left <= 0 {
		return fuse.ReadResultData(nil), 0
	}
	dest = dest[:min(int64(len(dest)), left)]
	read := h.readStream
	if h.node.entry.Size <= maxBufferedFile {
		read = h.readSmall
	}
	if err := read(dest, off); err != nil {
		return nil, syscall.EIO
	}
	return fuse.ReadResultData(dest), 0
}

func (h *fileHandle) readSmall(dest []byte, off int64) error {
	if h.data == nil {
		b, err := h.node.readContent(maxBufferedFile)
		if err != nil {
			return err
		}
		h.data = b
	}
	copy(dest, h.data[off:])
	return nil
}

// readStream continues where the last read ended, and reopens the file to go back.
func (h *fileHandle) readStream(dest []byte, off int64) error {
	err := h.seekTo(off)
	if err == nil {
		var n int
		n, err = io.ReadFull(h.reader, dest)
		h.offset += int64(n)
	}
	if err != nil {
		h.closeReader()
	}
	return err
}

// seekTo moves the stream to an offset. A stream that cannot seek skips bytes, or is reopened
// to go back.
func (h *fileHandle) seekTo(off int64) error {
	if s, ok := h.reader.(io.Seeker); ok && off != h.offset {
		at, err := s.Seek(off, io.SeekStart)
		h.offset = at
		return err
	}
	if h.reader != nil && off < h.offset {
		h.closeReader()
	}
	if h.reader == nil {
		r, err := h.node.mount.opts.Service.Bytes(h.node.mount.ctx, h.node.entry.Object)
		if err != nil {
			return err
		}
		h.reader, h.offset = r, 0
	}
	n, err := io.CopyN(io.Discard, h.reader, off-h.offset)
	h.offset += n
	return err
}

func (h *fileHandle) closeReader() {
	if h.reader != nil {
		_ = h.reader.Close() // nothing was written
	}
	h.reader, h.offset = nil, 0
}

func (h *fileHandle) Release(context.Context) syscall.Errno {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closeReader()
	h.data = nil
	return 0
}
