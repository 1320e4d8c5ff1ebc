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
	lost.Tell(g.addWarning)
	return nil
}
