package fsx

import (
	"cmp"
	"maps"
	"slices"
	"syscall"
)

// node is one inode: as it is now, as it is on the disk, and the changes that
// lead from the one to the other.
type node struct {
	ino     uint64
	dev     uint64
	typ     Type
	target  string // of a symbolic link
	nlink   int    // names it has now
	subdirs int    // names in it that are directories
	opens   int    // handles on it
	now     state
	disk    state
	pending []change
}

type state struct {
	attrs
	names   map[string]*node // of a directory
	content *content         // of a regular file
	size    int64            // bytes of content that count; only on the disk side
}

// attrs are written to the disk together, as one inode is.
type attrs struct {
	mode, uid, gid uint32
	mtime, ctime   int64
	xattrs         map[string][]byte // never changed in place
}

// content is the data of a file. Bytes that are there are never changed in
// place, so the disk side shares it and a sync copies nothing.
type content struct {
	data  []byte
	holes []Hole
}

// change is one that a crash may lose.
type change struct {
	seq     int64
	attrs   attrs
	names   []naming
	content *content // of a data write: off and length in it
	off     int64
	length  int64
	whole   bool // the file was cut to nothing first
}

// naming gives a name in a directory to a node, or to none.
type naming struct {
	name    string
	node    *node
	touched []*node // those whose link count it changed
	ctime   int64
}

// log notes a change of n that is not yet durable.
func (m *Memory) log(n *node, c change) {
	m.seq++
	c.seq, c.attrs = m.seq, n.now.attrs
	n.pending = append(n.pending, c)
	m.dirty[n] = true
}

// sync makes one inode, or the names of one directory, durable.
func (m *Memory) sync(n *node) {
	for _, c := range n.pending {
		applyNames(&n.disk, c, func(n *node) *attrs { return &n.disk.attrs })
	}
	n.disk.attrs, n.disk.content = n.now.attrs, n.now.content
	if n.now.content != nil {
		n.disk.size = int64(len(n.now.content.data))
	}
	n.pending = nil
	delete(m.dirty, n)
}

// syncNames makes the names that n got or lost durable. An older change of the
// same name is over with it.
func (m *Memory) syncNames(n *node) {
	for dir := range m.dirty {
		var left []change
		for _, c := range dir.pending {
			if !slices.ContainsFunc(c.names, func(e naming) bool { return slices.Contains(e.touched, n) }) {
				left = append(left, c)
				continue
			}
			applyNames(&dir.disk, c, func(n *node) *attrs { return &n.disk.attrs })
			for i := range left {
				left[i].names = slices.DeleteFunc(slices.Clone(left[i].names), func(old naming) bool {
					return slices.ContainsFunc(c.names, func(e naming) bool { return e.name == old.name })
				})
			}
		}
		if dir.pending = left; len(left) == 0 {
			delete(m.dirty, dir)
		}
	}
}

// applyNames sets the names; attrsOf answers where the change time of a named
// inode is kept. It may be newer there: that inode has a sync of its own.
func applyNames(st *state, c change, attrsOf func(*node) *attrs) {
	for _, entry := range c.names {
		for _, n := range entry.touched {
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
	node *node
	change
}

// pending answers all changes that a crash may lose, oldest first.
func (m *Memory) pending() []pendingChange {
	var all []pendingChange
	for n := range m.dirty {
		for _, c := range n.pending {
			all = append(all, pendingChange{n, c})
		}
	}
	slices.SortFunc(all, func(a, b pendingChange) int { return cmp.Compare(a.seq, b.seq) })
	return all
}

// setNames changes names of a directory, and the link counts of what they name.
func (m *Memory) setNames(dir *node, entries ...naming) {
	now := m.time()
	for i := range entries {
		entry := &entries[i]
		entry.ctime = now
		if old := dir.now.names[entry.name]; old != nil {
			delete(dir.now.names, entry.name)
			old.nlink--
			dir.subdirs -= old.isDir()
			old.now.ctime = now
			entry.touched = append(entry.touched, old)
			m.release(old)
		}
		if entry.node != nil {
			dir.now.names[entry.name] = entry.node
			entry.node.nlink++
			dir.subdirs += entry.node.isDir()
			entry.node.now.ctime = now
			entry.touched = append(entry.touched, entry.node)
		}
	}
	dir.now.mtime, dir.now.ctime = now, now
	m.log(dir, change{names: entries})
}

// release gives the bytes of a file back that has neither name nor handle.
func (m *Memory) release(n *node) {
	if n.nlink == 0 && n.opens == 0 && n.typ == Regular {
		m.used -= int64(len(n.now.content.data))
	}
}

// write puts p at off; what does not fit is not written.
func (m *Memory) write(n *node, off int64, p []byte) (int, error) {
	have := int64(len(n.now.content.data))
	grow := max(off+int64(len(p))-have, 0)
	var err error
	if room := max(m.capacity-m.used, 0); grow > room {
		p = p[:max(int64(len(p))-(grow-room), 0)]
		grow, err = room, syscall.ENOSPC
	}
	if len(p) == 0 {
		return 0, err
	}
	switch { // others may hold these bytes
	case off < have:
		n.now.content = n.now.content.cut(have)
	case off > have:
		n.now.content = n.now.content.share(have)
		n.now.content.lengthen(off)
	}
	c := n.now.content
	if len(c.holes) > 0 {
		c.holes = filled(c.holes, off, off+int64(len(p)))
	}
	over := copy(c.data[off:], p)
	c.data = append(c.data, p[over:]...)
	m.used += grow
	n.now.mtime = m.time()
	n.now.ctime = n.now.mtime
	m.log(n, change{content: c, off: off, length: int64(len(p))})
	return len(p), err
}

func (n *node) info() Info {
	info := Info{
		Type: n.typ, Mode: n.now.mode, Dev: n.dev, Ino: n.ino, Nlink: uint64(n.nlink),
		UID: n.now.uid, GID: n.now.gid, Mtime: n.now.mtime, Ctime: n.now.ctime,
	}
	switch n.typ {
	case Regular:
		info.Size = int64(len(n.now.content.data))
		stored := info.Size
		for _, h := range n.now.content.holes {
			stored -= h.Length
		}
		info.Blocks = (stored + 511) / 512
	case Directory:
		info.Size = 4096
		if n.nlink > 0 {
			info.Nlink = uint64(2 + n.subdirs)
		}
	case Symlink:
		info.Size = int64(len(n.target))
	default: // no size
	}
	return info
}

func (n *node) isDir() int {
	if n.typ == Directory {
		return 1
	}
	return 0
}

// setXattr sets one attribute, or removes it when there is no value.
func (m *Memory) setXattr(n *node, name string, value []byte) {
	next := maps.Clone(n.now.xattrs)
	if next == nil {
		next = map[string][]byte{}
	}
	delete(next, name)
	if value != nil {
		next[name] = value
	}
	n.now.xattrs = next
	n.now.ctime = m.time()
	m.log(n, change{})
}

func (m *Memory) setMtime(n *node, ns int64) {
	n.now.mtime, n.now.ctime = ns, m.time()
	m.log(n, change{})
}

// copyXattrs answers nil for none, as the machine does.
func (n *node) copyXattrs() map[string][]byte {
	if len(n.now.xattrs) == 0 {
		return nil
	}
	all := make(map[string][]byte, len(n.now.xattrs))
	for name, value := range n.now.xattrs {
		all[name] = slices.Clone(value)
	}
	return all
}
