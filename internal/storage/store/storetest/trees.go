package storetest

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

func testFiles(t *testing.T, h Harness) {
	contents := map[string][]byte{
		"none": {}, "one": {0}, "random": randomBytes(1, 5<<20),
		"repeated": bytes.Repeat(randomBytes(2, 1<<20), 12), "zeros": make([]byte, 1<<20),
	}
	w := beginWriter(t, h.Store, newWorkspace())
	var entries []retake.Entry
	for name, b := range contents {
		e := w.writeFile(name, b)
		if again := w.writeFile("other "+name, b); again.Object != e.Object {
			t.Errorf("%s: the same bytes have the addresses %q and %q", name, e.Object, again.Object)
		}
		entries = append(entries, e)
	}
	w.sealTree(1, w.writeDir("", entries...), nil)
	w.close()

	s := reopen(t, h)
	seen := map[retake.ObjectID]string{}
	for _, e := range entries {
		if other, ok := seen[e.Object]; ok {
			t.Errorf("%s and %s have the same address", e.Name, other)
		}
		seen[e.Object] = e.Name
		wantBytes(t, s, e.Object, contents[e.Name])
		wantSeek(t, s, e.Object, contents[e.Name])
	}
}

func wantSeek(t *testing.T, s store.Store, id retake.ObjectID, want []byte) {
	t.Helper()
	r, err := s.File(t.Context(), id)
	if err != nil {
		t.Fatalf("File: %v", err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}()
	at := int64(len(want) / 3 * 2)
	if n, err := r.Seek(at, io.SeekStart); err != nil || n != at {
		t.Fatalf("Seek to %d: %d, %v", at, n, err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want[at:]) {
		t.Fatalf("read after Seek: %d bytes, want %d; %v", len(got), len(want)-int(at), err)
	}
	if n, err := r.Seek(0, io.SeekEnd); err != nil || n != int64(len(want)) {
		t.Fatalf("Seek to the end: %d, want %d; %v", n, len(want), err)
	}
}

func testLinks(t *testing.T, h Harness) {
	texts := []string{"../else where", "/abs\n\x1b", "\xff\xfe", strings.Repeat("x", 4095)}
	w := beginWriter(t, h.Store, newWorkspace())
	var entries []retake.Entry
	for i, text := range texts {
		e := w.writeFile(fmt.Sprintf("link%d", i), []byte(text))
		e.Kind, e.Mode = retake.KindSymlink, 0o777
		entries = append(entries, e)
	}
	root := w.writeDir("", entries...)
	w.sealTree(1, root, nil)
	w.close()
	s := reopen(t, h)
	wantDir(t, s, root.Object, entries)
	for i, e := range entries {
		wantBytes(t, s, e.Object, []byte(texts[i]))
	}
}

// oddNames are bytes that stores of text like to lose, and names that look like what other
// names may be turned into.
var oddNames = []string{
	"a", "A", "a.b", "a-", "a b", " ", "  ", "...", "-rf", "~", "#", "\\", `\\`, "\"", "'", "%", "%%",
	"line\nbreak", `line\nbreak`, `line\\nbreak`, "line%0Abreak", "tab\t", "\r", "\x01", "\x7f",
	"\x1b[31mred", `\x1b[31mred`, `\u001b[31mred`, "%1B[31mred",
	"\xff", `\xff`, `\\xff`, "%FF", "%ff", "%25FF", "=FF", "\\377", "\u00ff", "\ufffd", `\ufffd`, "%EF%BF%BD",
	"\xff\ufffd", "\ufffd\xff", "\xc3", "\xc3\x28", "\xed\xa0\x80", "\xf0\x9f\x98", "\U0001f600",
	"é", "e\u0301", "\u202etxt", "\u2028", "base64:_w==", "!", "@", "\x80", "\u0080",
	strings.Repeat("n", 255), strings.Repeat("\xfe", 255), strings.Repeat("%", 255),
	"card.json", "files", "state", "head", "null", "nil", "true", "0",
}

func testDirs(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	var want []retake.Entry
	for _, name := range slices.Compact(slices.Sorted(slices.Values(oddNames))) {
		want = append(want, w.writeFile(name, []byte(name)))
	}
	empty := w.writeDir("")
	inner := w.writeDir("", want...)

	mixed := slices.Clone(want)
	slices.Reverse(mixed)
	if again := w.writeDir("", mixed...); again.Object != inner.Object {
		t.Errorf("the order of entries changes the address: %q and %q", inner.Object, again.Object)
	}
	// The same names as directories.
	var nested []retake.Entry
	for i, e := range want {
		d := empty
		if i%2 == 0 {
			d = inner
		}
		d.Name = e.Name
		nested = append(nested, d)
	}
	outer := w.writeDir("", nested...)
	w.sealTree(1, outer, nil)
	w.close()

	s := reopen(t, h)
	wantDir(t, s, empty.Object, nil)
	wantDir(t, s, inner.Object, want)
	wantDir(t, s, outer.Object, nested)
	for _, e := range want {
		wantBytes(t, s, e.Object, []byte(e.Name))
	}
}

func testWideDir(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	e := w.writeFile("", []byte("all the same"))
	var want []retake.Entry
	for i := range 3000 {
		e.Name = fmt.Sprintf("%x", i*7919%65536)
		e.ModTime++
		want = append(want, e)
	}
	root := w.writeDir("", want...)
	w.sealTree(1, root, nil)
	w.close()
	slices.SortFunc(want, func(a, b retake.Entry) int { return strings.Compare(a.Name, b.Name) })
	wantDir(t, reopen(t, h), root.Object, want)
}

func testSummary(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	defer w.close()
	empty := w.writeDir("empty")
	if want := (retake.Summary{Dirs: 1, MaxTime: epoch.UnixNano()}); empty.Sum != want {
		t.Errorf("summary of an empty directory: %+v, want %+v", empty.Sum, want)
	}
	link := w.writeFile("link", []byte("12345"))
	link.Kind = retake.KindSymlink
	late := w.writeFile("late", make([]byte, 100))
	late.ModTime += 99
	pipe := retake.Entry{Name: "pipe", Kind: retake.KindFIFO, Mode: 0o600, ModTime: epoch.UnixNano()}
	inner := w.writeDir("inner", link, late, pipe)
	outer := w.writeDir("", inner, empty, w.writeFile("a", make([]byte, 11)))
	want := retake.Summary{Files: 3, Dirs: 3, Symlinks: 1, Bytes: 111, MaxTime: epoch.UnixNano() + 99}
	if outer.Sum != want {
		t.Errorf("summary: %+v, want %+v", outer.Sum, want)
	}
}

func testMetadata(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	want := specialEntries(w)
	root := w.writeDir("", want...)
	root.Mode, root.UID = 0o1770, 12
	root.Extra = &retake.Extra{Xattrs: map[string][]byte{"user.root": []byte("yes")}}
	w.sealTree(1, root, nil)
	w.close()

	s := reopen(t, h)
	slices.SortFunc(want, func(a, b retake.Entry) int { return strings.Compare(a.Name, b.Name) })
	wantDir(t, s, root.Object, want)
	leaf, err := s.Record(t.Context(), w.ws.ID, 1)
	if err != nil {
		t.Fatalf("Leaf: %v", err)
	}
	// What the root is called is up to the store.
	if d := cmp.Diff(root, leaf.Files, cmpopts.IgnoreFields(retake.Entry{}, "Name"), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("root (-want +got):\n%s", d)
	}
}

// specialEntries makes entries of every kind with everything an entry can say.
func specialEntries(w testWriter) []retake.Entry {
	sparse := w.writeFile("sparse", make([]byte, 1<<16))
	sparse.Extra = &retake.Extra{Holes: []retake.Hole{{Offset: 0, Length: 4096}, {Offset: 8192, Length: 1<<16 - 8192}}}
	one := w.writeFile("one", []byte("shared"))
	one.Extra = &retake.Extra{Group: "g1", Xattrs: map[string][]byte{"user.x": {0, 0xff, '\n'}}}
	two := one
	two.Name = "two"
	attrs := w.writeFile("attrs", nil)
	attrs.Extra = &retake.Extra{Xattrs: map[string][]byte{"user.empty": {}, "user.\xff\n": []byte("odd name"), "user.long": randomBytes(3, 4096)}}
	suid := w.writeFile("suid", []byte("#!"))
	suid.Mode, suid.UID, suid.GID = 0o7777, 0, 1<<32-2
	early := w.writeFile("early", []byte("1969"))
	early.ModTime = -1
	bare := w.writeFile("bare", []byte("no rights"))
	bare.Mode = 0
	link := w.writeFile("link", []byte("one"))
	link.Kind, link.Mode = retake.KindSymlink, 0o777
	link.Extra = &retake.Extra{Group: "g2"}
	dir := w.writeDir("dir", bare)
	dir.Mode, dir.ModTime = 0o2755, epoch.UnixNano()+1
	dir.Extra = &retake.Extra{Xattrs: map[string][]byte{"user.d": []byte("dir")}}
	fifo := retake.Entry{Name: "fifo", Kind: retake.KindFIFO, Mode: 0o640, UID: 3, GID: 4, ModTime: 5}
	socket := retake.Entry{Name: "socket", Kind: retake.KindSocket, Mode: 0o755, ModTime: 1 << 61}
	return []retake.Entry{two, sparse, one, attrs, suid, early, bare, link, dir, fifo, socket}
}

func testManyWriters(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	entries := make([]retake.Entry, 64)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := worker; i < len(entries); i += 4 {
				b := randomBytes(byte(i/2), 1000) // every two are the same
				id, n, err := w.WriteFile(t.Context(), "f", bytes.NewReader(b))
				if err != nil {
					t.Errorf("WriteFile: %v", err)
				}
				entries[i] = retake.Entry{Name: fmt.Sprintf("%02d", i), Kind: retake.KindFile, Size: n, Object: id}
			}
		})
	}
	wg.Wait()
	root := w.writeDir("", entries...)
	w.sealTree(1, root, nil)
	w.close()
	s := reopen(t, h)
	wantDir(t, s, root.Object, entries)
	for i, e := range entries {
		wantBytes(t, s, e.Object, randomBytes(byte(i/2), 1000))
	}
}
