package track_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/track"
)

type marks = map[string]track.Mark

const markAll = track.MarkName | track.MarkTree

// change is one kind of change. The root is "root" in the area; "out" lies
// beside it.
type change struct {
	name   string
	before func(a testDir)
	do     func(a testDir)
	want   marks
}

func writeTestFile(a testDir) { a.write("root/f", strings.Repeat("x", 4096)) }

var kindsOfChange = []change{
	{"create", nil, func(a testDir) { a.write("root/f", "") }, marks{"f": track.MarkName}},
	{"write", writeTestFile, func(a testDir) { a.write("root/f", "y") }, marks{"f": track.MarkName}},
	{"write by a file that stays open", writeTestFile, func(a testDir) {
		_, err := a.open("root/f", os.O_RDWR).WriteAt([]byte("y"), 0)
		must(a, err)
	}, marks{"f": track.MarkName}},
	{"truncate", writeTestFile, func(a testDir) { must(a, os.Truncate(a.at("root/f"), 1)) }, marks{"f": track.MarkName}},
	{"allocate", writeTestFile, func(a testDir) {
		must(a, unix.Fallocate(int(a.open("root/f", os.O_RDWR).Fd()), 0, 0, 1<<16))
	}, marks{"f": track.MarkName}},
	{"chmod", writeTestFile, func(a testDir) { must(a, os.Chmod(a.at("root/f"), 0o600)) }, marks{"f": track.MarkName}},
	{"chmod of a directory", func(a testDir) { a.mkdir("root/d") },
		func(a testDir) { must(a, os.Chmod(a.at("root/d"), 0o700)) }, marks{"d": track.MarkName}},
	{"chmod of the root", nil, func(a testDir) { must(a, os.Chmod(a.at("root"), 0o700)) }, marks{"": track.MarkName}},
	{"chown", writeTestFile, func(a testDir) { must(a, os.Chown(a.at("root/f"), os.Getuid(), os.Getgid())) }, marks{"f": track.MarkName}},
	{"xattr", writeTestFile, func(a testDir) { must(a, unix.Setxattr(a.at("root/f"), "user.k", []byte("v"), 0)) }, marks{"f": track.MarkName}},
	{"times", writeTestFile, func(a testDir) { must(a, os.Chtimes(a.at("root/f"), time.Unix(1, 0), time.Unix(2, 0))) }, marks{"f": track.MarkName}},
	{"modification time alone", writeTestFile, func(a testDir) {
		ts := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Sec: 2}}
		must(a, unix.UtimesNanoAt(unix.AT_FDCWD, a.at("root/f"), ts, 0))
	}, marks{"f": track.MarkName}},
	{"unlink", writeTestFile, func(a testDir) { a.remove("root/f") }, marks{"f": track.MarkName}},
	{"rename", writeTestFile, func(a testDir) { a.move("root/f", "root/g") }, marks{"f": track.MarkName, "g": track.MarkName}},
	{"rename over", func(a testDir) { writeTestFile(a); a.write("root/g", "") },
		func(a testDir) { a.move("root/f", "root/g") }, marks{"f": track.MarkName, "g": track.MarkName}},
	{"exchange", func(a testDir) { writeTestFile(a); a.mkdir("root/d/e") }, func(a testDir) {
		must(a, unix.Renameat2(unix.AT_FDCWD, a.at("root/f"), unix.AT_FDCWD, a.at("root/d"), unix.RENAME_EXCHANGE))
	}, marks{"f": markAll, "d": track.MarkName}},
	{"rename into", func(a testDir) { a.write("out/f", "") }, func(a testDir) { a.move("out/f", "root/f") }, marks{"f": track.MarkName}},
	{"rename out", writeTestFile, func(a testDir) { a.move("root/f", "out/f") }, marks{"f": track.MarkName}},
	{"directory into", func(a testDir) { a.mkdir("out/d/e") }, func(a testDir) {
		a.move("out/d", "root/d")
		a.write("root/d/e/f", "")
	}, marks{"d": markAll}},
	{"directory out", func(a testDir) { a.mkdir("root/d/e") }, func(a testDir) { a.move("root/d", "out/d") }, marks{"d": track.MarkName}},
	{"directory out, written, and back", func(a testDir) { a.mkdir("root/d/e") }, func(a testDir) {
		a.move("root/d", "out/d")
		a.write("out/d/e/f", "")
		a.move("out/d", "root/d")
	}, marks{"d": markAll}},
	{"deep directories and a file at once", nil, func(a testDir) {
		a.mkdir("root/a/b/c/d")
		a.write("root/a/b/c/d/f", "")
	}, marks{"a": markAll}},
	{"directory renamed twice, written between", func(a testDir) { a.mkdir("root/one/in") }, func(a testDir) {
		a.write("root/one/in/f1", "")
		a.move("root/one", "root/two")
		a.write("root/two/in/f2", "")
		a.move("root/two", "root/three")
		a.write("root/three/in/f3", "")
	}, marks{"one": track.MarkName, "two": track.MarkName, "three": markAll}},
	{"directory removed with all below", func(a testDir) { a.mkdir("root/d/e/f") }, func(a testDir) { a.remove("root/d") },
		marks{"d": track.MarkName}},
	{"directory removed and made again", func(a testDir) { a.mkdir("root/d/e") }, func(a testDir) {
		a.remove("root/d")
		a.mkdir("root/d/e")
		a.write("root/d/e/f", "")
	}, marks{"d": markAll}},
	{"hard link", writeTestFile, func(a testDir) { must(a, os.Link(a.at("root/f"), a.at("root/g"))) }, marks{"g": track.MarkName}},
	{"edit through a hard link", func(a testDir) { writeTestFile(a); must(a, os.Link(a.at("root/f"), a.at("root/g"))) },
		func(a testDir) { a.write("root/g", "y") }, marks{"g": track.MarkName}},
	{"symlink", nil, func(a testDir) { must(a, os.Symlink("nowhere", a.at("root/l"))) }, marks{"l": track.MarkName}},
	{"fifo", nil, func(a testDir) { must(a, unix.Mkfifo(a.at("root/p"), 0o600)) }, marks{"p": track.MarkName}},
	{"temporary file that gets a name", nil, func(a testDir) {
		f, err := os.OpenFile(a.at("root"), unix.O_TMPFILE|os.O_RDWR, 0o600)
		must(a, err)
		defer f.Close()
		_, err = f.WriteString("x")
		must(a, err)
		must(a, unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+itoa(int(f.Fd())), unix.AT_FDCWD, a.at("root/f"), unix.AT_SYMLINK_FOLLOW))
	}, marks{"f": track.MarkName}},
	{"names that are no text", nil, func(a testDir) { a.write("root/a\nb \xff (deleted)", "") },
		marks{"a\nb \xff (deleted)": track.MarkName}},
	{"mapping that went with its descriptor", writeTestFile, func(a testDir) {
		f := a.open("root/f", os.O_RDWR)
		b := a.mapped(f, unix.PROT_READ|unix.PROT_WRITE)
		f.Close()
		b[0] = 'y'
		must(a, unix.Munmap(b))
	}, marks{"f": track.MarkName}},
	{"mapping that went before its descriptor", writeTestFile, func(a testDir) {
		b := a.mapped(a.open("root/f", os.O_RDWR), unix.PROT_READ|unix.PROT_WRITE)
		b[0] = 'y'
		must(a, unix.Munmap(b))
	}, marks{"f": track.MarkName}},
	{"writing through another mount", func(a testDir) {
		needsMounts(a)
		a.mkdir("root/d")
		mount(a, a.at("root/d"), a.at("out/view"), "", unix.MS_BIND, "")
	}, func(a testDir) { a.write("out/view/f", "") }, marks{"d/f": track.MarkName}},
}

