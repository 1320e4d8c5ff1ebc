package kopia

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kopia/kopia/fs"
	"github.com/kopia/kopia/repo/object"
	"github.com/kopia/kopia/snapshot"
	"github.com/kopia/kopia/snapshot/snapshotfs"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
)

const someObject = "0123456789abcdef0123456789abcdef"

func anyEntry(t *rapid.T, i int, plain bool) retake.Entry {
	e := retake.Entry{
		Name:    rapid.StringN(1, 12, 40).Draw(t, "name"),
		Kind:    rapid.SampledFrom([]retake.Kind{retake.KindFile, retake.KindDir, retake.KindSymlink}).Draw(t, "kind"),
		Mode:    rapid.Uint32Range(0, 0o7777).Draw(t, "mode"),
		UID:     rapid.Uint32Range(0, 3).Draw(t, "uid"),
		GID:     rapid.Uint32().Draw(t, "gid"),
		ModTime: rapid.Int64Range(-1e18, 4e18).Draw(t, "mtime"),
		Object:  someObject,
	}
	e.Name += string(rune('a'+i%26)) + string(rune('0'+i/26%10))
	if e.Kind == retake.KindDir {
		e.Object = "k" + someObject
		e.Sum = retake.Summary{Files: 3, Dirs: 2, Symlinks: 1, Bytes: 99, MaxTime: rapid.Int64Range(0, 4e18).Draw(t, "max")}
	} else {
		e.Size = rapid.Int64Range(0, 1<<40).Draw(t, "size")
	}
	if !plain && rapid.Bool().Draw(t, "special") {
		e.Name += "\xff"
		e.Extra = &retake.Extra{Xattrs: map[string][]byte{"user.x": {1, 2}}, Holes: []retake.Hole{{Offset: 1, Length: 5}}}
		if e.Kind == retake.KindFile {
			e.Kind, e.Extra.Group = retake.KindFIFO, "g"
		}
	}
	return e
}

func anyEntries(t *rapid.T, plain bool) []retake.Entry {
	n := rapid.IntRange(0, 20).Draw(t, "n")
	var out []retake.Entry
	seen := map[string]bool{}
	for i := range n {
		if e := anyEntry(t, i, plain); !seen[e.Name] {
			seen[e.Name] = true
			out = append(out, e)
		}
	}
	return out
}

// stockBytes is the directory as stock Kopia's own builder and encoder write it.
func stockBytes(t *rapid.T, entries []retake.Entry, modTime int64) []byte {
	var b snapshotfs.DirManifestBuilder
	for _, e := range entries {
		oid, err := object.ParseID(string(e.Object))
		if err != nil {
			t.Fatal(err)
		}
		d := &snapshot.DirEntry{
			Name: e.Name, Permissions: snapshot.Permissions(toStockMode(e.Mode)), FileSize: e.Size,
			ModTime: fs.UTCTimestamp(e.ModTime), UserID: e.UID, GroupID: e.GID, ObjectID: oid,
			Type: map[retake.Kind]snapshot.EntryType{retake.KindFile: "f", retake.KindDir: "d", retake.KindSymlink: "s"}[e.Kind],
		}
		if e.Kind == retake.KindDir {
			d.DirSummary = &fs.DirectorySummary{TotalFileSize: e.Sum.Bytes, TotalFileCount: e.Sum.Files, TotalSymlinkCount: e.Sum.Symlinks, TotalDirCount: e.Sum.Dirs, MaxModTime: fs.UTCTimestamp(e.Sum.MaxTime)}
		}
		b.AddEntry(d)
	}
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(b.Build(fs.UTCTimestamp(modTime), "")); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestEncodeAsStock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entries := anyEntries(t, true)
		ours, _, err := encodeDir(entries, 42, false)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(stockBytes(t, entries, 42)), string(ours)); d != "" {
			t.Fatalf("-stock +ours:\n%s", d)
		}
	})
}

func TestDecodeWhatWasEncoded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entries := anyEntries(t, false)
		b, _, err := encodeDir(entries, 7, false)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeDir(b)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]retake.Entry{}
		for _, e := range entries {
			want[e.Name] = e
		}
		have := map[string]retake.Entry{}
		for _, e := range got {
			have[e.Name] = e
		}
		if d := cmp.Diff(want, have); d != "" {
			t.Fatalf("-want +got:\n%s", d)
		}
	})
}

func TestTwoOfOneNameAreRefused(t *testing.T) {
	t.Parallel()
	e := retake.Entry{Name: "x", Kind: retake.KindFile, Object: someObject}
	if _, _, err := encodeDir([]retake.Entry{e, e}, 0, false); err == nil {
		t.Error("a directory with two entries of one name was written")
	}
}

