package fork

import (
	"maps"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
)

// applyMetadata sets the metadata of an entry. What the user or the file system does not allow is
// left out, with a warning.
func (g *builder) applyMetadata(e *retake.Entry, give func(fsx.Metadata) error) error {
	d := fsx.Metadata{SetOwner: true, UID: e.UID, GID: e.GID, Mode: e.Mode, Mtime: e.ModTime}
	if e.Extra != nil && len(e.Extra.Xattrs) > 0 { // what is new has none to lose
		d.Xattrs = e.Extra.Xattrs
		if d.Xattrs[marker.Xattr] != nil { // a workspace that is in this one stays where it is
			d.Xattrs = maps.Clone(d.Xattrs)
			delete(d.Xattrs, marker.Xattr)
		}
	}
	lost, err := d.SetWhatFits(give)
	if err != nil {
		return err
	}
	if lost.Owner {
		g.addWarning("owner", "some files are ours in the fork: only root can give files away")
	}
	if lost.ACL {
		g.addWarning("acl", "some files of the fork lost their access control list, and nobody may do more with them than before: it cannot be set there")
	}
	if lost.Capabilities {
		g.addWarning("capabilities", "some programs of the fork lost their capabilities: only root can set them")
	}
	if lost.Xattrs {
		g.addWarning("attributes", "the file system of the fork holds no extended attributes")
	}
	return nil
}
