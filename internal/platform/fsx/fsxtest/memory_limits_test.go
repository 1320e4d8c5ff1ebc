package fsxtest_test

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

func TestCapacity(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	m.SetCapacity(10)
	d := rootOf(t, m, "/")
	writeFile(t, d, "a", "1234")
	f, err := d.Create("b", 0o600)
	must(t, err)
	n, err := f.Write([]byte("12345678"))
	if n != 6 || !errors.Is(err, fsx.ErrNoSpace) {
		t.Errorf("wrote %d, %v", n, err)
	}
	if n, err := f.Write([]byte("x")); n != 0 || !errors.Is(err, fsx.ErrNoSpace) {
		t.Errorf("wrote %d, %v", n, err)
	}
	if err := m.WriteFile("/c", []byte("x"), 0o600); !errors.Is(err, fsx.ErrNoSpace) {
		t.Errorf("write file: %v", err)
	}
	must(t, d.Remove("b"))
	if free, _, err := m.FreeSpace("/"); err != nil || free != 0 {
		t.Errorf("%d free while the file is open, %v", free, err)
	}
	must(t, f.Close())
	must(t, f.Close())
	if free, total, err := m.FreeSpace("/"); err != nil || free != 6 || total != 10 {
		t.Errorf("%d of %d free, %v", free, total, err)
	}
	if free, _, err := m.Clone().FreeSpace("/"); err != nil || free != 6 {
		t.Errorf("%d free in the clone, %v", free, err)
	}
	writeFile(t, d, "e", "123456")
	must(t, d.Rename("e", d, "a"))
	if free, _, err := m.FreeSpace("/"); err != nil || free != 4 {
		t.Errorf("%d free after the rename, %v", free, err)
	}
}

func TestUnlinkedFilesWork(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	d := rootOf(t, m, "/")
	w, err := d.Create("f", 0o600)
	must(t, err)
	_, err = w.Write([]byte("one "))
	must(t, err)
	r, err := d.OpenFile("f")
	must(t, err)
	must(t, d.Remove("f"))
	writeFile(t, d, "f", "other")
	_, err = w.Write([]byte("two"))
	must(t, err)
	if got, err := io.ReadAll(r); err != nil || string(got) != "one two" {
		t.Errorf("read %q, %v", got, err)
	}
	if info, err := r.Stat(); err != nil || info.Nlink != 0 {
		t.Errorf("%+v, %v", info, err)
	}
	if got := contentOf(t, m, "/f"); got != "other" {
		t.Errorf("the new file holds %q", got)
	}
}

func TestMountsAndModes(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	must(t, m.MkdirAll("/mnt", 0o755))
	must(t, m.Mount("/mnt"))
	must(t, m.WriteFile("/mnt/f", nil, 0o600))
	must(t, m.WriteFile("/secret", nil, 0o600))
	must(t, m.Chmod("/secret", 0))
	d := rootOf(t, m, "/")
	if _, err := d.OpenDir("mnt"); !errors.Is(err, fsx.ErrOtherMount) {
		t.Errorf("open a mount: %v", err)
	}
	if err := rootOf(t, m, "/mnt").Rename("f", d, "f"); !errors.Is(err, fsx.ErrOtherMount) {
		t.Errorf("rename from a mount: %v", err)
	}
	if _, err := d.OpenFile("secret"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("open without the read bit: %v", err)
	}
}

func TestClockAndClone(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	now := int64(100)
	m.SetClock(func() int64 { return now })
	must(t, m.WriteFile("/f", []byte("a"), 0o600, fsxtest.Synced))
	c := m.Clone()
	now = 200
	must(t, m.WriteFile("/f", []byte("b"), 0o600))
	info, err := rootOf(t, m, "/").Lstat("f")
	must(t, err)
	if info.Mtime != 200 || info.Ctime != 200 {
		t.Errorf("%+v", info)
	}
	if info, err = rootOf(t, c, "/").Lstat("f"); err != nil || info.Mtime != 100 {
		t.Errorf("the clone moved on: %+v %v", info, err)
	}
	if a, b := contentOf(t, c, "/f"), contentOf(t, m, "/f"); a != "a" || b != "b" {
		t.Errorf("clone %q, original %q", a, b)
	}
	if got := contentOf(t, m.Crash(nil), "/f"); got != "a" {
		t.Errorf("replaced data without a sync: %q", got)
	}
}

