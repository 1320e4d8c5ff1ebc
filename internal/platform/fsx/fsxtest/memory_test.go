package fsxtest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, d fsx.Dir, name, data string) {
	t.Helper()
	f, err := d.Create(name, 0o600)
	must(t, err)
	_, err = f.Write([]byte(data))
	must(t, errors.Join(err, f.Close()))
}

func rootOf(t *testing.T, m *fsxtest.Memory, path string) fsx.Dir {
	t.Helper()
	d, err := m.OpenRoot(path)
	must(t, err)
	return d
}

// contentOf returns the data of the file at path, or "gone".
func contentOf(t *testing.T, m *fsxtest.Memory, path string) string {
	t.Helper()
	data, err := m.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "gone"
	}
	must(t, err)
	return string(data)
}

func TestCrashLosesWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	d := rootOf(t, m, "/")
	for _, name := range []string{"nothing", "data only", "name only", "both"} {
		f, err := d.Create(name, 0o600)
		must(t, err)
		_, err = f.Write([]byte("first "))
		must(t, err)
		if name == "data only" || name == "both" {
			must(t, f.Sync())
		}
		_, err = f.Write([]byte("second"))
		must(t, err)
		if name == "name only" || name == "both" {
			must(t, m.Chmod("/"+name, 0o640))
		}
	}
	// One sync of the directory would make all names durable: two of them go
	// to a directory that is never synced.
	must(t, m.MkdirAll("/lost", 0o755, fsxtest.Synced))
	lost := rootOf(t, m, "/lost")
	must(t, d.Rename("nothing", lost, "nothing"))
	must(t, d.Rename("data only", lost, "data only"))
	must(t, d.Sync())

	after := m.Crash(nil)
	for path, want := range map[string]string{
		"/both": "first ", "/name only": "", "/nothing": "gone", "/data only": "gone",
		"/lost/nothing": "gone", "/lost/data only": "gone",
	} {
		if got := contentOf(t, after, path); got != want {
			t.Errorf("%s holds %q, want %q", path, got, want)
		}
	}
	if got := contentOf(t, m, "/both"); got != "first second" {
		t.Errorf("the crash changed the original: %q", got)
	}
	if after.UnsyncedCount() != 0 {
		t.Errorf("%d changes unsynced after a crash", after.UnsyncedCount())
	}
}

func TestCrashAfterSyncFSLosesNothing(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	must(t, m.MkdirAll("/a/b", 0o755))
	must(t, m.WriteFile("/a/b/f", []byte("data"), 0o600))
	must(t, m.Symlink("f", "/a/b/l"))
	must(t, m.Mkfifo("/a/p", 0o600))
	must(t, m.Mksock("/a/s", 0o600))
	must(t, m.Mkdev("/a/d", 0o600))
	must(t, m.Link("/a/b/f", "/a/g"))
	must(t, m.SetXattr("/a/b/f", "user.k", []byte("v")))
	must(t, m.Chown("/a/b/f", 7, 8))
	before := m.Crash(nil)
	if got := before.Paths(); len(got) != 0 {
		t.Fatalf("before the sync there is %v", got)
	}
	must(t, rootOf(t, m, "/").SyncFS())
	after := m.Crash(nil)
	if diff := cmp.Diff(m.Paths(), after.Paths()); diff != "" {
		t.Error(diff)
	}
	for _, path := range []string{"/a", "/a/b"} {
		old, now := rootOf(t, m, path), rootOf(t, after, path)
		names, err := old.Names()
		must(t, err)
		for _, name := range names {
			was, err := old.Lstat(name)
			must(t, err)
			is, err := now.Lstat(name)
			must(t, err)
			if was != is {
				t.Errorf("%s/%s: %+v became %+v", path, name, was, is)
			}
		}
	}
}

func TestRenameWithoutSyncVanishes(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	must(t, m.WriteFile("/f", []byte("old"), 0o600, fsxtest.Synced))
	must(t, m.WriteFile("/tmp", []byte("new"), 0o600, fsxtest.Synced))
	d := rootOf(t, m, "/")
	must(t, d.Rename("tmp", d, "f"))
	if got := contentOf(t, m.Crash(nil), "/f"); got != "old" {
		t.Errorf("without a sync: %q", got)
	}
	if got := contentOf(t, m.Crash(nil), "/tmp"); got != "new" {
		t.Errorf("without a sync the old name: %q", got)
	}
	must(t, d.Sync())
	if got := m.Crash(nil).Paths(); !slices.Equal(got, []string{"/f"}) || contentOf(t, m.Crash(nil), "/f") != "new" {
		t.Errorf("after the sync: %v", got)
	}
	must(t, d.Remove("f"))
	if got := contentOf(t, m.Crash(nil), "/f"); got != "new" {
		t.Errorf("removed without a sync: %q", got)
	}
}

