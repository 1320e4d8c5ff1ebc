package capture

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// IndexOfNewTree returns the index of a directory that was just created from a stored tree, so
// that its first capture need not read every file. wrote is what stat returned for each path
// after it was last changed, root is the directory. A file that does not match its entry will
// be read.
func IndexOfNewTree(ctx context.Context, l Lister, files retake.Entry, root fsx.Info, wrote map[string]fsx.Info, fine bool, seal Seal) (*Draft, error) {
	x, err := IndexOfTree(ctx, l, files, seal)
	if err != nil {
		return nil, err
	}
	x.dev = root.Dev
	w := walker{dev: root.Dev}
	for dir, rec := range x.dirs {
		rows, err := rec.decodeRows()
		if err != nil {
			return nil, err
		}
		for i := range rows {
			r := &rows[i]
			info, ok := wrote[joinPath(dir, r.entry.Name)]
			if !ok || kindOf(info.Type) != r.entry.Kind {
				continue
			}
			w.normalizeInode(&info)
			r.ino, r.nlink, r.ctime, r.mustReread = info.Ino, info.Nlink, info.Ctime, !fine
		}
		*rec = *newDirRecord(rec.head, rows)
	}
	return &Draft{index: x, onAccept: func() {}}, nil
}

// Index returns the index that the draft belongs to.
func (d *Draft) Index() *Index { return d.index }