// What a system call changed is in the answer of the next Drain, at once. It is
// not parallel: a temporary file without a name is a doubt for every root.
func TestEveryChangeIsTold(t *testing.T) {
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		for _, c := range kindsOfChange {
			t.Run(c.name, func(t *testing.T) {
				a := newTestDir(t)
				a.mkdir("root")
				a.mkdir("out")
				a.write("root/bystander", "")
				if c.before != nil {
					c.before(a)
				}
				w := start(t, a.at("root"), onlyMode(mode))
				c.do(a)
				got := drainPaths(t, w)
				wantMarks(t, got, c.want)
				if _, ok := got["bystander"]; ok {
					t.Errorf("what did not change is told: %v", got)
				}
			})
		}
	})
}

// A path that is too long for the kernel is reported by a directory above it.
func TestDeepPathsAreTold(t *testing.T) {
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newTestDir(t)
		name := strings.Repeat("n", 200)
		fd, err := unix.Open(a.dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		must(t, err)
		for range 40 {
			must(t, unix.Mkdirat(fd, name, 0o755))
			next, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
			must(t, err)
			must(t, unix.Close(fd))
			fd = next
		}
		defer unix.Close(fd)
		w := start(t, a.dir, onlyMode(mode))
		f, err := unix.Openat(fd, "f", unix.O_CREAT|unix.O_WRONLY, 0o600)
		must(t, err)
		must(t, unix.Close(f))
		deepest := strings.TrimPrefix(strings.Repeat("/"+name, 40), "/")
		if got := drainPaths(t, w); !covers(got, deepest+"/f") {
			t.Errorf("not told, but %d others", len(got))
		}
	})
}

