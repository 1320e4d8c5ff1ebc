package kopia

import (
	"bytes"
	"container/list"
	"errors"
	"io"
	"sync"

	"github.com/kopia/kopia/repo/blob"
)

// blobCache keeps in memory what is read from a bucket again and again: whole index blobs,
// which every new view reads, pages of the packs of directories and manifests, and small
// pieces of other packs, such as cards. A blob never changes after it was written, so cached
// bytes stay valid; the engine verifies every byte that it decrypts.
type blobCache struct {
	mu    sync.Mutex
	order list.List                 // guarded by mu; of *page, the last used first
	pages map[pageKey]*list.Element // guarded by mu
	bytes int64                     // guarded by mu
}

type pageKey struct {
	id     blob.ID
	number int64 // whole: all of the blob; piece and below: some bytes of it
}

type cachePage struct {
	key  pageKey
	data []byte
}

const (
	wholeBlob     = -1
	pieceBase     = -2 // minus its offset
	maxPiece      = 8 << 10
	pageSize      = 256 << 10
	maxPages      = 4 // of one reading; larger pieces pass by
	maxCacheBytes = 32 << 20
)

type fetchFunc func(offset, length int64, out blob.OutputBuffer) error

// read serves a range from memory, or fetches it once.
func (c *blobCache) read(id blob.ID, offset, length int64, out blob.OutputBuffer, f fetchFunc) error {
	out.Reset()
	switch {
	case isIndex(id) && offset == 0 && length < 0:
		return c.readWhole(id, out, f)
	case id[0] == 'q' && length > 0 && length <= (maxPages-1)*pageSize:
		if c.serveCached(id, offset, length, out) {
			return nil
		}
		if err := c.fetchPages(id, offset, length, f); err != nil {
			return err
		}
		if c.serveCached(id, offset, length, out) {
			return nil
		}
		out.Reset()
	case id[0] == 'p' && length > 0 && length <= maxPiece:
		return c.readPiece(id, offset, length, out, f)
	}
	return f(offset, length, out)
}

func (c *blobCache) readPiece(id blob.ID, offset, length int64, out blob.OutputBuffer, f fetchFunc) error {
	at := pageKey{id, pieceBase - offset}
	if b, ok := c.lookup(at); ok && int64(len(b)) == length {
		_, err := out.Write(b)
		return err
	}
	var got readBuffer
	if err := f(offset, length, &got); err != nil {
		return err
	}
	c.addPage(at, got.Bytes())
	_, err := out.Write(got.Bytes())
	return err
}

func (c *blobCache) readWhole(id blob.ID, out blob.OutputBuffer, f fetchFunc) error {
	if b, ok := c.lookup(pageKey{id, wholeBlob}); ok {
		_, err := out.Write(b)
		return err
	}
	var got readBuffer
	if err := f(0, -1, &got); err != nil {
		return err
	}
	c.addPage(pageKey{id, wholeBlob}, got.Bytes())
	_, err := out.Write(got.Bytes())
	return err
}

// serveCached writes a range if all its pages are cached.
func (c *blobCache) serveCached(id blob.ID, offset, length int64, out blob.OutputBuffer) bool {
	var parts [][]byte
	for left := length; left > 0; {
		b, ok := c.lookup(pageKey{id, offset / pageSize})
		at := offset % pageSize
		if !ok || at >= int64(len(b)) {
			return false
		}
		part := b[at:min(at+left, int64(len(b)))]
		parts = append(parts, part)
		offset, left = offset+int64(len(part)), left-int64(len(part))
		if left > 0 && len(b) < pageSize { // the blob ends here
			return false
		}
	}
	for _, p := range parts {
		if _, err := out.Write(p); err != nil {
			return false
		}
	}
	return true
}

// fetchPages reads the pages of a range. The last one may be short: a client that gets less
// than it asked for reports an invalid range, although it has the rest.
func (c *blobCache) fetchPages(id blob.ID, offset, length int64, f fetchFunc) error {
	first := offset / pageSize
	last := (offset + length - 1) / pageSize
	var got readBuffer
	err := f(first*pageSize, (last-first+1)*pageSize, &got)
	if err != nil && (got.Len() == 0 || !errors.Is(err, blob.ErrInvalidRange)) {
		return err
	}
	for n := first; n <= last && got.Len() > 0; n++ {
		c.addPage(pageKey{id, n}, got.Next(pageSize))
	}
	return nil
}

// putBlob caches a blob that was put, if it is small.
func (c *blobCache) putBlob(id blob.ID, data blob.Bytes) {
	if n := data.Length(); n > pageSize || id[0] != 'q' && !isIndex(id) {
		return
	}
	var b bytes.Buffer
	if _, err := data.WriteTo(&b); err != nil {
		return
	}
	at := pageKey{id, 0}
	if isIndex(id) {
		at.number = wholeBlob
	}
	c.addPage(at, b.Bytes())
}

func (c *blobCache) lookup(at pageKey) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.pages[at]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cachePage).data, true
}

// addPage adds a page and evicts the least recently used ones.
func (c *blobCache) addPage(at pageKey, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(data) > maxCacheBytes/4 {
		return
	}
	if c.pages == nil {
		c.pages = map[pageKey]*list.Element{}
	}
	if e, ok := c.pages[at]; ok {
		c.evict(e)
	}
	c.pages[at] = c.order.PushFront(&cachePage{at, bytes.Clone(data)})
	for c.bytes += int64(len(data)); c.bytes > maxCacheBytes; {
		c.evict(c.order.Back())
	}
}

func (c *blobCache) evict(e *list.Element) {
	p := c.order.Remove(e).(*cachePage)
	delete(c.pages, p.key)
	c.bytes -= int64(len(p.data))
}

// removeBlob forgets a blob. Pages of a large one are evicted later; its name is never used
// again.
func (c *blobCache) removeBlob(id blob.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range []int64{wholeBlob, 0} {
		if e, ok := c.pages[pageKey{id, n}]; ok {
			c.evict(e)
		}
	}
}

func (c *blobCache) clearAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.order.Init()
	c.pages, c.bytes = nil, 0
}

// readBuffer is a buffer that blobs are read into.
type readBuffer struct{ bytes.Buffer }

func (s *readBuffer) Length() int { return s.Len() }

// textBlob is a blob in memory.
type textBlob string

func (t textBlob) Length() int { return len(t) }

func (t textBlob) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, string(t))
	return int64(n), err
}

func (t textBlob) Reader() io.ReadSeekCloser { return textReader{bytes.NewReader([]byte(t))} }

type textReader struct{ *bytes.Reader }

func (textReader) Close() error { return nil }
