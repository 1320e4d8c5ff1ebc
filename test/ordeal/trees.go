//go:build linux

package main

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

// sower makes a tree of everything that a workspace may hold. Plain trees hold
// only what the stock engine can express.
type sower struct {
	rnd   *rand.Rand
	root  string
	aside string // outside of the root, on the same file system
	plain bool
	dirs  []string // made so far, parents first; the root is not among them
	files []string // regular files
	links []string // symbolic links
	err   error    // the first one
}

func (s *sower) note(err error) {
	if s.err == nil {
		s.err = err
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

func (s *sower) name() string {
	if s.rnd.Intn(3) > 0 {
		return fmt.Sprintf("n%x", s.rnd.Intn(1<<20))
	}
	if !s.plain && s.rnd.Intn(3) == 0 {
		return oddNames[s.rnd.Intn(len(oddNames))]
	}
	return plainNames[s.rnd.Intn(len(plainNames))]
}

// spot is a free path in a directory made so far, short enough for one call.
func (s *sower) spot() string {
	for {
		dir := s.root
		if n := len(s.dirs); n > 0 && s.rnd.Intn(4) > 0 {
			dir = s.dirs[s.rnd.Intn(n)]
		}
		p := dir + "/" + s.name()
		if _, err := os.Lstat(p); errors.Is(err, os.ErrNotExist) && len(p) < 3000 {
			return p
		}
	}
}

// sow makes a tree of about n entries.
func (s *sower) sow(n int) error {
	s.note(os.MkdirAll(s.root, 0o755))
	s.note(os.MkdirAll(s.aside, 0o755))
	for range n {
		if s.err != nil {
			return s.err
		}
		switch k := s.rnd.Intn(20); {
		case k < 4:
			s.dir()
		case k < 13:
			s.file(s.size())
		case k < 15:
			s.link()
		case !s.plain:
			s.special()
		}
	}
	s.attributes()
	return s.err
}

func (s *sower) dir() {
	p := s.spot()
	s.note(os.Mkdir(p, 0o755))
	s.dirs = append(s.dirs, p)
}

func (s *sower) size() int {
	switch s.rnd.Intn(8) {
	case 0:
		return 0
	case 1:
		return 4096 * s.rnd.Intn(20)
	default:
		return s.rnd.Intn(6000)
	}
}

func (s *sower) bytes(n int) []byte {
	b := make([]byte, n)
	_, _ = s.rnd.Read(b) // never fails
	return b
}

func (s *sower) file(n int) string {
	p := s.spot()
	s.note(os.WriteFile(p, s.bytes(n), 0o644))
	s.files = append(s.files, p)
	return p
}

func (s *sower) link() {
	targets := []string{"nowhere", "/etc/passwd", "..", ".", "/", "a/../../b", strings.Repeat("l", 1000), "/dev/zero"}
	if len(s.files) > 0 {
		targets = append(targets, filepath.Base(s.files[0]), s.files[0])
	}
	if !s.plain {
		targets = append(targets, "bad\xfftarget")
	}
	p := s.spot()
	s.note(os.Symlink(targets[s.rnd.Intn(len(targets))], p))
	s.links = append(s.links, p)
}

// special makes what the stock format has no word for.
func (s *sower) special() {
	switch s.rnd.Intn(6) {
	case 0:
		s.note(unix.Mkfifo(s.spot(), 0o640))
	case 1:
		s.note(unix.Mknod(s.spot(), unix.S_IFSOCK|0o600, 0))
	case 2:
		s.sparse()
	case 3:
		if len(s.files) > 0 {
			p := s.spot()
			s.note(os.Link(s.files[s.rnd.Intn(len(s.files))], p))
			s.files = append(s.files, p)
		}
	case 4:
		p := s.file(s.size())
		s.note(os.Link(p, fmt.Sprintf("%s/%x", s.aside, s.rnd.Int63())))
	case 5:
		on := append([]string{s.root}, s.dirs...)
		if s.rnd.Intn(3) > 0 {
			on = s.files
		}
		for range 1 + s.rnd.Intn(3) {
			if len(on) > 0 {
				s.note(unix.Lsetxattr(on[s.rnd.Intn(len(on))], fmt.Sprintf("user.%x", s.rnd.Intn(50)), s.bytes(s.rnd.Intn(200)), 0))
			}
		}
	}
}

// sparse makes a file of holes and data, in any order.
func (s *sower) sparse() {
	p := s.spot()
	f, err := os.Create(p)
	if s.note(err); err != nil {
		return
	}
	size := int64(1+s.rnd.Intn(64)) * 64 << 10
	s.note(f.Truncate(size))
	for range s.rnd.Intn(5) {
		_, err := f.WriteAt(s.bytes(1+s.rnd.Intn(9000)), s.rnd.Int63n(size))
		s.note(err)
	}
	s.note(f.Close())
	s.files = append(s.files, p)
}

var (
	fileModes = []uint32{0o644, 0o755, 0o600, 0o400, 0, 0o4755, 0o2755, 0o1644, 0o7777, 0o666}
	dirModes  = []uint32{0o755, 0o700, 0, 0o1777, 0o2755, 0o555}
)

// attributes are set last and from the leaves up: making a name changes the time
// of its directory.
func (s *sower) attributes() {
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

func (s *sower) dress(p string, modes []uint32) {
	if s.rnd.Intn(3) == 0 {
		s.note(os.Lchown(p, s.rnd.Intn(70000), s.rnd.Intn(70000)))
	}
	if modes != nil && s.rnd.Intn(2) == 0 {
		s.note(unix.Chmod(p, modes[s.rnd.Intn(len(modes))]))
	}
	if s.rnd.Intn(3) > 0 {
		s.note(setTime(p, s.checkpoint()))
	}
}

// checkpoint is a time in nanoseconds: before 1970, at it, now, in the future.
func (s *sower) checkpoint() int64 {
	switch s.rnd.Intn(6) {
	case 0:
		return -s.rnd.Int63n(60 * 365 * 86400 * 1e9)
	case 1:
		return []int64{0, 1, -1, -1e9, 1e9 - 1, 4102444800e9 + 123456789}[s.rnd.Intn(6)]
	default:
		return s.rnd.Int63n(1.7e18)
	}
}

func setTime(p string, ns int64) error {
	sec, rest := ns/1e9, ns%1e9
	if rest < 0 {
		sec, rest = sec-1, rest+1e9
	}
	t := unix.Timespec{Sec: sec, Nsec: rest}
	return unix.UtimesNanoAt(unix.AT_FDCWD, p, []unix.Timespec{t, t}, unix.AT_SYMLINK_NOFOLLOW)
}

// big makes a file of several chunks.
func (s *sower) big() { s.file(5<<20 + s.rnd.Intn(4<<20)) }

// wide makes a directory of n entries.
func (s *sower) wide(n int) {
	d := s.root + "/wide"
	s.note(os.Mkdir(d, 0o755))
	for i := range n {
		if s.err != nil {
			return
		}
		s.note(os.WriteFile(fmt.Sprintf("%s/%x-%d", d, s.rnd.Intn(1<<16), i), s.bytes(i%40), 0o644))
	}
}

// deep makes n levels below the root and a file at the end; no path is ever
// longer than one name.
func (s *sower) deep(n int) {
	at, err := unix.Open(s.root, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if s.note(err); err != nil {
		return
	}
	for range n {
		next := -1
		err := unix.Mkdirat(at, "d", 0o755)
		if err == nil {
			next, err = unix.Openat(at, "d", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		}
		s.note(errors.Join(err, unix.Close(at)))
		if at = next; err != nil {
			return
		}
	}
	fd, err := unix.Openat(at, "leaf", unix.O_CREAT|unix.O_WRONLY, 0o600)
	if err == nil {
		_, err = unix.Write(fd, []byte("bottom"))
		err = errors.Join(err, unix.Close(fd))
	}
	s.note(errors.Join(err, unix.Close(at)))
}
