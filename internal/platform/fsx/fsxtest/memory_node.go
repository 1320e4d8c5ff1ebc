package fsxtest

import (
	"cmp"
	"maps"
	"slices"
	"syscall"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// memNode is one inode: its live state, its durable state, and the changes that lead from the
// durable to the live one.
type memNode struct {
	ino       uint64
	dev       uint64
	typ       fsx.Type
	target    string // of a symbolic link
	nlink     int    // number of names
	subdirs   int    // number of subdirectories
	openCount int    // open handles
	live      nodeState
	durable   nodeState
	pending   []nodeChange
}

type nodeState struct {
	nodeAttrs
	names   map[string]*memNode // of a directory
	content *content            // of a regular file
	size    int64               // valid bytes of content; only in the durable state
}

// nodeAttrs are written to disk together, as one inode is.
type nodeAttrs struct {
	mode, uid, gid uint32
	mtime, ctime   int64
	xattrs         map[string][]byte // never changed in place
}

// content is the data of a file. Existing bytes are never changed in place, so live and
// durable state share it and a sync copies nothing.
type content struct {
	data  []byte
	holes []fsx.Hole
}

// nodeChange is one change that a crash may lose.
type nodeChange struct {
	seq         int64
	attrs       nodeAttrs
	names       []nameChange
	content     *content // of a data write: the bytes are at off, length long
	off         int64
	length      int64
	replacesAll bool // the file was truncated to zero first
}

// nameChange sets a name in a directory to a node, or removes it if node is nil.
type nameChange struct {
	name     string
	node     *memNode
	relinked []*memNode // nodes whose link count changed
	ctime    int64
}

// logChange records a change of n that is not durable yet.
func (m *Memory) logChange(n *memNode, c nodeChange) {
	m.seq++
	c.seq, c.attrs = m.seq, n.live.nodeAttrs
	n.pending = append(n.pending, c)
	m.dirtyNodes[n] = true
}

// syncNode makes one inode, or the names of one directory, durable.
func (m *Memory) syncNode(n *memNode) {
	for _, c := range n.pending {
		applyNames(&n.durable, c, func(n *memNode) *nodeAttrs { return &n.durable.nodeAttrs })
	}
	n.durable.nodeAttrs, n.durable.content = n.live.nodeAttrs, n.live.content
	if n.live.content != nil {
		n.durable.size = int64(len(n.live.content.data))
	}
	n.pending = nil
	delete(m.dirtyNodes, n)
}

// syncNamesOf makes the names that n got or lost durable. Older pending changes of the same
// name are superseded.
func (m *Memory) syncNamesOf(n *memNode) {
	for dir := range m.dirtyNodes {
		var left []nodeChange
		for _, c := range dir.pending {
			if !slices.ContainsFunc(c.names, func(e nameChange) bool { return slices.Contains(e.relinked, n) }) {
				left = append(left, c)
				continue
			}
			applyNames(&dir.durable, c, func(n *memNode) *nodeAttrs { return &n.durable.nodeAttrs })
			for i := range left {
				left[i].names = slices.DeleteFunc(slices.Clone(left[i].names), func(old nameChange) bool {
					return slices.ContainsFunc(c.names, func(e nameChange) bool { return e.name == old.name })
				})
			}
		}
		if dir.pending = left; len(left) == 0 {
			delete(m.dirtyNodes, dir)
		}
	}
}

// applyNames applies the name changes of c to st. attrsOf returns the attributes that hold the
// change time of a named inode; that time may be newer there, because the inode is synced
// separately.
func applyNames(st *nodeState, c nodeChange, attrsOf func(*memNode) *nodeAttrs) {
	for _, entry := range c.names {
		for _, n := range entry.relinked {
			at := attrsOf(n)
			at.ctime = max(at.ctime, entry.ctime)
		}
		if entry.node == nil {
			delete(st.names, entry.name)
		} else {
			st.names[entry.name] = entry.node
		}
	}
}

// pendingChange is a change and the inode it belongs to.
type pendingChange struct {
	node *memNode
	nodeChange
}

// pendingChanges returns all changes that a crash may lose, oldest first.
func (m *Memory) pendingChanges() []pendingChange {
	var all []pendingChange
	for n := range m.dirtyNodes {
		for _, c := range n.pending {
			all = append(all, pendingChange{n, c})
		}
	}
	slices.SortFunc(all, func(a, b pendingChange) int { return cmp.Compare(a.seq, b.seq) })
	return all
}

// updateNames changes names of a directory and the link counts of the inodes they refer to, as
// one change.
func (m *Memory) updateNames(dir *memNode, entries ...nameChange) {
	now := m.currentTime()
	for i := range entries {
		entry := &entries[i]
		entry.ctime = now
		if old := dir.live.names[entry.name]; old != nil {
			delete(dir.live.names, entry.name)
			old.nlink--
			dir.subdirs -= old.dirCount()
			old.live.ctime = now
			entry.relinked = append(entry.relinked, old)
			m.releaseSpace(old)
		}
		if entry.node != nil {
			dir.live.names[entry.name] = entry.node
			entry.node.nlink++
			dir.subdirs += entry.node.dirCount()
			entry.node.live.ctime = now
			entry.relinked = append(entry.relinked, entry.node)
		}
	}
	dir.live.mtime, dir.live.ctime = now, now
	m.logChange(dir, nodeChange{names: entries})
}

// releaseSpace frees the bytes of a file that has neither a name nor a handle.
func (m *Memory) releaseSpace(n *memNode) {
	if n.nlink == 0 && n.openCount == 0 && n.typ == fsx.Regular {
		m.used -= int64(len(n.live.content.data))
	}
}

// writeAt writes p at off. If the capacity does not suffice it writes what fits and returns
// ENOSPC.
func (m *Memory) writeAt(n *memNode, off int64, p []byte) (int, error) {
	have := int64(len(n.live.content.data))
	grow := max(off+int64(len(p))-have, 0)
	var err error
	if room := max(m.capacity-m.used, 0); grow > room {
		p = p[:max(int64(len(p))-(grow-room), 0)]
		grow, err = room, syscall.ENOSPC
	}
	if len(p) == 0 {
		return 0, err
	}
	switch { // the bytes may be shared
	case off < have:
		n.live.content = n.live.content.clonePrefix(have)
	case off > have:
		n.live.content = n.live.content.sharePrefix(have)
		n.live.content.extend(off)
	}
	c := n.live.content
	if len(c.holes) > 0 {
		c.holes = fillHoles(c.holes, off, off+int64(len(p)))
	}
	over := copy(c.data[off:], p)
	c.data = append(c.data, p[over:]...)
	m.used += grow
	n.live.mtime = m.currentTime()
	n.live.ctime = n.live.mtime
	m.logChange(n, nodeChange{content: c, off: off, length: int64(len(p))})
	return len(p), err
}

// stat returns the state of the inode as the kernel would report it.
func (n *memNode) stat() fsx.Info {
	info := fsx.Info{
		Type: n.typ, Mode: n.live.mode, Dev: n.dev, Ino: n.ino, Nlink: uint64(n.nlink),
		UID: n.live.uid, GID: n.live.gid, Mtime: n.live.mtime, Ctime: n.live.ctime,
	}
	switch n.typ {
	case fsx.Regular:
		info.Size = int64(len(n.live.content.data))
		stored := info.Size
		for _, h := range n.live.content.holes {
			stored -= h.Length
		}
		info.Blocks = (stored + 511) / 512
	case fsx.Directory:
		info.Size = 4096
		if n.nlink > 0 {
			info.Nlink = uint64(2 + n.subdirs)
		}
	case fsx.Symlink:
		info.Size = int64(len(n.target))
	default: // no size
	}
	return info
}

// dirCount returns 1 for a directory and 0 for anything else, for link counts.
func (n *memNode) dirCount() int {
	if n.typ == fsx.Directory {
		return 1
	}
	return 0
}

// setXattr sets one attribute, or removes it if value is nil.
func (m *Memory) setXattr(n *memNode, name string, value []byte) {
	next := maps.Clone(n.live.xattrs)
	if next == nil {
		next = map[string][]byte{}
	}
	delete(next, name)
	if value != nil {
		next[name] = value
	}
	n.live.xattrs = next
	n.live.ctime = m.currentTime()
	m.logChange(n, nodeChange{})
}

func (m *Memory) setMtime(n *memNode, ns int64) {
	n.live.mtime, n.live.ctime = ns, m.currentTime()
	m.logChange(n, nodeChange{})
}

// copyXattrs returns nil if there are none, as the real implementation does.
func (n *memNode) copyXattrs() map[string][]byte {
	if len(n.live.xattrs) == 0 {
		return nil
	}
	all := make(map[string][]byte, len(n.live.xattrs))
	for name, value := range n.live.xattrs {
		all[name] = slices.Clone(value)
	}
	return all
}
