package fsx

import (
	"fmt"
	"io/fs"
	"math"
)

// Metadata is what SetMetadata sets: everything about a file except its data. Values that the
// file already has are not set again, so that its change time shows real changes only.
type Metadata struct {
	SetOwner          bool // false: UID and GID are ignored
	UID, GID          uint32
	Mode              uint32            // permission bits with setuid, setgid, sticky; not for links
	Xattrs            map[string][]byte // the complete set of attributes; nil: leave them as they are
	Mtime             int64
	RequireSingleLink bool // refuse a regular file with several links
}

const modeMask = 0o7777

// Validate refuses what could only be applied in part, before anything is applied.
func (d Metadata) Validate(is Info) error {
	for name := range d.Xattrs {
		if err := CheckXattrName(name); err != nil {
			return fmt.Errorf("attribute %q: %w", name, err)
		}
	}
	switch {
	case d.Mode&^modeMask != 0:
		return fmt.Errorf("mode %o: %w", d.Mode, fs.ErrInvalid)
	case d.SetOwner && (d.UID == math.MaxUint32 || d.GID == math.MaxUint32): // the kernel reads "leave it"
		return fmt.Errorf("owner %d:%d: %w", d.UID, d.GID, fs.ErrInvalid)
	case d.RequireSingleLink && is.Type == Regular && is.Nlink > 1:
		return ErrUnexpectedFile
	}
	return nil
}

// ChangesOwner reports whether the owner has to be set. Setting the same owner again would
// still clear setuid.
func (d Metadata) ChangesOwner(is Info) bool {
	return d.SetOwner && (d.UID != is.UID || d.GID != is.GID)
}

// ChangesMode reports whether the mode has to be set. A symbolic link has no mode of its own.
func (d Metadata) ChangesMode(is Info) bool {
	return is.Type != Symlink && d.Mode != is.Mode
}

// SupportsUserXattrs reports whether an inode of that type can have user.* attributes.
func SupportsUserXattrs(typ Type) bool { return typ == Regular || typ == Directory }

// BitsFromFileMode returns the permission bits with setuid, setgid and sticky, as the kernel
// has them.
func BitsFromFileMode(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		bits |= 0o4000
	}
	if mode&fs.ModeSetgid != 0 {
		bits |= 0o2000
	}
	if mode&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
}
