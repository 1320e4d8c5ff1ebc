package fork

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// source is a path, and what the live file there looked like when its bytes were those
// of the entry.
type source struct {
	path  string
	stamp Stamp
	same  bool
}

// some grows files of one directory. It asks for all of them first: who answers finds
// neighbours quickly when they come one after the other.
func (g *grower) some(ctx context.Context, p *plot, files []retake.Entry) error {
	from := make([]source, len(files))
	for i := range files {
		from[i].path = join(p.path, files[i].Name)
		if p.live != nil && files[i].Kind == retake.KindFile && files[i].Size > 0 {
			from[i].stamp, from[i].same = g.Same(from[i].path, files[i])
		}
	}
	for i := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if g.stop.Load() {
			return nil
		}
		if err := g.one(ctx, p, &files[i], &from[i]); err != nil {
			return told(from[i].path, err)
		}
		g.tick()
	}
	return nil
}

func (g *grower) one(ctx context.Context, p *plot, e *retake.Entry, from *source) error {
	switch e.Kind {
	case retake.KindFile:
		if g.linked(p, from.path, e) {
			return nil
		}
		return g.file(ctx, p, e, from)
	case retake.KindSymlink:
		text, err := g.text(ctx, e)
		if err == nil {
			err = p.to.Symlink(text, e.Name)
		}
		return g.named(err, p, from.path, e)
	case retake.KindFIFO:
		return g.named(p.to.Special(e.Name, fsx.FIFO, fs.FileMode(e.Mode&0o777)), p, from.path, e)
	case retake.KindSocket:
		return g.named(p.to.Special(e.Name, fsx.Socket, fs.FileMode(e.Mode&0o777)), p, from.path, e)
	case retake.KindDir: // begin has those
	}
	return fmt.Errorf("unknown kind %q", e.Kind)
}

// named dresses what has no handle.
func (g *grower) named(err error, p *plot, path string, e *retake.Entry) error {
	if err != nil {
		return err
	}
	i, err := p.to.Lstat(e.Name)
	if err != nil {
		return err
	}
	if err := g.dress(e, func(d fsx.Dressing) error { return p.to.Dress(e.Name, i.Ino, d) }); err != nil {
		return err
	}
	return g.wrote(path, func() (fsx.Info, error) { return p.to.Lstat(e.Name) })
}

func (g *grower) text(ctx context.Context, e *retake.Entry) (string, error) {
	src, err := g.Trees.File(ctx, e.Object)
	if err != nil {
		return "", err
	}
	defer src.Close() //nolint:errcheck // only read
	var b strings.Builder
	if _, err := io.Copy(&b, io.LimitReader(src, e.Size+1)); err != nil {
		return "", err
	}
	return b.String(), length(e.Size, int64(b.Len()))
}

func length(want, have int64) error {
	if want != have {
		return fmt.Errorf("%d bytes are stored, and not %d", have, want)
	}
	return nil
}

// file is made with its own mode: most need no other one after that.
func (g *grower) file(ctx context.Context, p *plot, e *retake.Entry, from *source) error {
	f, err := p.to.Create(e.Name, fs.FileMode(e.Mode&0o777))
	if err != nil {
		return err
	}
	err = g.fill(ctx, f, p.live, e, from)
	if err == nil {
		err = g.dress(e, f.Dress)
	}
	if err == nil && group(e) == "" { // a link that is to come changes what stat tells
		err = g.wrote(from.path, f.Stat)
	}
	return errors.Join(err, f.Close())
}

func (g *grower) fill(ctx context.Context, f fsx.File, live fsx.Dir, e *retake.Entry, from *source) error {
	if e.Size == 0 {
		return nil
	}
	g.bytes.Add(e.Size)
	if from.same && from.stamp.Size == e.Size {
		took, err := g.take(f, live, e, from.stamp)
		if took || err != nil {
			return err
		}
	}
	src, err := g.Trees.File(ctx, e.Object)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // only read
	g.copied.Add(1)
	return pour(f, src, e)
}

// take gets the bytes from the live file. The look at it comes after: had it changed
// before, it would not look the same then. Whatever is wrong with it, the store has the
// bytes too; the error is about f.
func (g *grower) take(f fsx.File, live fsx.Dir, e *retake.Entry, want Stamp) (bool, error) {
	src, err := live.OpenFile(e.Name)
	if err != nil {
		return false, nil
	}
	defer src.Close() //nolint:errcheck // only read
	how := &g.cloned
	err = g.clone(f, src)
	if errors.Is(err, errors.ErrUnsupported) {
		if how = &g.copied; !g.looks(src, want) { // a copy for nothing costs
			return false, nil
		}
		err = pour(f, io.NewSectionReader(src, 0, e.Size), e)
	}
	if err == nil && g.looks(src, want) {
		how.Add(1)
		return true, nil
	}
	return false, f.Truncate(0)
}

func (g *grower) looks(f fsx.File, want Stamp) bool {
	i, err := f.Stat()
	if err != nil {
		return false
	}
	ino := i.Ino
	if g.Number != nil {
		ino = g.Number(i)
	}
	return ino == want.Ino && i.Size == want.Size && i.Mtime == want.Mtime && i.Ctime == want.Ctime
}

// enough refusals without one success, and the file system cannot clone. One alone may
// be about its file: swap space, or storage that is never shared.
const enough = 8

func (g *grower) clone(f, src fsx.File) error {
	if g.refused.Load() >= enough && g.cloned.Load() == 0 {
		return errors.ErrUnsupported
	}
	err := f.CloneFrom(src)
	if errors.Is(err, errors.ErrUnsupported) {
		g.refused.Add(1)
	}
	return err
}
