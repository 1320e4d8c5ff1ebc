package kopia

import (
	"container/list"
	"errors"
	"sync"
	"time"

	"github.com/kopia/kopia/repo/blob"
)

// windowCache joins reads of one pack. Who reads a few small files of a pack in a row, as an archive
// or a restore does, mostly reads those beside them next, so it gets a whole window. The cache is
// apart from the one of metadata, which such reads would push out.
type windowCache struct {
	now func() time.Time

	mu    sync.Mutex
	packs map[blob.ID]packReads       // guarded by mu
	order list.List                   // guarded by mu; of *window, the last used first
	known map[windowKey]*list.Element // guarded by mu
	bytes int64                       // guarded by mu
}

type windowKey struct {
	id     blob.ID
	number int64
}

// window is a part of a pack. Its data may be read when done is closed, or under mu; nil means that
// it is not there yet or failed.
type window struct {
	key  windowKey
	done chan struct{}
	data []byte
}

type packReads struct {
	count int
	last  time.Time
}

const (
	windowSize     = 1 << 20
	maxWindowBytes = 16 << 20
	rowOfReads     = 3                // so many reads are in a row
	rowPause       = 10 * time.Second // after which a row begins anew
	maxPacksKnown  = 1024
)

// inRow counts a read and reports whether the pack is read in a row.
func (c *windowCache) inRow(id blob.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.packs == nil || len(c.packs) > maxPacksKnown {
		c.packs = map[blob.ID]packReads{}
	}
	p, now := c.packs[id], c.now()
	if now.Sub(p.last) > rowPause {
		p.count = 0
	}
	p.count, p.last = p.count+1, now
	c.packs[id] = p
	return p.count >= rowOfReads
}

// read serves a range of a pack from windows, and fetches those that are not there. It returns false
// if the range is to be read alone.
func (c *windowCache) read(id blob.ID, offset, length int64, out blob.OutputBuffer, f fetchFunc) bool {
	if length <= 0 || length > windowSize/4 || !c.inRow(id) {
		return false
	}
	var parts [][]byte
	for left := length; left > 0; {
		data := c.load(windowKey{id, offset / windowSize}, f)
		at := offset % windowSize
		if at >= int64(len(data)) {
			return false // it failed, or the pack ends before
		}
		part := data[at:min(at+left, int64(len(data)))]
		parts = append(parts, part)
		offset, left = offset+int64(len(part)), left-int64(len(part))
	}
	for _, p := range parts {
		if _, err := out.Write(p); err != nil {
			return false
		}
	}
	return true
}

// load returns the bytes of a window. One caller fetches it, and the others wait for that.
func (c *windowCache) load(key windowKey, f fetchFunc) []byte {
	w, fetch := c.find(key)
	if !fetch {
		<-w.done
		return w.data
	}
	defer close(w.done)
	var got readBuffer
	err := f(key.number*windowSize, windowSize, &got)
	if err != nil && (got.Len() == 0 || !errors.Is(err, blob.ErrInvalidRange)) { // the last window is short
		c.remove(w)
		return nil
	}
	c.fill(w, got.Bytes())
	return w.data
}

func (c *windowCache) find(key windowKey) (w *window, fetch bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.known[key]; ok {
		c.order.MoveToFront(e)
		return e.Value.(*window), false
	}
	if c.known == nil {
		c.known = map[windowKey]*list.Element{}
	}
	w = &window{key: key, done: make(chan struct{})}
	c.known[key] = c.order.PushFront(w)
	return w, true
}

// fill sets the bytes of a window and evicts the least recently used ones that are loaded.
func (c *windowCache) fill(w *window, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.data = data
	if e, ok := c.known[w.key]; !ok || e.Value != w {
		return // everything was forgotten meanwhile
	}
	c.bytes += int64(len(w.data))
	for e := c.order.Back(); e != nil && c.bytes > maxWindowBytes; {
		old, next := e.Value.(*window), e.Prev()
		if old != w && old.data != nil {
			c.order.Remove(e)
			delete(c.known, old.key)
			c.bytes -= int64(len(old.data))
		}
		e = next
	}
}

func (c *windowCache) remove(w *window) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.known[w.key]; ok && e.Value == w {
		c.order.Remove(e)
		delete(c.known, w.key)
	}
}

// clearAll forgets everything, so that the next reads reach the storage.
func (c *windowCache) clearAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.order.Init()
	c.known, c.packs, c.bytes = nil, nil, 0
}
