package mount

import (
	"context"
	"hash/maphash"
	"os"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/retake-dev/retake"
)

const (
	folderMode = 0o755 // a copy of a folder can be worked in; the mount itself refuses
	linkMode   = 0o777
	blockSize  = 4096
)

// mountFS is one mount. Requests end only with the mount: programs get signals all the time,
// and few expect a read of a file to be interrupted.
type mountFS struct {
	ctx      context.Context
	opts     Options
	timeline *checkpointList
	listings listingCache
	seed     maphash.Seed
}

// inodeNumber gives a path of a checkpoint the same inode number each time it is looked up.
// The seed is different for every mount, so that nobody can choose paths that collide.
func (s *mountFS) inodeNumber(id retake.CheckpointID, path string) uint64 {
	const above = 1 << 62 // the numbers that the library keeps for itself are elsewhere
	var h maphash.Hash
	h.SetSeed(s.seed)
	_, _ = h.WriteString(string(id) + "\x00" + path)
	return h.Sum64()%above + above
}

// rootDir lists the folders and the links to them.
type rootDir struct {
	readOnlyNode
	mount *mountFS
}

func (r *rootDir) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	v, err := r.mount.timeline.current(r.mount.ctx)
	if err != nil {
		return syscall.EIO
	}
	setOwnAttr(&out.Attr, folderMode, v.newest)
	return 0
}

func (r *rootDir) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	v, err := r.mount.timeline.current(r.mount.ctx)
	if err != nil {
		return nil, syscall.EIO
	}
	list := make([]fuse.DirEntry, 0, len(v.order))
	for _, name := range v.order {
		e := fuse.DirEntry{Name: name, Mode: syscall.S_IFLNK, Ino: r.mount.inodeNumber("", name)}
		if cp, ok := v.folders[name]; ok {
			e.Mode, e.Ino = syscall.S_IFDIR, r.mount.inodeNumber(cp.ID, "")
		}
		list = append(list, e)
	}
	return fs.NewListDirStream(list), 0
}

// Lookup finds a folder or a link by its name.
func (r *rootDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	v, err := r.mount.timeline.current(r.mount.ctx)
	if err != nil {
		return nil, syscall.EIO
	}
	out.SetEntryTimeout(refreshInterval)
	if cp, ok := v.folders[name]; ok {
		n := &treeNode{mount: r.mount, id: cp.ID, time: cp.Time, entry: retake.Entry{Kind: retake.KindDir}}
		n.fillAttr(&out.Attr)
		out.SetAttrTimeout(attrTimeout)
		return r.NewInode(ctx, n, fs.StableAttr{Mode: syscall.S_IFDIR, Ino: r.mount.inodeNumber(cp.ID, "")}), 0
	}
	if to, ok := v.links[name]; ok {
		setOwnAttr(&out.Attr, linkMode, v.newest)
		out.Size = uint64(len(to))
		return r.NewInode(ctx, &checkpointLink{mount: r.mount, name: name}, fs.StableAttr{Mode: syscall.S_IFLNK, Ino: r.mount.inodeNumber("", name)}), 0
	}
	return nil, syscall.ENOENT
}

// checkpointLink is a link to a folder, which changes over time.
type checkpointLink struct {
	readOnlyNode
	mount *mountFS
	name  string
}

func (l *checkpointLink) resolve() (*rootListing, string, syscall.Errno) {
	v, err := l.mount.timeline.current(l.mount.ctx)
	if err != nil {
		return nil, "", syscall.EIO
	}
	to, ok := v.links[l.name]
	if !ok {
		return nil, "", syscall.ENOENT
	}
	return v, to, 0
}

func (l *checkpointLink) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	v, to, no := l.resolve()
	if no == 0 {
		setOwnAttr(&out.Attr, linkMode, v.newest)
		out.Size = uint64(len(to))
	}
	return no
}

func (l *checkpointLink) Readlink(context.Context) ([]byte, syscall.Errno) {
	_, to, no := l.resolve()
	return []byte(to), no
}

// setOwnAttr sets the attributes of nodes that are in no snapshot.
func setOwnAttr(a *fuse.Attr, mode uint32, t time.Time) {
	a.Mode, a.Nlink = mode, 1
	a.Uid, a.Gid = uint32(os.Getuid()), uint32(os.Getgid())
	setTimes(a, t)
}

func setTimes(a *fuse.Attr, t time.Time) { a.SetTimes(&t, &t, &t) }
