package track_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/track"
)

// These tests stand alone: a mapping without a name is a doubt for every root
// on the same file system, and all tests are one process.

const both = unix.PROT_READ | unix.PROT_WRITE

func TestMappedFilesAreTold(t *testing.T) {
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newTestDir(t)
		for _, name := range []string{"live", "sealed", "private", "read", "odd\nname (deleted)"} {
			a.write(name, strings.Repeat("x", 4096))
		}
		w := start(t, a.dir, onlyMode(mode))
		maps := func(name string, flags, prot int) []byte {
			f := a.open(name, flags)
			defer f.Close()
			return a.mapped(f, prot)
		}
		live := maps("live", os.O_RDWR, both)
		sealed := maps("sealed", os.O_RDWR, both)
		odd := maps("odd\nname (deleted)", os.O_RDWR, both)
		read := maps("read", os.O_RDONLY, unix.PROT_READ)
		f := a.open("private", os.O_RDONLY)
		private, err := unix.Mmap(int(f.Fd()), 0, 4096, both, unix.MAP_PRIVATE)
		must(t, err)
		sealed[0] = 'y'
		must(t, unix.Mprotect(sealed, unix.PROT_READ))

		const m = track.MarkName | track.MarkMapped
		for range 2 { // as long as they are mapped
			live[0]++
			got := drainPaths(t, w)
			wantMarks(t, got, marks{"live": m, "sealed": m, "odd\nname (deleted)": m})
			if len(got) != 3 {
				t.Errorf("told of others: %v", got)
			}
		}
		for _, b := range [][]byte{live, sealed, odd, read, private} {
			must(t, unix.Munmap(b))
		}
		wantMarks(t, drainPaths(t, w), marks{"live": track.MarkName, "sealed": track.MarkName})
		if got := drainPaths(t, w); len(got) > 0 {
			t.Errorf("told without a mapping: %v", got)
		}
	})
}

// A file that is written but has lost the name it was opened by is a doubt,
// unless it has no name at all.
func TestFilesWithoutAName(t *testing.T) {
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newTestDir(t)
		for _, name := range []string{"gone", "mapped", "open"} {
			a.write(name, strings.Repeat("x", 4096))
		}
		w := start(t, a.dir, onlyMode(mode))

		if os.Geteuid() == 0 { // others may not ask how many names it has
			b := a.mapped(a.open("gone", os.O_RDWR), both)
			a.remove("gone")
			wantMarks(t, drainPaths(t, w), marks{"gone": track.MarkName})
			drainPaths(t, w)
			must(t, unix.Munmap(b))
		}

		f := a.open("mapped", os.O_RDWR)
		b := a.mapped(f, both)
		f.Close()
		must(t, os.Link(a.at("mapped"), a.at("link of mapped")))
		a.remove("mapped")
		wantRescan(t, w, "a mapped file has lost its name")
		must(t, unix.Munmap(b))
		drainPaths(t, w)

		f = a.open("open", os.O_RDWR)
		must(t, os.Link(a.at("open"), a.at("link of open")))
		a.remove("open")
		wantRescan(t, w, "an open file has lost its name")
		f.Close()
		drainPaths(t, w)
		wantNewFile(t, w, a.dir, "after")
	})
}

// What others map, open and remove elsewhere on the file system is no doubt here, at
// whichever of their steps we look: databases do so whenever they are closed.
func TestOthersMayRemoveWhatTheyUse(t *testing.T) {
	needs(t, retake.TrackingFanotify) // others may not ask how many names a file has
	a, elsewhere := newTestDir(t), newTestDir(t)
	w := start(t, a.dir, onlyMode(retake.TrackingFanotify))
	stop := make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			elsewhere.write("db-shm", strings.Repeat("x", 4096))
			f := elsewhere.open("db-shm", os.O_RDWR)
			b := elsewhere.mapped(f, both)
			f.Close()
			elsewhere.remove("db-shm")
			must(t, unix.Munmap(b))
			f = elsewhere.open("db-journal", os.O_RDWR|os.O_CREATE)
			elsewhere.remove("db-journal")
			f.Close()
		}
	})
	for range 400 {
		if d := w.Drain(); d.RescanReason != "" {
			t.Errorf("in doubt: %s", d.RescanReason)
			break
		}
	}
	close(stop)
	other.Wait()
}

