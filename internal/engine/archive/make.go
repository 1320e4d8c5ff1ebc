package archive

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
)

// extractDir creates a directory. Its metadata is set at the end.
func (x *extractor) extractDir(h *tar.Header, names []string) error {
	_, n, err := x.openParent(names)
	if err != nil {
		return err
	}
	last := names[len(names)-1]
	kid := n.children[last]
	switch {
	case kid == nil:
		if err := x.makeDir(names); err != nil {
			return err
		}
		kid = newDirNode()
		n.children[last] = kid
	case kid.typ != fsx.Directory || kid.explicit:
		return invalidArchive("it holds %q twice", strings.Join(names, "/"))
	}
	kid.explicit, kid.mode, kid.mtime = true, x.safeMode(h), unixNanos(h.ModTime)
	if kid.xattrs, err = userXattrs(h); err != nil {
		return err
	}
	if x.kept += sizeOf(kid.xattrs); x.kept > maxKept {
		return invalidArchive("%q and what is before it have more than %d bytes of attributes of directories", h.Name, maxKept)
	}
	return nil
}

func (x *extractor) extractFile(h *tar.Header, names []string) error {
	return x.createFile(h, names, func(f fsx.File) error {
		size, err := x.writeContent(f, h)
		if err == nil && size != h.Size {
			err = invalidArchive("%q ends too early", h.Name)
		}
		return err
	})
}

// extractBuffered is extractFile for bytes that were read already.
func (x *extractor) extractBuffered(h *tar.Header, names []string, text []byte) error {
	return x.createFile(h, names, func(f fsx.File) error {
		_, err := f.Write(text)
		return err
	})
}

// createFile creates a regular file, lets fill write it and sets its metadata.
func (x *extractor) createFile(h *tar.Header, names []string, fill func(fsx.File) error) (err error) {
	attributes, err := userXattrs(h)
	if err != nil {
		return err
	}
	d, n, last, err := x.openFreeName(names)
	if err != nil {
		return err
	}
	f, err := d.Create(last, 0o600)
	if err != nil {
		return explainCreateError(names, err)
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = explainCreateError(names, cerr)
		}
	}()
	n.children[last] = &treeNode{typ: fsx.Regular}
	x.report.Files++
	if err := fill(f); err != nil {
		return wrapCreateError(names, err)
	}
	return x.applyMetadata(h.Name, fsx.Metadata{Mode: x.safeMode(h), Xattrs: attributes, Mtime: unixNanos(h.ModTime)}, f.SetMetadata)
}

// writeContent writes the bytes of an entry. Chunks of zeros become holes, so that an archive
// cannot fill the disk with data it does not contain.
func (x *extractor) writeContent(f fsx.File, h *tar.Header) (int64, error) {
	var size, end int64
	for {
		n, err := io.ReadFull(&entryReader{x, h.Name}, x.buf)
		piece := x.buf[:n]
		if !bytes.Equal(piece, zeroChunk[:n]) {
			if err := x.reserveRoom(int64(n)); err != nil {
				return size, err
			}
			if _, err := f.WriteAt(piece, size); err != nil {
				return size, err
			}
			end = size + int64(n)
		}
		size += int64(n)
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return size, err
		case end < size:
			return size, f.Truncate(size)
		default:
			return size, nil
		}
	}
}

// zeroChunk is a chunk of a hole.
var zeroChunk [chunkSize]byte

// reserveRoom checks the free space before it is used, so that an archive that says little
// about its size does not fill a shared disk.
func (x *extractor) reserveRoom(n int64) error {
	if x.limits.Room == nil {
		return nil
	}
	if x.roomLeft -= n; x.roomLeft >= 0 {
		return nil
	}
	room, err := x.limits.Room()
	if err != nil {
		return &archiveError{err}
	}
	if room < n {
		return &archiveError{&retake.Error{Kind: retake.Limit, What: "the archive is refused: the disk would have less free space than it must keep", Safe: "Nothing of it was kept.",
			Hint: "free up disk space, and send it again"}}
	}
	x.roomLeft = min(room, roomCheckStep) - n
	return nil
}

