package track

import (
	"strings"

	"golang.org/x/sys/unix"
)

// inotify names no files. One that was made, written and lost between two drains may
// have been a link to a file that lives on by another name, which nobody tells of:
// that is a doubt. A file that is moved to a place we watch is told there.

// brief is what was seen of the names of one root since the last drain.
type brief struct {
	born   map[string]bool // names that appeared, true when they were written too
	moving map[uint32]bool // moves of such a file whose end was not seen
}

func newBrief() brief { return brief{born: map[string]bool{}, moving: map[uint32]bool{}} }

func (i *inoWatch) follow(mask, cookie uint32, path string) {
	if i.doubt != "" {
		return
	}
	const writes = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB
	wrote, born := i.brief.born[path]
	switch {
	case mask&unix.IN_CREATE != 0:
		i.brief.born[path] = wrote
	case mask&writes != 0 && born:
		i.brief.born[path] = true
	case mask&unix.IN_MOVED_FROM != 0:
		if wrote {
			i.brief.moving[cookie] = true
		}
		delete(i.brief.born, path)
	case mask&(unix.IN_DELETE|unix.IN_MOVED_TO) != 0:
		delete(i.brief.moving, cookie)
		delete(i.brief.born, path)
		if wrote {
			i.doubts(lostName)
		}
	}
}

// followDir does so for a directory that is moved: what was made and written in it goes
// along. One that is removed was empty, and told of its names before.
func (i *inoWatch) followDir(mask, cookie uint32, dir string) {
	switch {
	case mask&unix.IN_MOVED_TO != 0:
		delete(i.brief.moving, cookie)
	case mask&unix.IN_MOVED_FROM != 0:
		for path, wrote := range i.brief.born {
			if strings.HasPrefix(path, dir+"/") {
				delete(i.brief.born, path)
				if wrote {
					i.brief.moving[cookie] = true
				}
			}
		}
	}
}

const lostName = "a file was changed by a name that is gone"

// linked answers the files that appeared and have other names: whoever is told of one
// now may find that name lost by the next time.
func (b brief) linked(root int) []uint64 {
	var out []uint64
	for path := range b.born {
		var st unix.Stat_t
		if unix.Fstatat(root, path, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Nlink > 1 {
			out = append(out, st.Ino)
		}
	}
	return out
}

// adrift reports whether a file that was made and written was moved away.
func (b brief) adrift() bool { return len(b.moving) > 0 }