// request is one entry of io_submit.
type request struct {
	_    [2]uint64
	op   uint16
	_    uint16
	fd   uint32
	buf  *byte
	size uint64
	_    [3]uint64
}

// io_submit makes no event on kernels up to 6.18 at least; the look at open
// files is what tells it.
func TestWritesByIOSubmit(t *testing.T) {
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newTestDir(t)
		a.write("f", strings.Repeat("x", 4096))
		f := a.open("f", os.O_RDWR)
		w := start(t, a.dir, onlyMode(mode))
		before := w.EventCount()

		var ctx uintptr
		if _, _, errno := unix.Syscall(unix.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&ctx)), 0); errno != 0 {
			t.Skipf("no io_setup here: %v", errno)
		}
		defer func() { _, _, _ = unix.Syscall(unix.SYS_IO_DESTROY, ctx, 0, 0) }()
		content := []byte("written")
		r := &request{op: 1, fd: uint32(f.Fd()), buf: &content[0], size: uint64(len(content))}
		list := []*request{r}
		if _, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, ctx, 1, uintptr(unsafe.Pointer(&list[0]))); errno != 0 {
			t.Fatal(errno)
		}
		var done [4]uint64
		if n, _, errno := unix.Syscall6(unix.SYS_IO_GETEVENTS, ctx, 1, 1, uintptr(unsafe.Pointer(&done[0])), 0, 0); n != 1 {
			t.Fatal(n, errno)
		}
		now, err := os.ReadFile(a.at("f"))
		must(t, err)
		if !strings.HasPrefix(string(now), "written") {
			t.Fatal("nothing was written")
		}
		wantMarks(t, drainPaths(t, w), marks{"f": track.MarkName})
		t.Logf("%d events", w.EventCount()-before)
	})
}

// Asking the kernel and reading its text find the same.
func TestMapsAskedAndRead(t *testing.T) {
	a := newTestDir(t)
	var all [][]byte
	for _, name := range []string{"plain", "two\nlines", "with blanks  in it", "x (deleted)", "removed", "\xff\xfe"} {
		a.write(name, strings.Repeat("x", 8192))
		f := a.open(name, os.O_RDWR)
		all = append(all, a.mapped(f, both), a.mapped(f, unix.PROT_READ))
	}
	a.remove("removed")
	memory, err := unix.MemfdCreate("some", 0)
	must(t, err)
	must(t, unix.Ftruncate(memory, 4096))
	b, err := unix.Mmap(memory, 0, 4096, both, unix.MAP_SHARED)
	must(t, err)
	anonymous, err := unix.Mmap(-1, 0, 4096, both, unix.MAP_SHARED|unix.MAP_ANON)
	must(t, err)
	all = append(all, b, anonymous)
	defer func() {
		for _, b := range all {
			must(t, unix.Munmap(b))
		}
		must(t, unix.Close(memory))
	}()

	asked, err := track.Mappings(a.dir, os.Getpid(), false)
	if err != nil {
		t.Skip(err)
	}
	read, err := track.Mappings(a.dir, os.Getpid(), true)
	must(t, err)
	if len(asked) < len(all) || !slices.Equal(asked, read) {
		t.Errorf("asked:\n%s\nread:\n%s", strings.Join(asked, "\n"), strings.Join(read, "\n"))
	}
	one, err := track.ScanProcesses(a.dir, false)
	must(t, err)
	two, err := track.ScanProcesses(a.dir, true)
	must(t, err)
	if len(one.Paths) != 5 {
		t.Errorf("found %v", one)
	}
	for path, m := range one.Paths {
		if two.Paths[path] != m {
			t.Errorf("%q: asked %b, read %b", path, m, two.Paths[path])
		}
	}
}

