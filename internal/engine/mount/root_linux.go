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

// show is one mount. Requests end when the mount does and not before: programs get
// signals all the time, and few expect that a read of a file is cut off by one.
type show struct {
	ctx      context.Context
	o        Options
	timeline *timeline
	shelf    shelf
	seed     maphash.Seed
}

// number gives a path of a checkpoint the same inode number each time it is looked
// up. The seed is the mount's own, so nobody can choose paths that share a number.
func (s *show) number(id retake.CheckpointID, path string) uint64 {
	const above = 1 << 62 // the numbers that the library keeps for itself lie elsewhere
	var h maphash.Hash
	h.SetSeed(s.seed)
	_, _ = h.WriteString(string(id) + "\x00" + path)
	return h.Sum64()%above + above
}

// root lists the folders, and the links to them.
type root struct {
	frozen
	show *show
}

func (r *root) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	v, err := r.show.timeline.look(r.show.ctx)
	if err != nil {
		return syscall.EIO
	}
	ours(&out.Attr, folderMode, v.newest)
	return 0
}

func (r *root) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	v, err := r.show.timeline.look(r.show.ctx)
	if err != nil {
		return nil, syscall.EIO
	}
	list := make([]fuse.DirEntry, 0, len(v.order))
	for _, name := range v.order {
		e := fuse.DirEntry{Name: name, Mode: syscall.S_IFLNK, Ino: r.show.number("", name)}
		if cp, ok := v.folders[name]; ok {
			e.Mode, e.Ino = syscall.S_IFDIR, r.show.number(cp.ID, "")
		}
		list = append(list, e)
	}
	return fs.NewListDirStream(list), 0
}

func (r *root) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	v, err := r.show.timeline.look(r.show.ctx)
	if err != nil {
		return nil, syscall.EIO
	}
	out.SetEntryTimeout(pause)
	if cp, ok := v.folders[name]; ok {
		n := &node{show: r.show, id: cp.ID, time: cp.Time, e: retake.Entry{Kind: retake.KindDir}}
		n.fill(&out.Attr)
		out.SetAttrTimeout(forEver)
		return r.NewInode(ctx, n, fs.StableAttr{Mode: syscall.S_IFDIR, Ino: r.show.number(cp.ID, "")}), 0
	}
	if to, ok := v.links[name]; ok {
		ours(&out.Attr, linkMode, v.newest)
		out.Size = uint64(len(to))
		return r.NewInode(ctx, &link{show: r.show, name: name}, fs.StableAttr{Mode: syscall.S_IFLNK, Ino: r.show.number("", name)}), 0
	}
	return nil, syscall.ENOENT
}

// link leads to a folder: another one when time has gone on.
type link struct {
	frozen
	show *show
	name string
}

func (l *link) target() (*top, string, syscall.Errno) {
	v, err := l.show.timeline.look(l.show.ctx)
	if err != nil {
		return nil, "", syscall.EIO
	}
	to, ok := v.links[l.name]
	if !ok {
		return nil, "", syscall.ENOENT
	}
	return v, to, 0
}

func (l *link) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	v, to, no := l.target()
	if no == 0 {
		ours(&out.Attr, linkMode, v.newest)
		out.Size = uint64(len(to))
	}
	return no
}

func (l *link) Readlink(context.Context) ([]byte, syscall.Errno) {
	_, to, no := l.target()
	return []byte(to), no
}

// ours are the attributes of what no snapshot holds.
func ours(a *fuse.Attr, mode uint32, t time.Time) {
	a.Mode, a.Nlink = mode, 1
	a.Uid, a.Gid = uint32(os.Getuid()), uint32(os.Getgid())
	stamp(a, t)
}

func stamp(a *fuse.Attr, t time.Time) { a.SetTimes(&t, &t, &t) }
