package kopia

import (
	"bytes"
	"container/list"
	"errors"
	"io"
	"sync"

	"github.com/kopia/kopia/repo/blob"
)

// nearby keeps in memory what is asked of a bucket again and again: index blobs, whole,
// which every new view reads all of, the packs of directories and manifests, in pages,
// and small pieces of the other packs: cards, and what a line says of itself. Names of blobs are made from what they hold, or at random once, so what was
// read stays true; the engine checks every byte it decrypts.
type nearby struct {
	mu    sync.Mutex
	order list.List                // guarded by mu; of *page, the last used first
	pages map[pageAt]*list.Element // guarded by mu
	bytes int64                    // guarded by mu
}

type pageAt struct {
	id blob.ID
	n  int64 // whole: all of the blob; piece and below: some bytes of it
}

type page struct {
	at   pageAt
	data []byte
}

const (
	whole     = -1
	piece     = -2 // minus its offset
	maxPiece  = 8 << 10
	pageSize  = 256 << 10
	maxPages  = 4 // of one reading; larger pieces pass by
	maxNearby = 32 << 20
)

type fetch func(offset, length int64, out blob.OutputBuffer) error

// get answers from memory, or by one fetch.
func (c *nearby) get(id blob.ID, offset, length int64, out blob.OutputBuffer, f fetch) error {
	out.Reset()
	switch {
	case isIndex(id) && offset == 0 && length < 0:
		return c.getWhole(id, out, f)
	case id[0] == 'q' && length > 0 && length <= (maxPages-1)*pageSize:
		if c.serve(id, offset, length, out) {
			return nil
		}
		if err := c.fetchPages(id, offset, length, f); err != nil {
			return err
		}
		if c.serve(id, offset, length, out) {
			return nil
		}
		out.Reset()
	case id[0] == 'p' && length > 0 && length <= maxPiece:
		return c.getPiece(id, offset, length, out, f)
	}
	return f(offset, length, out)
}

func (c *nearby) getPiece(id blob.ID, offset, length int64, out blob.OutputBuffer, f fetch) error {
	at := pageAt{id, piece - offset}
	if b, ok := c.page(at); ok && int64(len(b)) == length {
		_, err := out.Write(b)
		return err
	}
	var got sheet
	if err := f(offset, length, &got); err != nil {
		return err
	}
	c.add(at, got.Bytes())
	_, err := out.Write(got.Bytes())
	return err
}

func (c *nearby) getWhole(id blob.ID, out blob.OutputBuffer, f fetch) error {
	if b, ok := c.page(pageAt{id, whole}); ok {
		_, err := out.Write(b)
		return err
	}
	var got sheet
	if err := f(0, -1, &got); err != nil {
		return err
	}
	c.add(pageAt{id, whole}, got.Bytes())
	_, err := out.Write(got.Bytes())
	return err
}

// serve writes a range when all its pages are there.
func (c *nearby) serve(id blob.ID, offset, length int64, out blob.OutputBuffer) bool {
	var parts [][]byte
	for left := length; left > 0; {
		b, ok := c.page(pageAt{id, offset / pageSize})
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

// fetchPages reads the pages that a range touches. The last may be short: a client that
// is answered with less than it asked for calls that an invalid range, and has the rest.
func (c *nearby) fetchPages(id blob.ID, offset, length int64, f fetch) error {
	first := offset / pageSize
	last := (offset + length - 1) / pageSize
	var got sheet
	err := f(first*pageSize, (last-first+1)*pageSize, &got)
	if err != nil && (got.Len() == 0 || !errors.Is(err, blob.ErrInvalidRange)) {
		return err
	}
	for n := first; n <= last && got.Len() > 0; n++ {
		c.add(pageAt{id, n}, got.Next(pageSize))
	}
	return nil
}

// keep remembers a blob that was put, when it is a small one.
func (c *nearby) keep(id blob.ID, data blob.Bytes) {
	if n := data.Length(); n > pageSize || id[0] != 'q' && !isIndex(id) {
		return
	}
	var b bytes.Buffer
	if _, err := data.WriteTo(&b); err != nil {
		return
	}
	at := pageAt{id, 0}
	if isIndex(id) {
		at.n = whole
	}
	c.add(at, b.Bytes())
}

func (c *nearby) page(at pageAt) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.pages[at]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*page).data, true
}

func (c *nearby) add(at pageAt, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(data) > maxNearby/4 {
		return
	}
	if c.pages == nil {
		c.pages = map[pageAt]*list.Element{}
	}
	if e, ok := c.pages[at]; ok {
		c.remove(e)
	}
	c.pages[at] = c.order.PushFront(&page{at, bytes.Clone(data)})
	for c.bytes += int64(len(data)); c.bytes > maxNearby; {
		c.remove(c.order.Back())
	}
}

func (c *nearby) remove(e *list.Element) {
	p := c.order.Remove(e).(*page)
	delete(c.pages, p.at)
	c.bytes -= int64(len(p.data))
}

// drop forgets a blob; of a larger one the rest goes by itself, its name never comes again.
func (c *nearby) drop(id blob.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range []int64{whole, 0} {
		if e, ok := c.pages[pageAt{id, n}]; ok {
			c.remove(e)
		}
	}
}

func (c *nearby) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.order.Init()
	c.pages, c.bytes = nil, 0
}

// sheet is a buffer that blobs are read into.
type sheet struct{ bytes.Buffer }

func (s *sheet) Length() int { return s.Len() }

// text is a blob that is written from memory.
type text string

func (t text) Length() int { return len(t) }

func (t text) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, string(t))
	return int64(n), err
}

func (t text) Reader() io.ReadSeekCloser { return textReader{bytes.NewReader([]byte(t))} }

type textReader struct{ *bytes.Reader }

func (textReader) Close() error { return nil }
