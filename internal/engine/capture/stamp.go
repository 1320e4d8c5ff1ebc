package capture

import (
	"maps"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Stamp is what stat returned for a path when it was captured.
type Stamp struct {
	Ino   uint64 // as InodeNumber returns it
	Nlink uint64
	Size  int64
	Mtime int64
	Ctime int64
}

// Stamps looks up paths in an index. It keeps the last directory decoded, since neighbouring
// paths follow each other.
type Stamps struct {
	index  *Index
	dir    string
	rows   []row
	loaded bool // rows are of dir
}

// Snapshot returns a copy of the index for lookups while captures continue.
func (x *Index) Snapshot() *Index { return &Index{dirs: maps.Clone(x.dirs), dev: x.dev, seal: x.seal} }

// Stamps returns a lookup of what paths looked like to the capture of this index.
func (x *Index) Stamps() *Stamps { return &Stamps{index: x} }

// Of returns the stamp of a path.
func (s *Stamps) Of(path string) (Stamp, bool) {
	r := s.findRow(path)
	if r == nil || r.ino == 0 {
		return Stamp{}, false
	}
	return stampOf(r), true
}

// File returns the object of a captured file and its stamp.
func (s *Stamps) File(path string) (retake.ObjectID, Stamp, bool) {
	r := s.findRow(path)
	if r == nil || r.ino == 0 || r.mustReread || r.entry.Kind != retake.KindFile {
		return "", Stamp{}, false
	}
	return r.entry.Object, stampOf(r), true
}

func stampOf(r *row) Stamp {
	return Stamp{Ino: r.ino, Nlink: r.nlink, Size: r.entry.Size, Mtime: r.entry.ModTime, Ctime: r.ctime}
}

func (s *Stamps) findRow(path string) *row {
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	if !s.loaded || s.dir != dir {
		s.dir, s.rows, s.loaded = dir, nil, true
		if rec := s.index.dirs[dir]; rec != nil {
			s.rows, _ = rec.decodeRows() // a damaged one knows nothing
		}
	}
	return findRow(s.rows, name)
}

// InodeNumber returns the inode number of a file as stamps have it: an overlay shows the files
// of several devices as one set.
func (x *Index) InodeNumber(i fsx.Info) uint64 {
	w := walker{dev: x.dev}
	w.normalizeInode(&i)
	return i.Ino
}
