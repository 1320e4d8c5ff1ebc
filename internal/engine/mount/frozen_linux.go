package mount

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// frozen refuses everything that writes. The mount is read-only already; this holds
// when somebody mounts it again without that.
type frozen struct{ fs.Inode }

func (*frozen) Setattr(context.Context, fs.FileHandle, *fuse.SetAttrIn, *fuse.AttrOut) syscall.Errno {
	return syscall.EROFS
}

func (*frozen) Setxattr(context.Context, string, []byte, uint32) syscall.Errno { return syscall.EROFS }

func (*frozen) Removexattr(context.Context, string) syscall.Errno { return syscall.EROFS }

func (*frozen) Mkdir(context.Context, string, uint32, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EROFS
}

func (*frozen) Mknod(context.Context, string, uint32, uint32, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EROFS
}

func (*frozen) Link(context.Context, fs.InodeEmbedder, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EROFS
}

func (*frozen) Symlink(context.Context, string, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EROFS
}

func (*frozen) Create(context.Context, string, uint32, uint32, *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	return nil, nil, 0, syscall.EROFS
}

func (*frozen) Unlink(context.Context, string) syscall.Errno { return syscall.EROFS }

func (*frozen) Rmdir(context.Context, string) syscall.Errno { return syscall.EROFS }

func (*frozen) Rename(context.Context, string, fs.InodeEmbedder, string, uint32) syscall.Errno {
	return syscall.EROFS
}

// Statfs has no room to tell of.
func (*frozen) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	out.Bsize, out.NameLen = blockSize, maxName
	return 0
}
