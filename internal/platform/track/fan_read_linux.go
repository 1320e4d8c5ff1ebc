package track

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// catchUp reads in the background, so that the queue stays short.
func (g *group) catchUp() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	return g.read()
}

// read takes what is in the queue, to its end.
func (g *group) read() bool {
	b := &batch{g: g}
	defer b.close()
	for {
		n, err := unix.Read(g.fd, g.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return true
		case err != nil || n <= 0:
			g.doubts("the queue of changes cannot be read")
			return false
		}
		b.events(g.buf[:n])
	}
}

func (g *group) doubts(why string) {
	for _, f := range g.watches {
		f.doubts(why)
	}
}

// The layout of what fanotify writes.
const (
	fanVersionAt = 4
	fanHeadAt    = 6 // length of the head
	fanMaskAt    = 8
	fanHead      = 24

	infoLengthAt = 2
	infoHandleAt = 12 // after the kind, the length and the id of the file system
	handleHead   = 8  // number of bytes and kind, then the bytes
	fanVersion   = 3
)

// batch is one reading of the queue. It opens the roots when the first
// directory has to be looked up, and closes them at its end.
type batch struct {
	g     *group
	asked map[string]bool // files whose links changed
	views []view
	ready bool
}

// view is a root while it is open. Handles are looked up on its mount.
type view struct {
	f    *fanWatch
	fd   int
	real string
}

func (b *batch) events(buf []byte) {
	for len(buf) >= fanHead {
		size := int(binary.NativeEndian.Uint32(buf))
		head := int(binary.NativeEndian.Uint16(buf[fanHeadAt:]))
		if size < fanHead || size > len(buf) || head < fanHead || head > size || buf[fanVersionAt] != fanVersion {
			b.g.doubts("the kernel reports changes in an unexpected way")
			return
		}
		b.event(binary.NativeEndian.Uint64(buf[fanMaskAt:]), buf[head:size])
		buf = buf[size:]
	}
}

func (b *batch) event(mask uint64, info []byte) {
	if mask&unix.FAN_Q_OVERFLOW != 0 {
		b.g.doubts("more changes at once than the kernel keeps")
		return
	}
	named := false
	file := fileOf(info)
	for len(info) >= infoHandleAt+handleHead {
		size := int(binary.NativeEndian.Uint16(info[infoLengthAt:]))
		if size < infoHandleAt+handleHead || size > len(info) {
			break
		}
		if kind := info[0]; kind == unix.FAN_EVENT_INFO_TYPE_DFID_NAME || kind == unix.FAN_EVENT_INFO_TYPE_DFID {
			b.record(mask, info[infoHandleAt:size], file)
			named = true
		}
		info = info[size:]
	}
	switch {
	case named:
	case mask&^(unix.FAN_ATTRIB|unix.FAN_ONDIR) != 0:
		b.g.doubts("a file was changed by its handle, without a name")
	case file != nil && mask&unix.FAN_ONDIR == 0:
		b.relinked(file)
	}
}

// relinked is for a file whose number of links changed: it may have got a name outside,
// by which it is changed without a word to us, or lost one by which it was.
func (b *batch) relinked(file []byte) {
	if b.asked[string(file)] {
		return
	}
	if b.asked == nil {
		b.asked = map[string]bool{}
	}
	b.asked[string(file)] = true
	b.open()
	if len(b.views) == 0 {
		return // nobody listens, or the roots are away, which is a doubt of its own
	}
	path, ino, err := locate(b.views[0].fd, string(file))
	if errors.Is(err, errGone) {
		return
	}
	alone, there := isAt(string(file), path)
	for _, f := range b.g.watches {
		switch rel, inside := beneath(f.at.real, path); {
		case err != nil:
			f.doubts("a file with another name cannot be found")
		case !there || !alone:
			f.relinked(ino)
		case inside:
			f.w.notes.tell()
			f.found[rel] |= Name
		}
	}
}

