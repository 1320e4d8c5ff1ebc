package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/kopia/kopia/fs"
	"github.com/kopia/kopia/repo/object"
	"github.com/kopia/kopia/snapshot"
	"golang.org/x/sync/errgroup"
)

// tree remembers the address of every file and directory, so that the bytes of a
// directory can be encoded as a commit would.
type tree struct {
	mu  sync.Mutex
	ids map[string]object.ID            // guarded by mu; by path with slashes, "." the root
	sum map[string]*fs.DirectorySummary // guarded by mu
}

func newTree() *tree {
	return &tree{ids: map[string]object.ID{}, sum: map[string]*fs.DirectorySummary{}}
}

func (t *tree) put(name string, id object.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ids[name] = id
}

func (t *tree) id(name string) object.ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ids[name]
}

// WriteTree stores every file and directory below root, and flushes.
func (e *Engine) WriteTree(ctx context.Context, root string) error {
	var files, dirs []string
	err := filepath.WalkDir(root, func(p string, d iofs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if rel = filepath.ToSlash(rel); d.IsDir() {
			dirs = append(dirs, rel)
		} else if d.Type().IsRegular() {
			files = append(files, rel)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("walk tree: %w", err)
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(2 * runtime.NumCPU())
	for _, f := range files {
		g.Go(func() error { return e.writeFile(gctx, root, f) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	slices.SortFunc(dirs, func(a, b string) int { return depth(b) - depth(a) })
	for _, d := range dirs {
		b, err := e.encode(root, d)
		if err == nil {
			err = e.writeDir(ctx, d, b)
		}
		if err != nil {
			return err
		}
	}
	return e.flush(ctx)
}

func depth(dir string) int {
	if dir == "." {
		return -1
	}
	return strings.Count(dir, "/")
}

func (e *Engine) writeFile(ctx context.Context, root, name string) error {
	f, err := os.Open(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return fmt.Errorf("read file: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	id, err := e.write(ctx, "", func(o object.Writer) error {
		_, err := io.Copy(o, f)
		return err
	})
	e.tree.put(name, id)
	return err
}

func (e *Engine) writeDir(ctx context.Context, name string, b []byte) error {
	id, err := e.write(ctx, dirPrefix, func(o object.Writer) error {
		_, err := o.Write(b)
		return err
	})
	e.tree.put(name, id)
	return err
}

// encode makes the bytes of a directory as it is now. Addresses of what is about
// to be written are those of before: the length is the same, and so is the work.
func (e *Engine) encode(root, name string) ([]byte, error) {
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return nil, fmt.Errorf("read directory: %w", err)
	}
	m := snapshot.DirManifest{StreamType: "kopia:directory", Summary: &fs.DirectorySummary{TotalDirCount: 1}}
	for _, d := range entries {
		info, err := d.Info()
		if err != nil {
			return nil, fmt.Errorf("read directory: %w", err)
		}
		x := &snapshot.DirEntry{
			Name: d.Name(), Type: snapshot.EntryTypeFile, Permissions: snapshot.Permissions(info.Mode().Perm()),
			FileSize: info.Size(), ModTime: fs.UTCTimestampFromTime(info.ModTime()), ObjectID: e.tree.id(path.Join(name, d.Name())),
		}
		m.Summary.MaxModTime = max(m.Summary.MaxModTime, x.ModTime)
		if d.IsDir() {
			x.Type, x.FileSize = snapshot.EntryTypeDirectory, 0
			e.addDir(m.Summary, x, path.Join(name, d.Name()))
		} else {
			m.Summary.TotalFileCount++
			m.Summary.TotalFileSize += x.FileSize
		}
		m.Entries = append(m.Entries, x)
	}
	e.tree.mu.Lock()
	e.tree.sum[name] = m.Summary
	e.tree.mu.Unlock()
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode directory: %w", err)
	}
	return b, nil
}

func (e *Engine) addDir(sum *fs.DirectorySummary, x *snapshot.DirEntry, name string) {
	e.tree.mu.Lock()
	defer e.tree.mu.Unlock()
	below := e.tree.sum[name]
	if x.DirSummary = below; below == nil {
		return
	}
	sum.TotalDirCount += below.TotalDirCount
	sum.TotalFileCount += below.TotalFileCount
	sum.TotalFileSize += below.TotalFileSize
	sum.MaxModTime = max(sum.MaxModTime, below.MaxModTime)
}

// Batch is what one commit writes.
type Batch struct {
	root  string
	files []string
	dirs  []encoded
}

type encoded struct {
	name  string
	bytes []byte
}

// Prepare encodes the directories of changed files, given with slashes and
// relative to root.
func (e *Engine) Prepare(root string, files []string) (*Batch, error) {
	b := &Batch{root: root, files: files}
	seen := map[string]bool{}
	var dirs []string
	for _, f := range files {
		for d := path.Dir(f); !seen[d]; d = path.Dir(d) {
			seen[d] = true
			dirs = append(dirs, d)
		}
	}
	slices.SortFunc(dirs, func(a, b string) int { return depth(b) - depth(a) })
	for _, d := range dirs {
		bytes, err := e.encode(root, d)
		if err != nil {
			return nil, err
		}
		b.dirs = append(b.dirs, encoded{d, bytes})
	}
	return b, nil
}

// Write stores a batch and makes it durable.
func (e *Engine) Write(ctx context.Context, b *Batch) error {
	for _, f := range b.files {
		if err := e.writeFile(ctx, b.root, f); err != nil {
			return err
		}
	}
	for _, d := range b.dirs {
		if err := e.writeDir(ctx, d.name, d.bytes); err != nil {
			return err
		}
	}
	return e.flush(ctx)
}
