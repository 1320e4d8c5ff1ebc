package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Kind is what stands at a path.
type Kind string

// The kinds of entries.
const (
	File  Kind = "file"
	Dir   Kind = "dir"
	Link  Kind = "link"
	Other Kind = "other" // a pipe, a socket, a device
)

// Entry is one path as a plain look finds it. The time is left out on purpose: a file
// that was only touched did not change.
type Entry struct {
	Kind     Kind
	Mode     uint32 // the permissions with setuid, setgid and sticky, as chmod takes them
	UID, GID int
	Xattrs   map[string]string // of the user
	Sum      string            // sha256 of a file, in hex
	Link     string            // text of a link
}

// Walk is a tree: entries by their path below the root, with "/" between names. The root
// itself is not in it.
type Walk map[string]Entry

// TakeWalk looks at every path below root.
func TakeWalk(root string) (Walk, error) {
	w := Walk{}
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == root {
			return err
		}
		rel, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		w[filepath.ToSlash(rel)], err = look(at)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("walk tree: %w", err)
	}
	return w, nil
}

func look(at string) (Entry, error) {
	info, err := os.Lstat(at)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Kind: kindOf(info.Mode()), Mode: octal(info.Mode())}
	e.UID, e.GID = owner(info)
	switch e.Kind {
	case File:
		e.Sum, err = sum(at)
	case Link:
		e.Mode = 0 // systems do not agree on it, and nobody can change it
		e.Link, err = os.Readlink(at)
	case Dir, Other:
	}
	if err == nil && e.Kind != Link {
		e.Xattrs, err = xattrs(at)
	}
	return e, err
}

func kindOf(m fs.FileMode) Kind {
	switch {
	case m.IsRegular():
		return File
	case m.IsDir():
		return Dir
	case m&fs.ModeSymlink != 0:
		return Link
	}
	return Other
}

func octal(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		bits |= 0o4000
	}
	if m&fs.ModeSetgid != 0 {
		bits |= 0o2000
	}
	if m&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
}

func sum(at string) (string, error) {
	f, err := os.Open(at)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	if e := f.Close(); err == nil {
		err = e
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// Rename is a path that went and one that came with the same bytes. Where several went or
// came with these bytes, every pair is a candidate.
type Rename struct{ From, To string }

// Paths is what changed between two walks, each list sorted. Directories stand in Dirs
// alone, except where one became something else or something else became one.
type Paths struct {
	Created, Deleted, Edited, Moded, Retyped []string

	Renames []Rename // among Created and Deleted, empty files left out
	Dirs    []string // directories that came, went or have another mode or owner
}

// Compare tells what changed.
func Compare(before, after Walk) Paths {
	var p Paths
	for _, at := range slices.Sorted(maps.Keys(before)) {
		b := before[at]
		a, ok := after[at]
		switch {
		case !ok && b.Kind == Dir:
			p.Dirs = append(p.Dirs, at)
		case !ok:
			p.Deleted = append(p.Deleted, at)
		case b.Kind != a.Kind:
			p.Retyped = append(p.Retyped, at)
		case b.Sum != a.Sum || b.Link != a.Link:
			p.Edited = append(p.Edited, at)
		case !b.sameCover(a) && b.Kind == Dir:
			p.Dirs = append(p.Dirs, at)
		case !b.sameCover(a):
			p.Moded = append(p.Moded, at)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(after)) {
		if _, ok := before[at]; ok {
			continue
		}
		if after[at].Kind == Dir {
			p.Dirs = append(p.Dirs, at)
		} else {
			p.Created = append(p.Created, at)
		}
	}
	slices.Sort(p.Dirs)
	p.Renames = renames(p, before, after)
	return p
}

// sameCover compares what is around the bytes.
func (e Entry) sameCover(o Entry) bool {
	return e.Mode == o.Mode && e.UID == o.UID && e.GID == o.GID && maps.Equal(e.Xattrs, o.Xattrs)
}

// emptySum is the sum of no bytes: empty files are all alike, and no rename shows in them.
const emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func renames(p Paths, before, after Walk) []Rename {
	came := map[string][]string{}
	for _, to := range p.Created {
		e := after[to]
		came[e.Sum+e.Link] = append(came[e.Sum+e.Link], to)
	}
	var found []Rename
	for _, from := range p.Deleted {
		e := before[from]
		if e.Kind == Other || e.Sum == emptySum {
			continue
		}
		for _, to := range came[e.Sum+e.Link] {
			if after[to].Kind == e.Kind {
				found = append(found, Rename{From: from, To: to})
			}
		}
	}
	return found
}