// fileOf finds the handle of the file itself, if the event has it.
func fileOf(info []byte) []byte {
	for len(info) >= infoHandleAt+handleHead {
		size := int(binary.NativeEndian.Uint16(info[infoLengthAt:]))
		if size < infoHandleAt+handleHead || size > len(info) {
			return nil
		}
		if info[0] == unix.FAN_EVENT_INFO_TYPE_FID {
			rec := info[infoHandleAt:size]
			if end := handleHead + int(binary.NativeEndian.Uint32(rec)); end <= len(rec) {
				return rec[:end]
			}
			return nil
		}
		info = info[size:]
	}
	return nil
}

// record handles one directory and a name in it. The name "." is the directory.
func (b *batch) record(mask uint64, rec, file []byte) {
	end := handleHead + int(binary.NativeEndian.Uint32(rec))
	if end > len(rec) {
		b.g.doubts("the kernel reports changes in an unexpected way")
		return
	}
	handle, name := rec[:end], rec[end:]
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	if string(name) == "." {
		name = nil
	}
	const moves, appears = unix.FAN_MOVED_FROM | unix.FAN_MOVED_TO, unix.FAN_CREATE | unix.FAN_MOVED_TO
	onDir := mask&unix.FAN_ONDIR != 0
	if onDir && mask&moves != 0 {
		clear(b.g.known) // everything below it belongs to others now
	}
	if onDir && mask&(moves|appears|unix.FAN_DELETE) != 0 && b.g.parts[string(name)] {
		b.above(handle, string(name))
	}
	m := Name
	if onDir && mask&appears != 0 {
		m |= Deep
	}
	for _, f := range b.owners(handle) {
		f.moved = f.moved || onDir && mask&moves != 0
		f.note(handle, string(name), m)
		f.follow(mask, handle, file, string(name))
	}
}

// owners answers the roots that a directory lies in. What lies outside is
// remembered, until a directory is moved: that is most of what is told.
func (b *batch) owners(handle []byte) []*fanWatch {
	if known, ok := b.g.known[string(handle)]; ok {
		return known
	}
	var in []*fanWatch
	sure := b.eachPath(handle, func(v *view, path string) {
		if _, ok := beneath(v.real, path); ok {
			in = append(in, v.f)
		}
	})
	if sure {
		if len(b.g.known) >= maxKnown {
			clear(b.g.known)
		}
		b.g.known[string(handle)] = in
	}
	return in
}

// above finds out whether a root, or a directory above one, was moved, made or
// removed. Paths that were compared in the meantime are worth nothing then.
func (b *batch) above(handle []byte, name string) {
	b.eachPath(handle, func(v *view, path string) {
		if _, ok := beneath(strings.TrimSuffix(path, "/")+"/"+name, v.f.at.real); ok {
			v.f.doubts("the root or a directory above it was moved")
		}
	})
}

// eachPath looks a directory up for every root. A directory that is gone has no
// path, and is of no use to remember.
func (b *batch) eachPath(handle []byte, do func(*view, string)) (sure bool) {
	b.open()
	sure = len(b.views) == len(b.g.watches)
	var mount uint64
	var path string
	var err error
	for i := range b.views {
		v := &b.views[i]
		if i == 0 || v.f.at.mount != mount {
			mount = v.f.at.mount
			path, _, err = resolveKey(v.fd, string(handle))
		}
		switch {
		case err == nil:
			do(v, path)
		case errors.Is(err, errGone):
			sure = false
		default:
			v.f.doubts("a changed directory cannot be found")
			sure = false
		}
	}
	return sure
}

func (b *batch) open() {
	if b.ready {
		return
	}
	b.ready = true
	for _, f := range b.g.watches {
		fd, who, err := openRoot(f.w.root)
		if err != nil {
			f.doubts("the root was away")
			continue
		}
		real, err := pathOf(fd)
		if err != nil || who != f.at.identity {
			closeFD(fd)
			f.doubts("the root is another directory")
			continue
		}
		b.views = append(b.views, view{f: f, fd: fd, real: real})
	}
}

// close looks whether the roots are where they were when the batch began.
func (b *batch) close() {
	for _, v := range b.views {
		if real, err := pathOf(v.fd); err != nil || real != v.real {
			v.f.doubts("the root or a directory above it was moved")
			clear(b.g.known)
		}
		closeFD(v.fd)
	}
}
