package fsxtest_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// crashResults returns what describe says of every set of lost changes.
func crashResults(t *testing.T, m *fsxtest.Memory, describe func(*fsxtest.Memory) string) map[string]bool {
	t.Helper()
	if m.UnsyncedCount() > 10 {
		t.Fatalf("%d changes are too many", m.UnsyncedCount())
	}
	found := map[string]bool{}
	for set := range 1 << m.UnsyncedCount() {
		found[describe(m.Crash(func(op int) bool { return set&(1<<op) != 0 }))] = true
	}
	return found
}

func TestExchangeAndACrash(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	must(t, m.MkdirAll("/sub", 0o755, fsxtest.Synced))
	must(t, m.WriteFile("/a", []byte("A"), 0o600, fsxtest.Synced))
	must(t, m.WriteFile("/b", []byte("B"), 0o600, fsxtest.Synced))
	must(t, m.WriteFile("/sub/c", []byte("C"), 0o600, fsxtest.Synced))
	d, sub := rootOf(t, m, "/"), rootOf(t, m, "/sub")
	within := m.Clone()
	inside := rootOf(t, within, "/")
	must(t, inside.Exchange("a", inside, "b"))
	got := crashResults(t, within, func(m *fsxtest.Memory) string { return contentOf(t, m, "/a") + contentOf(t, m, "/b") })
	if diff := cmp.Diff(map[string]bool{"AB": true, "BA": true}, got); diff != "" {
		t.Errorf("in one directory it is one step: %s", diff)
	}
	must(t, d.Exchange("a", sub, "c"))
	describe := func(m *fsxtest.Memory) string { return contentOf(t, m, "/a") + contentOf(t, m, "/sub/c") }
	want := map[string]bool{"AC": true, "AA": true, "CC": true, "CA": true}
	if diff := cmp.Diff(want, crashResults(t, m, describe)); diff != "" {
		t.Errorf("between two it is one change in each: %s", diff)
	}
	must(t, errors.Join(sub.Sync(), d.Sync()))
	if got := describe(m.Crash(nil)); got != "CA" {
		t.Errorf("after both syncs %q", got)
	}
}

func TestExchangeKeepsCounts(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	m.SetCapacity(100)
	must(t, m.MkdirAll("/x/deep", 0o755))
	must(t, m.MkdirAll("/y", 0o755))
	must(t, m.WriteFile("/x/f", make([]byte, 30), 0o600))
	must(t, m.WriteFile("/y/g", make([]byte, 20), 0o600))
	x, y := rootOf(t, m, "/x"), rootOf(t, m, "/y")
	must(t, x.Exchange("f", y, "g"))
	must(t, x.Exchange("deep", y, "g"))
	must(t, x.Exchange("f", x, "deep"))
	if err := y.Link("g", y, "never"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a directory got a second name: %v", err)
	}
	if free, _, err := m.FreeSpace("/"); err != nil || free != 50 {
		t.Errorf("%d free, %v", free, err)
	}
	for path, want := range map[string]uint64{"/x": 2, "/y": 3} {
		if self, err := rootOf(t, m, path).Stat(); err != nil || self.Nlink != want {
			t.Errorf("%s has %d links, %v", path, self.Nlink, err)
		}
	}
	for _, name := range []string{"f", "deep"} {
		if info := lstatAt(t, m, "/x", name); info.Type != fsx.Regular || info.Nlink != 1 {
			t.Errorf("%s is %+v", name, info)
		}
	}
	must(t, errors.Join(x.Remove("f"), x.Remove("deep")))
	if free, _, err := m.FreeSpace("/"); err != nil || free != 100 {
		t.Errorf("%d free at the end, %v", free, err)
	}
}

func TestPlacedAndLinkedNamesNeedASync(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	must(t, m.WriteFile("/f", []byte("F"), 0o600, fsxtest.Synced))
	must(t, m.MkdirAll("/sub", 0o755, fsxtest.Synced))
	d, sub := rootOf(t, m, "/"), rootOf(t, m, "/sub")
	must(t, d.Link("f", sub, "g"))
	must(t, d.RenameNoReplace("f", sub, "h"))
	if got := contentOf(t, m.Crash(nil), "/f"); got != "F" {
		t.Errorf("lost changes took the old name: %q", got)
	}
	must(t, sub.Sync())
	after := m.Crash(nil)
	for _, path := range []string{"/f", "/sub/g", "/sub/h"} {
		if got := contentOf(t, after, path); got != "F" {
			t.Errorf("%s holds %q", path, got)
		}
	}
	if info := lstatAt(t, after, "/sub", "h"); info.Nlink != 3 {
		t.Errorf("%d names", info.Nlink)
	}
	must(t, d.Sync())
	if info := lstatAt(t, m.Crash(nil), "/sub", "h"); info.Nlink != 2 {
		t.Errorf("%d names after both syncs", info.Nlink)
	}
}

