package fork

import (
	"errors"
	"io/fs"
	"maps"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
)

// setidBits are the setuid and setgid bits: they run a program with the rights of its owner or
// group.
const setidBits = 0o6000

// applyMetadata sets the metadata of an entry. Only root can change owners: otherwise files
// stay ours and lose setuid and setgid.
func (g *builder) applyMetadata(e *retake.Entry, give func(fsx.Metadata) error) error {
	d := fsx.Metadata{SetOwner: true, UID: e.UID, GID: e.GID, Mode: e.Mode, Mtime: e.ModTime}
	if e.Extra != nil && len(e.Extra.Xattrs) > 0 { // what is new has none to lose
		d.Xattrs = e.Extra.Xattrs
		if d.Xattrs[marker.Xattr] != nil { // a workspace that is in this one stays where it is
			d.Xattrs = maps.Clone(d.Xattrs)
			delete(d.Xattrs, marker.Xattr)
		}
	}
	err := give(d)
	if errors.Is(err, fs.ErrPermission) {
		d.SetOwner, d.Mode = false, d.Mode&^setidBits
		if err = give(d); err == nil || errors.Is(err, errors.ErrUnsupported) {
			g.addWarning("owner", "some files are ours in the fork: only root can give files away")
		}
	}
	if errors.Is(err, errors.ErrUnsupported) && len(d.Xattrs) > 0 {
		d.Xattrs = nil
		if err = give(d); err == nil {
			g.addWarning("attributes", "the file system of the fork holds no extended attributes")
		}
	}
	return err
}
