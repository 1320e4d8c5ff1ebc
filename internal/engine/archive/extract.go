package archive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
)

// Extract makes what an archive holds below dir, which must be empty: tar, plain or
// packed by gzip or zstd. An archive that would do anything else, or that is not whole,
// is refused with an Invalid error, and dir is empty again.
func Extract(ctx context.Context, r io.Reader, dir fsx.Dir, l Limits) (Report, error) {
	names, err := dir.Names()
	if err != nil {
		return Report{}, fmt.Errorf("look into the directory: %w", err)
	}
	if len(names) > 0 {
		return Report{}, &retake.Error{Kind: retake.Exists, What: "the directory is not empty", Safe: "Nothing was changed."}
	}
	x := &extraction{ctx: ctx, l: l.filled(), root: newDir(), at: &reach{root: dir}}
	err = x.all(r)
	x.at.close()
	if err == nil {
		return x.done, nil
	}
	if cerr := clear(dir); cerr != nil {
		err = errors.Join(err, cerr)
	}
	return Report{}, err
}

type extraction struct {
	ctx   context.Context
	l     Limits
	src   *source
	in    *tar.Reader
	root  *node
	at    *reach
	done  Report
	count int64 // names so far
	left  int64 // bytes that may be written before room is asked for again
	piece []byte
}

const pieceSize = 64 << 10

func (x *extraction) all(r io.Reader) (err error) {
	if x.src, err = newSource(x.ctx, r, x.l.Bytes); err != nil {
		return err
	}
	defer x.src.free()
	x.in, x.piece = tar.NewReader(x.src), make([]byte, pieceSize)
	for {
		h, err := x.in.Next()
		if errors.Is(err, io.EOF) && !x.src.ended {
			break
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // without a word that it is over
		}
		if err != nil {
			return x.src.raw.explain(x.ctx, err)
		}
		if err := x.entry(h); err != nil {
			return err
		}
	}
	c := compass{root: x.root, steps: maxSteps + 64*x.count}
	if err := c.check([]*node{x.root}, ""); err != nil {
		return err
	}
	return x.dress(x.root, "")
}

// maxSteps bounds the work of following links.
const maxSteps = 1 << 22

func (x *extraction) entry(h *tar.Header) error {
	if err := x.counted(); err != nil {
		return err
	}
	if h.Typeflag == tar.TypeXGlobalHeader { // a remark of who made it
		return nil
	}
	names, err := x.l.names(h.Name)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		if h.Typeflag != tar.TypeDir {
			return refuse("%q is no name", h.Name)
		}
		return nil // the directory itself is the caller's
	}
	if done, err := x.marked(h, names); done || err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		return x.file(h, names)
	case tar.TypeDir:
		return x.dir(h, names)
	case tar.TypeSymlink:
		return x.symlink(h, names)
	case tar.TypeLink:
		return x.link(h, names)
	case tar.TypeFifo:
		return x.fifo(h, names)
	}
	return refuse("%q is a device, or of a type that is not known", h.Name)
}

func (x *extraction) counted() error {
	if x.count++; x.count > x.l.Entries {
		return refuse("it holds more than %d names", x.l.Entries)
	}
	x.src.most += perEntry
	return asMade(nil, x.afford(perEntry)) // a name takes room, too
}

// marked settles what may be of another workspace's mark, or of what its restores kept
// for a day: a copy of a workspace is another workspace. Anything else in that directory
// is a file like others.
func (x *extraction) marked(h *tar.Header, names []string) (bool, error) {
	if len(names) < 2 || names[0] != marker.Dir {
		return false, nil
	}
	if marker.IsHold(names[1]) {
		return true, x.skip(h)
	}
	if len(names) != 2 || h.Typeflag != tar.TypeReg || !marker.IsID(names[1], h.Size) {
		return false, nil
	}
	text, err := io.ReadAll(&budget{x, h.Name})
	if err != nil {
		return true, asMade(names, err)
	}
	if marker.IsText(string(text)) {
		x.done.Skipped = append(x.done.Skipped, h.Name)
		return true, nil
	}
	return true, x.small(h, names, text)
}

// skip leaves an entry out, and tells.
func (x *extraction) skip(h *tar.Header) error {
	x.done.Skipped = append(x.done.Skipped, h.Name)
	_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, &budget{x, h.Name}, x.piece)
	return asMade([]string{h.Name}, err)
}

// parent answers the open directory for the last of names, made if need be, and its node.
func (x *extraction) parent(names []string) (fsx.Dir, *node, error) {
	n := x.root
	for i, name := range names[:len(names)-1] {
		kid := n.kids[name]
		switch {
		case kid == nil:
			if err := x.counted(); err != nil {
				return nil, nil, err
			}
			if err := x.mkdir(names[:i+1]); err != nil {
				return nil, nil, err
			}
			kid = newDir()
			n.kids[name] = kid
		case kid.typ == fsx.Symlink:
			return nil, nil, refuse("%q lies behind a link of the archive", strings.Join(names, "/"))
		case kid.typ != fsx.Directory:
			return nil, nil, refuse("%q lies below a file", strings.Join(names, "/"))
		}
		n = kid
	}
	d, err := x.at.to(names[:len(names)-1])
	return d, n, err
}

// place is parent for a name that must be free.
func (x *extraction) place(names []string) (d fsx.Dir, n *node, last string, err error) {
	last = names[len(names)-1]
	d, n, err = x.parent(names)
	if err == nil && n.kids[last] != nil {
		err = refuse("it holds %q twice", strings.Join(names, "/"))
	}
	return d, n, last, err
}

func (x *extraction) mkdir(names []string) error {
	d, err := x.at.to(names[:len(names)-1])
	if err != nil {
		return err
	}
	x.done.Dirs++
	return made(names, d.Mkdir(names[len(names)-1], 0o700))
}

// made explains why a name could not be made.
func made(names []string, err error) error {
	path := strings.Join(names, "/")
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist): // two names that are one on this file system
		return refuse("it holds %q twice for this file system", path)
	case errors.Is(err, fsx.ErrNoSpace):
		return &retake.Error{Kind: retake.Limit, What: "there is no room for the archive", Safe: "Nothing of it was kept.", Err: err}
	}
	return fmt.Errorf("make %q: %w", path, err)
}
