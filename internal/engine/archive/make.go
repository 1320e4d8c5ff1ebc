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

func (x *extraction) dir(h *tar.Header, names []string) error {
	_, n, err := x.parent(names)
	if err != nil {
		return err
	}
	last := names[len(names)-1]
	kid := n.kids[last]
	switch {
	case kid == nil:
		if err := x.mkdir(names); err != nil {
			return err
		}
		kid = newDir()
		n.kids[last] = kid
	case kid.typ != fsx.Directory || kid.told:
		return refuse("it holds %q twice", strings.Join(names, "/"))
	}
	kid.told, kid.mode, kid.mtime, kid.xattrs = true, x.mode(h), nanos(h.ModTime), attributes(h)
	return nil
}

func (x *extraction) file(h *tar.Header, names []string) error {
	return x.regular(h, names, func(f fsx.File) error {
		size, err := x.fill(f, h)
		if err == nil && size != h.Size {
			err = refuse("%q ends too early", h.Name)
		}
		return err
	})
}

// small is file for bytes that were read already.
func (x *extraction) small(h *tar.Header, names []string, text []byte) error {
	return x.regular(h, names, func(f fsx.File) error {
		_, err := f.Write(text)
		return err
	})
}

// regular makes a file and lets it be filled.
func (x *extraction) regular(h *tar.Header, names []string, fill func(fsx.File) error) (err error) {
	d, n, last, err := x.place(names)
	if err != nil {
		return err
	}
	f, err := d.Create(last, 0o600)
	if err != nil {
		return made(names, err)
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = made(names, cerr)
		}
	}()
	n.kids[last] = &node{typ: fsx.Regular}
	x.done.Files++
	if err := fill(f); err != nil {
		return asMade(names, err)
	}
	return x.worn(h.Name, dressing(h, x.mode(h)), f.Dress)
}

