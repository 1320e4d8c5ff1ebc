package mount

import (
	"cmp"
	"context"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/retake-dev/retake"
)

// forEver is how long the kernel may keep what it knows of a snapshot.
const forEver = 24 * time.Hour

// maxLink is the longest text of a link that the kernel takes.
const maxLink = 4095

// node is an entry of a snapshot, or the root of one.
type node struct {
	frozen
	show *show
	id   retake.CheckpointID
	path string    // empty for the root
	time time.Time // of the root, which has no entry
	e    retake.Entry
}

// kinds of entries as the kernel names them. There are no devices.
var kinds = map[retake.Kind]uint32{
	retake.KindFile: syscall.S_IFREG, retake.KindDir: syscall.S_IFDIR, retake.KindSymlink: syscall.S_IFLNK,
	retake.KindFIFO: syscall.S_IFIFO, retake.KindSocket: syscall.S_IFSOCK,
}

func (n *node) fill(a *fuse.Attr) {
	if n.path == "" {
		ours(a, folderMode, n.time)
		return
	}
	a.Mode, a.Nlink = n.e.Mode&^(syscall.S_ISUID|syscall.S_ISGID)&0o7777, 1
	a.Uid, a.Gid = n.e.UID, n.e.GID
	a.Size = uint64(max(n.e.Size, 0))
	stamp(a, time.Unix(0, n.e.ModTime))
}

func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.fill(&out.Attr)
	out.SetTimeout(forEver)
	return 0
}

func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	entries, err := n.list()
	if err != nil {
		return nil, syscall.EIO
	}
	list := make([]fuse.DirEntry, len(entries))
	for i, e := range entries {
		list[i] = fuse.DirEntry{Name: e.Name, Mode: kinds[e.Kind], Ino: n.show.number(n.id, path.Join(n.path, e.Name))}
	}
	return fs.NewListDirStream(list), 0
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	entries, err := n.list()
	if err != nil {
		return nil, syscall.EIO
	}
	i, ok := slices.BinarySearchFunc(entries, name, func(e retake.Entry, name string) int { return cmp.Compare(e.Name, name) })
	if !ok {
		return nil, syscall.ENOENT
	}
	child := &node{show: n.show, id: n.id, path: path.Join(n.path, name), e: entries[i]}
	child.fill(&out.Attr)
	out.SetEntryTimeout(forEver)
	out.SetAttrTimeout(forEver)
	return n.NewInode(ctx, child, fs.StableAttr{Mode: kinds[child.e.Kind], Ino: n.show.number(n.id, child.path)}), 0
}

func (n *node) list() ([]retake.Entry, error) {
	at := spot{n.id, n.path}
	if list, ok := n.show.shelf.find(at); ok {
		return list, nil
	}
	list, err := n.show.o.Service.List(n.show.ctx, n.show.o.Workspace.ID, string(n.id), n.path)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(e retake.Entry) bool { return kinds[e.Kind] == 0 || !fits(e.Name) })
	slices.SortFunc(list, func(a, b retake.Entry) int { return cmp.Compare(a.Name, b.Name) })
	n.show.shelf.keep(at, list)
	return list, nil
}

// fits tells names from what the kernel would take the whole directory amiss for.
func fits(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName && !strings.ContainsAny(name, "/\x00")
}

func (n *node) Readlink(context.Context) ([]byte, syscall.Errno) {
	b, err := n.whole(maxLink)
	if err != nil {
		return nil, syscall.EIO
	}
	return b, 0
}

// whole reads all bytes of an entry that holds at most limit.
func (n *node) whole(limit int64) ([]byte, error) {
	if n.e.Size > limit {
		return nil, syscall.EFBIG
	}
	r, err := n.show.o.Service.Bytes(n.show.ctx, n.e.Object)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // the bytes were read
	b, err := io.ReadAll(io.LimitReader(r, n.e.Size+1))
	if err == nil && int64(len(b)) != n.e.Size {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

func (n *node) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_ACCMODE != syscall.O_RDONLY || flags&syscall.O_TRUNC != 0 {
		return nil, 0, syscall.EROFS
	}
	if n.e.Kind != retake.KindFile {
		return nil, 0, syscall.ENXIO
	}
	return &handle{n: n}, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *node) Getxattr(_ context.Context, attr string, dest []byte) (uint32, syscall.Errno) {
	if n.e.Extra == nil {
		return 0, syscall.ENODATA
	}
	v, ok := n.e.Extra.Xattrs[attr]
	if !ok {
		return 0, syscall.ENODATA
	}
	return give(dest, v)
}

func (n *node) Listxattr(_ context.Context, dest []byte) (uint32, syscall.Errno) {
	var names []byte
	if n.e.Extra != nil {
		for name := range n.e.Extra.Xattrs {
			names = append(append(names, name...), 0)
		}
	}
	return give(dest, names)
}

func give(dest, b []byte) (uint32, syscall.Errno) {
	if len(dest) < len(b) {
		return uint32(len(b)), syscall.ERANGE
	}
	return uint32(copy(dest, b)), 0
}

// spot is a directory of a snapshot.
type spot struct {
	id   retake.CheckpointID
	path string
}

// maxShelf is how many entries are kept in memory.
const maxShelf = 1 << 18

// shelf keeps listings, which never change. A full one is emptied: what is still in
// use comes back at the next look.
type shelf struct {
	mu    sync.Mutex
	lists map[spot][]retake.Entry // guarded by mu
	count int                     // guarded by mu: entries in lists
}

func (s *shelf) find(at spot) ([]retake.Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, ok := s.lists[at]
	return list, ok
}

func (s *shelf) keep(at spot, list []retake.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists == nil || s.count > maxShelf {
		s.lists, s.count = map[spot][]retake.Entry{}, 0
	}
	if _, ok := s.lists[at]; !ok {
		s.lists[at] = list
		s.count += len(list) + 1
	}
}
