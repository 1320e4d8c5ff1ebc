package restore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// stage writes everything that will come, into the hold: if the store cannot give it
// or the disk cannot take it, nothing was changed yet.
func (r *run) stage(ctx context.Context) error {
	staged := map[string]int{} // group of links to the op that has its first name
	for i, o := range r.ops {
		if o.deed != put {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.stageOne(ctx, i, o.step, staged); err != nil {
			return fmt.Errorf("prepare %q: %w", o.path, err)
		}
	}
	if r.puts > fewDirs {
		if err := r.hold.SyncFS(); err != nil && !errors.Is(err, fsx.ErrUntraced) && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		return nil
	}
	return r.hold.Sync()
}

func (r *run) stageOne(ctx context.Context, i int, s retake.Step, staged map[string]int) error {
	name, e := strconv.Itoa(i), s.Then
	switch e.Kind {
	case retake.KindDir:
		return r.hold.Mkdir(name, 0o700)
	case retake.KindSymlink:
		text, err := r.text(ctx, e.Object)
		if err != nil {
			return err
		}
		if err := r.hold.Symlink(text, name); err != nil {
			return err
		}
	case retake.KindFIFO, retake.KindSocket:
		typ := fsx.FIFO
		if e.Kind == retake.KindSocket {
			typ = fsx.Socket
		}
		if err := r.hold.Special(name, typ, 0o600); err != nil {
			return err
		}
	case retake.KindFile:
		return r.stageFile(ctx, name, s, staged, i)
	default:
		return fmt.Errorf("unknown kind %q", e.Kind)
	}
	info, err := r.hold.Lstat(name)
	if err != nil {
		return err
	}
	return r.dressing(e, func(d fsx.Dressing) error { return r.hold.Dress(name, info.Ino, d) })
}

func (r *run) text(ctx context.Context, id retake.ObjectID) (string, error) {
	f, err := r.Trees.File(ctx, id)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	var b strings.Builder
	_, err = io.Copy(&b, f)
	return b.String(), err
}

func (r *run) stageFile(ctx context.Context, name string, s retake.Step, staged map[string]int, i int) error {
	group := extra(s.Then).Group
	if first, ok := staged[group]; ok && group != "" {
		return r.hold.Link(strconv.Itoa(first), r.hold, name)
	}
	if group != "" && s.Merge == nil && r.linkLive(group, s, name) {
		staged[group] = i
		return nil
	}
	f, err := r.hold.Create(name, 0o600)
	if err != nil {
		return err
	}
	if err := r.fill(ctx, f, s); err != nil {
		return closing(err, f)
	}
	then := *s.Then
	if s.Merge != nil {
		then.ModTime = r.Clock.Now().UnixNano()
	}
	if err := r.dressing(&then, f.Dress); err != nil {
		return closing(err, f)
	}
	if group != "" {
		staged[group] = i
	}
	if r.puts <= fewDirs {
		err = f.Sync()
	}
	return closing(err, f)
}

// linkLive takes another name of a file that is there already, as it should be.
func (r *run) linkLive(group string, s retake.Step, name string) bool {
	if r.Group == nil {
		return false
	}
	for _, m := range r.Group(group) {
		want, ok := r.Stamp(m.Path)
		if r.planned[m.Path] || !ok || m.Path == s.Path || m.Entry.Object != s.Then.Object || m.Entry.ModTime != s.Then.ModTime || !sameDress(&m.Entry, s.Then) {
			continue
		}
		dir, last, err := r.way.parent(m.Path)
		if err != nil || dir.Link(last, r.hold, name) != nil {
			continue
		}
		if i, err := r.hold.Lstat(name); err == nil && r.Number(i) == want.Ino && i.Size == want.Size && i.Mtime == want.Mtime {
			return true
		}
		_ = r.hold.Remove(name) // another file than expected
	}
	return false
}

// fill writes the bytes: stored, or merged.
func (r *run) fill(ctx context.Context, f fsx.File, s retake.Step) error {
	if s.Merge != nil {
		text, err := r.mergedText(ctx, s)
		if err == nil {
			_, err = f.Write(text)
		}
		return err
	}
	src, err := r.Trees.File(ctx, s.Then.Object)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // only read
	n, err := copyAround(f, src, extra(s.Then).Holes)
	if err == nil && n != s.Then.Size {
		err = fmt.Errorf("%d bytes were stored, %d came", s.Then.Size, n)
	}
	return err
}

func (r *run) mergedText(ctx context.Context, s retake.Step) ([]byte, error) {
	var texts [3][]byte
	for i, id := range []retake.ObjectID{s.Merge.Base, s.Now.Object, s.Merge.Want} {
		text, err := r.text(ctx, id)
		if err != nil {
			return nil, err
		}
		texts[i] = []byte(text)
	}
	out, _, ok := mergeTexts(texts, s.Merge.Hunks)
	if sum := sha256.Sum256(out); !ok || hex.EncodeToString(sum[:]) != s.Merge.Digest {
		return nil, errMoved
	}
	return out, nil
}

// copyAround copies src, and leaves its holes holes.
func copyAround(f fsx.File, src io.ReadSeeker, holes []retake.Hole) (int64, error) {
	if len(holes) == 0 {
		return io.Copy(onlyWriter{f}, src)
	}
	size, err := src.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	at := int64(0)
	for _, h := range append(slices.Clone(holes), retake.Hole{Offset: size}) {
		if h.Offset < at || h.Length < 0 || h.Offset+h.Length > size {
			return at, fmt.Errorf("a hole of %d bytes at %d does not fit into %d", h.Length, h.Offset, size)
		}
		if h.Offset > at {
			if _, err := src.Seek(at, io.SeekStart); err != nil {
				return at, err
			}
			if _, err := io.CopyN(&writerAt{f, at}, src, h.Offset-at); err != nil {
				return at, err
			}
		}
		at = h.Offset + h.Length
	}
	return size, f.Truncate(size)
}

type onlyWriter struct{ io.Writer }

type writerAt struct {
	f  fsx.File
	at int64
}

func (w *writerAt) Write(p []byte) (int, error) {
	n, err := w.f.WriteAt(p, w.at)
	w.at += int64(n)
	return n, err
}

// dressing gives an entry's attributes. Who is not root cannot give files away: then
// they stay ours, and run with nobody's rights.
func (r *run) dressing(e *retake.Entry, give func(fsx.Dressing) error) error {
	d := fsx.Dressing{Owner: true, UID: e.UID, GID: e.GID, Mode: e.Mode, Mtime: e.ModTime, Xattrs: extra(e).Xattrs}
	if d.Xattrs == nil {
		d.Xattrs = map[string][]byte{}
	}
	err := give(d)
	if errors.Is(err, fs.ErrPermission) {
		d.Owner = false
		d.Mode &^= setuid | setgid
		if err = give(d); err == nil {
			r.warn("owner", "some files keep our owner: only root can give files away")
		}
	}
	if errors.Is(err, errors.ErrUnsupported) && len(d.Xattrs) > 0 {
		d.Xattrs = nil
		if err = give(d); err == nil {
			r.warn("attributes", "this file system holds no extended attributes")
		}
	}
	return err
}

func (r *run) warn(code, text string) {
	for _, w := range r.out.Warnings {
		if w.Code == code {
			return
		}
	}
	r.out.Warnings = append(r.out.Warnings, retake.Warning{Code: code, Text: text})
}
