package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Measure counts what a capture would read, without reading it.
type Measure struct {
	Files, Dirs, Bytes int64
	Gaps               []retake.Gap
	Heaviest           string // the directory in the root that holds most files
	HeaviestFiles      int64
}

// Weigh measures the tree below root. It ends early, with what it has, when stop
// says so.
func Weigh(ctx context.Context, root fsx.Dir, skip []Place, stop func(Measure) bool) (Measure, error) {
	i, err := root.Stat()
	if err != nil {
		return Measure{}, fmt.Errorf("weigh: %w", err)
	}
	w := &scale{dev: i.Dev, skip: skip, stop: stop}
	if err := w.dir(ctx, root, "", 0); err != nil {
		return Measure{}, fmt.Errorf("weigh: %w", err)
	}
	return w.m, nil
}

type scale struct {
	m    Measure
	dev  uint64
	skip []Place
	stop func(Measure) bool
	done bool
}

func (w *scale) dir(ctx context.Context, d fsx.Dir, path string, depth int) error {
	names, err := d.Names()
	if err != nil {
		return w.gap(path+"/", err)
	}
	w.m.Dirs++
	for _, name := range names {
		if w.done = w.done || w.stop != nil && w.stop(w.m); w.done || ctx.Err() != nil {
			return ctx.Err()
		}
		before := w.m.Files
		if err := w.name(ctx, d, name, join(path, name), depth); err != nil {
			return err
		}
		if n := w.m.Files - before; path == "" && n > max(w.m.HeaviestFiles, 1) {
			w.m.Heaviest, w.m.HeaviestFiles = name, n
		}
	}
	return nil
}

func (w *scale) name(ctx context.Context, d fsx.Dir, name, path string, depth int) error {
	st, err := d.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return w.gap(path, err)
	case st.Dev != w.dev && st.Type == fsx.Directory:
		w.m.Gaps = append(w.m.Gaps, retake.Gap{Path: path + "/", Reason: retake.ReasonMount})
		return nil
	case st.Type == fsx.Device:
		w.m.Gaps = append(w.m.Gaps, retake.Gap{Path: path, Reason: retake.ReasonDevice})
		return nil
	case st.Type != fsx.Directory:
		w.m.Files++
		w.m.Bytes += st.Size
		return nil
	case depth >= maxDepth:
		w.m.Gaps = append(w.m.Gaps, retake.Gap{Path: path + "/", Reason: retake.ReasonTooDeep})
		return nil
	case slices.Contains(w.skip, Place{st.Dev, st.Ino}):
		return nil
	}
	sub, err := d.OpenDir(name)
	if errors.Is(err, fsx.ErrOtherMount) {
		w.m.Gaps = append(w.m.Gaps, retake.Gap{Path: path + "/", Reason: retake.ReasonMount})
		return nil
	}
	if err != nil {
		return w.gap(path+"/", err)
	}
	return errors.Join(w.dir(ctx, sub, path, depth+1), sub.Close())
}

func (w *scale) gap(path string, err error) error {
	if fsx.Exhausted(err) || errors.Is(err, context.Canceled) {
		return err
	}
	w.m.Gaps = append(w.m.Gaps, retake.Gap{Path: path, Reason: retake.ReasonUnreadable, Detail: fsx.Cause(err)})
	return nil
}
