package archive

import (
	"archive/tar"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

// Write writes a checkpoint as a tar archive in PAX format, sorted by name, with the mode,
// owner, time and attributes of every entry. Tar has no sockets; they are left out. The caller
// must pass a ref that does not come to mean another checkpoint meanwhile.
func Write(ctx context.Context, r retake.Reader, ws retake.WorkspaceID, ref string, w io.Writer) error {
	t := &tarWriter{ctx: ctx, r: r, ws: ws, ref: ref, tw: tar.NewWriter(w), groups: map[string]string{}}
	if err := t.writeDir(""); err != nil {
		return err
	}
	if err := t.tw.Close(); err != nil {
		return fmt.Errorf("end the archive: %w", err)
	}
	return nil
}

type tarWriter struct {
	ctx    context.Context
	r      retake.Reader
	ws     retake.WorkspaceID
	ref    string
	tw     *tar.Writer
	groups map[string]string // a group of hard links, by the first path of it
}

// writeDir writes the entries of a directory in the order of their names.
func (t *tarWriter) writeDir(path string) error {
	entries, err := t.r.List(t.ctx, t.ws, t.ref, path)
	if err != nil {
		return fmt.Errorf("list %q: %w", path, err)
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b retake.Entry) int { return strings.Compare(a.Name, b.Name) })
	for i := range entries {
		e := &entries[i]
		at := e.Name
		if path != "" {
			at = path + "/" + e.Name
		}
		if err := t.writeEntry(at, e); err != nil {
			return err
		}
	}
	return nil
}

// writeEntry writes one entry and, for a directory, everything below it.
func (t *tarWriter) writeEntry(path string, e *retake.Entry) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	h := entryHeader(path, e)
	switch e.Kind {
	case retake.KindDir:
		h.Typeflag, h.Name = tar.TypeDir, path+"/"
		if err := t.writeHeader(h); err != nil {
			return err
		}
		return t.writeDir(path)
	case retake.KindFile:
		if first, ok := t.firstLink(path, e); ok {
			h.Typeflag, h.Linkname, h.PAXRecords = tar.TypeLink, first, nil
			return t.writeHeader(h)
		}
		h.Typeflag, h.Size = tar.TypeReg, e.Size
		return t.writeFile(path, h)
	case retake.KindSymlink:
		text, err := t.readLinkText(path)
		if err != nil {
			return err
		}
		h.Typeflag, h.Linkname = tar.TypeSymlink, text
		return t.writeHeader(h)
	case retake.KindFIFO:
		h.Typeflag = tar.TypeFifo
		return t.writeHeader(h)
	case retake.KindSocket:
		return nil
	default:
		return fmt.Errorf("write %q: an entry of kind %q is not known", path, e.Kind)
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

// writeFile writes the header and the bytes of a file, which must have the recorded size.
func (t *tarWriter) writeFile(path string, h *tar.Header) (err error) {
	src, _, err := t.r.Open(t.ctx, t.ws, t.ref, path)
	if err != nil {
		return fmt.Errorf("open %q: %w", path, err)
	}
	defer func() { err = errors.Join(err, src.Close()) }()
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

func (t *tarWriter) readLinkText(path string) (string, error) {
	src, _, err := t.r.Open(t.ctx, t.ws, t.ref, path)
	if err != nil {
		return "", fmt.Errorf("open %q: %w", path, err)
	}
	text, err := io.ReadAll(io.LimitReader(src, maxLinkText))
	if err = errors.Join(err, src.Close()); err != nil {
		return "", fmt.Errorf("read %q: %w", path, err)
	}
	return string(text), nil
}
