package kopia

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/object"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/mirror"
)

// oneObject is a repository in which every object has the same bytes.
type oneObject struct {
	repo.Repository
	data []byte
}

type objectBytes struct{ *bytes.Reader }

func (objectBytes) Close() error    { return nil }
func (o objectBytes) Length() int64 { return o.Size() }

func (o oneObject) OpenObject(context.Context, object.ID) (object.Reader, error) {
	return objectBytes{bytes.NewReader(o.data)}, nil
}

// readStored reads a JSON file of the store. What cannot be read must count as damage, so that a
// repair looks at it, and not as missing, which would start a new history.
func readStored[T any](t *testing.T, data []byte) (v T, ok bool) {
	t.Helper()
	err := readJSON(t.Context(), oneObject{data: data}, someObject, &v)
	if err != nil && (!errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNotFound)) {
		t.Fatalf("%v", err)
	}
	return v, err == nil
}

// wantStable checks that a stored file is the same after it was read and written.
func wantStable[T any](t *testing.T, data []byte) {
	t.Helper()
	v, ok := readStored[T](t, data)
	if !ok {
		return
	}
	first, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("read and cannot be written: %v", err)
	}
	again, ok := readStored[T](t, first)
	second, err := json.Marshal(again)
	if !ok || err != nil || !bytes.Equal(first, second) {
		t.Fatalf("changes with every pass: %v, %v\n%s\n%s", ok, err, first, second)
	}
}

func FuzzLineFile(f *testing.F) {
	f.Add([]byte(`{"v":1,"workspace":{"id":"ws_1","root":"/w","root_raw":"L/8=","name":"n","created":"2026-03-02T12:00:00Z"},"pins":[{"name":"before","checkpoint":"cp_1"}]}`))
	f.Add([]byte(`{"v":1,"workspace":null,"pins":[null]}`))
	f.Add([]byte(`{"v":1,`))
	f.Fuzz(wantStable[historyInfo])
}

func FuzzCardFile(f *testing.F) {
	f.Add([]byte(`{"v":1,"checkpoint":{"id":"cp_1","workspace":"ws_1","number":3,"time":"2026-03-02T12:00:00Z","trigger":"manual","intent":"fix","turn":{"agent":"codex","session":"s"},"coverage":{"grade":"complete","gaps":[{"path":"s","why":"socket","path_raw":"/w=="}]}}}`))
	f.Add([]byte(`{"v":2,"checkpoint":{"stats":{"files":-1}}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(wantStable[retake.Card])
}

func FuzzTombstonesFile(f *testing.F) {
	f.Add([]byte(`[{"number":3,"id":"cp_1","parent":"cp_0"},{"number":-1}]`))
	f.Add([]byte(`null`))
	f.Fuzz(wantStable[[]retake.Tombstone])
}

// A group of records is read from a directory. Each of its numbers is the name of one record.
func FuzzRecordGroup(f *testing.F) {
	for _, names := range [][]string{{"14", "15"}, {"4611686018427387903", "-4611686018427387904", "0"}, {"+1", "01", "1"}, {"x"}} {
		var entries []retake.Entry
		for _, name := range names {
			entries = append(entries, retake.Entry{Name: name, Kind: retake.KindDir, Mode: 0o755, Object: "k" + someObject})
		}
		b, _, err := encodeDir(entries, 1, false)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := oneObject{data: data}
		b, err := readGroup(t.Context(), r, someObject)
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			t.Fatal(err)
		}
		entries, derr := readDir(t.Context(), r, someObject)
		if derr != nil {
			if err == nil {
				t.Fatal("a group of a damaged directory was read")
			}
			return
		}
		numbered := numberedEntries(entries)
		if !slices.IsSortedFunc(numbered, func(a, b numberedEntry) int { return cmp.Compare(a.n, b.n) }) {
			t.Fatalf("out of order: %+v", numbered)
		}
		if err == nil && len(b.records) > len(entries) {
			t.Fatalf("%d records of %d entries", len(b.records), len(entries))
		}
	})
}

// The list of damaged contents only explains. A line that makes no sense is passed over, what was
// read is written back, and nothing else is invented.
func FuzzDamageList(f *testing.F) {
	f.Add([]byte(`{"content":"` + someObject + `","pack":"p1","found":"2026-03-02T12:00:00Z"}` + "\n" + `{"content":"k` + someObject + `"}` + "\n{"))
	f.Add([]byte("\n\n{}\nnull\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		disk := fsxtest.NewMemory()
		mustSucceed(t, disk.MkdirAll("/store/"+mirror.DamagedDir, 0o700))
		mustSucceed(t, disk.WriteFile("/store/"+mirror.DamagedDir+"/"+contentsFile, text, 0o600))
		home, err := disk.OpenRoot("/store")
		mustSucceed(t, err)
		s := &Store{homeDir: home}
		s.damage.s = s
		s.damage.read()
		for id, e := range s.damage.contents {
			if parsed, err := content.ParseID(e.Content); err != nil || parsed != id {
				t.Fatalf("%q is listed as %s: %v", e.Content, id, err)
			}
		}
		n := len(s.damage.contents)
		mustSucceed(t, s.damage.writeLocked())
		first, err := disk.ReadFile("/store/" + mirror.DamagedDir + "/" + contentsFile)
		mustSucceed(t, err)
		s.damage.read()
		mustSucceed(t, s.damage.writeLocked())
		second, err := disk.ReadFile("/store/" + mirror.DamagedDir + "/" + contentsFile)
		mustSucceed(t, err)
		if len(s.damage.contents) != n || !bytes.Equal(first, second) {
			t.Fatalf("%d lines became %d:\n%s\n%s", n, len(s.damage.contents), first, second)
		}
	})
}

// The engine's clock never goes back, so its mark is read as it was written or is an error.
func FuzzClockMark(f *testing.F) {
	f.Add([]byte("1772452800000000000\n"))
	f.Add([]byte(" -1 "))
	f.Add([]byte(strings.Repeat(" ", 63) + "12"))
	f.Fuzz(func(t *testing.T, text []byte) {
		disk := fsxtest.NewMemory()
		mustSucceed(t, disk.MkdirAll("/store", 0o700))
		mustSucceed(t, disk.WriteFile("/store/"+clockFile, text, 0o600))
		dir, err := disk.OpenRoot("/store")
		mustSucceed(t, err)
		at, err := readClockMark(dir)
		if err != nil {
			return
		}
		mustSucceed(t, writeClockMark(dir, at))
		if again, err := readClockMark(dir); err != nil || !again.Equal(at) {
			t.Fatalf("%v became %v, %v", at, again, err)
		}
		if again, ok := parseClockMark(clockMarkID(at)); !ok || !again.Equal(at) {
			t.Fatalf("%v became %v in the name of a blob", at, again)
		}
	})
}

func mustSucceed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
