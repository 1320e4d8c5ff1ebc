// Package fsx is the file system behind an interface: every file operation of capture and restore, of the
// store's disk and of the stat index goes through it, so that each can fail,
// vanish or be the last one before a crash.
//
// It may touch what lies below the directory it was opened on, and nothing else.
// It never follows a symbolic link, never crosses to another file system, never
// blocks on a FIFO, and takes names, not paths: a name with "/" is refused.
//
//	F1  A handle stays on the inode it was opened on, whatever happens to names.
//	F2  OpenFile answers a regular file or ErrNotRegular; it never waits.
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

// Info is what stat tells. Times are nanoseconds since 1970.
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

// FS opens directories by path: the one place where a path is taken.
type FS interface {
	// OpenRoot opens the directory at path. The last element may not be a
	// symbolic link; those before it are the caller's word.
	OpenRoot(path string) (Dir, error)
	// Free answers the bytes free for us, and all bytes, of the file system at path.
	FreeSpace(path string) (free, total int64, err error)
	// Fine reports whether a change that follows a look at a file's times always
	// gives it other times, however soon it comes.
	HasFineTimestamps(path string) bool
}

// Dir is an open directory. Its methods may be called from several goroutines.
type Dir interface {
	// Stat is of the directory itself.
	Stat() (Info, error)
	// Lstat is of the name, without following it.
	Lstat(name string) (Info, error)
	// Names lists the directory from its beginning, unsorted, without . and ..
	Names() ([]string, error)
	// OpenDir opens a sub-directory on the same file system.
	OpenDir(name string) (Dir, error)
	// OpenFile opens a regular file for reading.
	OpenFile(name string) (File, error)
	// Readlink answers the text of a symbolic link.
	Readlink(name string) (string, error)
	// Create makes a new file for writing; an existing name is fs.ErrExist.
	Create(name string, mode fs.FileMode) (File, error)
	// Append opens a file for appending and makes it when it is not there.
	Append(name string, mode fs.FileMode) (File, error)
	// Mkdir makes a directory.
	Mkdir(name string, mode fs.FileMode) error
	// Rename moves a name of this directory to a name of another, replacing it.
	Rename(name string, to Dir, newName string) error
	// Place moves a name of this directory to a name of another that is free; a
	// taken one is fs.ErrExist.
	RenameNoReplace(name string, to Dir, newName string) error
	// Exchange swaps two names in one step. The error is errors.ErrUnsupported
	// where the file system cannot.
	Exchange(name string, to Dir, newName string) error
	// Link gives a file another name; a link is not followed. A taken name is fs.ErrExist.
	Link(name string, to Dir, newName string) error
	// Symlink makes a symbolic link with that text.
	Symlink(text, name string) error
	// Special makes a FIFO or a socket (Type FIFO or Socket; others are
	// errors.ErrUnsupported).
	Mknod(name string, typ Type, mode fs.FileMode) error
	// Remove removes a file or an empty directory.
	Remove(name string) error
	// RemoveDir removes an empty directory, and nothing else.
	RemoveDir(name string) error
	// Dress gives a name its owner, mode, attributes and time, last of all the
	// time. It follows no link. ErrMovedOn when the inode is not ino, or when it
	// is a regular file with several names and d.SingleName.
	SetMetadata(name string, ino uint64, d Metadata) error
	// DressSelf does so for the directory itself.
	SetOwnMetadata(d Metadata) error
	// Xattrs answers the user.* attributes of the directory itself.
	Xattrs() (map[string][]byte, error)
	// SetXattr sets one attribute of the directory itself.
	SetXattr(name string, value []byte) error
	// RemoveXattr removes one attribute of the directory itself.
	RemoveXattr(name string) error
	// SetMtime puts the modification time of the directory itself back.
	SetMtime(ns int64) error
	// Sync makes the names in this directory durable.
	Sync() error
	// SyncFS writes back everything of this file system, mapped pages included.
	// ErrUntraced when it lives in memory alone: nothing is ever written back
	// there, and a store through a mapping changes no time.
	SyncFS() error
	Close() error
}

// File is an open regular file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	// WriterAt is not for a file opened by Append.
	io.WriterAt
	// Truncate cuts the file to size, or lengthens it by a hole.
	Truncate(size int64) error
	// CloneFrom shares the storage of all of src. What lies behind the length of
	// src stays. The error is errors.ErrUnsupported where the file system cannot.
	CloneFrom(src File) error
	// Dress is that of Dir, for the open file.
	SetMetadata(d Metadata) error
	Stat() (Info, error)
	// Xattrs answers the user.* attributes.
	Xattrs() (map[string][]byte, error)
	// Holes answers the holes of a sparse file; none when the file system cannot tell.
	Holes() ([]Hole, error)
	// SetMtime sets the modification time.
	SetMtime(ns int64) error
	Sync() error
	Close() error
}

// CheckName refuses what is not one name.
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
