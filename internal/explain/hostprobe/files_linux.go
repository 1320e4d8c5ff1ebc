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

// Files lists the files of all known places that exist: at most 4,000, sorted. It returns
// nil if the time is up.
func Files(ctx context.Context, o Options) []File {
	ctx, cancel := context.WithTimeout(ctx, o.limit())
	defer cancel()
	found := make(chan []File, 1) // a disk that hangs is left alone, and ends by itself
	go func() {
		w := &fileWalker{ctx: ctx, opts: o, files: []File{}, seen: map[string]bool{}}
		for _, p := range probePlaces() {
			w.walkPlace(p)
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

// fileWalker collects the files of the places.
type fileWalker struct {
	ctx   context.Context
	opts  Options
	files []File
	seen  map[string]bool
}

func (w *fileWalker) isDone() bool { return w.ctx.Err() != nil || len(w.files) >= maxFiles }

// openPlace is an opened place: links below it cannot lead out of it.
type openPlace struct {
	root     *os.Root
	realPath string // where it is
	name     string // where the machine has it
}

// walkPlace walks all patterns of one place, if it exists and is outside the workspace.
func (w *fileWalker) walkPlace(p probePlace) {
	name := p.dir
	if p.inHome {
		if w.opts.Home == "" {
			return
		}
		name = path.Join(w.opts.Home, p.dir)
	}
	if w.isDone() || w.opts.isInWorkspace(name) {
		return
	}
	real := filepath.Join(w.opts.Root, name)
	root, err := os.OpenRoot(real)
	if err != nil {
		return // missing, or not permitted
	}
	defer root.Close() //nolint:errcheck // only read
	s := openPlace{root: root, realPath: real, name: name}
	for _, pattern := range p.patterns {
		w.walkPattern(s, ".", strings.Split(pattern, "/"))
	}
}

// walkPattern walks one pattern, element by element.
func (w *fileWalker) walkPattern(s openPlace, dir string, parts []string) {
	part, last := parts[0], len(parts) == 1
	switch {
	case w.isDone():
	case part == "**":
		w.walkTree(s, dir, 0)
	case !strings.Contains(part, "*") && last:
		w.addFile(s, path.Join(dir, part))
	case !strings.Contains(part, "*"):
		w.walkPattern(s, path.Join(dir, part), parts[1:])
	default:
		for _, e := range w.readDir(s, dir) {
			if ok, _ := path.Match(part, e.Name()); !ok { // the patterns are ours
				continue
			}
			if last {
				w.addFile(s, path.Join(dir, e.Name()))
			} else if e.IsDir() {
				w.walkPattern(s, path.Join(dir, e.Name()), parts[1:])
			}
		}
	}
}

// maxDepth is deeper than any of the places.
const maxDepth = 6

func (w *fileWalker) walkTree(s openPlace, dir string, depth int) {
	for _, e := range w.readDir(s, dir) {
		name := path.Join(dir, e.Name())
		if e.IsDir() && depth < maxDepth {
			w.walkTree(s, name, depth+1)
			continue
		}
		w.addFile(s, name)
	}
}

// readDir reads a directory and sorts it, so that a limit always cuts off the same entries.
func (w *fileWalker) readDir(s openPlace, dir string) []fs.DirEntry {
	if w.isDone() {
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
	for len(out) < maxDirNames && w.ctx.Err() == nil {
		some, err := d.ReadDir(1000)
		out = append(out, some...)
		if err != nil || len(some) == 0 {
			break
		}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return out
}

// addFile adds a regular file. A link counts if it stays inside its place.
func (w *fileWalker) addFile(s openPlace, rel string) {
	name := path.Join(s.name, rel)
	if w.isDone() || w.seen[name] || w.opts.isInWorkspace(name) {
		return
	}
	i, err := s.root.Stat(rel)
	if err != nil || !i.Mode().IsRegular() {
		return
	}
	w.seen[name] = true
	w.files = append(w.files, File{
		Path: name, Size: i.Size(), ModTime: i.ModTime().UnixNano(),
		Open: func() (io.ReadCloser, error) { return openFile(s.realPath, rel) },
	})
}

// openFile opens a file of a place again. It may have become something else meanwhile, so
// it is checked again, and opened without blocking.
func openFile(place, rel string) (io.ReadCloser, error) {
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
	case i.Size() > maxFileSize:
		err = errTooBig
	default:
		return limitedFile{io.LimitReader(f, maxFileSize), f}, nil
	}
	_ = f.Close() // only looked at
	return nil, &fs.PathError{Op: "open", Path: rel, Err: err}
}

// limitedFile reads a part of a file and closes it.
type limitedFile struct {
	io.Reader
	io.Closer
}