func TestAppendersDoNotMix(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	d := rootOf(t, m, "/")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			f, err := d.Append("log", 0o600)
			if err != nil {
				t.Error(err)
				return
			}
			for range 100 {
				if _, err := f.Write([]byte("line\n")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	data := contentOf(t, m, "/log")
	for ; len(data) >= 5 && data[:5] == "line\n"; data = data[5:] {
	}
	if data != "" || len(contentOf(t, m, "/log")) != 4*100*5 {
		t.Errorf("%d bytes, torn at %q", len(contentOf(t, m, "/log")), data)
	}
}

func TestOverwrittenBytesAreNotDurable(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	d := rootOf(t, m, "/")
	f, err := d.Create("f", 0o600)
	must(t, err)
	a, err := d.Append("f", 0o600)
	must(t, err)
	_, err = a.Write([]byte("older"))
	must(t, errors.Join(err, a.Sync(), d.Sync()))
	_, err = f.Write([]byte("new"))
	must(t, err)
	if now, then := contentOf(t, m, "/f"), contentOf(t, m.Crash(nil), "/f"); now != "newer" || then != "older" {
		t.Errorf("holds %q, after a crash %q", now, then)
	}
	if got := contentOf(t, m.Crash(func(int) bool { return true }), "/f"); got != "newer" {
		t.Errorf("after a crash that kept the write: %q", got)
	}
}

func TestCopiesGrowApart(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	grow := func(m *fsxtest.Memory, data string) {
		f, err := rootOf(t, m, "/").Append("f", 0o600)
		must(t, err)
		_, err = f.Write([]byte(data))
		must(t, err)
	}
	grow(m, "common ")
	grow(m, "start ") // leaves room behind the bytes
	all := map[string]*fsxtest.Memory{"a": m, "b": m.Clone(), "c": m.Crash(func(int) bool { return true })}
	for name, copied := range all {
		grow(copied, name)
	}
	for name, copied := range all {
		if got := contentOf(t, copied, "/f"); got != "common start "+name {
			t.Errorf("%s holds %q", name, got)
		}
	}
}

func TestFileSyncKeepsName(t *testing.T) {
	t.Parallel()
	for on, want := range map[bool]string{true: "new", false: "gone"} {
		m := fsxtest.NewMemory()
		m.FileSyncKeepsName(on)
		d := rootOf(t, m, "/")
		f, err := d.Create("tmp", 0o600)
		must(t, err)
		_, err = f.Write([]byte("new"))
		must(t, err)
		must(t, d.Rename("tmp", d, "f"))
		must(t, m.WriteFile("/other", []byte("x"), 0o600))
		must(t, f.Sync())
		after := m.Clone().Crash(nil)
		if got := contentOf(t, after, "/f"); got != want {
			t.Errorf("with %v: %q", on, got)
		}
		if got := contentOf(t, after, "/tmp") + contentOf(t, after, "/other"); got != "gonegone" {
			t.Errorf("with %v the others: %q", on, got)
		}
	}
}

func TestOlderNameStaysOverwritten(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	m.FileSyncKeepsName(true)
	d := rootOf(t, m, "/")
	var last fsx.File
	for _, data := range []string{"older", "newer"} {
		f, err := d.Create("tmp", 0o600)
		must(t, err)
		_, err = f.Write([]byte(data))
		must(t, err)
		must(t, d.Rename("tmp", d, "f"))
		last = f
	}
	must(t, last.Sync())
	for set := range 1 << m.UnsyncedCount() {
		if got := contentOf(t, m.Crash(func(op int) bool { return set&(1<<op) != 0 }), "/f"); got != "newer" {
			t.Errorf("kept %b: %q", set, got)
		}
	}
}