// covers reports whether the marks require a check of the path.
func covers(got marks, path string) bool {
	if got[path]&track.MarkName != 0 {
		return true
	}
	for up := path; up != "."; up = filepath.Dir(up) {
		if got[up]&track.MarkTree != 0 {
			return true
		}
	}
	return got[""]&track.MarkTree != 0
}

// Reading causes no report.
func TestReadingTellsNothing(t *testing.T) {
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newTestDir(t)
		a.mkdir("d/e")
		for _, name := range []string{"a", "d/b", "d/e/c"} {
			a.write(name, strings.Repeat("x", 5000))
		}
		must(t, os.Symlink("d/e/c", a.at("l")))
		w := start(t, a.dir, onlyMode(mode))
		before := w.EventCount()
		looked := 0
		must(t, filepath.WalkDir(a.dir, func(path string, e os.DirEntry, err error) error {
			must(t, err)
			readWithoutChange(t, path)
			looked++
			return nil
		}))
		if got := drainPaths(t, w); len(got) > 0 || w.EventCount() != before {
			t.Errorf("%d looks told %v, %d events", looked, got, w.EventCount()-before)
		}
		a.write("a", "y") // the same watch does hear
		wantMarks(t, drainPaths(t, w), marks{"a": track.MarkName})
		if w.EventCount() == before {
			t.Error("a change made no event")
		}
	})
}

// readWithoutChange reads a file in every way that changes nothing.
func readWithoutChange(t *testing.T, path string) {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	_, _ = os.Readlink(path)
	var buf [100]byte
	_, _ = unix.Llistxattr(path, buf[:])
	_, _ = unix.Lgetxattr(path, "user.none", buf[:])
	must(t, unix.Access(path, unix.R_OK))
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	if info.IsDir() {
		_, err := f.ReadDir(-1)
		must(t, err)
		must(t, unix.Syncfs(int(f.Fd())))
		return
	}
	_, err = f.Read(buf[:])
	must(t, err)
	must(t, f.Sync())
	b, err := unix.Mmap(int(f.Fd()), 0, 100, unix.PROT_READ, unix.MAP_PRIVATE)
	must(t, err)
	must(t, unix.Munmap(b))
}
