// Package fsx is the file system behind an interface: every file operation of capture and restore, of the
// store's disk and of the stat index goes through it, so that a test can make each of them fail,
// or be the last one before a crash; package fsxtest has the drivers for that.
//
// It touches only what is below the directory it was opened on.
// It never follows a symbolic link, never crosses to another file system, never
// blocks on a FIFO, and takes names, not paths: a name with "/" is refused.
//
//	F1  A handle stays on the inode it was opened on, whatever happens to names.
//	F2  OpenFile returns a regular file or ErrNotRegular; it never blocks.
//	F3  What was not synced may be lost at a crash; what was synced is not.
package fsx

import (
	"errors"
	"io"
	"io/fs"
)

// Errors that callers branch on. fs.ErrNotExist, fs.ErrExist and
// fs.ErrPermission keep their meaning.
var (
	ErrNotRegular     = errors.New("not a regular file")
	ErrNotDir         = errors.New("not a directory")
	ErrOtherMount     = errors.New("on another file system")
	ErrNoSpace        = errors.New("no space left on the device")
	ErrTooLarge       = errors.New("more than the file system takes of it") // a name, a link, an attribute, or the names of a file
	ErrBadName        = errors.New("not one name: empty, dots, or with a slash or NUL")
	ErrNotEmpty       = errors.New("directory not empty")
	ErrCrashed        = errors.New("crashed")
	ErrNoWriteback    = errors.New("a store through a mapping leaves no trace here")
	ErrUnexpectedFile = errors.New("not the file that was expected")
)

// Type is the type of an inode.
type Type uint8

// The types.
const (
	Regular Type = iota + 1
	Directory
	Symlink
	FIFO
	Socket
	Device
)

// Info is the result of stat. Times are nanoseconds since 1970.
type Info struct {
	Type   Type
	Mode   uint32 // permission bits with setuid, setgid and sticky
	Dev    uint64
	Ino    uint64
	Nlink  uint64
	UID    uint32
	GID    uint32
	Size   int64
	Blocks int64 // of 512 bytes
	Mtime  int64
	Ctime  int64
}

// Hole is a range of a file without storage.
type Hole struct{ Offset, Length int64 }

// FS opens directories by path. It is the only place where a path is accepted.
type FS interface {
	// OpenRoot opens the directory at path. The last element must not be a symbolic link; the
	// caller vouches for the elements before it.
	OpenRoot(path string) (Dir, error)
	// FreeSpace returns the bytes available to us, and the total size, of the file system at
	// path.
	FreeSpace(path string) (free, total int64, err error)
	// HasFineTimestamps reports whether a file that is changed after its times were read
	// always gets other times, however soon the change comes.
	HasFineTimestamps(path string) bool
}

// Dir is an open directory. Its methods may be called from several goroutines.
type Dir interface {
	// Stat returns the state of the directory itself.
	Stat() (Info, error)
	// Lstat returns the state of the name, without following a link.
	Lstat(name string) (Info, error)
	// Names lists the directory from its beginning, unsorted, without . and ..
	Names() ([]string, error)
	// OpenDir opens a sub-directory on the same file system.
	OpenDir(name string) (Dir, error)
	// OpenFile opens a regular file for reading.
	OpenFile(name string) (File, error)
	// Readlink returns the target of a symbolic link.
	Readlink(name string) (string, error)
	// Create creates a new file for writing. It returns fs.ErrExist if the name exists.
	Create(name string, mode fs.FileMode) (File, error)
	// Append opens a file for appending and creates it if it does not exist.
	Append(name string, mode fs.FileMode) (File, error)
	// Mkdir creates a directory.
	Mkdir(name string, mode fs.FileMode) error
	// Rename moves a name of this directory to a name in directory to, replacing what is
	// there.
	Rename(name string, to Dir, newName string) error
	// RenameNoReplace is Rename for a new name that must be free. It returns fs.ErrExist if it
	// is not.
	RenameNoReplace(name string, to Dir, newName string) error
	// Exchange swaps two names atomically. It returns errors.ErrUnsupported if the file system
	// cannot.
	Exchange(name string, to Dir, newName string) error
	// Link gives a file another name, without following a symbolic link. It returns
	// fs.ErrExist if the new name is taken.
	Link(name string, to Dir, newName string) error
	// Symlink creates a symbolic link to text.
	Symlink(text, name string) error
	// Mknod creates a FIFO or a socket. It returns errors.ErrUnsupported for any other type.
	Mknod(name string, typ Type, mode fs.FileMode) error
	// Remove removes a file or an empty directory.
	Remove(name string) error
	// RemoveDir removes an empty directory. It removes nothing that is not a directory.
	RemoveDir(name string) error
	// SetMetadata sets owner, mode, attributes and modification time of a name, in that order.
	// It follows no link. It returns ErrUnexpectedFile if the inode number is not ino, or if
	// d.RequireSingleLink is set and the name is a regular file with several links.
	SetMetadata(name string, ino uint64, d Metadata) error
	// SetOwnMetadata is SetMetadata for the directory itself.
	SetOwnMetadata(d Metadata) error
	// Xattrs returns the attributes of the directory itself: see CheckXattrName.
	Xattrs() (map[string][]byte, error)
	// SetXattr sets one attribute of the directory itself.
	SetXattr(name string, value []byte) error
	// RemoveXattr removes one attribute of the directory itself.
	RemoveXattr(name string) error
	// SetMtime sets the modification time of the directory itself.
	SetMtime(ns int64) error
	// Sync makes the names in this directory durable.
	Sync() error
	// SyncFS writes back all data of this file system, including mapped pages. It returns
	// ErrNoWriteback if the file system exists only in memory: it never writes anything back,
	// and a store through a mapping does not change the times of a file.
	SyncFS() error
	Close() error
}

// File is an open regular file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	// WriteAt must not be called on a file that was opened by Append.
	io.WriterAt
	// Truncate cuts the file to size, or extends it with a hole.
	Truncate(size int64) error
	// CloneFrom shares the storage of all of src (reflink). Bytes beyond the length of src
	// stay. It returns errors.ErrUnsupported if the file system cannot.
	CloneFrom(src File) error
	// SetMetadata is Dir.SetMetadata for the open file.
	SetMetadata(d Metadata) error
	Stat() (Info, error)
	// Xattrs returns the attributes: see CheckXattrName.
	Xattrs() (map[string][]byte, error)
	// Holes returns the holes of a sparse file, and none if the file system does not report
	// them.
	Holes() ([]Hole, error)
	// SetMtime sets the modification time.
	SetMtime(ns int64) error
	Sync() error
	Close() error
}

// CheckName returns ErrBadName unless name is a single path element.
func CheckName(name string) error {
	if name == "" || name == "." || name == ".." {
		return ErrBadName
	}
	for i := range len(name) {
		if name[i] == '/' || name[i] == 0 {
			return ErrBadName
		}
	}
	return nil
}

// Unwrapper is a Dir around another one, such as a driver that counts operations.
type Unwrapper interface {
	// Unwrap returns the directory inside.
	Unwrap() Dir
}

// UnwrapDir returns the directory below all wrappers, because drivers check its type.
func UnwrapDir(d Dir) Dir {
	for {
		w, ok := d.(Unwrapper)
		if !ok {
			return d
		}
		d = w.Unwrap()
	}
}
