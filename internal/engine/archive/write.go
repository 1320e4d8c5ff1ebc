package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/ahead"
)

// Write writes a checkpoint as a tar archive in PAX format, sorted by name, with the mode,
// owner, time and attributes of every entry. Tar has no sockets; they are left out. The caller
// must pass a ref that does not come to mean another checkpoint meanwhile.
func Write(ctx context.Context, r retake.Reader, ws retake.WorkspaceID, ref string, w io.Writer) error {
	t := &tarWriter{r: r, ws: ws, ref: ref, tw: tar.NewWriter(w), groups: map[string]string{}}
	err := ahead.Each(ctx, readsAtATime, t.members(ctx), t.readAhead, func(m member, text []byte) error { return t.writeMember(ctx, m, text) })
	if err != nil {
		return err
	}
	if err := t.tw.Close(); err != nil {
		return fmt.Errorf("end the archive: %w", err)
	}
	return nil
}

const (
	readsAtATime = 32        // each waits for a server or a bucket
	maxAhead     = 512 << 10 // larger files are read when it is their turn
)

type tarWriter struct {
	r      retake.Reader
	ws     retake.WorkspaceID
	ref    string
	tw     *tar.Writer
	groups map[string]string // a group of hard links, by the first path of it
}

// member is an entry of the archive.
type member struct {
	path string
	retake.Entry
}

// members lists everything in a checkpoint, each directory before what is in it, by name.
func (t *tarWriter) members(ctx context.Context) iter.Seq2[member, error] {
	return func(yield func(member, error) bool) { t.listDir(ctx, "", yield) }
}

func (t *tarWriter) listDir(ctx context.Context, path string, yield func(member, error) bool) bool {
	entries, err := t.r.List(ctx, t.ws, t.ref, path)
	if err != nil {
		return yield(member{}, fmt.Errorf("list %q: %w", path, err))
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b retake.Entry) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range entries {
		at := e.Name
		if path != "" {
			at = path + "/" + e.Name
		}
		if !yield(member{at, e}, nil) || e.Kind == retake.KindDir && !t.listDir(ctx, at, yield) {
			return false
		}
	}
	return true
}

// readAhead reads the text of a link, and a file if it is small. A name of a hard link may need no
// bytes.
func (t *tarWriter) readAhead(ctx context.Context, m member) ([]byte, error) {
	limit := int64(maxLinkText)
	switch {
	case m.Kind == retake.KindSymlink:
	case m.Kind == retake.KindFile && m.Size <= maxAhead && (m.Extra == nil || m.Extra.Group == ""):
		limit = m.Size + 1
	default:
		return nil, nil
	}
	src, err := t.r.Bytes(ctx, m.Object)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", m.path, err)
	}
	text, err := io.ReadAll(io.LimitReader(src, limit))
	if err = errors.Join(err, src.Close()); err != nil {
		return nil, fmt.Errorf("read %q: %w", m.path, err)
	}
	if text == nil {
		text = []byte{} // read, and empty
	}
	return text, nil
}

// writeMember writes one entry. Text is what was read ahead of it; nil is nothing.
func (t *tarWriter) writeMember(ctx context.Context, m member, text []byte) error {
	h := entryHeader(m.path, &m.Entry)
	switch m.Kind {
	case retake.KindDir:
		h.Typeflag, h.Name = tar.TypeDir, m.path+"/"
		return t.writeHeader(h)
	case retake.KindFile:
		if first, ok := t.firstLink(m.path, &m.Entry); ok {
			h.Typeflag, h.Linkname, h.PAXRecords = tar.TypeLink, first, nil
			return t.writeHeader(h)
		}
		h.Typeflag, h.Size = tar.TypeReg, m.Size
		if text != nil {
			return t.writeBytes(m.path, h, bytes.NewReader(text))
		}
		return t.writeFile(ctx, m, h)
	case retake.KindSymlink:
		h.Typeflag, h.Linkname = tar.TypeSymlink, string(text)
		return t.writeHeader(h)
	case retake.KindFIFO:
		h.Typeflag = tar.TypeFifo
		return t.writeHeader(h)
	case retake.KindSocket:
		return nil
	default:
		return fmt.Errorf("write %q: an entry of kind %q is not known", m.path, m.Kind)
	}
}

// firstLink returns the first path of a file's link group. If there is none yet, this path
// becomes it.
func (t *tarWriter) firstLink(path string, e *retake.Entry) (string, bool) {
	if e.Extra == nil || e.Extra.Group == "" {
		return "", false
	}
	first, ok := t.groups[e.Extra.Group]
	if !ok {
		t.groups[e.Extra.Group] = path
	}
	return first, ok
}

// entryHeader returns the tar header of an entry.
func entryHeader(path string, e *retake.Entry) *tar.Header {
	h := &tar.Header{
		Name: path, Mode: int64(e.Mode & modeBits), Uid: int(e.UID), Gid: int(e.GID),
		ModTime: time.Unix(0, e.ModTime).UTC(), Format: tar.FormatPAX,
	}
	if e.Extra == nil || len(e.Extra.Xattrs) == 0 {
		return h
	}
	h.PAXRecords = map[string]string{}
	for name, value := range e.Extra.Xattrs {
		if strings.Contains(name, "=") {
			h.PAXRecords[libarchiveXattrKey+strings.ReplaceAll(url.QueryEscape(name), "+", "%20")] = base64.RawStdEncoding.EncodeToString(value)
			continue
		}
		h.PAXRecords[schilyXattrKey+name] = string(value)
	}
	return h
}

func (t *tarWriter) writeHeader(h *tar.Header) error {
	if err := t.tw.WriteHeader(h); err != nil {
		return fmt.Errorf("write %q: %w", h.Name, err)
	}
	return nil
}

// writeFile writes a file that was not read ahead.
func (t *tarWriter) writeFile(ctx context.Context, m member, h *tar.Header) (err error) {
	src, err := t.r.Bytes(ctx, m.Object)
	if err != nil {
		return fmt.Errorf("open %q: %w", m.path, err)
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	return t.writeBytes(m.path, h, src)
}

// writeBytes writes the header and the bytes of a file, which must have the recorded size.
func (t *tarWriter) writeBytes(path string, h *tar.Header, src io.Reader) error {
	if err := t.writeHeader(h); err != nil {
		return err
	}
	n, err := io.Copy(t.tw, src)
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	if n != h.Size {
		return fmt.Errorf("write %q: %d bytes of %d: %w", path, n, h.Size, io.ErrUnexpectedEOF)
	}
	return nil
}

// maxLinkText is more than any system allows for the text of a link.
const maxLinkText = 64 << 10
