package fsx

import (
	"maps"
	"slices"
)

// Crash answers the file system as it is found after a power cut: all that was
// synced, and of the changes that were not those that keep says made it. They
// are numbered from 0 to Unsynced()-1, oldest first, and applied in that order.
// No keep means none. A write that made it after one that did not leaves zeros.
// The file system itself stays as it is.
func (m *Memory) Crash(keep func(op int) bool) *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := &wreck{images: map[*node]*image{}, built: map[*node]*node{}}
	for i, c := range m.pending() {
		if keep != nil && keep(i) {
			found.apply(c.node, c.change)
		}
	}
	after := m.bare()
	after.root = found.build(m.root)
	after.root.nlink = 1
	for _, n := range found.built {
		after.count(n)
	}
	return after
}

// bare answers the settings without a tree.
func (m *Memory) bare() *Memory {
	return &Memory{
		clock: m.clock, tick: m.tick, nextIno: m.nextIno, nextDev: m.nextDev,
		seq: m.seq, capacity: m.capacity, dirty: map[*node]bool{}, journal: m.journal,
		lacks: m.lacks,
	}
}

func (m *Memory) count(n *node) {
	if n.typ == Regular && n.nlink > 0 {
		m.used += int64(len(n.now.content.data))
	}
}

func (m *Memory) syncAll() {
	for n := range m.dirty {
		m.sync(n)
	}
}

// wreck is a tree under reconstruction from the disk side.
type wreck struct {
	images map[*node]*image
	built  map[*node]*node
}

// image is the disk side of an inode with the changes that made it.
type image struct {
	state
	owned bool // content is ours to change
}

func (w *wreck) image(n *node) *image {
	img := w.images[n]
	if img == nil {
		img = &image{state: n.disk}
		img.names = maps.Clone(n.disk.names)
		w.images[n] = img
	}
	return img
}

func (w *wreck) apply(n *node, c change) {
	img := w.image(n)
	img.attrs = c.attrs
	applyNames(&img.state, c, func(n *node) *attrs { return &w.image(n).attrs })
	img.write(c)
}

func (img *image) write(c change) {
	end := c.off + c.length
	switch {
	case c.content == nil:
	case c.whole:
		img.content, img.size, img.owned = c.content, c.length, false
	case img.content == c.content && c.off <= img.size:
		img.size = max(img.size, end)
	default:
		if !img.owned {
			img.content = img.content.cut(img.size)
			img.owned = true
		}
		if c.off < img.size { // a hole may be filled
			img.content.holes = filled(img.content.holes, c.off, end)
		}
		if more := end - img.size; more > 0 {
			img.content.data = append(img.content.data, make([]byte, more)...)
			img.size = end
		}
		copy(img.content.data[c.off:], c.content.data[c.off:end])
	}
}

// cut answers the first size bytes as a content of their own.
func (c *content) cut(size int64) *content {
	part := c.share(size)
	part.data = slices.Clone(part.data)
	return part
}

// share answers the first size bytes without a copy: an append to either side
// does not reach the other.
func (c *content) share(size int64) *content {
	part := &content{data: c.data[:size:size]}
	for _, h := range c.holes {
		if h.Offset < size {
			h.Length = min(h.Length, size-h.Offset)
			part.holes = append(part.holes, h)
		}
	}
	return part
}

// build makes the inode and all below it. A directory that two names lead to,
// as half a rename leaves it, stays at the first.
func (w *wreck) build(n *node) *node {
	st := w.image(n)
	made := &node{ino: n.ino, dev: n.dev, typ: n.typ, target: n.target}
	w.built[n] = made
	made.now.attrs = st.attrs
	if st.content != nil {
		made.now.content = st.content.share(st.size)
		made.disk.content, made.disk.size = made.now.content, st.size
	}
	if n.typ == Directory {
		made.now.names = make(map[string]*node, len(st.names))
	}
	for _, name := range slices.Sorted(maps.Keys(st.names)) {
		child := w.built[st.names[name]]
		if child == nil {
			child = w.build(st.names[name])
		} else if child.typ == Directory {
			continue
		}
		child.nlink++
		made.subdirs += child.isDir()
		made.now.names[name] = child
	}
	made.disk.attrs = made.now.attrs
	made.disk.names = maps.Clone(made.now.names)
	return made
}

// Clone answers a deep copy, unsynced changes included, handles not.
func (m *Memory) Clone() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &cloner{nodes: map[*node]*node{}, contents: map[*content]*content{}}
	after := m.bare()
	after.root = c.node(m.root)
	for n := range m.dirty {
		after.dirty[c.node(n)] = true
	}
	for _, n := range c.nodes {
		after.count(n)
	}
	return after
}

type cloner struct {
	nodes    map[*node]*node
	contents map[*content]*content
}

func (c *cloner) node(n *node) *node {
	if n == nil || c.nodes[n] != nil {
		return c.nodes[n]
	}
	made := &node{ino: n.ino, dev: n.dev, typ: n.typ, target: n.target, nlink: n.nlink, subdirs: n.subdirs}
	c.nodes[n] = made
	made.now, made.disk = c.state(n.now), c.state(n.disk)
	for _, ch := range n.pending {
		ch.content = c.content(ch.content)
		ch.names = slices.Clone(ch.names)
		for i := range ch.names {
			ch.names[i].node = c.node(ch.names[i].node)
			ch.names[i].touched = slices.Clone(ch.names[i].touched)
			for j, n := range ch.names[i].touched {
				ch.names[i].touched[j] = c.node(n)
			}
		}
		made.pending = append(made.pending, ch)
	}
	return made
}

func (c *cloner) state(st state) state {
	st.content = c.content(st.content)
	st.names = maps.Clone(st.names)
	for name, n := range st.names {
		st.names[name] = c.node(n)
	}
	return st
}

func (c *cloner) content(from *content) *content {
	if from == nil {
		return nil
	}
	if c.contents[from] == nil {
		c.contents[from] = from.share(int64(len(from.data)))
	}
	return c.contents[from]
}