// fill writes the bytes of an entry. Pieces of zeros stay holes: what an archive does not
// bring takes no room.
func (x *extraction) fill(f fsx.File, h *tar.Header) (int64, error) {
	var size, end int64
	for {
		n, err := io.ReadFull(&budget{x, h.Name}, x.piece)
		piece := x.piece[:n]
		if !bytes.Equal(piece, zeros[:n]) {
			if err := x.afford(int64(n)); err != nil {
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

// zeros is a piece of a hole.
var zeros [pieceSize]byte

// afford asks for room before it is used: a disk that is shared must not be filled by
// an archive that says little of its size.
func (x *extraction) afford(n int64) error {
	if x.l.Room == nil {
		return nil
	}
	if x.left -= n; x.left >= 0 {
		return nil
	}
	room, err := x.l.Room()
	if err != nil {
		return &blamed{err}
	}
	if room < n {
		return &blamed{&retake.Error{Kind: retake.Limit, What: "the archive is refused: the disk would have less free space than it must keep", Safe: "Nothing of it was kept.",
			Hint: "free up disk space, and send it again"}}
	}
	x.left = min(room, roomStep) - n
	return nil
}

// asMade leaves what the archive is to blame for as it is.
func asMade(names []string, err error) error {
	var b *blamed
	if errors.As(err, &b) {
		return b.err
	}
	return made(names, err)
}

// blamed is an error of the archive, or of the way that it came.
type blamed struct{ err error }

func (b *blamed) Error() string { return b.err.Error() }
func (b *blamed) Unwrap() error { return b.err }

// budget is the bytes of the present entry, counted as they come.
type budget struct {
	x    *extraction
	name string
}

func (b *budget) Read(p []byte) (int, error) {
	n, err := b.x.in.Read(p)
	if b.x.done.Bytes += int64(n); b.x.done.Bytes > b.x.l.Bytes {
		return 0, &blamed{refuse("%q and what is before it hold more than %d bytes", b.name, b.x.l.Bytes)}
	}
	if r, came := b.x.l.Ratio, b.x.src.raw.n; r > 0 && (b.x.done.Bytes-ratioFree)/r > came {
		return 0, &blamed{refuse("%q and what is before it hold more than %d times the bytes that came", b.name, r)}
	}
	if err != nil && err != io.EOF {
		err = &blamed{b.x.src.raw.explain(b.x.ctx, err)}
	}
	return n, err
}

func (x *extraction) symlink(h *tar.Header, names []string) error {
	switch text := h.Linkname; {
	case text == "" || strings.ContainsRune(text, 0):
		return refuse("the link %q says nothing", h.Name)
	case len(text) > x.l.Name:
		return refuse("the link %q says %d bytes", h.Name, len(text))
	case strings.HasPrefix(text, "/"):
		return refuse("the link %q leads out, by %q", h.Name, text)
	}
	d, n, last, err := x.place(names)
	if err != nil {
		return err
	}
	if err := d.Symlink(h.Linkname, last); err != nil {
		return made(names, err)
	}
	n.kids[last] = &node{typ: fsx.Symlink, text: h.Linkname}
	x.done.Symlinks++
	return x.dressName(d, last, h, 0o777)
}

// link gives a file of this archive another name. The file must be there already.
func (x *extraction) link(h *tar.Header, names []string) error {
	target, err := x.l.names(h.Linkname)
	if err != nil {
		return err
	}
	there := x.root.find(target)
	if there == nil || there.typ != fsx.Regular {
		return refuse("%q is another name of %q, which is no file of the archive before it", h.Name, h.Linkname)
	}
	d, n, last, err := x.place(names)
	if err != nil {
		return err
	}
	from := &reach{root: x.at.root}
	defer from.close()
	src, err := from.to(target[:len(target)-1])
	if err != nil {
		return err
	}
	if err := src.Link(target[len(target)-1], d, last); err != nil {
		return made(names, err)
	}
	n.kids[last] = there
	x.done.Links++
	return nil
}

func (x *extraction) fifo(h *tar.Header, names []string) error {
	d, n, last, err := x.place(names)
	if err != nil {
		return err
	}
	if err := d.Special(last, fsx.FIFO, 0o600); err != nil {
		return made(names, err)
	}
	n.kids[last] = &node{typ: fsx.FIFO}
	x.done.FIFOs++
	return x.dressName(d, last, h, x.mode(h))
}

func (x *extraction) dressName(d fsx.Dir, name string, h *tar.Header, mode uint32) error {
	is, err := d.Lstat(name)
	if err != nil {
		return made([]string{h.Name}, err)
	}
	return made([]string{h.Name}, d.Dress(name, is.Ino, fsx.Dressing{Mode: mode, Mtime: nanos(h.ModTime)}))
}

// mode is the mode without the bits that lend rights.
func (x *extraction) mode(h *tar.Header) uint32 {
	m := uint32(h.Mode) & modeBits
	if m&rightsBits != 0 {
		x.done.Dropped = append(x.done.Dropped, strings.TrimSuffix(h.Name, "/"))
	}
	return m &^ rightsBits
}

func dressing(h *tar.Header, mode uint32) fsx.Dressing {
	return fsx.Dressing{Mode: mode, Xattrs: attributes(h), Mtime: nanos(h.ModTime)}
}

// worn dresses; where there are no attributes, it goes without, and that is told.
func (x *extraction) worn(name string, d fsx.Dressing, dress func(fsx.Dressing) error) error {
	err := dress(d)
	if errors.Is(err, errors.ErrUnsupported) && d.Xattrs != nil {
		x.done.Bare = append(x.done.Bare, strings.TrimSuffix(name, "/"))
		d.Xattrs = nil
		err = dress(d)
	}
	return made([]string{name}, err)
}

// attributes are those of users; our own mark is not taken from others.
func attributes(h *tar.Header) map[string][]byte {
	var out map[string][]byte
	for key, value := range h.PAXRecords {
		name, ok := strings.CutPrefix(key, xattrKey)
		if !ok {
			name, value, ok = attribute2(key, value)
		}
		if !ok || !strings.HasPrefix(name, "user.") || len(name) <= len("user.") || name == marker.Xattr || strings.ContainsRune(name, 0) {
			continue
		}
		if out == nil {
			out = map[string][]byte{}
		}
		out[name] = []byte(value)
	}
	return out
}

func attribute2(key, value string) (string, string, bool) {
	name, ok := strings.CutPrefix(key, xattrKey2)
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

// dress gives directories what they wear, the deepest first: what is made in one
// changes its time, and its mode may close it.
func (x *extraction) dress(n *node, path string) error {
	for name, kid := range n.kids {
		if kid.typ != fsx.Directory {
			continue
		}
		if err := x.dress(kid, strings.TrimPrefix(path+"/"+name, "/")); err != nil {
			return err
		}
	}
	if n == x.root {
		return nil
	}
	d, err := x.at.to(strings.Split(path, "/"))
	if err != nil {
		return err
	}
	if !n.told {
		return x.plain(d, path)
	}
	return x.worn(path, fsx.Dressing{Mode: n.mode, Xattrs: n.xattrs, Mtime: n.mtime}, d.DressSelf)
}

// plain dresses a directory that was made on the way: its time stays.
func (x *extraction) plain(d fsx.Dir, path string) error {
	is, err := d.Stat()
	if err != nil {
		return made([]string{path}, err)
	}
	return made([]string{path}, d.DressSelf(fsx.Dressing{Mode: 0o755, Mtime: is.Mtime}))
}
