package fsx

import (
	"fmt"
	"io/fs"
	"math"
)

// Metadata is what a file wears besides its data. What it has already is not
// given again, so the change time shows real changes only.
type Metadata struct {
	SetOwner          bool // false: leave it
	UID, GID          uint32
	Mode              uint32            // permission bits with setuid, setgid, sticky; not for links
	Xattrs            map[string][]byte // user.* exactly these; nil: leave them as they are
	Mtime             int64
	RequireSingleLink bool // only a file with one name
}

const modeMask = 0o7777

// validate refuses before anything is given what could be given in part only.
func (d Metadata) validate(is Info) error {
	for name := range d.Xattrs {
		if err := checkXattrName(name); err != nil {
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

// changesOwner: a chown to the same owner would still clear setuid.
func (d Metadata) changesOwner(is Info) bool {
	return d.SetOwner && (d.UID != is.UID || d.GID != is.GID)
}

// changesMode: a link has no mode of its own.
func (d Metadata) changesMode(is Info) bool {
	return is.Type != Symlink && d.Mode != is.Mode
}

// supportsUserXattrs reports whether an inode of that type can have user attributes.
func supportsUserXattrs(typ Type) bool { return typ == Regular || typ == Directory }
