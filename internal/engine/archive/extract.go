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

// Extract unpacks a tar archive, plain or compressed with gzip or zstd, into dir, which must
// be empty. An archive that is incomplete or would write anywhere else is refused with an
// Invalid error, and dir is empty again.
func Extract(ctx context.Context, r io.Reader, dir fsx.Dir, l Limits) (Report, error) {
	names, err := dir.Names()
	if err != nil {
		return Report{}, fmt.Errorf("look into the directory: %w", err)
	}
	if len(names) > 0 {
		return Report{}, &retake.Error{Kind: retake.Exists, What: "the directory is not empty", Safe: "Nothing was changed."}
	}
	x := &extractor{ctx: ctx, limits: l.withDefaults(), root: newDirNode(), opener: &dirOpener{root: dir}}
	err = x.extractAll(r)
	x.opener.closeAll()
	if err == nil {
		return x.report, nil
	}
	if cerr := clearDir(dir); cerr != nil {
		err = errors.Join(err, cerr)
	}
	return Report{}, err
}

type extractor struct {
	ctx        context.Context
	limits     Limits
	src        *inflatedSource
	tar        *tar.Reader
	root       *treeNode
	opener     *dirOpener
	report     Report
	entryCount int64 // names so far
	nameBytes  int64 // of all paths so far
	dirBytes   int64 // what the directories so far take on the disk
	kept       int64 // bytes of attributes of directories, which are set at the end
	listed     int64 // bytes of the paths in the report
	roomLeft   int64 // bytes that may be written before room is asked for again
	buf        []byte
}

const (
	chunkSize     = 64 << 10
	dirsExempt    = 16 << 20  // bytes that directories may take beyond the limit
	maxNames      = 128 << 20 // bytes of all paths: those of a million files, as long as files have them
	maxListed     = 16 << 20  // bytes of paths in a report
	maxKept       = 64 << 20  // bytes of attributes of directories
	maxAttributes = 64 << 10  // bytes of the attributes of one file, with their names
)

// extractAll extracts every entry, and then sets the metadata of directories. The caller clears the directory after an error.
func (x *extractor) extractAll(r io.Reader) (err error) {
	if x.src, err = newSource(x.ctx, r, x.limits.Bytes); err != nil {
		return err
	}
	defer x.src.closeReader()
	x.tar, x.buf = tar.NewReader(x.src), make([]byte, chunkSize)
	for {
		h, err := x.tar.Next()
		if errors.Is(err, io.EOF) && !x.src.ended {
			break
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // without a word that it is over
		}
		if err != nil {
			return x.src.raw.classifyError(x.ctx, err)
		}
		if err := x.extractEntry(h); err != nil {
			return err
		}
	}
	return x.setDirsMetadata(x.root, "")
}

// extractEntry validates one header and extracts its entry.
func (x *extractor) extractEntry(h *tar.Header) error {
	if err := x.countEntry(); err != nil {
		return err
	}
	if x.nameBytes += int64(len(h.Name)); x.nameBytes > maxNames {
		return invalidArchive("%q and what is before it have more than %d bytes of names", h.Name, maxNames)
	}
	if h.Typeflag == tar.TypeXGlobalHeader { // a remark of who made it
		return nil
	}
	names, err := x.limits.splitPath(h.Name)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		if h.Typeflag != tar.TypeDir {
			return invalidArchive("%q is no name", h.Name)
		}
		return nil // the directory itself is the caller's
	}
	if done, err := x.skipForeignMarker(h, names); done || err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		return x.extractFile(h, names)
	case tar.TypeDir:
		return x.extractDir(h, names)
	case tar.TypeSymlink:
		return x.extractSymlink(h, names)
	case tar.TypeLink:
		return x.extractHardLink(h, names)
	case tar.TypeFifo:
		return x.extractFIFO(h, names)
	}
	return invalidArchive("%q is a device, or of a type that is not known", h.Name)
}

func (x *extractor) countEntry() error {
	if x.entryCount++; x.entryCount > x.limits.Entries {
		return invalidArchive("it holds more than %d names", x.limits.Entries)
	}
	x.src.limit += overheadPerEntry
	return wrapCreateError(nil, x.reserveRoom(overheadPerEntry)) // a name takes room, too
}