// A process whose first thread has ended still has its mappings.
func TestThreadsWithoutTheirFirst(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs to look into another process")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs a program that ends its first thread")
	}
	a := newTestDir(t)
	a.write("f", strings.Repeat("x", 4096))
	w := start(t, a.dir, onlyMode(""))
	const program = `
import mmap, os, sys, threading, ctypes
f = open(sys.argv[1], "r+b")
m = mmap.mmap(f.fileno(), 4096)
def rest():
    main.join_native()
    print("ready", flush=True)
    sys.stdin.read()
class main:
    tid = os.getpid()
    @staticmethod
    def join_native():
        while open("/proc/self/task/%d/stat" % main.tid).read().split()[2] != "Z":
            pass
threading.Thread(target=rest).start()
ctypes.CDLL(None).syscall(60, 0)
`
	c := exec.Command(python, "-c", program, a.at("f"))
	in, err := c.StdinPipe()
	must(t, err)
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	var line [6]byte
	if _, err := out.Read(line[:]); err != nil {
		t.Skipf("the program does not run here: %v", err)
	}
	drainPaths(t, w)
	wantMarks(t, drainPaths(t, w), marks{"f": track.MarkName | track.MarkMapped})
	must(t, in.Close())
	_ = c.Wait()
}

func TestLoopDevices(t *testing.T) {
	needsMounts(t)
	a, point := loopDisk(t)
	w := start(t, a.dir, onlyMode(""))
	must(t, os.WriteFile(point+"/f", []byte(strings.Repeat("x", 1<<16)), 0o600))
	unix.Sync()
	wantMarks(t, drainPaths(t, w), marks{"disk": track.MarkName})
}

// A file that is opened by its handle may have no name that the kernel knows.
func TestChangesByHandle(t *testing.T) {
	needsMounts(t)
	_, point := loopDisk(t)
	must(t, os.WriteFile(point+"/f", []byte("x"), 0o600))
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, point+"/f", 0)
	must(t, err)
	remount(t, point)
	w := start(t, point, onlyMode(retake.TrackingFanotify))

	root, err := unix.Open(point, unix.O_RDONLY, 0)
	must(t, err)
	defer unix.Close(root)
	fd, err := unix.OpenByHandleAt(root, h, unix.O_RDWR)
	must(t, err)
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte("y"))
	must(t, err)
	wantRescan(t, w, "without a name")
	drainPaths(t, w)
}

// A file system that was away for a moment was not heard.
func TestRemountIsNoticed(t *testing.T) {
	needsMounts(t)
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		_, point := loopDisk(t)
		w := start(t, point, onlyMode(mode))
		remount(t, point)
		must(t, os.WriteFile(point+"/f", []byte("x"), 0o600))
		if d := w.Drain(); d.RescanReason == "" {
			t.Errorf("no doubt, but %v", d.Paths)
		}
		wantNewFile(t, w, point, "g")
	})
}

// loopDisk mounts a new file system from the file "disk" of an area.
func loopDisk(t *testing.T) (a testDir, point string) {
	t.Helper()
	a = newTestDir(t)
	f := a.open("disk", os.O_CREATE|os.O_RDWR)
	must(t, f.Truncate(16<<20))
	f.Close()
	if out, err := exec.Command("mkfs.ext4", "-q", a.at("disk")).CombinedOutput(); err != nil {
		t.Skipf("no disk can be made here: %v %s", err, out)
	}
	point = t.TempDir()
	mountDisk(t, a.at("disk"), point)
	return a, point
}

func mountDisk(t *testing.T, disk, point string) {
	t.Helper()
	if out, err := exec.Command("mount", "-o", "loop", disk, point).CombinedOutput(); err != nil {
		t.Skipf("no loop device here: %v %s", err, out)
	}
	t.Cleanup(func() { _ = unix.Unmount(point, unix.MNT_DETACH) })
}

func remount(t *testing.T, point string) {
	t.Helper()
	out, err := exec.Command("findmnt", "-no", "SOURCE", point).Output()
	must(t, err)
	device := strings.TrimSpace(string(out))
	disk, err := os.ReadFile("/sys/block/" + strings.TrimPrefix(device, "/dev/") + "/loop/backing_file")
	must(t, err)
	must(t, unix.Unmount(point, 0))
	mountDisk(t, strings.TrimSpace(string(disk)), point)
}
