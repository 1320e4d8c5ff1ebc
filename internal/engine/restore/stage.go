package restore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/ahead"
	"github.com/retake-dev/retake/internal/storage/store"
)

// stageAll writes all new files into the trash before anything is changed. If the store cannot
// supply them or the disk is full, the workspace is untouched.
func (r *applier) stageAll(ctx context.Context) error {
	width := 1
	if store.IsRemote(r.Trees) {
		width = store.RemoteReads
	}
	staged := map[string]int{} // group of links to the op that has its first name
	err := ahead.Each(ctx, width, r.puts(), r.readAhead, func(i int, content []byte) error {
		o := &r.ops[i]
		if err := r.stageEntry(ctx, i, o.step, content, staged); err != nil {
			return fmt.Errorf("prepare %q: %w", o.path, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.putCount > maxSingleSyncs {
		if err := r.trash.SyncFS(); err != nil && !errors.Is(err, fsx.ErrNoWriteback) && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		return nil
	}
	return r.trash.Sync()
}

// puts lists the indexes of the operations that bring something.
func (r *applier) puts() iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range r.ops {
			if r.ops[i].kind == opPut && !yield(i, nil) {
				return
			}
		}
	}
}

// maxAhead is the largest file that is read before it is its turn.
const maxAhead = 512 << 10

// readAhead reads a small file of a remote store. It returns nil for everything else.
func (r *applier) readAhead(ctx context.Context, i int) ([]byte, error) {
	s := &r.ops[i].step
	if e := s.Then; !store.IsRemote(r.Trees) || e.Kind != retake.KindFile || e.Size > maxAhead || s.Merge != nil || extraOf(e).Group != "" {
		return nil, nil
	}
	text, err := r.readObject(ctx, s.Then.Object)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", r.ops[i].path, err)
	}
	return append([]byte{}, text...), nil // not nil if it is empty
}

// stageEntry creates operation i's new file, directory, link or special file in the trash,
// named by its index, with its final metadata. Content is that of a file, if it was read before.
func (r *applier) stageEntry(ctx context.Context, i int, s retake.Step, content []byte, staged map[string]int) error {
	name, e := strconv.Itoa(i), s.Then
	switch e.Kind {
	case retake.KindDir:
		return r.trash.Mkdir(name, 0o700)
	case retake.KindSymlink:
		text, err := r.readObject(ctx, e.Object)
		if err != nil {
			return err
		}
		if err := r.trash.Symlink(text, name); err != nil {
			return err
		}
	case retake.KindFIFO, retake.KindSocket:
		typ := fsx.FIFO
		if e.Kind == retake.KindSocket {
			typ = fsx.Socket
		}
		if err := r.trash.Mknod(name, typ, 0o600); err != nil {
			return err
		}
	case retake.KindFile:
		return r.stageFile(ctx, name, s, content, staged, i)
	default:
		return fmt.Errorf("unknown kind %q", e.Kind)
	}
	info, err := r.trash.Lstat(name)
	if err != nil {
		return err
	}
	return r.applyMetadata(e, func(d fsx.Metadata) error { return r.trash.SetMetadata(name, info.Ino, d) })
}

// readObject reads a stored object as text.
func (r *applier) readObject(ctx context.Context, id retake.ObjectID) (string, error) {
	f, err := r.Trees.File(ctx, id)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	var b strings.Builder
	_, err = io.Copy(&b, f)
	return b.String(), err
}

// stageFile writes a regular file into the trash. Names of one hard-link group become links of
// one file, if possible of the file that is already in the workspace.
func (r *applier) stageFile(ctx context.Context, name string, s retake.Step, content []byte, staged map[string]int, i int) error {
	group := extraOf(s.Then).Group
	if first, ok := staged[group]; ok && group != "" {
		return r.trash.Link(strconv.Itoa(first), r.trash, name)
	}
	if group != "" && s.Merge == nil && r.linkExisting(group, s, name) {
		staged[group] = i
		return nil
	}
	f, err := r.trash.Create(name, 0o600)
	if err != nil {
		return err
	}
	if err := r.writeContent(ctx, f, s, content); err != nil {
		return joinClose(err, f)
	}
	then := *s.Then
	if s.Merge != nil {
		then.ModTime = r.Clock.Now().UnixNano()
	}
	if err := r.applyMetadata(&then, f.SetMetadata); err != nil {
		return joinClose(err, f)
	}
	if group != "" {
		staged[group] = i
	}
	if r.putCount <= maxSingleSyncs {
		err = f.Sync()
	}
	return joinClose(err, f)
}

// linkExisting links a file of the same group that is in the workspace, unchanged and not part
// of the plan. It returns false if there is none.
func (r *applier) linkExisting(group string, s retake.Step, name string) bool {
	if r.LinkGroup == nil {
		return false
	}
	for _, m := range r.LinkGroup(group) {
		want, ok := r.Stamp(m.Path)
		if r.plannedPaths[m.Path] || !ok || m.Path == s.Path || m.Entry.Object != s.Then.Object || m.Entry.ModTime != s.Then.ModTime || !sameMetadata(&m.Entry, s.Then) {
			continue
		}
		dir, last, err := r.opener.openParent(m.Path)
		if err != nil || dir.Link(last, r.trash, name) != nil {
			continue
		}
		if i, err := r.trash.Lstat(name); err == nil && r.InodeNumber(i) == want.Ino && i.Size == want.Size && i.Mtime == want.Mtime {
			return true
		}
		_ = r.trash.Remove(name) // another file than expected
	}
	return false
}

// writeContent writes the stored or merged bytes of a step to f.
func (r *applier) writeContent(ctx context.Context, f fsx.File, s retake.Step, content []byte) error {
	if s.Merge != nil {
		text, err := r.mergeContent(ctx, s)
		if err == nil {
			_, err = f.Write(text)
		}
		return err
	}
	var src io.ReadSeeker = bytes.NewReader(content)
	if content == nil {
		file, err := r.Trees.File(ctx, s.Then.Object)
		if err != nil {
			return err
		}
		defer file.Close() //nolint:errcheck // only read
		src = file
	}
	n, err := copySparse(f, src, extraOf(s.Then).Holes)
	if err == nil && n != s.Then.Size {
		err = fmt.Errorf("%d bytes were stored, %d came", s.Then.Size, n)
	}
	return err
}

// mergeContent repeats the merge that the plan computed. A different result means that one of
// the texts has changed since.
func (r *applier) mergeContent(ctx context.Context, s retake.Step) ([]byte, error) {
	var texts [3][]byte
	for i, id := range []retake.ObjectID{s.Merge.Base, s.Now.Object, s.Merge.Want} {
		text, err := r.readObject(ctx, id)
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

// copySparse copies src and keeps its holes as holes.
func copySparse(f fsx.File, src io.ReadSeeker, holes []retake.Hole) (int64, error) {
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
			if _, err := io.CopyN(&offsetWriter{f, at}, src, h.Offset-at); err != nil {
				return at, err
			}
		}
		at = h.Offset + h.Length
	}
	return size, f.Truncate(size)
}

type onlyWriter struct{ io.Writer }

type offsetWriter struct {
	f      fsx.File
	offset int64
}

func (w *offsetWriter) Write(p []byte) (int, error) {
	n, err := w.f.WriteAt(p, w.offset)
	w.offset += int64(n)
	return n, err
}

// applyMetadata sets the owner, mode, time and extended attributes of an entry. What the user or
// the file system does not allow is left out, with a warning.
func (r *applier) applyMetadata(e *retake.Entry, give func(fsx.Metadata) error) error {
	d := fsx.Metadata{SetOwner: true, UID: e.UID, GID: e.GID, Mode: e.Mode, Mtime: e.ModTime, Xattrs: extraOf(e).Xattrs}
	if d.Xattrs == nil {
		d.Xattrs = map[string][]byte{}
	}
	lost, err := d.SetWhatFits(give)
	if err != nil {
		return err
	}
	lost.Tell(r.addWarning)
	return nil
}

// addWarning adds a warning unless one with the same code exists.
func (r *applier) addWarning(code, text string) {
	for _, w := range r.outcome.Warnings {
		if w.Code == code {
			return
		}
	}
	r.outcome.Warnings = append(r.outcome.Warnings, retake.Warning{Code: code, Text: text})
}
