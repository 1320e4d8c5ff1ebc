package hostprobe

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Files lists the files of all named places that are there: at most 4,000, sorted. nil
// means that the time was over.
func Files(ctx context.Context, o Options) []File {
	ctx, cancel := context.WithTimeout(ctx, o.limit())
	defer cancel()
	found := make(chan []File, 1) // a disk that hangs is left alone, and ends by itself
	go func() {
		w := &walk{ctx: ctx, o: o, files: []File{}, seen: map[string]bool{}}
		for _, p := range places() {
			w.place(p)
		}
		slices.SortFunc(w.files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
		found <- w.files
	}()
	select {
	case files := <-found:
		if ctx.Err() == nil {
			return files
		}
	case <-ctx.Done():
	}
	return nil
}

type walk struct {
	ctx   context.Context
	o     Options
	files []File
	seen  map[string]bool
}

func (w *walk) over() bool { return w.ctx.Err() != nil || len(w.files) >= maxFiles }

// spot is an open place: links below it cannot lead out of it.
type spot struct {
	root *os.Root
	real string // where it is
	name string // where the machine has it
}

func (w *walk) place(p place) {
	name := p.dir
	if p.home {
		if w.o.Home == "" {
			return
		}
		name = path.Join(w.o.Home, p.dir)
	}
	if w.over() || w.o.inside(name) {
		return
	}
	real := filepath.Join(w.o.Root, name)
	root, err := os.OpenRoot(real)
	if err != nil {
		return // it is not there, or not ours to see
	}
	defer root.Close() //nolint:errcheck // only read
	s := spot{root: root, real: real, name: name}
	for _, pattern := range p.paths {
		w.match(s, ".", strings.Split(pattern, "/"))
	}
}

// match walks one pattern, part by part.
func (w *walk) match(s spot, dir string, parts []string) {
	part, last := parts[0], len(parts) == 1
	switch {
	case w.over():
	case part == "**":
		w.deep(s, dir, 0)
	case !strings.Contains(part, "*") && last:
		w.take(s, path.Join(dir, part))
	case !strings.Contains(part, "*"):
		w.match(s, path.Join(dir, part), parts[1:])
	default:
		for _, e := range w.list(s, dir) {
			if ok, _ := path.Match(part, e.Name()); !ok { // the patterns are ours
				continue
			}
			if last {
				w.take(s, path.Join(dir, e.Name()))
			} else if e.IsDir() {
				w.match(s, path.Join(dir, e.Name()), parts[1:])
			}
		}
	}
}

// maxDepth is further down than any of these places go.
const maxDepth = 6

func (w *walk) deep(s spot, dir string, depth int) {
	for _, e := range w.list(s, dir) {
		name := path.Join(dir, e.Name())
		if e.IsDir() && depth < maxDepth {
			w.deep(s, name, depth+1)
			continue
		}
		w.take(s, name)
	}
}

// list reads a directory, sorted, so that what a limit cuts off is always the same.
func (w *walk) list(s spot, dir string) []fs.DirEntry {
	if w.over() {
		return nil
	}
	if i, err := s.root.Stat(dir); err != nil || !i.IsDir() { // opening something else might wait
		return nil
	}
	d, err := s.root.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close() //nolint:errcheck // only read
	var out []fs.DirEntry
	for len(out) < maxNames && w.ctx.Err() == nil {
		some, err := d.ReadDir(1000)
		out = append(out, some...)
		if err != nil || len(some) == 0 {
			break
		}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return out
}

// take adds a regular file; a link counts when it stays in its place.
func (w *walk) take(s spot, rel string) {
	name := path.Join(s.name, rel)
	if w.over() || w.seen[name] || w.o.inside(name) {
		return
	}
	i, err := s.root.Stat(rel)
	if err != nil || !i.Mode().IsRegular() {
		return
	}
	w.seen[name] = true
	w.files = append(w.files, File{
		Path: name, Size: i.Size(), ModTime: i.ModTime().UnixNano(),
		Open: func() (io.ReadCloser, error) { return open(s.real, rel) },
	})
}

// open opens a file of a place again; it may have become something else meanwhile.
func open(place, rel string) (io.ReadCloser, error) {
	root, err := os.OpenRoot(place)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	i, err := f.Stat()
	switch {
	case err != nil:
	case !i.Mode().IsRegular():
		err = errors.New("not a regular file")
	case i.Size() > maxBytes:
		err = errTooBig
	default:
		return bounded{io.LimitReader(f, maxBytes), f}, nil
	}
	_ = f.Close() // only looked at
	return nil, &fs.PathError{Op: "open", Path: rel, Err: err}
}

// bounded reads a part of a file and closes it.
type bounded struct {
	io.Reader
	io.Closer
}