// TestSwiftIsSlow: where the quick reader answers, encoding/json answers the same; and it
// answers for what we write.
func TestSwiftIsSlow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entries := anyEntries(t, false)
		b, _, err := encodeDir(entries, 7, rapid.Bool().Draw(t, "bare"))
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(0, 2).Draw(t, "bytes changed")
		for range n {
			at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			with := rapid.SampledFrom([]string{"", "0", "9", "-", " ", `"`, `\\`, "{", "}", ",", "\xff", "\x01", "é", "Z", "null", `"name":"x",`}).Draw(t, "with")
			b = slices.Concat(b[:at], []byte(with), b[at+1:])
		}
		if quick := same(t, b); !quick && n == 0 && len(entries) > 0 {
			t.Fatalf("not read quickly:\n%s", b)
		}
	})
}

type failer interface{ Fatalf(string, ...any) }

// same reports whether the quick reader answers, and fails if both differ.
func same(t failer, b []byte) bool {
	got, ok := decodeDirFast(b)
	if !ok {
		return false
	}
	want, err := decodeDirJSON(b)
	if err != nil {
		t.Fatalf("read quickly, and not at all by encoding/json: %v\n%s", err, b)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("-slow +swift:\n%s\n%s", d, b)
	}
	return true
}

func TestWhatWeWriteIsReadQuickly(t *testing.T) {
	t.Parallel()
	entries := []retake.Entry{
		{Name: "src", Kind: retake.KindDir, Mode: 0o1755, ModTime: 1e18 + 120, Object: "k" + someObject, Sum: retake.Summary{Files: 1, Bytes: 7, MaxTime: 1e18}},
		{Name: "a & <b>\n", Kind: retake.KindFile, Mode: 0o4644, Size: 7, UID: 1000, GID: maxID, ModTime: 1e18, Object: someObject},
		{Name: "größe", Kind: retake.KindSymlink, Object: someObject, Extra: &retake.Extra{Xattrs: map[string][]byte{"user.}": {1}}}},
		{Name: "\xff", Kind: retake.KindFIFO, Object: someObject},
	}
	for _, bare := range []bool{false, true} {
		b, _, err := encodeDir(entries, 1, bare)
		if err != nil || !same(t, b) {
			t.Errorf("bare %v, %v: %s", bare, err, b)
		}
	}
}

// The first and the last time that there is are read as they were written.
func TestTimesAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, ns := range []int64{math.MinInt64, -1, 1, math.MaxInt64} {
		b, _, err := encodeDir([]retake.Entry{{Name: "f", Kind: retake.KindFile, ModTime: ns, Object: someObject}}, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeDir(b); err != nil || got[0].ModTime != ns {
			t.Errorf("%d: %v, %v", ns, got, err)
		}
	}
}

func BenchmarkDecodeDir(b *testing.B) {
	var entries []retake.Entry
	for i := range 2500 {
		e := retake.Entry{Name: fmt.Sprintf("package-%d", i*7919%2500), Kind: retake.KindDir, Mode: 0o755, ModTime: 1e18 + int64(i), Object: "k" + someObject, Sum: retake.Summary{Files: 40, Dirs: 4, Bytes: 99_000, MaxTime: 1e18}}
		if i%10 == 0 {
			e = retake.Entry{Name: e.Name + ".js", Kind: retake.KindFile, Mode: 0o644, Size: 900, ModTime: e.ModTime, UID: 1000, Object: someObject}
		}
		entries = append(entries, e)
	}
	stream, _, err := encodeDir(entries, 1, false)
	if err != nil {
		b.Fatal(err)
	}
	for name, decode := range map[string]func([]byte) ([]retake.Entry, error){"swift": decodeDir, "slow": decodeDirJSON} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got, err := decode(stream); err != nil || len(got) != len(entries) {
					b.Fatal(len(got), err)
				}
			}
		})
	}
}

func FuzzDecodeDir(f *testing.F) {
	b, _, _ := encodeDir([]retake.Entry{{Name: "a\xff", Kind: retake.KindSocket, Object: someObject}}, 1, false)
	f.Add(b)
	b, _, _ = encodeDir([]retake.Entry{{Name: "d", Kind: retake.KindDir, Mode: 0o755, ModTime: 1e18, Object: "k" + someObject}, {Name: "é&", Kind: retake.KindFile, Size: 3, UID: 7, Object: someObject}}, 1, false)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		same(t, b)
		entries, err := decodeDir(b)
		if err != nil {
			return
		}
		for _, e := range entries {
			if e.Kind == "" {
				t.Fatalf("an entry without a kind: %+v", e)
			}
		}
	})
}
