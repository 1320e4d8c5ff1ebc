package fsx

import (
	"fmt"
	"io/fs"
	"math"
)

// Dressing is what a file wears besides its data. What it has already is not
// given again, so the change time shows real changes only.
type Dressing struct {
	Owner      bool // false: leave it
	UID, GID   uint32
	Mode       uint32            // permission bits with setuid, setgid, sticky; not for links
	Xattrs     map[string][]byte // user.* exactly these; nil: leave them as they are
	Mtime      int64
	SingleName bool // only a file with one name
}

const modeBits = 0o7777

// check refuses before anything is given what could be given in part only.
func (d Dressing) check(is Info) error {
	for name := range d.Xattrs {
		if err := checkAttr(name); err != nil {
			return fmt.Errorf("attribute %q: %w", name, err)
		}
	}
	switch {
	case d.Mode&^modeBits != 0:
		return fmt.Errorf("mode %o: %w", d.Mode, fs.ErrInvalid)
	case d.Owner && (d.UID == math.MaxUint32 || d.GID == math.MaxUint32): // the kernel reads "leave it"
		return fmt.Errorf("owner %d:%d: %w", d.UID, d.GID, fs.ErrInvalid)
	case d.SingleName && is.Type == Regular && is.Nlink > 1:
		return ErrMovedOn
	}
	return nil
}

// changesOwner: a chown to the same owner would still clear setuid.
func (d Dressing) changesOwner(is Info) bool {
	return d.Owner && (d.UID != is.UID || d.GID != is.GID)
}

// changesMode: a link has no mode of its own.
func (d Dressing) changesMode(is Info) bool {
	return is.Type != Symlink && d.Mode != is.Mode
}

// bears reports whether an inode of that type can have user attributes.
func bears(typ Type) bool { return typ == Regular || typ == Directory }
