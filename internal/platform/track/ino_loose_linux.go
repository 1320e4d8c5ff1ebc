package track

import (
	"strings"

	"golang.org/x/sys/unix"
)

// inotify does not identify files. One that was created, written and removed between two drains may
// have been a link to a file that lives on by another name, for which there is no event:
// that requires a rescan. A file that is moved to a directory we watch is reported there.

// nameActivity is what happened to the names of one root since the last drain.
type nameActivity struct {
	created   map[string]bool // names that were created; true if they were written too
	openMoves map[uint32]bool // cookies of moves of such files whose destination was not seen
}

func newNameActivity() nameActivity {
	return nameActivity{created: map[string]bool{}, openMoves: map[uint32]bool{}}
}

// trackName updates the activity of a file name.
func (i *inotifyWatch) trackName(mask, cookie uint32, path string) {
	if i.rescanReason != "" {
		return
	}
	const writes = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB
	wrote, born := i.activity.created[path]
	switch {
	case mask&unix.IN_CREATE != 0:
		i.activity.created[path] = wrote
	case mask&writes != 0 && born:
		i.activity.created[path] = true
	case mask&unix.IN_MOVED_FROM != 0:
		if wrote {
			i.activity.openMoves[cookie] = true
		}
		delete(i.activity.created, path)
	case mask&(unix.IN_DELETE|unix.IN_MOVED_TO) != 0:
		delete(i.activity.openMoves, cookie)
		delete(i.activity.created, path)
		if wrote {
			i.requireRescan(reasonLostName)
		}
	}
}

// trackMovedDir is trackName for a directory that is moved: the files that were created and
// written in it move along. A directory that is removed was empty before, and its names had
// events.
func (i *inotifyWatch) trackMovedDir(mask, cookie uint32, dir string) {
	switch {
	case mask&unix.IN_MOVED_TO != 0:
		delete(i.activity.openMoves, cookie)
	case mask&unix.IN_MOVED_FROM != 0:
		for path, wrote := range i.activity.created {
			if strings.HasPrefix(path, dir+"/") {
				delete(i.activity.created, path)
				if wrote {
					i.activity.openMoves[cookie] = true
				}
			}
		}
	}
}

const reasonLostName = "a file was changed by a name that is gone"

// linkedInodes returns the created files that have other names. They must be reported now,
// because the new name may be gone by the next drain.
func (b nameActivity) linkedInodes(root int) []uint64 {
	var out []uint64
	for path := range b.created {
		var st unix.Stat_t
		if unix.Fstatat(root, path, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Nlink > 1 {
			out = append(out, st.Ino)
		}
	}
	return out
}

// hasOpenMoves reports whether a file that was created and written was moved away.
func (b nameActivity) hasOpenMoves() bool { return len(b.openMoves) > 0 }
