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

// setDirsMetadata sets the metadata of directories, the deepest first, and resets the times of
// those in which names changed.
func (r *applier) setDirsMetadata() error {
	metadata := map[string]*retake.Entry{}
	for _, s := range slices.Concat(r.Plan.Writes, r.Plan.Times) {
		if isDir(s.Then) {
			metadata[trimRoot(s.Path)] = s.Then
		}
	}
	paths := sortedKeys(metadata)
	for p := range r.loosenedDirs {
		if metadata[p] == nil {
			paths = append(paths, p)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return comparePaths(b, a) })
	for _, path := range paths {
		if err := r.setDirMetadata(path, metadata[path]); err != nil {
			if errors.Is(err, fsx.ErrCrashed) {
				return err
			}
			r.recordFailure(displayPath(path), err)
		}
	}
	return nil
}

// displayPath returns the name of the root for "" and any other path unchanged.
func displayPath(path string) string {
	if path == "" {
		return tree.Root
	}
	return path
}

// setDirMetadata sets the metadata of one directory, or resets the mode of one that was only
// made writable.
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

// preserveMarker returns e with the workspace marker that the directory has now, or without
// one: a workspace may be inside another one. A directory that is created again has the marker
// of its entry.
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
