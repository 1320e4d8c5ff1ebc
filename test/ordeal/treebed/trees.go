//go:build linux

// Package treebed holds what ordeals of captures stand on: odd trees, places to sow them,
// and an independent scan.
package treebed

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Sower makes a tree of everything that a workspace may hold. Plain trees hold
// only what the stock engine can express.
type Sower struct {
	Rnd   *rand.Rand
	Root  string
	Aside string // outside of the root, on the same file system
	Plain bool
	dirs  []string // made so far, parents first; the root is not among them
	files []string // regular files
	links []string // symbolic links
	Err   error    // the first one
}

func (s *Sower) Note(err error) {
	if s.Err == nil {
		s.Err = err
	}
}

// Names that trip programs. Those of plain trees are valid UTF-8, and none means
// something to the stock engine.
var (
	plainNames = []string{
		"new\nline", "esc\x1b[31mred", "tab\there", "quote\"'", `back\slash`, "e\u0301", "\u00e9", "Case", "case", "CASE",
		strings.Repeat("n", 255), strings.Repeat("\u00e9", 127) + "x", "-rf", "--help", " ", "...", "~", "*", "a b ", "<&>", "\u2028",
		"\u202etxt.exe", "\U0001f980", ".kopiaignore", ".gitignore", "CACHEDIR.TAG", "con", "$(id)", "%s%n", "x.db", "x.db-wal", "\x7f", "\u0001",
	}
	oddNames = []string{
		"bad\xff\xfeutf8", "\xc3\x28", "\xff", "\xfe", "bad\xffutf8", "bad\ufffdutf8", "x.kopia-entry", strings.Repeat("\xf0", 255), "\xed\xa0\x80",
	}
)

func (s *Sower) name() string {
	if s.Rnd.Intn(3) > 0 {
		return fmt.Sprintf("n%x", s.Rnd.Intn(1<<20))
	}
	if !s.Plain && s.Rnd.Intn(3) == 0 {
		return oddNames[s.Rnd.Intn(len(oddNames))]
	}
	return plainNames[s.Rnd.Intn(len(plainNames))]
}

// spot is a free path in a directory made so far, short enough for one call.
func (s *Sower) spot() string {
	for {
		dir := s.Root
		if n := len(s.dirs); n > 0 && s.Rnd.Intn(4) > 0 {
			dir = s.dirs[s.Rnd.Intn(n)]
		}
		p := dir + "/" + s.name()
		if _, err := os.Lstat(p); errors.Is(err, os.ErrNotExist) && len(p) < 3000 {
			return p
		}
	}
}

// Sow makes a tree of about n entries.
func (s *Sower) Sow(n int) error {
	s.Note(os.MkdirAll(s.Root, 0o755))
	s.Note(os.MkdirAll(s.Aside, 0o755))
	for range n {
		if s.Err != nil {
			return s.Err
		}
		switch k := s.Rnd.Intn(20); {
		case k < 4:
			s.dir()
		case k < 13:
			s.file(s.size())
		case k < 15:
			s.link()
		case !s.Plain:
			s.special()
		}
	}
	s.attributes()
	return s.Err
}

func (s *Sower) dir() {
	p := s.spot()
	s.Note(os.Mkdir(p, 0o755))
	s.dirs = append(s.dirs, p)
}

func (s *Sower) size() int {
	switch s.Rnd.Intn(8) {
	case 0:
		return 0
	case 1:
		return 4096 * s.Rnd.Intn(20)
	default:
		return s.Rnd.Intn(6000)
	}
}

func (s *Sower) Bytes(n int) []byte {
	b := make([]byte, n)
	_, _ = s.Rnd.Read(b) // never fails
	return b
}

func (s *Sower) file(n int) string {
	p := s.spot()
	s.Note(os.WriteFile(p, s.Bytes(n), 0o644))
	s.files = append(s.files, p)
	return p
}

func (s *Sower) link() {
	targets := []string{"nowhere", "/etc/passwd", "..", ".", "/", "a/../../b", strings.Repeat("l", 1000), "/dev/zero"}
	if len(s.files) > 0 {
		targets = append(targets, filepath.Base(s.files[0]), s.files[0])
	}
	if !s.Plain {
		targets = append(targets, "bad\xfftarget")
	}
	p := s.spot()
	s.Note(os.Symlink(targets[s.Rnd.Intn(len(targets))], p))
	s.links = append(s.links, p)
}

