package retake

// Kind says what an entry of a tree is.
type Kind string

// The kinds we keep. Devices are not kept; coverage names them.
const (
	KindFile    Kind = "file"
	KindDir     Kind = "dir"
	KindSymlink Kind = "symlink"
	KindFIFO    Kind = "fifo"
	KindSocket  Kind = "socket"
)

// Entry is one name in a directory of a tree. Names are bytes: they may hold
// newlines, escape sequences or invalid UTF-8, and never "/" or NUL.
type Entry struct {
	Name    string   `json:"name"`
	Kind    Kind     `json:"kind"`
	Mode    uint32   `json:"mode"` // permission bits with setuid, setgid and sticky
	UID     uint32   `json:"uid"`
	GID     uint32   `json:"gid"`
	Size    int64    `json:"size"`     // bytes of a file, of a link's text; 0 for the rest
	ModTime int64    `json:"mod_time"` // nanoseconds since 1970
	Object  ObjectID `json:"object"`   // the bytes, the link's text, or the directory
	Sum     Summary  `json:"sum,omitzero"`
	Extra   *Extra   `json:"extra,omitempty"`
}

// Extra holds what only few entries have.
type Extra struct {
	Group  string            `json:"group,omitempty"`  // entries of one group are hard links of each other
	Xattrs map[string][]byte `json:"xattrs,omitempty"` // user.*, access control lists, capabilities
	Holes  []Hole            `json:"holes,omitempty"`
}

// Companions are what the names of files end in that SQLite keeps beside a database. They
// are of one piece with it, at capture and at restore.
var Companions = []string{"-wal", "-shm", "-journal"}

// Hole is a range of a sparse file that takes no room on disk and reads as zeros.
type Hole struct {
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
}

// Summary counts what lies below a directory.
type Summary struct {
	Files    int64 `json:"files"`
	Dirs     int64 `json:"dirs"` // the directory itself included
	Symlinks int64 `json:"symlinks"`
	Bytes    int64 `json:"bytes"`
	MaxTime  int64 `json:"max_time"` // newest modification below, nanoseconds
}

// Add counts the child e into s. An empty directory takes its own time instead;
// whoever writes the directory does that.
func (s *Summary) Add(e *Entry) {
	s.MaxTime = max(s.MaxTime, e.ModTime)
	switch e.Kind {
	case KindDir:
		s.Files += e.Sum.Files
		s.Dirs += e.Sum.Dirs
		s.Symlinks += e.Sum.Symlinks
		s.Bytes += e.Sum.Bytes
		s.MaxTime = max(s.MaxTime, e.Sum.MaxTime)
	case KindSymlink:
		s.Symlinks++
	case KindFile, KindFIFO, KindSocket:
		s.Files++
		s.Bytes += e.Size
	}
}

// GrantsRights reports whether a file runs with more rights than whoever starts it has: with those of
// its owner or group, or with capabilities.
func (e *Entry) GrantsRights() bool {
	const setid, capability = 0o6000, "security.capability"
	return e.Kind == KindFile && (e.Mode&setid != 0 || e.Extra != nil && e.Extra.Xattrs[capability] != nil)
}
