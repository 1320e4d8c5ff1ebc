package restore

import (
	"errors"
	"maps"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/pure/tree"
)

// setDirsMetadata gives directories what they wear, those below first. A directory in which
// we changed names gets its time back.
func (r *applier) setDirsMetadata() error {
	wear := map[string]*retake.Entry{}
	for _, s := range slices.Concat(r.Plan.Writes, r.Plan.Times) {
		if isDir(s.Then) {
			wear[trimRoot(s.Path)] = s.Then
		}
	}
	paths := sortedKeys(wear)
	for p := range r.loosenedDirs {
		if wear[p] == nil {
			paths = append(paths, p)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return comparePaths(b, a) })
	for _, path := range paths {
		if err := r.setDirMetadata(path, wear[path]); err != nil {
			if errors.Is(err, fsx.ErrCrashed) {
				return err
			}
			r.recordFailure(displayPath(path), err)
		}
	}
	return nil
}

func displayPath(path string) string {
	if path == "" {
		return tree.Root
	}
	return path
}

func (r *applier) setDirMetadata(path string, e *retake.Entry) error {
	d, err := r.opener.openDir(path)
	if err != nil {
		return err
	}
	if err := r.verifyDir(d, path); err != nil {
		return err
	}
	if e == nil { // it was only made writable
		i, err := d.Stat()
		if err != nil {
			return err
		}
		return d.SetOwnMetadata(fsx.Metadata{Mode: r.loosenedDirs[path], Mtime: i.Mtime})
	}
	if r.createdDirs[path] == 0 {
		if e, err = preserveMarker(d, e); err != nil {
			return err
		}
	}
	return r.applyMetadata(e, d.SetOwnMetadata)
}

// preserveMarker leaves a directory that was there the mark by which we know it, and gives it
// none: a workspace may lie in another one. A directory that comes back brings its own.
func preserveMarker(d fsx.Dir, e *retake.Entry) (*retake.Entry, error) {
	has, err := d.Xattrs()
	if err != nil {
		return e, err
	}
	out, x := *e, extraOf(e)
	attrs := maps.Clone(withoutMarker(x.Xattrs))
	if id := has[marker.Xattr]; id != nil {
		if attrs == nil {
			attrs = map[string][]byte{}
		}
		attrs[marker.Xattr] = id
	}
	x.Xattrs = attrs
	out.Extra = &x
	return &out, nil
}
