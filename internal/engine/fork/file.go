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

// liveSource is a live file and what it looked like when it had the bytes of the entry.
type liveSource struct {
	path  string
	stamp Stamp
	same  bool
}

// buildFiles creates files of one directory. It looks all of them up first, since lookups of
// neighbours are fast when they follow each other.
func (g *builder) buildFiles(ctx context.Context, p *pendingDir, files []retake.Entry) error {
	from := make([]liveSource, len(files))
	for i := range files {
		from[i].path = joinPath(p.path, files[i].Name)
		if p.live != nil && files[i].Kind == retake.KindFile && files[i].Size > 0 {
			from[i].stamp, from[i].same = g.FindUnchanged(from[i].path, files[i])
		}
	}
	for i := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if g.stopped.Load() {
			return nil
		}
		if err := g.buildEntry(ctx, p, &files[i], &from[i]); err != nil {
			return wrapPath(from[i].path, err)
		}
		g.countName()
	}
	return nil
}

// buildEntry creates one file, link or special file.
func (g *builder) buildEntry(ctx context.Context, p *pendingDir, e *retake.Entry, from *liveSource) error {
	switch e.Kind {
	case retake.KindFile:
		if g.deferLink(p, from.path, e) {
			return nil
		}
		return g.buildFile(ctx, p, e, from)
	case retake.KindSymlink:
		text, err := g.readLinkText(ctx, e)
		if err == nil {
			err = p.dir.Symlink(text, e.Name)
		}
		return g.setNamedMetadata(err, p, from.path, e)
	case retake.KindFIFO:
		return g.setNamedMetadata(p.dir.Mknod(e.Name, fsx.FIFO, fs.FileMode(e.Mode&0o777)), p, from.path, e)
	case retake.KindSocket:
		return g.setNamedMetadata(p.dir.Mknod(e.Name, fsx.Socket, fs.FileMode(e.Mode&0o777)), p, from.path, e)
	case retake.KindDir: // begin has those
	}
	return fmt.Errorf("unknown kind %q", e.Kind)
}

// setNamedMetadata sets the metadata of something that is created without a handle.
func (g *builder) setNamedMetadata(err error, p *pendingDir, path string, e *retake.Entry) error {
	if err != nil {
		return err
	}
	i, err := p.dir.Lstat(e.Name)
	if err != nil {
		return err
	}
	if err := g.applyMetadata(e, func(d fsx.Metadata) error { return p.dir.SetMetadata(e.Name, i.Ino, d) }); err != nil {
		return err
	}
	return g.notifyWritten(path, func() (fsx.Info, error) { return p.dir.Lstat(e.Name) })
}

func (g *builder) readLinkText(ctx context.Context, e *retake.Entry) (string, error) {
	src, err := g.Trees.File(ctx, e.Object)
	if err != nil {
		return "", err
	}
	defer src.Close() //nolint:errcheck // only read
	var b strings.Builder
	if _, err := io.Copy(&b, io.LimitReader(src, e.Size+1)); err != nil {
		return "", err
	}
	return b.String(), checkLength(e.Size, int64(b.Len()))
}

func checkLength(want, have int64) error {
	if want != have {
		return fmt.Errorf("%d bytes are stored, and not %d", have, want)
	}
	return nil
}

// buildFile creates a regular file with its final mode, so that most need no second call.
func (g *builder) buildFile(ctx context.Context, p *pendingDir, e *retake.Entry, from *liveSource) error {
	if g.RefuseSetuid && e.GrantsRights() {
		return ErrSetuid
	}
	f, err := p.dir.Create(e.Name, fs.FileMode(e.Mode&0o777))
	if err != nil {
		return err
	}
	err = g.writeContent(ctx, f, p.live, e, from)
	if err == nil {
		err = g.applyMetadata(e, f.SetMetadata)
	}
	if err == nil && linkGroup(e) == "" { // a link that is to come changes what stat returns
		err = g.notifyWritten(from.path, f.Stat)
	}
	return errors.Join(err, f.Close())
}

// writeContent fills a file from the live file if that is unchanged, otherwise from the store.
func (g *builder) writeContent(ctx context.Context, f fsx.File, live fsx.Dir, e *retake.Entry, from *liveSource) error {
	if e.Size == 0 {
		return nil
	}
	g.bytes.Add(e.Size)
	if from.same && from.stamp.Size == e.Size {
		took, err := g.copyFromLive(f, live, e, from.stamp)
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
	return copySparse(f, src, e)
}

// copyFromLive clones or copies the live file and then checks that it is unchanged: a change
// before or during the copy would show. Problems with the live file are not errors, since the
// store has the bytes too; an error is about f.
func (g *builder) copyFromLive(f fsx.File, live fsx.Dir, e *retake.Entry, want Stamp) (bool, error) {
	src, err := live.OpenFile(e.Name)
	if err != nil {
		return false, nil
	}
	defer src.Close() //nolint:errcheck // only read
	how := &g.cloned
	err = g.cloneFile(f, src)
	if errors.Is(err, errors.ErrUnsupported) {
		if how = &g.copied; !g.matchesStamp(src, want) { // a copy for nothing costs
			return false, nil
		}
		err = copySparse(f, io.NewSectionReader(src, 0, e.Size), e)
	}
	if err == nil && g.matchesStamp(src, want) {
		how.Add(1)
		return true, nil
	}
	return false, f.Truncate(0)
}

func (g *builder) matchesStamp(f fsx.File, want Stamp) bool {
	i, err := f.Stat()
	if err != nil {
		return false
	}
	ino := i.Ino
	if g.InodeNumber != nil {
		ino = g.InodeNumber(i)
	}
	return ino == want.Ino && i.Size == want.Size && i.Mtime == want.Mtime && i.Ctime == want.Ctime
}

// maxRefusedClones is how many clones may be refused without one success before cloning is
// given up. A single refusal may be about its file: swap space, or storage that is never
// shared.
const maxRefusedClones = 8

func (g *builder) cloneFile(f, src fsx.File) error {
	if g.refused.Load() >= maxRefusedClones && g.cloned.Load() == 0 {
		return errors.ErrUnsupported
	}
	err := f.CloneFrom(src)
	if errors.Is(err, errors.ErrUnsupported) {
		g.refused.Add(1)
	}
	return err
}