// wrapCreateError explains an error unless the archive caused it.
func wrapCreateError(names []string, err error) error {
	var b *archiveError
	if errors.As(err, &b) {
		return b.err
	}
	return explainCreateError(names, err)
}

// archiveError is an error of the archive or of reading it.
type archiveError struct{ err error }

func (b *archiveError) Error() string { return b.err.Error() }
func (b *archiveError) Unwrap() error { return b.err }

// entryReader reads the current entry and counts its bytes against the limits.
type entryReader struct {
	x    *extractor
	name string
}

func (b *entryReader) Read(p []byte) (int, error) {
	n, err := b.x.tar.Read(p)
	if b.x.report.Bytes += int64(n); b.x.report.Bytes > b.x.limits.Bytes {
		return 0, &archiveError{invalidArchive("%q and what is before it hold more than %d bytes", b.name, b.x.limits.Bytes)}
	}
	if r, came := b.x.limits.Ratio, b.x.src.raw.bytesRead; r > 0 && (b.x.report.Bytes-ratioExempt)/r > came {
		return 0, &archiveError{invalidArchive("%q and what is before it hold more than %d times the bytes that came", b.name, r)}
	}
	if err != nil && err != io.EOF {
		err = &archiveError{b.x.src.raw.classifyError(b.x.ctx, err)}
	}
	return n, err
}

// extractSymlink creates a symbolic link. One that leads out, such as the one to the interpreter in
// a virtual environment of Python, stays as it is: no entry of the archive goes through a link.
func (x *extractor) extractSymlink(h *tar.Header, names []string) error {
	switch text := h.Linkname; {
	case text == "" || strings.ContainsRune(text, 0):
		return invalidArchive("the link %q says nothing", h.Name)
	case len(text) > x.limits.Name:
		return invalidArchive("the link %q says %d bytes", h.Name, len(text))
	}
	d, n, last, err := x.openFreeName(names)
	if err != nil {
		return err
	}
	if err := d.Symlink(h.Linkname, last); err != nil {
		return explainCreateError(names, err)
	}
	n.children[last] = &treeNode{typ: fsx.Symlink}
	if x.report.Symlinks++; leadsOut(len(names)-1, h.Linkname) {
		x.list(&x.report.Outward, h.Name)
	}
	return x.setNameMetadata(d, last, h, 0o777)
}

// extractHardLink adds another name to a file of this archive, which must have been extracted
// already.
func (x *extractor) extractHardLink(h *tar.Header, names []string) error {
	target, err := x.limits.splitPath(h.Linkname)
	if err != nil {
		return err
	}
	there := x.root.find(target)
	if there == nil || there.typ != fsx.Regular {
		return invalidArchive("%q is another name of %q, which is no file of the archive before it", h.Name, h.Linkname)
	}
	d, n, last, err := x.openFreeName(names)
	if err != nil {
		return err
	}
	from := &dirOpener{root: x.opener.root}
	defer from.closeAll()
	src, err := from.openDir(target[:len(target)-1])
	if err != nil {
		return err
	}
	if err := src.Link(target[len(target)-1], d, last); err != nil {
		return explainCreateError(names, err)
	}
	n.children[last] = there
	x.report.Links++
	return nil
}

func (x *extractor) extractFIFO(h *tar.Header, names []string) error {
	d, n, last, err := x.openFreeName(names)
	if err != nil {
		return err
	}
	if err := d.Mknod(last, fsx.FIFO, 0o600); err != nil {
		return explainCreateError(names, err)
	}
	n.children[last] = &treeNode{typ: fsx.FIFO}
	x.report.FIFOs++
	return x.setNameMetadata(d, last, h, x.safeMode(h))
}

