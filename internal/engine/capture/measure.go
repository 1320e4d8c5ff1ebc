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

// Measurement is what a capture would read, without reading it.
type Measurement struct {
	Files, Dirs, Bytes int64
	Gaps               []retake.Gap
	Heaviest           string // the directory in the root that holds most files
	HeaviestFiles      int64
}

// MeasureTree measures the tree below root. It ends early, with what it has, if stop returns
// true.
func MeasureTree(ctx context.Context, root fsx.Dir, skip []DirID, stop func(Measurement) bool) (Measurement, error) {
	i, err := root.Stat()
	if err != nil {
		return Measurement{}, fmt.Errorf("weigh: %w", err)
	}
	w := &treeMeter{dev: i.Dev, skip: skip, stop: stop}
	if err := w.measureDir(ctx, root, "", 0); err != nil {
		return Measurement{}, fmt.Errorf("weigh: %w", err)
	}
	return w.total, nil
}

type treeMeter struct {
	total Measurement
	dev   uint64
	skip  []DirID
	stop  func(Measurement) bool
	done  bool
}

// measureDir measures a directory and everything below it.
func (w *treeMeter) measureDir(ctx context.Context, d fsx.Dir, path string, depth int) error {
	names, err := d.Names()
	if err != nil {
		return w.addGap(path+"/", err)
	}
	w.total.Dirs++
	for _, name := range names {
		if w.done = w.done || w.stop != nil && w.stop(w.total); w.done || ctx.Err() != nil {
			return ctx.Err()
		}
		before := w.total.Files
		if err := w.measureName(ctx, d, name, joinPath(path, name), depth); err != nil {
			return err
		}
		if n := w.total.Files - before; path == "" && n > max(w.total.HeaviestFiles, 1) {
			w.total.Heaviest, w.total.HeaviestFiles = name, n
		}
	}
	return nil
}

// measureName counts one name and what is below it.
func (w *treeMeter) measureName(ctx context.Context, d fsx.Dir, name, path string, depth int) error {
	st, err := d.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return w.addGap(path, err)
	case st.Dev != w.dev && st.Type == fsx.Directory:
		w.total.Gaps = append(w.total.Gaps, retake.Gap{Path: path + "/", Reason: retake.ReasonMount})
		return nil
	case st.Type == fsx.Device:
		w.total.Gaps = append(w.total.Gaps, retake.Gap{Path: path, Reason: retake.ReasonDevice})
		return nil
	case st.Type != fsx.Directory:
		w.total.Files++
		w.total.Bytes += st.Size
		return nil
	case depth >= maxDepth:
		w.total.Gaps = append(w.total.Gaps, retake.Gap{Path: path + "/", Reason: retake.ReasonTooDeep})
		return nil
	case slices.Contains(w.skip, DirID{st.Dev, st.Ino}):
		return nil
	}
	sub, err := d.OpenDir(name)
	if errors.Is(err, fsx.ErrOtherMount) {
		w.total.Gaps = append(w.total.Gaps, retake.Gap{Path: path + "/", Reason: retake.ReasonMount})
		return nil
	}
	if err != nil {
		return w.addGap(path+"/", err)
	}
	return errors.Join(w.measureDir(ctx, sub, path, depth+1), sub.Close())
}

func (w *treeMeter) addGap(path string, err error) error {
	if fsx.IsResourceExhausted(err) || errors.Is(err, context.Canceled) {
		return err
	}
	w.total.Gaps = append(w.total.Gaps, retake.Gap{Path: path, Reason: retake.ReasonUnreadable, Detail: fsx.CauseText(err)})
	return nil
}
