package fsxtest_test

import (
	"errors"
	"io"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// runAllOperations does every operation once or more and answers the first error.
func runAllOperations(fs fsx.FS) (err error) {
	d, err := fs.OpenRoot("/")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Mkdir("sub", 0o755); err != nil {
		return err
	}
	sub, err := d.OpenDir("sub")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sub.Close()) }()
	if err := writeStore(d, sub); err != nil {
		return err
	}
	if err := runRestore(d, sub); err != nil {
		return err
	}
	return readEverything(fs, d, sub)
}

func runRestore(d, sub fsx.Dir) error {
	if err := writeStaged(sub); err != nil {
		return err
	}
	if err := sub.RenameNoReplace("staged", d, "placed"); err != nil {
		return err
	}
	if err := d.Link("placed", sub, "second"); err != nil {
		return err
	}
	if err := errors.Join(sub.Symlink("f", "third"), sub.Mknod("fifo", fsx.FIFO, 0o600)); err != nil {
		return err
	}
	if err := sub.Exchange("third", d, "placed"); err != nil {
		return err
	}
	if err := errors.Join(d.Mkdir("empty", 0o755), d.RemoveDir("empty")); err != nil {
		return err
	}
	info, err := d.Lstat("placed")
	if err != nil {
		return err
	}
	return errors.Join(d.SetMetadata("placed", info.Ino, fsx.Metadata{Mtime: 7}), d.SetOwnMetadata(fsx.Metadata{Mode: 0o700}))
}

func writeStaged(sub fsx.Dir) (err error) {
	src, err := sub.OpenFile("f")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	f, err := sub.Create("staged", 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.CloneFrom(src); err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte("xy"), 2); err != nil {
		return err
	}
	return errors.Join(f.Truncate(3), f.SetMetadata(fsx.Metadata{Mode: 0o640}))
}

func writeStore(d, sub fsx.Dir) (err error) {
	f, err := d.Create("tmp", 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write([]byte("12345678")); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.SetMtime(5); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := d.Rename("tmp", sub, "f"); err != nil {
		return err
	}
	a, err := sub.Append("log", 0o600)
	if err != nil {
		return err
	}
	return errors.Join(a.Close(), sub.Remove("log"), sub.SetXattr("user.a", nil),
		sub.RemoveXattr("user.a"), sub.SetMtime(5), sub.Sync(), d.Sync(), d.SyncFS())
}

func readEverything(fs fsx.FS, d, sub fsx.Dir) (err error) {
	f, err := sub.OpenFile("f")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := io.ReadFull(f, make([]byte, 8)); err != nil {
		return err
	}
	_, readAt := f.ReadAt(make([]byte, 8), 0)
	_, stat := f.Stat()
	_, xattrs := f.Xattrs()
	_, holes := f.Holes()
	_, names := sub.Names()
	_, dirStat := sub.Stat()
	_, dirXattrs := sub.Xattrs()
	_, lstat := sub.Lstat("f")
	_, readlink := d.Readlink("link")
	_, _, free := fs.FreeSpace("/")
	return errors.Join(readAt, stat, xattrs, holes, names, dirStat, dirXattrs, lstat, readlink, free)
}

func newWorkFS(t *testing.T) *fsxtest.Memory {
	t.Helper()
	m := fsxtest.NewMemory()
	must(t, m.Symlink("sub", "/link", fsxtest.Synced))
	return m
}

func TestEveryFaultSurfaces(t *testing.T) {
	t.Parallel()
	for kind, want := range map[fsxtest.FaultKind][]error{
		fsxtest.IOError: {syscall.EIO}, fsxtest.NoSpace: {fsx.ErrNoSpace},
		fsxtest.ShortWrite: {syscall.EIO}, fsxtest.ShortRead: {syscall.EIO, io.ErrUnexpectedEOF},
	} {
		at := int64(1)
		for ; ; at++ {
			f := fsxtest.NewFaultyFS(newWorkFS(t), fsxtest.FaultPlan{At: at, Kind: kind})
			err := runAllOperations(f)
			if f.FailedCount() == 0 {
				must(t, err)
				if f.OpCount() != at-1 {
					t.Errorf("kind %d: %d operations, the faults ended at %d", kind, f.OpCount(), at)
				}
				break
			}
			found := false
			for _, w := range want {
				found = found || errors.Is(err, w)
			}
			if !found || f.FailedCount() != 1 {
				t.Errorf("kind %d at %d: %d faults, %v", kind, at, f.FailedCount(), err)
			}
		}
		if at < 30 {
			t.Errorf("kind %d: only %d operations", kind, at)
		}
	}
}

func TestFaultsGoOn(t *testing.T) {
	t.Parallel()
	for then, want := range map[int64]int64{0: 1, 2: 3, -1: 5} {
		f := fsxtest.NewFaultyFS(newWorkFS(t), fsxtest.FaultPlan{At: 2, Kind: fsxtest.IOError, Repeat: then})
		d, err := f.OpenRoot("/")
		must(t, err)
		for range 5 {
			_, _ = d.Stat()
		}
		if f.FailedCount() != want || f.OpCount() != 6 {
			t.Errorf("then %d: %d of %d failed", then, f.FailedCount(), f.OpCount())
		}
	}
}

func TestShortTransfersMoveHalf(t *testing.T) {
	t.Parallel()
	m := newWorkFS(t)
	d, err := fsxtest.NewFaultyFS(m, fsxtest.FaultPlan{At: 3, Kind: fsxtest.ShortWrite}).OpenRoot("/")
	must(t, err)
	f, err := d.Create("f", 0o600)
	must(t, err)
	if n, err := f.Write([]byte("12345678")); n != 4 || !errors.Is(err, syscall.EIO) {
		t.Errorf("wrote %d, %v", n, err)
	}
	if got := contentOf(t, m, "/f"); got != "1234" {
		t.Errorf("the file holds %q", got)
	}
	d, err = fsxtest.NewFaultyFS(m, fsxtest.FaultPlan{At: 3, Kind: fsxtest.ShortRead}).OpenRoot("/")
	must(t, err)
	f, err = d.OpenFile("f")
	must(t, err)
	buf := make([]byte, 4)
	if n, err := f.Read(buf); n != 2 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("read %d, %v", n, err)
	}
	if n, err := f.Read(buf); n != 2 || err != nil {
		t.Errorf("read on %d, %v", n, err)
	}
}

