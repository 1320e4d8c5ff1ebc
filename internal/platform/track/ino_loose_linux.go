package track

import (
	"strings"

	"golang.org/x/sys/unix"
)

// inotify names no files. One that was made, written and lost between two drains may
// have been a link to a file that lives on by another name, which nobody tells of:
// that is a doubt. A file that is moved to a place we watch is told there.

// nameActivity is what was seen of the names of one root since the last drain.
type nameActivity struct {
	created   map[string]bool // names that appeared, true when they were written too
	openMoves map[uint32]bool // moves of such a file whose end was not seen
}

func newNameActivity() nameActivity {
	return nameActivity{created: map[string]bool{}, openMoves: map[uint32]bool{}}
}

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

// trackMovedDir does so for a directory that is moved: what was made and written in it goes
// along. One that is removed was empty, and told of its names before.
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

// linkedInodes answers the files that appeared and have other names: whoever is told of one
// now may find that name lost by the next time.
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

// hasOpenMoves reports whether a file that was made and written was moved away.
func (b nameActivity) hasOpenMoves() bool { return len(b.openMoves) > 0 }