func (x *extractor) setNameMetadata(d fsx.Dir, name string, h *tar.Header, mode uint32) error {
	is, err := d.Lstat(name)
	if err != nil {
		return explainCreateError([]string{h.Name}, err)
	}
	return explainCreateError([]string{h.Name}, d.SetMetadata(name, is.Ino, fsx.Metadata{Mode: mode, Mtime: unixNanos(h.ModTime)}))
}

// safeMode returns the mode without setuid and setgid, and lists the file in the report if it
// had them.
func (x *extractor) safeMode(h *tar.Header) uint32 {
	m := uint32(h.Mode) & modeBits
	if m&setidBits != 0 {
		x.list(&x.report.Dropped, strings.TrimSuffix(h.Name, "/"))
	}
	return m &^ setidBits
}

// applyMetadata sets metadata. If the file system does not support extended attributes, it
// sets the rest and lists the file in the report.
func (x *extractor) applyMetadata(name string, d fsx.Metadata, dress func(fsx.Metadata) error) error {
	err := dress(d)
	if errors.Is(err, errors.ErrUnsupported) && d.Xattrs != nil {
		x.list(&x.report.Bare, strings.TrimSuffix(name, "/"))
		d.Xattrs = nil
		err = dress(d)
	}
	return explainCreateError([]string{name}, err)
}

// userXattrs returns the extended attributes of users. Our own marker is not taken from
// others.
func userXattrs(h *tar.Header) (map[string][]byte, error) {
	var out map[string][]byte
	for key, value := range h.PAXRecords {
		name, ok := strings.CutPrefix(key, schilyXattrKey)
		if !ok {
			name, value, ok = parseLibarchiveXattr(key, value)
		}
		if !ok || !strings.HasPrefix(name, "user.") || len(name) <= len("user.") || name == marker.Xattr || strings.ContainsRune(name, 0) {
			continue
		}
		if out == nil {
			out = map[string][]byte{}
		}
		out[name] = []byte(value)
	}
	if n := sizeOf(out); n > maxAttributes {
		return nil, invalidArchive("%q has %d bytes of attributes", h.Name, n)
	}
	return out, nil
}

func sizeOf(attributes map[string][]byte) (n int64) {
	for name, value := range attributes {
		n += int64(len(name) + len(value))
	}
	return n
}

func parseLibarchiveXattr(key, value string) (string, string, bool) {
	name, ok := strings.CutPrefix(key, libarchiveXattrKey)
	if !ok {
		return "", "", false
	}
	name, err := url.PathUnescape(name)
	if err != nil {
		return "", "", false
	}
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
	return name, string(b), err == nil
}

// setDirsMetadata sets the metadata of directories, the deepest first: creating files changes
// the time of a directory, and its mode may make it inaccessible.
func (x *extractor) setDirsMetadata(n *treeNode, path string) error {
	for name, kid := range n.children {
		if kid.typ != fsx.Directory {
			continue
		}
		if err := x.setDirsMetadata(kid, strings.TrimPrefix(path+"/"+name, "/")); err != nil {
			return err
		}
	}
	if n == x.root {
		return nil
	}
	d, err := x.opener.openDir(strings.Split(path, "/"))
	if err != nil {
		return err
	}
	if !n.explicit {
		return x.setImpliedDirMetadata(d, path)
	}
	return x.applyMetadata(path, fsx.Metadata{Mode: n.mode, Xattrs: n.xattrs, Mtime: n.mtime}, d.SetOwnMetadata)
}

// setImpliedDirMetadata sets the mode of a directory that the archive does not list; its time
// stays.
func (x *extractor) setImpliedDirMetadata(d fsx.Dir, path string) error {
	is, err := d.Stat()
	if err != nil {
		return explainCreateError([]string{path}, err)
	}
	return explainCreateError([]string{path}, d.SetOwnMetadata(fsx.Metadata{Mode: 0o755, Mtime: is.Mtime}))
}