func TestCrashKeepsTheSubset(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	d := rootOf(t, m, "/")
	f, err := d.Create("f", 0o600)
	must(t, err)
	must(t, d.Sync())
	for _, part := range []string{"aa", "bb", "cc"} {
		_, err := f.Write([]byte(part))
		must(t, err)
	}
	if got := m.UnsyncedCount(); got != 3 {
		t.Fatalf("%d changes", got)
	}
	want := map[int]string{
		0: "", 1: "aa", 2: "\x00\x00bb", 3: "aabb", 4: "\x00\x00\x00\x00cc",
		5: "aa\x00\x00cc", 6: "\x00\x00bbcc", 7: "aabbcc",
	}
	for set, data := range want {
		after := m.Crash(func(op int) bool { return set&(1<<op) != 0 })
		if got := contentOf(t, after, "/f"); got != data {
			t.Errorf("kept %03b: %q, want %q", set, got, data)
		}
	}
}

// replaceFile is the way to replace a file; each flag leaves a sync out.
func replaceFile(t *testing.T, d fsx.Dir, data string, skipFile, skipDir bool) {
	t.Helper()
	f, err := d.Create("tmp", 0o600)
	must(t, err)
	for _, part := range []string{data[:len(data)/2], data[len(data)/2:]} {
		_, err := f.Write([]byte(part))
		must(t, err)
	}
	if !skipFile {
		must(t, f.Sync())
	}
	must(t, f.Close())
	must(t, d.Rename("tmp", d, "f"))
	if !skipDir {
		must(t, d.Sync())
	}
}

// crashContents returns what f can hold after a crash, over all subsets.
func crashContents(t *testing.T, m *fsxtest.Memory) []string {
	t.Helper()
	all := map[string]bool{}
	for set := range 1 << m.UnsyncedCount() {
		all[contentOf(t, m.Crash(func(op int) bool { return set&(1<<op) != 0 }), "/f")] = true
	}
	var list []string
	for data := range all {
		list = append(list, data)
	}
	slices.Sort(list)
	return list
}

func TestReplaceIsOldOrNew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		skipFile, skipDir bool
		want              []string
	}{
		{false, false, []string{"NEW!"}},
		{false, true, []string{"NEW!", "old"}},
		{true, true, []string{"", "\x00\x00W!", "NE", "NEW!", "old"}},
		{true, false, []string{"", "\x00\x00W!", "NE", "NEW!"}},
	} {
		t.Run(fmt.Sprintf("%v,%v", c.skipFile, c.skipDir), func(t *testing.T) {
			t.Parallel()
			m := fsxtest.NewMemory()
			must(t, m.WriteFile("/f", []byte("old"), 0o600, fsxtest.Synced))
			replaceFile(t, rootOf(t, m, "/"), "NEW!", c.skipFile, c.skipDir)
			if diff := cmp.Diff(c.want, crashContents(t, m)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.want, crashContents(t, m.Clone())); diff != "" {
				t.Errorf("of the clone: %s", diff)
			}
		})
	}
}

func TestMoveBetweenDirectoriesNeedsBothSyncs(t *testing.T) {
	t.Parallel()
	for synced, want := range map[string][2]string{
		"none": {"data", "gone"}, "from": {"gone", "gone"}, "to": {"data", "data"}, "both": {"gone", "data"},
	} {
		m := fsxtest.NewMemory()
		must(t, m.MkdirAll("/a", 0o755, fsxtest.Synced))
		must(t, m.MkdirAll("/b", 0o755, fsxtest.Synced))
		must(t, m.WriteFile("/a/f", []byte("data"), 0o600, fsxtest.Synced))
		a, b := rootOf(t, m, "/a"), rootOf(t, m, "/b")
		must(t, a.Rename("f", b, "f"))
		if synced == "from" || synced == "both" {
			must(t, a.Sync())
		}
		if synced == "to" || synced == "both" {
			must(t, b.Sync())
		}
		after := m.Crash(nil)
		if got := [2]string{contentOf(t, after, "/a/f"), contentOf(t, after, "/b/f")}; got != want {
			t.Errorf("synced %s: %q, want %q", synced, got, want)
		}
	}
}

func TestHalfADirectoryMoveHasOneParent(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	for _, path := range []string{"/a/dir/in", "/b"} {
		must(t, m.MkdirAll(path, 0o755, fsxtest.Synced))
	}
	b := rootOf(t, m, "/b")
	must(t, rootOf(t, m, "/a").Rename("dir", b, "dir"))
	must(t, b.Sync())
	if got := m.Crash(nil).Paths(); !slices.Equal(got, []string{"/a", "/a/dir", "/a/dir/in", "/b"}) {
		t.Errorf("found %q", got)
	}
}

func TestWritesOfManyMegabytes(t *testing.T) {
	t.Parallel()
	m := fsxtest.NewMemory()
	d := rootOf(t, m, "/")
	f, err := d.Create("blob", 0o600)
	must(t, err)
	part := bytes.Repeat([]byte("p"), 16<<10)
	for range 20 << 20 / len(part) {
		_, err := f.Write(part)
		must(t, err)
	}
	must(t, d.Sync())
	torn := m.Crash(func(op int) bool { return op > 0 })
	if got := contentOf(t, torn, "/blob"); len(got) != 20<<20 || got[0] != 0 || got[len(part)] != 'p' {
		t.Errorf("torn blob of %d bytes", len(got))
	}
	must(t, f.Sync())
	if got := contentOf(t, m.Crash(nil), "/blob"); len(got) != 20<<20 || got[0] != 'p' {
		t.Errorf("blob of %d bytes", len(got))
	}
}
