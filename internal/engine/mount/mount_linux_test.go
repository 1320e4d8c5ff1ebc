package mount_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/mount"
)

const first = "0001 12.00 start"

func TestTimeline(t *testing.T) {
	t.Parallel()
	d := newMountTest(t, func(d *mountTest) { d.writeFile("a", "one") })
	d.writeFile("a", "two")
	d.save("working version", "keep/it")
	d.mount(mount.Options{})
	if diff := cmp.Diff([]string{first, "0002 12.00 working version", "keep_it", "latest"}, d.listNames("")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := d.readFile(first+"/a") + d.readFile("latest/a") + d.readFile("keep_it/a"); got != "onetwotwo" {
		t.Errorf("got %q", got)
	}
	to, err := os.Readlink(d.mountPath("latest"))
	must(t, err)
	if to != "0002 12.00 working version" {
		t.Errorf("latest leads to %q", to)
	}
	if _, err := os.Lstat(d.mountPath("0003")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
	if i, err := os.Lstat(d.mountPath(first)); err != nil || i.Mode() != fs.ModeDir|0o755 || !i.ModTime().Equal(noon) {
		t.Errorf("a folder: %v %v", i, err)
	}
}

// New checkpoints appear at most a second later, names stay, and what is forgotten goes.
func TestTimelineGoesOn(t *testing.T) {
	t.Parallel()
	d := newMountTest(t, func(d *mountTest) { d.writeFile("a", "one") })
	d.mount(mount.Options{})
	if got := d.readFile("latest/a"); got != "one" {
		t.Fatalf("got %q", got)
	}
	asked := d.s.logs.Load()
	d.writeFile("a", "two")
	d.save("second", "")
	if got := d.listNames(""); len(got) != 2 || d.s.logs.Load() != asked {
		t.Errorf("asked again within a second: %q", got)
	}
	d.clock.Advance(24 * time.Hour)
	d.writeFile("a", "three")
	d.save("third", "")
	want := []string{first, "0002 2026-11-03 12.00 second", "0003 12.00 third", "latest"}
	if diff := cmp.Diff(want, d.listNames("")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, _ := os.Readlink(d.mountPath("latest")); got != "0003 12.00 third" || d.readFile(got+"/a") != "three" {
		t.Errorf("latest leads to %q", got)
	}
	_, err := d.s.Forget(t.Context(), d.ws.ID, []string{"2"})
	must(t, err)
	d.clock.Advance(time.Minute)
	if diff := cmp.Diff([]string{first, "0003 12.00 third", "latest"}, d.listNames("")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// More checkpoints than one page holds are all there, and new ones cost one page.
func TestManyCheckpoints(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a thousand saves")
	}
	d := newMountTest(t, func(d *mountTest) { d.writeFile("a", "one") })
	for range 1000 {
		d.save("", "")
	}
	d.mount(mount.Options{})
	if got := len(d.listNames("")); got != 1002 {
		t.Errorf("%d names", got)
	}
	asked := d.s.logs.Load()
	d.save("", "")
	d.clock.Advance(time.Minute)
	if got := len(d.listNames("")); got != 1003 || d.s.logs.Load() != asked+1 {
		t.Errorf("%d names, asked %d times", got, d.s.logs.Load()-asked)
	}
}

// Names that somebody else chooses are made safe, and told apart.
func TestLabelOfOthers(t *testing.T) {
	t.Parallel()
	d := newMountTest(t, func(d *mountTest) { d.writeFile("a", "one") })
	for _, pin := range []string{"same", "x/y", "x\ny", "..", "x_y"} {
		d.save("", pin)
	}
	d.mount(mount.Options{Label: func(cp retake.Checkpoint) string {
		return map[int64]string{1: "latest", 2: "a/b", 3: "a_b", 4: "", 5: "same", 6: "fine"}[cp.Number]
	}})
	want := []string{"0001 12.00 start", "0003 12.00", "0004 12.00", "a_b", "fine", "latest", "same", "x y", "x_y"}
	if diff := cmp.Diff(want, d.listNames("")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	when, closed := time.Unix(-5, 250), fs.FileMode(0o400)
	if os.Geteuid() == 0 {
		closed = 0 // what others cannot read, no snapshot of theirs holds
	}
	d := newMountTest(t, func(d *mountTest) {
		in := func(name string) string { return filepath.Join(d.root, name) }
		d.writeFile("dir/below/deep", "deep")
		d.writeFile("strange \xff\n name", "strange")
		d.writeFile("empty", "")
		d.writeFile("tool", "run")
		d.writeFile("closed", "closed")
		must(t, os.Chmod(in("closed"), closed))
		must(t, os.Chmod(in("tool"), 0o755|fs.ModeSetuid|fs.ModeSetgid))
		must(t, os.Chmod(in("dir"), 0o750|fs.ModeSticky))
		must(t, os.Symlink("../outside/\xff", in("link")))
		must(t, syscall.Mkfifo(in("pipe"), 0o640))
		must(t, os.Chtimes(in("tool"), when, when))
		_ = syscall.Setxattr(in("tool"), "user.note", []byte("xyz"), 0)
	})
	d.mount(mount.Options{})
	if diff := cmp.Diff([]string{"closed", "dir", "empty", "link", "pipe", "strange \xff\n name", "tool"}, d.listNames(first)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, want := range map[string]fs.FileMode{
		"closed": closed, "empty": 0o644, "tool": 0o755, "link": fs.ModeSymlink | 0o777, "pipe": fs.ModeNamedPipe | 0o640,
		"dir": fs.ModeDir | fs.ModeSticky | 0o750, "dir/below/deep": 0o644,
	} {
		live, err := os.Lstat(filepath.Join(d.root, name))
		must(t, err)
		got, err := os.Lstat(d.mountPath(first + "/" + name))
		must(t, err)
		if got.Mode() != want || !got.ModTime().Equal(live.ModTime()) || !got.IsDir() && got.Size() != live.Size() {
			t.Errorf("%s: %v %v %d, want %v %v %d", name, got.Mode(), got.ModTime(), got.Size(), want, live.ModTime(), live.Size())
		}
		g, l := got.Sys().(*syscall.Stat_t), live.Sys().(*syscall.Stat_t)
		if g.Uid != l.Uid || g.Gid != l.Gid {
			t.Errorf("%s: owner %d:%d, want %d:%d", name, g.Uid, g.Gid, l.Uid, l.Gid)
		}
	}
	if got, err := os.Readlink(d.mountPath(first + "/link")); got != "../outside/\xff" || err != nil {
		t.Errorf("link leads to %q, %v", got, err)
	}
	if got := d.readFile(first+"/dir/below/deep") + d.readFile(first+"/strange \xff\n name") + d.readFile(first+"/empty"); got != "deepstrange" {
		t.Errorf("got %q", got)
	}
	var live, there [10]byte
	l, _ := syscall.Getxattr(filepath.Join(d.root, "tool"), "user.note", live[:])
	if n, _ := syscall.Getxattr(d.mountPath(first+"/tool"), "user.note", there[:]); n != l || there != live {
		t.Errorf("attribute: %q, want %q", there[:max(n, 0)], live[:max(l, 0)])
	}
	if n, _ := syscall.Listxattr(d.mountPath(first+"/tool"), there[:]); l > 0 && (n != len("user.note")+1 || string(there[:n-1]) != "user.note") {
		t.Errorf("attributes: %q", there[:max(n, 0)])
	}
}

// Inode numbers stay, and differ between all paths.
func TestNumbersStay(t *testing.T) {
	t.Parallel()
	d := newMountTest(t, func(d *mountTest) { d.writeFile("a", "1"); d.writeFile("dir/a", "1") })
	d.save("", "")
	d.mount(mount.Options{})
	seen := map[uint64]string{}
	for range 2 {
		must(t, filepath.WalkDir(d.dir, func(path string, _ fs.DirEntry, err error) error {
			must(t, err)
			var st syscall.Stat_t
			must(t, syscall.Lstat(path, &st))
			if was, ok := seen[st.Ino]; ok && was != path {
				t.Errorf("%s and %s share %d", was, path, st.Ino)
			}
			seen[st.Ino] = path
			return nil
		}))
	}
	if len(seen) != 10 {
		t.Errorf("%d numbers for 10 paths", len(seen))
	}
}

// A long file is never in memory as a whole, and can be read in any order.
func TestLongFile(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("0123456789abcde\n"), 9<<20/16)
	for i := range long {
		long[i] ^= byte(i >> 12)
	}
	d := newMountTest(t, func(d *mountTest) { d.writeFile("long", string(long)); d.writeFile("short", string(long[:100_000])) })
	d.mount(mount.Options{})
	for name, want := range map[string][]byte{"long": long, "short": long[:100_000]} {
		before := d.s.opened.Load()
		if got := d.readFile(first + "/" + name); got != string(want) {
			t.Fatalf("%s: %d other bytes", name, len(got))
		}
		if n := d.s.opened.Load() - before; n != 1 {
			t.Errorf("%s: opened %d times to be read once", name, n)
		}
	}
	jump(t, d.mountPath(first+"/long"), long)
}

// A service in the same process lets us seek.
func TestLongFileWithSeeks(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("fedcba9876543210"), 9<<20/16)
	for i := range long {
		long[i] ^= byte(i >> 12)
	}
	d := newMountTest(t, func(d *mountTest) { d.writeFile("long", string(long)) })
	d.mount(mount.Options{Service: d.s.Service})
	jump(t, d.mountPath(first+"/long"), long)
}

// jump reads parts of a file, forward and back.
func jump(t *testing.T, name string, want []byte) {
	t.Helper()
	f, err := os.Open(name)
	must(t, err)
	defer f.Close()
	// What the kernel has already it is told to forget, so that we are asked.
	const dontNeed = 4
	if _, _, no := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0); no != 0 {
		t.Fatal(no)
	}
	for _, off := range []int{8 << 20, 100, 5<<20 + 1, 0, len(want) - 10, 4 << 20} {
		b := make([]byte, 5000)
		n, err := f.ReadAt(b, int64(off))
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if n != min(len(b), len(want)-off) || !bytes.Equal(b[:n], want[off:off+n]) {
			t.Errorf("at %d: %d bytes, or others", off, n)
		}
	}
}

// Many at once read the right bytes, also of one file.
func TestManyReaders(t *testing.T) {
	t.Parallel()
	d := newMountTest(t, func(d *mountTest) {
		for _, n := range []string{"a", "b", "dir/c", "dir/d"} {
			d.writeFile(n, strings.Repeat(n, 20_000))
		}
	})
	d.mount(mount.Options{})
	var wg sync.WaitGroup
	for range 4 {
		for _, n := range []string{"a", "b", "dir/c", "dir/d"} {
			wg.Go(func() {
				if got, err := os.ReadFile(d.mountPath(first + "/" + n)); err != nil || string(got) != strings.Repeat(n, 20_000) {
					t.Errorf("%s: %d bytes, %v", n, len(got), err)
				}
			})
		}
	}
	wg.Wait()
}

// A folder that goes while somebody is inside has errors, and is not empty.
func TestForgottenWhileInside(t *testing.T) {
	t.Parallel()
	d := newMountTest(t, func(d *mountTest) { d.writeFile("dir/a", "one") })
	d.save("", "")
	d.mount(mount.Options{})
	f, err := os.Open(d.mountPath(first + "/dir"))
	must(t, err)
	defer f.Close()
	_, err = d.s.Forget(t.Context(), d.ws.ID, []string{"1"})
	must(t, err)
	if names, err := f.Readdirnames(-1); !errors.Is(err, syscall.EIO) {
		t.Errorf("%q, %v", names, err)
	}
}

func TestDamage(t *testing.T) {
	t.Parallel()
	d := newMountTest(t, func(d *mountTest) {
		d.writeFile("good", "good")
		d.writeFile("bad", "bad")
		d.writeFile("long", strings.Repeat("long", 3<<20))
		d.writeFile("dir/below", "below")
		must(t, os.Symlink("somewhere", filepath.Join(d.root, "link")))
	})
	d.mount(mount.Options{})
	entries, err := d.s.List(t.Context(), d.ws.ID, "latest", "")
	must(t, err)
	for _, e := range entries {
		if e.Name == "dir" {
			d.store.FlipByte(e.Object)
		}
	}
	if _, err := os.ReadDir(d.mountPath(first + "/dir")); !errors.Is(err, syscall.EIO) {
		t.Errorf("dir: %v", err)
	}
	if _, err := os.Lstat(d.mountPath(first + "/dir/below")); !errors.Is(err, syscall.EIO) {
		t.Errorf("below a damaged directory: %v", err)
	}
	for _, name := range []string{"bad", "long", "link"} {
		d.store.FlipByte(d.object(name))
	}
	for _, name := range []string{"bad", "long"} {
		if b, err := os.ReadFile(d.mountPath(first + "/" + name)); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	if to, err := os.Readlink(d.mountPath(first + "/link")); !errors.Is(err, syscall.EIO) {
		t.Errorf("link: %q, %v", to, err)
	}
	if got := d.readFile(first + "/good"); got != "good" {
		t.Errorf("good is %q", got)
	}
}