// skipForeignMarker handles entries of the marker directory: the marker of another workspace
// and the trash of its restores are skipped, since a copy of a workspace is another workspace.
// Any other file there is extracted.
func (x *extractor) skipForeignMarker(h *tar.Header, names []string) (bool, error) {
	if len(names) < 2 || names[0] != marker.Dir {
		return false, nil
	}
	if marker.IsReplacedName(names[1]) {
		return true, x.skipEntry(h)
	}
	if len(names) != 2 || h.Typeflag != tar.TypeReg || !marker.IsMarkFile(names[1], h.Size) {
		return false, nil
	}
	text, err := io.ReadAll(&entryReader{x, h.Name})
	if err != nil {
		return true, wrapCreateError(names, err)
	}
	if marker.IsMarkText(string(text)) {
		x.list(&x.report.Skipped, h.Name)
		return true, nil
	}
	return true, x.extractBuffered(h, names, text)
}

// skipEntry skips an entry and lists it in the report.
func (x *extractor) skipEntry(h *tar.Header) error {
	x.list(&x.report.Skipped, h.Name)
	_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, &entryReader{x, h.Name}, x.buf)
	return wrapCreateError([]string{h.Name}, err)
}

// openParent opens the directory of the last name, creating missing directories, and returns
// its node.
func (x *extractor) openParent(names []string) (fsx.Dir, *treeNode, error) {
	n := x.root
	for i, name := range names[:len(names)-1] {
		kid := n.children[name]
		switch {
		case kid == nil:
			if err := x.countEntry(); err != nil {
				return nil, nil, err
			}
			if err := x.makeDir(names[:i+1]); err != nil {
				return nil, nil, err
			}
			kid = newDirNode()
			n.children[name] = kid
		case kid.typ == fsx.Symlink:
			return nil, nil, invalidArchive("%q lies behind a link of the archive", strings.Join(names, "/"))
		case kid.typ != fsx.Directory:
			return nil, nil, invalidArchive("%q lies below a file", strings.Join(names, "/"))
		}
		n = kid
	}
	d, err := x.opener.openDir(names[:len(names)-1])
	return d, n, err
}

// openFreeName is openParent for a name that must not exist yet.
func (x *extractor) openFreeName(names []string) (d fsx.Dir, n *treeNode, last string, err error) {
	last = names[len(names)-1]
	d, n, err = x.openParent(names)
	if err == nil && n.children[last] != nil {
		err = invalidArchive("it holds %q twice", strings.Join(names, "/"))
	}
	return d, n, last, err
}

func (x *extractor) makeDir(names []string) error {
	if x.dirBytes += overheadPerEntry; x.dirBytes+x.report.Bytes > x.limits.Bytes+dirsExempt {
		return invalidArchive("%q and what is before it take more than %d bytes on the disk", strings.Join(names, "/"), x.limits.Bytes)
	}
	d, err := x.opener.openDir(names[:len(names)-1])
	if err != nil {
		return err
	}
	x.report.Dirs++
	return explainCreateError(names, d.Mkdir(names[len(names)-1], 0o700))
}

// list adds a path to a list of the report, as long as memory is left for it.
func (x *extractor) list(to *[]string, path string) {
	if x.listed += int64(len(path)); x.listed > maxListed {
		x.report.Unlisted++
		return
	}
	*to = append(*to, strings.Clone(path)) // not the header around it
}

// explainCreateError explains why a name could not be created.
func explainCreateError(names []string, err error) error {
	path := strings.Join(names, "/")
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist): // two names that are one on this file system
		return invalidArchive("it holds %q twice for this file system", path)
	case errors.Is(err, fsx.ErrTooLarge):
		return invalidArchive("%q cannot be made on this file system: %s", path, fsx.CauseText(err))
	case errors.Is(err, fsx.ErrNoSpace):
		return &retake.Error{Kind: retake.Limit, What: "there is no room for the archive", Safe: "Nothing of it was kept.", Err: err}
	}
	return fmt.Errorf("make %q: %w", path, err)
}
