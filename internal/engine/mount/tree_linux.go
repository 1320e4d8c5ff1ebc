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

// attrTimeout is how long the kernel may cache what it knows of a snapshot.
const attrTimeout = 24 * time.Hour

// maxLinkText is the longest link text that the kernel accepts.
const maxLinkText = 4095

// treeNode is an entry of a snapshot, or its root.
type treeNode struct {
	readOnlyNode
	mount *mountFS
	id    retake.CheckpointID
	path  string    // empty for the root
	time  time.Time // of the root, which has no entry
	entry retake.Entry
}

// kindModes are the file types of the kernel. There are no devices.
var kindModes = map[retake.Kind]uint32{
	retake.KindFile: syscall.S_IFREG, retake.KindDir: syscall.S_IFDIR, retake.KindSymlink: syscall.S_IFLNK,
	retake.KindFIFO: syscall.S_IFIFO, retake.KindSocket: syscall.S_IFSOCK,
}

func (n *treeNode) fillAttr(a *fuse.Attr) {
	if n.path == "" {
		setOwnAttr(a, folderMode, n.time)
		return
	}
	a.Mode, a.Nlink = n.entry.Mode&^(syscall.S_ISUID|syscall.S_ISGID)&0o7777, 1
	a.Uid, a.Gid = n.entry.UID, n.entry.GID
	a.Size = uint64(max(n.entry.Size, 0))
	setTimes(a, time.Unix(0, n.entry.ModTime))
}

func (n *treeNode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.fillAttr(&out.Attr)
	out.SetTimeout(attrTimeout)
	return 0
}

func (n *treeNode) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	entries, err := n.listDir()
	if err != nil {
		return nil, syscall.EIO
	}
	list := make([]fuse.DirEntry, len(entries))
	for i, e := range entries {
		list[i] = fuse.DirEntry{Name: e.Name, Mode: kindModes[e.Kind], Ino: n.mount.inodeNumber(n.id, path.Join(n.path, e.Name))}
	}
	return fs.NewListDirStream(list), 0
}

func (n *treeNode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	entries, err := n.listDir()
	if err != nil {
		return nil, syscall.EIO
	}
	i, ok := slices.BinarySearchFunc(entries, name, func(e retake.Entry, name string) int { return cmp.Compare(e.Name, name) })
	if !ok {
		return nil, syscall.ENOENT
	}
	child := &treeNode{mount: n.mount, id: n.id, path: path.Join(n.path, name), entry: entries[i]}
	child.fillAttr(&out.Attr)
	out.SetEntryTimeout(attrTimeout)
	out.SetAttrTimeout(attrTimeout)
	return n.NewInode(ctx, child, fs.StableAttr{Mode: kindModes[child.entry.Kind], Ino: n.mount.inodeNumber(n.id, child.path)}), 0
}

func (n *treeNode) listDir() ([]retake.Entry, error) {
	at := dirKey{n.id, n.path}
	if list, ok := n.mount.listings.get(at); ok {
		return list, nil
	}
	list, err := n.mount.opts.Service.List(n.mount.ctx, n.mount.opts.Workspace.ID, string(n.id), n.path)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(e retake.Entry) bool { return kindModes[e.Kind] == 0 || !isValidName(e.Name) })
	slices.SortFunc(list, func(a, b retake.Entry) int { return cmp.Compare(a.Name, b.Name) })
	n.mount.listings.put(at, list)
	return list, nil
}

// isValidName reports whether the kernel accepts a name; a bad one would make it reject the
// whole directory.
func isValidName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxNameLen && !strings.ContainsAny(name, "/\x00")
}

func (n *treeNode) Readlink(context.Context) ([]byte, syscall.Errno) {
	b, err := n.readContent(maxLinkText)
	if err != nil {
		return nil, syscall.EIO
	}
	return b, 0
}

// readContent reads all bytes of an entry, which must be at most limit.
func (n *treeNode) readContent(limit int64) ([]byte, error) {
	if n.entry.Size > limit {
		return nil, syscall.EFBIG
	}
	r, err := n.mount.opts.Service.Bytes(n.mount.ctx, n.entry.Object)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // the bytes were read
	b, err := io.ReadAll(io.LimitReader(r, n.entry.Size+1))
	if err == nil && int64(len(b)) != n.entry.Size {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

func (n *treeNode) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_ACCMODE != syscall.O_RDONLY || flags&syscall.O_TRUNC != 0 {
		return nil, 0, syscall.EROFS
	}
	if n.entry.Kind != retake.KindFile {
		return nil, 0, syscall.ENXIO
	}
	return &fileHandle{node: n}, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *treeNode) Getxattr(_ context.Context, attr string, dest []byte) (uint32, syscall.Errno) {
	if n.entry.Extra == nil {
		return 0, syscall.ENODATA
	}
	v, ok := n.entry.Extra.Xattrs[attr]
	if !ok {
		return 0, syscall.ENODATA
	}
	return copyXattr(dest, v)
}

func (n *treeNode) Listxattr(_ context.Context, dest []byte) (uint32, syscall.Errno) {
	var names []byte
	if n.entry.Extra != nil {
		for name := range n.entry.Extra.Xattrs {
			names = append(append(names, name...), 0)
		}
	}
	return copyXattr(dest, names)
}

func copyXattr(dest, b []byte) (uint32, syscall.Errno) {
	if len(dest) < len(b) {
		return uint32(len(b)), syscall.ERANGE
	}
	return uint32(copy(dest, b)), 0
}

// dirKey identifies a directory of a snapshot.
type dirKey struct {
	id   retake.CheckpointID
	path string
}

// maxCachedEntries is the number of entries kept in memory.
const maxCachedEntries = 1 << 18

// listingCache caches listings, which never change. When it is full it is cleared: what is
// still in use is read again.
type listingCache struct {
	mu    sync.Mutex
	lists map[dirKey][]retake.Entry // guarded by mu
	count int                       // guarded by mu: entries in lists
}

func (s *listingCache) get(at dirKey) ([]retake.Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, ok := s.lists[at]
	return list, ok
}

func (s *listingCache) put(at dirKey, list []retake.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists == nil || s.count > maxCachedEntries {
		s.lists, s.count = map[dirKey][]retake.Entry{}, 0
	}
	if _, ok := s.lists[at]; !ok {
		s.lists[at] = list
		s.count += len(list) + 1
	}
}
