package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/archive"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// item is one entry of an archive as somebody hostile writes it.
type item struct {
	typ  byte
	name string
	text string // the bytes of a file, or where a link leads
	mode int64

	record string // of PAX, with the text
}

func file(name, text string) item { return item{tar.TypeReg, name, text, 0o644, ""} }
func dir(name string) item        { return item{tar.TypeDir, name + "/", "", 0o755, ""} }
func sym(name, to string) item    { return item{tar.TypeSymlink, name, to, 0o777, ""} }
func link(name, to string) item   { return item{tar.TypeLink, name, to, 0o644, ""} }
func fifo(name string) item       { return item{tar.TypeFifo, name, "", 0o644, ""} }

func forgeArchive(t testing.TB, items ...item) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, i := range items {
		h := &tar.Header{Typeflag: i.typ, Name: i.name, Mode: i.mode, Format: tar.FormatPAX}
		if i.record != "" {
			h.PAXRecords = map[string]string{i.record: i.text}
		}
		switch i.typ {
		case tar.TypeReg:
			h.Size = int64(len(i.text))
		case tar.TypeSymlink, tar.TypeLink:
			h.Linkname = i.text
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatalf("%+v: %v", i, err)
		}
		if i.typ == tar.TypeReg {
			if _, err := io.WriteString(w, i.text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// hostileArchives are archives that must be refused, by what is wrong with them.
func hostileArchives(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	add := func(name string, items ...item) { out[name] = forgeArchive(t, items...) }
	kinds := map[string]func(string) item{
		"file":    func(n string) item { return file(n, "x") },
		"dir":     dir,
		"symlink": func(n string) item { return sym(n, "f") },
		"link":    func(n string) item { return link(n, "f") },
		"fifo":    fifo,
	}
	for kind, make := range kinds {
		for _, name := range []string{"/evil", "//evil", "../evil", "a/../../evil", "./../evil", "..", "f/../..", "../../../../../../tmp/evil", "f/../evil"} {
			add(kind+" named "+name, file("f", "x"), make(name))
		}
		add(kind+" behind a link to a directory", file("f", "x"), dir("d"), sym("s", "d"), make("s/evil"))
		add(kind+" behind a link to itself", file("f", "x"), sym("s", "s"), make("s/evil"))
		add(kind+" behind two links", file("f", "x"), dir("d"), sym("s", "d"), sym("d/t", ".."), make("s/t/evil"))
		add(kind+" below a file", file("f", "x"), make("f/evil"))
		add(kind+" below a FIFO", file("f", "x"), fifo("p"), make("p/evil"))
		for other, second := range kinds {
			add(kind+" and then "+other, file("f", "x"), make("twice"), second("twice"))
		}
		add(kind+" over the first file", file("f", "x"), make("f"))
		add(kind+" twice by another spelling", file("f", "x"), make("a/b"), make("./a//./b"))
	}
	for name, to := range map[string]string{
		"absolute": "/etc/passwd", "root": "/", "above": "..", "above and down": "../in/f", "far above": "../../../../etc/passwd", "down and out": "d/../../x", "empty": "",
	} {
		for kind, make := range kinds {
			add(kind+" behind a link that leads out: "+name, file("f", "x"), dir("d"), sym("s", to), make("s/evil"))
		}
		add("a hard link that leads out: "+name, dir("d"), link("s", to))
	}
	add("behind links that lead out together", dir("x"), dir("x/y"), sym("x/y/s", "../.."), sym("t", "x/y/s/../z"), file("t/evil", "x"))
	add("behind a link to here and above", sym("q", "."), sym("p", "q/.."), file("p/evil", "x"))
	add("a hard link to a link", file("f", "x"), sym("s", "f"), link("h", "s"))
	add("a hard link to a directory", dir("d"), link("h", "d"))
	add("a hard link to a FIFO", fifo("p"), link("h", "p"))
	add("a hard link to what comes later", link("h", "f"), file("f", "x"))
	add("a hard link to itself", link("h", "h"))
	add("a hard link behind a link", dir("d"), file("d/f", "x"), sym("s", "d"), link("h", "s/f"))
	add("a character device", item{tar.TypeChar, "null", "", 0o666, ""})
	add("a block device", item{tar.TypeBlock, "sda", "", 0o666, ""})
	add("a type of tomorrow", item{'Q', "q", "", 0o644, ""})
	add("a file that is the directory", item{tar.TypeSymlink, "./", "f", 0o777, ""})
	add("a name of 300 bytes", file(strings.Repeat("n", 300), ""))
	add("a path of 5000 bytes", file(strings.Repeat("n/", 2500)+"f", ""))
	add("300 directories deep", file(strings.Repeat("d/", 300)+"f", ""))
	add("a link that says 5000 bytes", sym("s", strings.Repeat("a/", 2500)))
	add("a link that says more than the kernel takes", sym("s", strings.Repeat("l", 4096)))
	attribute := func(n int, name string, size int) []item {
		var all []item
		for i := range n {
			all = append(all, item{typ: tar.TypeDir, name: fmt.Sprintf("d%d/", i), mode: 0o755, record: "SCHILY.xattr.user." + name, text: strings.Repeat("x", size)})
		}
		return all
	}
	add("an attribute of 70,000 bytes", attribute(1, "x", 70_000)...)
	add("an attribute with a name of 300 bytes", attribute(1, strings.Repeat("n", 300), 1)...)
	add("more attributes of directories than memory is for", attribute(1200, "x", 60_000)...)
	for name, text := range map[string]string{
		"nothing": "", "text": "this is no archive", "zip": "PK\x03\x04" + strings.Repeat("x", 1000), "half gzip": "\x1f\x8b\x08", "half zstd": "\x28\xb5\x2f\xfd\x00", "noise": strings.Repeat("\xde\xad", 5000),
	} {
		out["no archive: "+name] = []byte(text)
	}
	return out
}

// guardedRoot is a directory "in" with neighbours that nobody may touch.
type guardedRoot struct {
	t      testing.TB
	parent string
	root   fsx.Dir
	before map[string]string
}

func newGuardedRoot(t testing.TB) *guardedRoot {
	t.Helper()
	w := &guardedRoot{t: t, parent: t.TempDir()}
	for name, text := range map[string]string{"f": "mine", "evil": "mine", "x/f": "mine", "x/y": "mine"} {
		p := filepath.Join(w.parent, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(w.parent, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.root = must(fsx.OS().OpenRoot(filepath.Join(w.parent, "in")))(t)
	t.Cleanup(func() { w.root.Close() })
	w.before = w.snapshot()
	return w
}

// snapshot is everything beside the directory, and that it is there.
func (w *guardedRoot) snapshot() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.parent, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(w.parent, p)
		is, err := d.Info()
		if err != nil {
			return err
		}
		if rel == "in" {
			out[rel] = is.Mode().String()
			return fs.SkipDir
		}
		out[rel] = fmt.Sprint(is.Mode(), is.ModTime().UnixNano())
		if d.Type().IsRegular() {
			b, err := os.ReadFile(p)
			out[rel] += string(b)
			return err
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// wantUntouched fails when anything beside the directory changed, or something is in it.
func (w *guardedRoot) wantUntouched(name string) {
	w.t.Helper()
	if d := cmp.Diff(w.before, w.snapshot()); d != "" {
		w.t.Errorf("%s wrote outside (-before +after):\n%s", name, d)
	}
	if left := must(w.root.Names())(w.t); len(left) > 0 {
		w.t.Errorf("%s leaves %q", name, left)
	}
}

// Every hostile archive is refused whole, plain and packed; nothing is written beside the
// directory, and nothing stays in it.
func TestHostileArchivesAreRefused(t *testing.T) {
	t.Parallel()
	all := hostileArchives(t)
	if len(all) < 60 {
		t.Fatalf("%d cases", len(all))
	}
	w := newGuardedRoot(t)
	for name, text := range all {
		for how, bytes1 := range map[string][]byte{"plain": text, "gzip": compressGzip(t, text), "zstd": compressZstd(t, text)} {
			_, err := archive.Extract(t.Context(), bytes.NewReader(bytes1), w.root, archive.Limits{})
			if !retake.IsKind(err, retake.Invalid) || !strings.Contains(retake.AsError(err).What, "refused") {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			w.wantUntouched(name + ", " + how)
		}
	}
	t.Logf("%d archives tried", 3*len(all))
}

// The watcher sees what it must see.
func TestTheWatcherSees(t *testing.T) {
	t.Parallel()
	for name, deed := range map[string]func(string) error{
		"a new file":   func(p string) error { return os.WriteFile(filepath.Join(p, "new"), nil, 0o600) },
		"other bytes":  func(p string) error { return os.WriteFile(filepath.Join(p, "f"), []byte("yours"), 0o600) },
		"a new mode":   func(p string) error { return os.Chmod(filepath.Join(p, "x"), 0o700) },
		"a link":       func(p string) error { return os.Symlink("f", filepath.Join(p, "x", "l")) },
		"a loss":       func(p string) error { return os.Remove(filepath.Join(p, "evil")) },
		"the place":    func(p string) error { return os.Remove(filepath.Join(p, "in")) },
		"another mode": func(p string) error { return os.Chmod(filepath.Join(p, "in"), 0o700) },
	} {
		w := newGuardedRoot(t)
		if err := deed(w.parent); err != nil {
			t.Fatal(err)
		}
		if cmp.Equal(w.before, w.snapshot()) {
			t.Errorf("%s is not seen", name)
		}
	}
}

// Links that stay inside are fine, also those that lead nowhere.
func TestLinksThatStayInside(t *testing.T) {
	t.Parallel()
	w := newGuardedRoot(t)
	good := []item{
		dir("d"), dir("d/e"), file("f", "x"), sym("here", "."), sym("d/up", ".."), sym("d/e/f", "../../f"), sym("loop", "loop"), sym("ping", "pong"), sym("pong", "ping"),
		sym("lost", "no/such/thing"), sym("lost2", "no/../f"), sym("through", "d/up/d/up/f"), sym("slow", "./././d//e/./f"), sym("d/e/top", "../.."), link("d/e/g", "./f"),
	}
	rep, err := archive.Extract(t.Context(), bytes.NewReader(forgeArchive(t, good...)), w.root, archive.Limits{})
	if err != nil || rep.Symlinks != 11 || rep.Links != 1 || rep.Files != 1 {
		t.Errorf("%+v %v", rep, err)
	}
	if d := cmp.Diff(w.before, w.snapshot()); d != "" {
		t.Errorf("written outside (-before +after):\n%s", d)
	}
}

func compressGzip(t testing.TB, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