func TestCountingCounts(t *testing.T) {
	t.Parallel()
	counted, counter := fsxtest.NewCountingFS(newWorkFS(t))
	must(t, runAllOperations(fsxtest.NewFaultyFS(counted, fsxtest.FaultPlan{}))) // wrappers on wrappers rename too
	want := map[string]int64{
		"FS.OpenRoot": 1, "FS.Free": 1, "Dir.Mkdir": 2, "Dir.OpenDir": 1, "Dir.Create": 2,
		"Dir.Append": 1, "Dir.OpenFile": 2, "Dir.Rename": 1, "Dir.Remove": 1, "Dir.SetXattr": 1,
		"Dir.RemoveXattr": 1, "Dir.SetMtime": 1, "Dir.Sync": 2, "Dir.SyncFS": 1, "Dir.Names": 1,
		"Dir.Stat": 1, "Dir.Xattrs": 1, "Dir.Lstat": 2, "Dir.Readlink": 1, "Dir.Close": 2,
		"Dir.Place": 1, "Dir.Link": 1, "Dir.Symlink": 1, "Dir.Special": 1, "Dir.Exchange": 1,
		"Dir.RemoveDir": 1, "Dir.Dress": 1, "Dir.DressSelf": 1, "File.CloneFrom": 1,
		"File.WriteAt": 1, "File.Truncate": 1, "File.Dress": 1,
		"File.Write": 1, "File.SetMtime": 1, "File.Sync": 1, "File.Close": 5, "File.Read": 1,
		"File.ReadAt": 1, "File.Stat": 1, "File.Xattrs": 1, "File.Holes": 1,
	}
	if diff := cmp.Diff(want, counter.OpCounts()); diff != "" {
		t.Error(diff)
	}
	if got := counter.SyncCount(); got != 4 {
		t.Errorf("%d syncs", got)
	}
}

func TestCrashAtEveryOperation(t *testing.T) {
	t.Parallel()
	for k := int64(1); ; k++ {
		m := newWorkFS(t)
		var after *fsxtest.Memory
		calls := 0
		f := fsxtest.CrashAt(m, k, func() {
			calls++
			after = m.Crash(nil)
		})
		err := runAllOperations(f)
		if after == nil {
			must(t, err)
			if got := contentOf(t, m.Crash(nil), "/sub/f"); got != "12345678" {
				t.Errorf("after the work: %q", got)
			}
			if k < 30 {
				t.Errorf("only %d operations", k)
			}
			return
		}
		if !errors.Is(err, fsx.ErrCrashed) || calls != 1 {
			t.Errorf("crash at %d, called %d times: %v", k, calls, err)
		}
		if got := contentOf(t, after, "/sub/f"); got != "gone" && got != "12345678" {
			t.Errorf("crash at %d leaves %q", k, got)
		}
		if _, err := f.OpenRoot("/"); !errors.Is(err, fsx.ErrCrashed) {
			t.Errorf("open after the crash: %v", err)
		}
	}
}
