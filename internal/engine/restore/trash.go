package restore

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// trashManifest is the name of the list in a trash directory: the size and time of each file
// when a checkpoint captured it. A file that differs was written to since and is in no
// checkpoint.
const trashManifest = "list"

// trashEntry is one file that may be in a trash directory.
type trashEntry struct {
	Name     string        `json:"name"`
	Path     []byte        `json:"path"`
	Versions []fileVersion `json:"look"` // as it was, and as it should become
}

type fileVersion struct {
	Size  int64 `json:"size"`
	Mtime int64 `json:"mtime"`
}

// writeTrashManifest lists what the trash may contain, before anything is moved there.
func (r *applier) writeTrashManifest() error {
	f, err := r.trash.Create(trashManifest, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for i, o := range r.ops {
		if o.kind == opRemoveDir || o.kind == opSetMetadata {
			continue
		}
		h := trashEntry{Name: strconv.Itoa(i), Path: []byte(o.path)}
		if s, ok := r.Stamp(o.path); ok && o.step.Now != nil {
			h.Versions = append(h.Versions, fileVersion{s.Size, s.Mtime})
		}
		if t := o.step.Then; t != nil {
			h.Versions = append(h.Versions, fileVersion{t.Size, t.ModTime})
		}
		if err := enc.Encode(h); err != nil {
			return joinClose(err, f)
		}
	}
	return joinClose(w.Flush(), f)
}

// EmptyTrash removes files that a checkpoint contains from a trash directory. Files that were
// written to after they were displaced stay, and the directory with them.
func EmptyTrash(parent fsx.Dir, id string) error {
	d, err := parent.OpenDir(id)
	if err != nil {
		return fmt.Errorf("open hold: %w", err)
	}
	defer d.Close() //nolint:errcheck // a directory handle
	listed, err := readTrashManifest(d)
	if err != nil {
		return fmt.Errorf("read hold: %w", err)
	}
	stays := false
	for _, h := range listed {
		for _, name := range []string{h.Name, h.Name + unusedSuffix, h.Name + replacedSuffix} {
			stays = !removeTrashed(d, name, h) || stays
		}
	}
	if stays {
		return nil
	}
	if err := d.Remove(trashManifest); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clear hold: %w", err)
	}
	if err := parent.RemoveDir(id); err != nil && !errors.Is(err, fsx.ErrNotEmpty) {
		return fmt.Errorf("clear hold: %w", err)
	}
	return nil
}

// removeTrashed removes one file of the trash if it is unchanged, and reports whether the name
// is free.
func removeTrashed(d fsx.Dir, name string, h trashEntry) (gone bool) {
	i, err := d.Lstat(name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if i.Type == fsx.Directory {
		return d.RemoveDir(name) == nil
	}
	for _, l := range h.Versions {
		if i.Type != fsx.Regular || l.Size == i.Size && l.Mtime == i.Mtime {
			return d.Remove(name) == nil
		}
	}
	return false
}

// readTrashManifest reads the manifest as far as it was written. Files that it does not list
// are not removed.
func readTrashManifest(d fsx.Dir) ([]trashEntry, error) {
	f, err := d.OpenFile(trashManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	var out []trashEntry
	for dec := json.NewDecoder(bufio.NewReader(f)); dec.More(); {
		var h trashEntry
		if err := dec.Decode(&h); err != nil {
			return out, nil // the rest was cut off; what is not listed stays
		}
		out = append(out, h)
	}
	return out, nil
}