func lstatAt(t *testing.T, m *fsxtest.Memory, dir, name string) fsx.Info {
	t.Helper()
	info, err := rootOf(t, m, dir).Lstat(name)
	must(t, err)
	return info
}

func TestDressingIsPendingUntilASync(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	must(t, m.WriteFile("/f", []byte("F"), 0o600, fsxtest.Synced))
	must(t, m.Chmod("/f", 0o700|fs.ModeSetuid, fsxtest.Synced))
	d := rootOf(t, m, "/")
	is := lstatAt(t, m, "/", "f")
	must(t, d.SetMetadata("f", is.Ino, fsx.Metadata{
		SetOwner: true, UID: 9, GID: 9, Mode: 0o4711, Mtime: 5, Xattrs: map[string][]byte{"user.a": nil},
	}))
	if got := lstatAt(t, m.Crash(nil), "/", "f"); got != is {
		t.Errorf("without a sync %+v, was %+v", got, is)
	}
	if m.UnsyncedCount() != 4 {
		t.Errorf("%d changes", m.UnsyncedCount())
	}
	owned := lstatAt(t, m.Crash(func(op int) bool { return op == 0 }), "/", "f")
	if owned.UID != 9 || owned.Mode != 0o700 {
		t.Errorf("after the owner alone %+v: setuid must be gone", owned)
	}
	f, err := d.OpenFile("f")
	must(t, err)
	must(t, f.Sync())
	after := lstatAt(t, m.Crash(nil), "/", "f")
	if after.UID != 9 || after.Mode != 0o4711 || after.Mtime != 5 {
		t.Errorf("after the sync %+v", after)
	}
}

func TestWhatMemoryRefuses(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	m.RefuseChown(true)
	m.RefuseExchange(true)
	for _, m := range []*fsxtest.Memory{m, m.Clone(), m.Crash(nil)} {
		d := rootOf(t, m, "/")
		writeFile(t, d, "a", "A")
		writeFile(t, d, "b", "B")
		if err := d.Exchange("a", d, "b"); !errors.Is(err, errors.ErrUnsupported) || contentOf(t, m, "/a") != "A" {
			t.Errorf("exchange: %v", err)
		}
		is := lstatAt(t, m, "/", "a")
		err := d.SetMetadata("a", is.Ino, fsx.Metadata{SetOwner: true, UID: 1, Mode: 0o777, Mtime: 5})
		if !errors.Is(err, fs.ErrPermission) || lstatAt(t, m, "/", "a") != is {
			t.Errorf("another owner: %v", err)
		}
		must(t, d.SetMetadata("a", is.Ino, fsx.Metadata{SetOwner: true, Mode: 0o777, Mtime: 5})) // the owner it has
	}
}

func TestTruncateAndACrash(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	m.SetCapacity(20)
	d := rootOf(t, m, "/")
	f, err := d.Create("f", 0o600)
	must(t, err)
	_, err = f.Write([]byte("0123456789"))
	must(t, errors.Join(err, f.Sync(), d.Sync()))
	must(t, f.Truncate(4))
	_, err = f.WriteAt([]byte("ab"), 6)
	must(t, err)
	got := crashResults(t, m, func(m *fsxtest.Memory) string { return contentOf(t, m, "/f") })
	want := map[string]bool{"0123456789": true, "0123": true, "012345ab89": true, "0123\x00\x00ab": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if free, _, err := m.FreeSpace("/"); err != nil || free != 12 {
		t.Errorf("%d free, %v", free, err)
	}
	if err := f.Truncate(21); !errors.Is(err, fsx.ErrNoSpace) {
		t.Errorf("longer than there is room: %v", err)
	}
	r, err := d.OpenFile("f")
	must(t, err)
	g, err := d.Create("g", 0o600)
	must(t, err)
	must(t, g.Truncate(10))
	must(t, g.CloneFrom(r))
	if got := contentOf(t, m, "/g"); got != "0123\x00\x00ab\x00\x00" {
		t.Errorf("the clone holds %q", got)
	}
	if h, err := d.Create("h", 0o600); err != nil || !errors.Is(h.CloneFrom(r), fsx.ErrNoSpace) {
		t.Errorf("a clone without room: %v", err)
	}
}
