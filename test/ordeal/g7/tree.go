//go:build linux

package g7

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/test/ordeal/treebed"
)

// tracked is everything that the kernel tells of a path, and what is in it.
type tracked struct {
	stat unix.Stat_t
	sum  string
}

// same: the inode, and all that it wears; reading changes nothing of that.
func (t tracked) same(o tracked) bool {
	a, b := t.stat, o.stat
	a.Atim, b.Atim = unix.Timespec{}, unix.Timespec{}
	return a == b && t.sum == o.sum
}

// linked: the same, but for what another name of the file may have done to it.
func (t tracked) linked(o tracked) bool {
	o.stat.Ctim, o.stat.Nlink = t.stat.Ctim, t.stat.Nlink
	return t.same(o)
}

func (t tracked) inode() [2]uint64 { return [2]uint64{t.stat.Dev, t.stat.Ino} }

// survey looks at everything below dirs, by absolute path, into other file systems too.
// What lies below one of skip is not looked at.
func survey(dirs []string, skip ...string) (map[string]tracked, error) {
	out := map[string]tracked{}
	var visit func(p string) error
	visit = func(p string) error {
		for _, s := range skip {
			if p == s {
				return nil
			}
		}
		var t tracked
		if err := unix.Lstat(p, &t.stat); err != nil {
			return fmt.Errorf("survey %q: %w", p, err)
		}
		switch t.stat.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			b, err := readQuietly(p)
			if err != nil {
				return err
			}
			t.sum = string(b)
		case unix.S_IFLNK:
			text, err := os.Readlink(p)
			if err != nil {
				return err
			}
			t.sum = text
		case unix.S_IFDIR:
			names, err := os.ReadDir(p)
			if err != nil {
				return err
			}
			for _, n := range names {
				if err := visit(p + "/" + n.Name()); err != nil {
					return err
				}
			}
		}
		out[p] = t
		return nil
	}
	for _, d := range dirs {
		if err := visit(d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func readQuietly(p string) ([]byte, error) {
	fd, err := unix.Open(p, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NOATIME, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), p)
	defer f.Close() //nolint:errcheck // only read
	var b strings.Builder
	_, err = f.WriteTo(&b)
	return []byte(b.String()), err
}

// trap is a tree full of things that no restore may touch.
type trap struct {
	*treebed.Sower
	root     string
	outside  string
	user     int // who restores; 0 is root
	canaries map[string]string
}

// canary plants a file that no checkpoint holds, or that no plan may name, and notes its class.
func (t *trap) canary(class, p string) {
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Note(err)
		return
	}
	t.Note(os.WriteFile(p, []byte("canary "+class), 0o644))
	t.canaries[p] = class
}

// first plants what is there at the checkpoint that is gone back to.
func (t *trap) first() {
	t.Note(os.WriteFile(t.root+"/.gitignore", []byte("ignored/\n*.ig\n"), 0o644))
	t.canary("excluded", t.root+"/early.skip")
	t.canary("ignored", t.root+"/early.ig")
	for _, d := range []string{"edited", "turned", "went", "way"} {
		for i := range 3 {
			t.put(fmt.Sprintf("%s/f%d", d, i), "first")
		}
	}
	t.canary("outside", t.outside+"/dir/f0")
	t.canary("outside", t.outside+"/file")
	t.Note(os.Symlink(t.outside+"/file", t.root+"/to-file"))
	t.Note(os.Symlink(t.outside+"/dir", t.root+"/to-dir"))
	t.Note(unix.Mkfifo(t.root+"/quiet-pipe", 0o600))
	t.canaries[t.root+"/quiet-pipe"] = "fifo"
	t.Note(unix.Mknod(t.root+"/quiet-socket", unix.S_IFSOCK|0o600, 0))
	t.canaries[t.root+"/quiet-socket"] = "socket"
	for class, name := range map[string]string{"not UTF-8": "quiet\xff\xfe", "newline": "quiet\nname", "255 bytes": strings.Repeat("q", 255)} {
		t.put("quiet/"+name, class)
		t.canaries[t.root+"/quiet/"+name] = class
	}
}

func (t *trap) put(name, text string) {
	p := t.root + "/" + name
	t.Note(os.MkdirAll(filepath.Dir(p), 0o755))
	t.Note(os.WriteFile(p, []byte(text+" "+name), 0o644))
}

// second makes of it what is there now: more canaries, some of them in the way.
func (t *trap) second() {
	t.put("edited/f0", "second")
	t.Note(os.RemoveAll(t.root + "/went"))
	t.Note(os.RemoveAll(t.root + "/turned"))
	t.Note(os.Symlink(t.outside+"/dir", t.root+"/turned")) // f0 lies there as well
	for _, d := range []string{"new", "new/deep", "edited"} {
		t.put(d+"/came", "second")
		t.canary("excluded", t.root+"/"+d+"/late.skip")
		t.canary("excluded", t.root+"/"+d+"/skipped/below/f")
		t.canary("ignored", t.root+"/"+d+"/late.ig")
		t.canary("ignored", t.root+"/"+d+"/ignored/f")
		t.large(t.root + "/" + d + "/large")
	}
	t.device("new/device")
	t.Note(os.RemoveAll(t.root + "/way/f0"))
	t.device("way/f0") // where a file should come back
	t.Note(os.RemoveAll(t.root + "/way/f1"))
	t.canary("excluded", t.root+"/way/f1/late.skip")
	t.Note(os.RemoveAll(t.root + "/edited/f1"))
	t.Note(os.Symlink(t.outside+"/file", t.root+"/edited/f1"))
	t.Note(os.Link(t.outside+"/file", t.root+"/new/hard")) // its other name lies outside
	t.put("new/bad\xff\xfename", "second")
	t.put("new/new\nline", "second")
	t.put("new/"+strings.Repeat("m", 255), "second")
	if t.user != 0 {
		t.canary("unreadable", t.root+"/new/secret")
		t.canary("unreadable", t.root+"/edited/secret")
		t.canary("unreadable", t.root+"/new/shut/f")
	}
}

func (t *trap) large(p string) {
	t.canary("too big", p)
	t.Note(os.WriteFile(p, t.Bytes(100<<10), 0o644))
}

func (t *trap) device(name string) {
	p := t.root + "/" + name
	t.Note(unix.Mknod(p, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))))
	t.canaries[p] = "device"
}

// give makes the tree that of the user, but for what that one may not read.
func (t *trap) give() {
	if t.user == 0 {
		return
	}
	all, err := survey([]string{t.root})
	t.Note(err)
	for p, i := range all {
		if t.canaries[p] == "unreadable" || t.canaries[p] == "device" || strings.HasSuffix(p, "/new/shut") {
			continue
		}
		if i.stat.Mode&unix.S_IFMT != unix.S_IFLNK {
			t.Note(os.Lchown(p, t.user, t.user))
			t.Note(unix.Chmod(p, i.stat.Mode&0o7777)) // a change of owner takes setuid away
		}
	}
	for p, class := range t.canaries {
		if class == "unreadable" && t.root == p[:len(t.root)] {
			if err := os.Chmod(p, 0o600); !errors.Is(err, os.ErrNotExist) {
				t.Note(err)
			}
		}
	}
	if err := os.Chmod(t.root+"/new/shut", 0o700); !errors.Is(err, os.ErrNotExist) {
		t.Note(err)
	}
}

func newTrap(rnd *rand.Rand, root, outside string, user int) *trap {
	s := &treebed.Sower{Rnd: rnd, Root: root + "/sown", Aside: outside + "/aside"}
	return &trap{Sower: s, root: root, outside: outside, user: user, canaries: map[string]string{}}
}
