package capture

import (
	"maps"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Stamp is what stat told of a path when it was captured.
type Stamp struct {
	Ino   uint64 // as Number gives it
	Nlink uint64
	Size  int64
	Mtime int64
	Ctime int64
}

// Stamps looks paths up in an index; neighbours come one after the other.
type Stamps struct {
	index  *Index
	dir    string
	rows   []row
	loaded bool // rows are of dir
}

// Snapshot gives what the index knows now, for somebody who looks things up while captures
// go on.
func (x *Index) Snapshot() *Index { return &Index{dirs: maps.Clone(x.dirs), dev: x.dev, seal: x.seal} }

// Stamps answers what paths looked like to the capture that the index is of.
func (x *Index) Stamps() *Stamps { return &Stamps{index: x} }

// Of answers the stamp of one path.
func (s *Stamps) Of(path string) (Stamp, bool) {
	r := s.findRow(path)
	if r == nil || r.ino == 0 {
		return Stamp{}, false
	}
	return stampOf(r), true
}

// File answers the bytes that a file was captured with, and what it looked like then.
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

// InodeNumber answers the inode number of a file as stamps have it: an overlay shows those
// of several devices as one set.
func (x *Index) InodeNumber(i fsx.Info) uint64 {
	w := walker{dev: x.dev}
	w.normalizeInode(&i)
	return i.Ino
}