// special makes what the stock format has no word for.
func (s *Sower) special() {
	switch s.Rnd.Intn(6) {
	case 0:
		s.Note(unix.Mkfifo(s.spot(), 0o640))
	case 1:
		s.Note(unix.Mknod(s.spot(), unix.S_IFSOCK|0o600, 0))
	case 2:
		s.sparse()
	case 3:
		if len(s.files) > 0 {
			p := s.spot()
			s.Note(os.Link(s.files[s.Rnd.Intn(len(s.files))], p))
			s.files = append(s.files, p)
		}
	case 4:
		p := s.file(s.size())
		s.Note(os.Link(p, fmt.Sprintf("%s/%x", s.Aside, s.Rnd.Int63())))
	case 5:
		on := append([]string{s.Root}, s.dirs...)
		if s.Rnd.Intn(3) > 0 {
			on = s.files
		}
		for range 1 + s.Rnd.Intn(3) {
			if len(on) > 0 {
				s.Note(unix.Lsetxattr(on[s.Rnd.Intn(len(on))], fmt.Sprintf("user.%x", s.Rnd.Intn(50)), s.Bytes(s.Rnd.Intn(200)), 0))
			}
		}
	}
}

// sparse makes a file of holes and data, in any order.
func (s *Sower) sparse() {
	p := s.spot()
	f, err := os.Create(p)
	if s.Note(err); err != nil {
		return
	}
	size := int64(1+s.Rnd.Intn(64)) * 64 << 10
	s.Note(f.Truncate(size))
	for range s.Rnd.Intn(5) {
		_, err := f.WriteAt(s.Bytes(1+s.Rnd.Intn(9000)), s.Rnd.Int63n(size))
		s.Note(err)
	}
	s.Note(f.Close())
	s.files = append(s.files, p)
}

var (
	fileModes = []uint32{0o644, 0o755, 0o600, 0o400, 0, 0o4755, 0o2755, 0o1644, 0o7777, 0o666}
	dirModes  = []uint32{0o755, 0o700, 0, 0o1777, 0o2755, 0o555}
)

// attributes are set last and from the leaves up: making a name changes the time
// of its directory.
func (s *Sower) attributes() {
	for _, p := range s.files {
		s.dress(p, fileModes)
	}
	for _, p := range s.links {
		s.dress(p, nil)
	}
	for _, p := range slices.Backward(s.dirs) {
		s.dress(p, dirModes)
	}
}

func (s *Sower) dress(p string, modes []uint32) {
	if s.Rnd.Intn(3) == 0 {
		s.Note(os.Lchown(p, s.Rnd.Intn(70000), s.Rnd.Intn(70000)))
	}
	if modes != nil && s.Rnd.Intn(2) == 0 {
		s.Note(unix.Chmod(p, modes[s.Rnd.Intn(len(modes))]))
	}
	if s.Rnd.Intn(3) > 0 {
		s.Note(SetTime(p, s.checkpoint()))
	}
}

// checkpoint is a time in nanoseconds: before 1970, at it, now, in the future.
func (s *Sower) checkpoint() int64 {
	switch s.Rnd.Intn(6) {
	case 0:
		return -s.Rnd.Int63n(60 * 365 * 86400 * 1e9)
	case 1:
		return []int64{0, 1, -1, -1e9, 1e9 - 1, 4102444800e9 + 123456789}[s.Rnd.Intn(6)]
	default:
		return s.Rnd.Int63n(1.7e18)
	}
}

func SetTime(p string, ns int64) error {
	sec, rest := ns/1e9, ns%1e9
	if rest < 0 {
		sec, rest = sec-1, rest+1e9
	}
	t := unix.Timespec{Sec: sec, Nsec: rest}
	return unix.UtimesNanoAt(unix.AT_FDCWD, p, []unix.Timespec{t, t}, unix.AT_SYMLINK_NOFOLLOW)
}

// Big makes a file of several chunks.
func (s *Sower) Big() { s.file(5<<20 + s.Rnd.Intn(4<<20)) }

// Wide makes a directory of n entries.
func (s *Sower) Wide(n int) {
	d := s.Root + "/wide"
	s.Note(os.Mkdir(d, 0o755))
	for i := range n {
		if s.Err != nil {
			return
		}
		s.Note(os.WriteFile(fmt.Sprintf("%s/%x-%d", d, s.Rnd.Intn(1<<16), i), s.Bytes(i%40), 0o644))
	}
}

// Deep makes n levels below the root and a file at the end; no path is ever
// longer than one name.
func (s *Sower) Deep(n int) {
	at, err := unix.Open(s.Root, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if s.Note(err); err != nil {
		return
	}
	for range n {
		next := -1
		err := unix.Mkdirat(at, "d", 0o755)
		if err == nil {
			next, err = unix.Openat(at, "d", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		}
		s.Note(errors.Join(err, unix.Close(at)))
		if at = next; err != nil {
			return
		}
	}
	fd, err := unix.Openat(at, "leaf", unix.O_CREAT|unix.O_WRONLY, 0o600)
	if err == nil {
		_, err = unix.Write(fd, []byte("bottom"))
		err = errors.Join(err, unix.Close(fd))
	}
	s.Note(errors.Join(err, unix.Close(at)))
}
