//go:build unix

package restore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// fuzzedDir returns a directory in memory, /state, and its disk.
func fuzzedDir(t *testing.T, files map[string][]byte) (*fsxtest.Memory, fsx.Dir) {
	t.Helper()
	disk := fsxtest.NewMemory()
	for path, data := range files {
		must(t, disk.MkdirAll(path[:strings.LastIndexByte(path, '/')], 0o700))
		must(t, disk.WriteFile(path, data, 0o600))
	}
	dir, err := disk.OpenRoot("/state")
	must(t, err)
	return disk, dir
}

// A journal decides how an interrupted restore goes on. It is read as it was written, or it is
// damaged, and reading it changes nothing.
func FuzzJournal(f *testing.F) {
	head := `{"v":1,"id":"cp_1","course":"restore","target":{"number":1},"safety":{"number":2},"since":"2026-03-02T12:00:00Z","total":3}` + "\n"
	f.Add([]byte(head + `{"digest":"7f3a","writes":[{"path":"a","path_raw":"/w==","what":"added"}],"deletes":null}` + "\n.."))
	f.Add([]byte(head + `{"digest":"7f3a"}` + "\n.x.\x00....."))
	f.Add([]byte(head + `{"digest":"7f3a"`))
	f.Add([]byte(`{"total":-1}` + "\n{}\n..."))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		disk, dir := fuzzedDir(t, map[string][]byte{"/state/journal": text})
		got, err := restore.ReadJournal(dir, "journal")
		if b, rerr := disk.ReadFile("/state/journal"); rerr != nil || !bytes.Equal(b, text) {
			t.Fatalf("reading changed it to %q, %v", b, rerr)
		}
		if err != nil {
			if !errors.Is(err, restore.ErrJournalDamaged) || got != nil {
				t.Fatalf("%+v, %v", got, err)
			}
			return
		}
		if got.Done > got.Total {
			t.Fatalf("%d of %d operations are done", got.Done, got.Total)
		}
		head, err1 := json.Marshal(got.Header)
		plan, err2 := json.Marshal(got.Plan)
		must(t, errors.Join(err1, err2))
		_, dir = fuzzedDir(t, map[string][]byte{"/state/journal": slices.Concat(head, []byte("\n"), plan, []byte("\n"), bytes.Repeat([]byte("."), max(got.Done, 0)))})
		again, err := restore.ReadJournal(dir, "journal")
		must(t, err)
		head2, err1 := json.Marshal(again.Header)
		plan2, err2 := json.Marshal(again.Plan)
		must(t, errors.Join(err1, err2))
		if !bytes.Equal(head, head2) || !bytes.Equal(plan, plan2) || again.Done != got.Done {
			t.Fatalf("changes with every pass:\n%s\n%s\n%s\n%s", head, head2, plan, plan2)
		}
	})
}

// The trash holds files that no checkpoint may have. Only a file that its list names, with the size
// and the time that the list has, is removed. Nothing outside the directory is touched.
func FuzzEmptyTrash(f *testing.F) {
	f.Add([]byte(`{"name":"0","path":"YQ==","look":[{"size":5,"mtime":777}]}` + "\n" + `{"name":"1","path":"Yg==","look":[{"size":5,"mtime":1}]}`))
	f.Add([]byte(`{"name":"../precious","look":[{"size":5,"mtime":777},{"size":0,"mtime":0}]}`))
	f.Add([]byte(`{"name":"..","look":[]}{"name":".","look":[{}]}{"name":"","look":[{}]}`))
	f.Add([]byte(`{"name":"sub/0","look":[{"size":5,"mtime":777}]}{"name":"list"}{"na`))
	f.Add([]byte("null [] 7"))
	f.Fuzz(func(t *testing.T, list []byte) {
		disk, dir := fuzzedDir(t, map[string][]byte{
			"/state/cp_1/list": list, "/state/cp_1/0": []byte("12345"), "/state/cp_1/1": []byte("new work, 20 bytes.."), "/state/cp_1/sub/0": []byte("12345"),
			"/state/precious": []byte("12345"), "/state/cp_2/0": []byte("12345"), "/other/outside": []byte("12345"),
		})
		outside := []string{"/state/precious", "/state/cp_2/0", "/other/outside"}
		for _, path := range append([]string{"/state/cp_1/0", "/state/cp_1/1", "/state/cp_1/sub/0"}, outside...) {
			must(t, disk.SetMtime(path, 777))
		}
		err := restore.EmptyTrash(dir, "cp_1")
		stays := append(outside, "/state/cp_1/sub/0") // a list names files of its own directory only
		if !bytes.Contains(list, []byte("777")) || !bytes.Contains(list, []byte("5")) {
			stays = append(stays, "/state/cp_1/0")
		}
		if !bytes.Contains(list, []byte("20")) {
			stays = append(stays, "/state/cp_1/1")
		}
		for _, path := range stays {
			if b, rerr := disk.ReadFile(path); rerr != nil || len(b) == 0 {
				t.Fatalf("%s is gone: %v; EmptyTrash says %v", path, rerr, err)
			}
		}
	})
}
