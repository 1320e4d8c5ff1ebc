package fsxtest

import (
	"maps"
	"slices"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Crash returns the file system as it is found after a power cut: everything that was synced,
// and those unsynced changes for which keep returns true. They are numbered from 0 to
// UnsyncedCount()-1, oldest first, and applied in that order; a nil keep loses all of them. A
// write that survived after one that did not leaves zeros in between. m itself does not
// change.
func (m *Memory) Crash(keep func(op int) bool) *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := &crashRebuilder{images: map[*memNode]*nodeImage{}, built: map[*memNode]*memNode{}}
	for i, c := range m.pendingChanges() {
		if keep != nil && keep(i) {
			found.applyChange(c.node, c.nodeChange)
		}
	}
	after := m.emptyCopy()
	after.root = found.rebuildNode(m.root)
	after.root.nlink = 1
	for _, n := range found.built {
		after.addUsage(n)
	}
	return after
}

// emptyCopy returns a file system with the settings of m and without a tree.
func (m *Memory) emptyCopy() *Memory {
	return &Memory{
		clock: m.clock, tick: m.tick, nextIno: m.nextIno, nextDev: m.nextDev,
		seq: m.seq, capacity: m.capacity, dirtyNodes: map[*memNode]bool{}, fileSyncKeepsName: m.fileSyncKeepsName,
		refused: m.refused,
	}
}

// addUsage counts the bytes of a file that has a name.
func (m *Memory) addUsage(n *memNode) {
	if n.typ == fsx.Regular && n.nlink > 0 {
		m.used += int64(len(n.live.content.data))
	}
}

func (m *Memory) syncAllNodes() {
	for n := range m.dirtyNodes {
		m.syncNode(n)
	}
}

// crashRebuilder rebuilds a tree from the durable states and the changes that survived.
type crashRebuilder struct {
	images map[*memNode]*nodeImage
	built  map[*memNode]*memNode
}

// nodeImage is the durable state of an inode with the changes that survived.
type nodeImage struct {
	nodeState
	ownsContent bool // content is not shared and may be modified
}

func (w *crashRebuilder) imageOf(n *memNode) *nodeImage {
	img := w.images[n]
	if img == nil {
		img = &nodeImage{nodeState: n.durable}
		img.names = maps.Clone(n.durable.names)
		w.images[n] = img
	}
	return img
}

func (w *crashRebuilder) applyChange(n *memNode, c nodeChange) {
	img := w.imageOf(n)
	img.nodeAttrs = c.attrs
	applyNames(&img.nodeState, c, func(n *memNode) *nodeAttrs { return &w.imageOf(n).nodeAttrs })
	img.applyWrite(c)
}

// applyWrite applies a data change. Content is shared with the live tree until a lost write
// before it makes a copy necessary.
func (img *nodeImage) applyWrite(c nodeChange) {
	end := c.off + c.length
	switch {
	case c.content == nil:
	case c.replacesAll:
		img.content, img.size, img.ownsContent = c.content, c.length, false
	case img.content == c.content && c.off <= img.size:
		img.size = max(img.size, end)
	default:
		if !img.ownsContent {
			img.content = img.content.clonePrefix(img.size)
			img.ownsContent = true
		}
		if c.off < img.size { // a hole may be filled
			img.content.holes = fillHoles(img.content.holes, c.off, end)
		}
		if more := end - img.size; more > 0 {
			img.content.data = append(img.content.data, make([]byte, more)...)
			img.size = end
		}
		copy(img.content.data[c.off:], c.content.data[c.off:end])
	}
}

// clonePrefix returns a copy of the first size bytes.
func (c *content) clonePrefix(size int64) *content {
	part := c.sharePrefix(size)
	part.data = slices.Clone(part.data)
	return part
}

// sharePrefix returns the first size bytes without a copy. An append to either side does not
// affect the other.
func (c *content) sharePrefix(size int64) *content {
	part := &content{data: c.data[:size:size]}
	for _, h := range c.holes {
		if h.Offset < size {
			h.Length = min(h.Length, size-h.Offset)
			part.holes = append(part.holes, h)
		}
	}
	return part
}

// rebuildNode builds the inode and everything below it. A directory with two names, as half a
// rename leaves it, stays at the first.
func (w *crashRebuilder) rebuildNode(n *memNode) *memNode {
	st := w.imageOf(n)
	made := &memNode{ino: n.ino, dev: n.dev, typ: n.typ, target: n.target}
	w.built[n] = made
	made.live.nodeAttrs = st.nodeAttrs
	if st.content != nil {
		made.live.content = st.content.sharePrefix(st.size)
		made.durable.content, made.durable.size = made.live.content, st.size
	}
	if n.typ == fsx.Directory {
		made.live.names = make(map[string]*memNode, len(st.names))
	}
	for _, name := range slices.Sorted(maps.Keys(st.names)) {
		child := w.built[st.names[name]]
		if child == nil {
			child = w.rebuildNode(st.names[name])
		} else if child.typ == fsx.Directory {
			continue
		}
		child.nlink++
		made.subdirs += child.dirCount()
		made.live.names[name] = child
	}
	made.durable.nodeAttrs = made.live.nodeAttrs
	made.durable.names = maps.Clone(made.live.names)
	return made
}

// Clone returns a deep copy with all unsynced changes, and without handles.
func (m *Memory) Clone() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &cloner{nodes: map[*memNode]*memNode{}, contents: map[*content]*content{}}
	after := m.emptyCopy()
	after.root = c.cloneNode(m.root)
	for n := range m.dirtyNodes {
		after.dirtyNodes[c.cloneNode(n)] = true
	}
	for _, n := range c.nodes {
		after.addUsage(n)
	}
	return after
}

type cloner struct {
	nodes    map[*memNode]*memNode
	contents map[*content]*content
}

// cloneNode clones an inode once, however many names and changes refer to it.
func (c *cloner) cloneNode(n *memNode) *memNode {
	if n == nil || c.nodes[n] != nil {
		return c.nodes[n]
	}
	made := &memNode{ino: n.ino, dev: n.dev, typ: n.typ, target: n.target, nlink: n.nlink, subdirs: n.subdirs}
	c.nodes[n] = made
	made.live, made.durable = c.cloneState(n.live), c.cloneState(n.durable)
	for _, ch := range n.pending {
		ch.content = c.cloneContent(ch.content)
		ch.names = slices.Clone(ch.names)
		for i := range ch.names {
			ch.names[i].node = c.cloneNode(ch.names[i].node)
			ch.names[i].relinked = slices.Clone(ch.names[i].relinked)
			for j, n := range ch.names[i].relinked {
				ch.names[i].relinked[j] = c.cloneNode(n)
			}
		}
		made.pending = append(made.pending, ch)
	}
	return made
}

func (c *cloner) cloneState(st nodeState) nodeState {
	st.content = c.cloneContent(st.content)
	st.names = maps.Clone(st.names)
	for name, n := range st.names {
		st.names[name] = c.cloneNode(n)
	}
	return st
}

func (c *cloner) cloneContent(from *content) *content {
	if from == nil {
		return nil
	}
	if c.contents[from] == nil {
		c.contents[from] = from.sharePrefix(int64(len(from.data)))
	}
	return c.contents[from]
}
