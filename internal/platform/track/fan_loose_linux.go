package track

import (
	"encoding/binary"
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

// A file may be written by one name, which is removed, and live on by another for which
// there is no event: a link that was created, written through and removed. So the handles
// of changed files are kept by name, and if that name is lost before it
// is drained, the current path of the file is looked up by its handle.

// fileTrail is what was seen of the files of one root since the last drain.
type fileTrail map[string]map[string]*nameHistory // by the handle of a directory, and name

// nameHistory is what happened to one name: the files that were changed by it, and whether it
// was removed or replaced.
type nameHistory struct {
	files []string
	lost  bool
}

// entryFor returns the history of a name, and creates it if there is none.
func (t fileTrail) entryFor(dir, name string) *nameHistory {
	if t[dir] == nil {
		t[dir] = map[string]*nameHistory{}
	}
	if t[dir][name] == nil {
		t[dir][name] = &nameHistory{}
	}
	return t[dir][name]
}

// maxFilesPerName bounds the files that are remembered for one name. A name that is replaced
// more often between two drains requires a rescan.
const maxFilesPerName = 64

// trackFile records which file was changed by a name, and whether the name was lost.
func (f *fanotifyWatch) trackFile(mask uint64, dir, file []byte, name string) {
	if f.rescanReason != "" || mask&unix.FAN_ONDIR != 0 {
		return
	}
	const writes = unix.FAN_MODIFY | unix.FAN_CLOSE_WRITE | unix.FAN_ATTRIB
	const losses = unix.FAN_DELETE | unix.FAN_MOVED_FROM | unix.FAN_MOVED_TO
	at := f.trail.entryFor(string(dir), name)
	at.lost = at.lost || mask&losses != 0
	if mask&writes == 0 || file == nil || slices.Contains(at.files, string(file)) {
		return
	}
	if at.files = append(at.files, string(file)); len(at.files) > maxFilesPerName {
		f.requireRescan("a name was replaced too often")
	}
}

// lostFiles returns the files whose name was lost, by itself or with a directory that is not
// below the root any more.
func (t fileTrail) lostFiles(away func(dir string) bool) []string {
	var out []string
	for dir, names := range t {
		all := away(dir)
		for _, at := range names {
			if all || at.lost {
				out = append(out, at.files...)
			}
		}
	}
	return out
}

// resolveLostFile reports the current path of a file that was changed by a name that is lost.
// A file without any name is ignored: its bytes are gone.
func (f *fanotifyWatch) resolveLostFile(file string, root int, at *rootInfo, d *DirtySet) {
	path, exact, err := resolveHandleKey(root, file)
	if errors.Is(err, errGone) {
		return
	}
	if err == nil && exact {
		rel, inside := relativePath(at.path, path)
		alone, there := verifyFilePath(file, path)
		switch {
		case there && inside:
			d.Paths[rel] |= MarkName
			return
		case there && alone:
			return
		}
	}
	d.requireRescan(reasonLostName)
}

// resolveLostFiles resolves the files of a trail that lost their names. away are the
// directories that are not below the root any more.
func (f *fanotifyWatch) resolveLostFiles(t fileTrail, away map[string]bool, root int, at *rootInfo, d *DirtySet) {
	for _, file := range t.lostFiles(func(dir string) bool { return away[dir] }) {
		f.resolveLostFile(file, root, at, d)
	}
}

// verifyFilePath reports whether the file is really at the path, and whether it has no other
// name. For a file whose names the kernel has not cached, or whose cached name was removed,
// the path from the kernel is wrong.
func verifyFilePath(file, path string) (alone, there bool) {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, path, 0)
	if err != nil || handleKey(h) != file {
		return false, false
	}
	var st unix.Stat_t
	err = unix.Lstat(path, &st)
	return st.Nlink == 1, err == nil
}

// noteLinkChange keeps the inode number of a file that may or may not be below the root. It
// does not count as an event.
func (f *fanotifyWatch) noteLinkChange(ino uint64) {
	if f.linkedInodes[ino] = true; len(f.linkedInodes) > f.watch.notifier.maxPaths {
		f.requireRescan("more files with other names than are kept")
	}
}

// reportLinkChanges reports the files whose number of links changed.
func (f *fanotifyWatch) reportLinkChanges(d *DirtySet) {
	for path, m := range f.relinkedPaths {
		d.Paths[path] |= m
	}
	for ino := range f.linkedInodes {
		d.Inodes = append(d.Inodes, ino)
	}
	f.relinkedPaths, f.linkedInodes = map[string]Mark{}, map[uint64]bool{}
}

// locateFile returns a name of a file, which may be outdated, and its inode number.
func locateFile(mount int, file string) (path string, ino uint64, err error) {
	kind := int32(binary.NativeEndian.Uint32([]byte(file[4:handleHeaderSize])))
	fd, err := openByHandle(mount, unix.NewFileHandle(kind, []byte(file[handleHeaderSize:])))
	switch {
	case errors.Is(err, unix.ESTALE), errors.Is(err, unix.ENOENT):
		return "", 0, errGone
	case err != nil:
		return "", 0, err
	}
	defer closeFD(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return "", 0, err
	}
	if st.Nlink == 0 {
		return "", 0, errGone
	}
	path, err = fdPath(fd)
	if errors.Is(err, unix.ENAMETOOLONG) {
		path, err = "", nil
	}
	return path, st.Ino, err
}
