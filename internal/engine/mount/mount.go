// Package mount shows the timeline of a workspace as folders that can only be read.
//
// It asks a Service and serves the kernel. It writes nothing, keeps nothing on
// disk, and lets nobody in but the user who mounted.
//
//	O1  Nothing can be written, by whatever way the mount is reached: EROFS.
//	O2  A file gives all its recorded bytes, or EIO; never fewer, never others.
//	O3  The folder of a checkpoint keeps its name as long as the mount is there.
//	O4  No bit that gives rights to others (setuid, setgid) is shown, and no device.
//	O5  A mount ends with its context. While somebody is inside, only root can take it
//	    away; for others it gives no more bytes, and Serve returns Busy.
package mount

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
)

// Options say what to mount.
type Options struct {
	Workspace retake.Workspace
	Service   retake.Service
	Clock     clock.Clock                    // nil: the wall's
	Label     func(retake.Checkpoint) string // name of a folder; nil: Label
}

const nothingChanged = "Nothing was changed."

// mountPoint returns the absolute path to mount at: an empty directory outside the workspace.
// A mount hides what is below it, and inside the workspace it would be a gap in every later
// checkpoint.
func mountPoint(dir string, ws retake.Workspace) (string, error) {
	refuse := func(k retake.ErrorKind, what, hint string, err error) error {
		return &retake.Error{Kind: k, What: fmt.Sprintf("%s %s", dir, what), Safe: nothingChanged, Hint: hint, Err: err}
	}
	full, err := filepath.Abs(dir)
	if err == nil {
		full, err = filepath.EvalSymlinks(full)
	}
	if os.IsNotExist(err) {
		return "", refuse(retake.NotFound, "is not there", "make it first: mkdir "+dir, nil)
	}
	var names []os.DirEntry
	if err == nil {
		names, err = os.ReadDir(full)
	}
	root := ws.Root
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	switch {
	case err != nil:
		return "", refuse(retake.Invalid, "cannot be mounted on", "if an old mount hangs there: fusermount3 -u -z "+dir, err)
	case isWithin(full, root):
		return "", refuse(retake.Invalid, "lies in the workspace "+ws.Root, "choose a directory outside of it", nil)
	case len(names) > 0:
		return "", refuse(retake.Invalid, "is not empty", "choose an empty directory", nil)
	}
	return full, nil
}

func isWithin(dir, root string) bool {
	return dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/")
}
