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
	x    *Index
	dir  string
	rows []row
	at   bool // rows are of dir
}

// Freeze gives what the index knows now, for somebody who looks things up while captures
// go on.
func (x *Index) Freeze() *Index { return &Index{dirs: maps.Clone(x.dirs), dev: x.dev, seal: x.seal} }

// Stamps answers what paths looked like to the capture that the index is of.
func (x *Index) Stamps() *Stamps { return &Stamps{x: x} }

// Of answers the stamp of one path.
func (s *Stamps) Of(path string) (Stamp, bool) {
	r := s.row(path)
	if r == nil || r.ino == 0 {
		return Stamp{}, false
	}
	return stampOf(r), true
}

// File answers the bytes that a file was captured with, and what it looked like then.
func (s *Stamps) File(path string) (retake.ObjectID, Stamp, bool) {
	r := s.row(path)
	if r == nil || r.ino == 0 || r.unsettled || r.entry.Kind != retake.KindFile {
		return "", Stamp{}, false
	}
	return r.entry.Object, stampOf(r), true
}

func stampOf(r *row) Stamp {
	return Stamp{Ino: r.ino, Nlink: r.nlink, Size: r.entry.Size, Mtime: r.entry.ModTime, Ctime: r.ctime}
}

func (s *Stamps) row(path string) *row {
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	if !s.at || s.dir != dir {
		s.dir, s.rows, s.at = dir, nil, true
		if rec := s.x.dirs[dir]; rec != nil {
			s.rows, _ = rec.decode() // a damaged one knows nothing
		}
	}
	return knownName(s.rows, name)
}

// Number answers the inode number of a file as stamps have it: an overlay shows those
// of several devices as one set.
func (x *Index) Number(i fsx.Info) uint64 {
	w := walker{dev: x.dev}
	w.tellApart(&i)
	return i.Ino
}
