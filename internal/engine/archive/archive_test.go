package archive_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/archive"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// sample has one of everything.
func sample() *fakeTree {
	t := newFakeTree()
	attrs := &retake.Extra{Xattrs: map[string][]byte{"user.a": []byte("1"), "user.b=c": {0, 0xff}}}
	t.add("d", retake.Entry{Kind: retake.KindDir, Mode: 0o711, ModTime: 1_000_000_007, Extra: attrs}, "")
	t.add("d/f", retake.Entry{Kind: retake.KindFile, Mode: 0o640, ModTime: -5, Extra: attrs}, "bytes\x00")
	t.add("d/l", retake.Entry{Kind: retake.KindSymlink, ModTime: 9}, "f")
	t.add("d/p", retake.Entry{Kind: retake.KindFIFO, Mode: 0o600, ModTime: 8}, "")
	t.add("n\xff\n", retake.Entry{Kind: retake.KindFile, Mode: 0o400, ModTime: 1<<62 + 1}, strings.Repeat("x", 3000))
	group := &retake.Extra{Group: "g"}
	t.add("z1", retake.Entry{Kind: retake.KindFile, Mode: 0o644, ModTime: 3, Extra: group}, "linked")
	t.add("z2", retake.Entry{Kind: retake.KindFile, Mode: 0o644, ModTime: 3, Extra: group}, "linked")
	return t
}

// On a real file system, plain and packed.
func TestExtractOnDisk(t *testing.T) {
	t.Parallel()
	in := sample()
	plain := writeArchive(t, in)
	for how, text := range map[string][]byte{"plain": plain, "gzip": compressGzip(t, plain), "zstd": compressZstd(t, plain)} {
		w := newGuardedRoot(t)
		rep, err := archive.Extract(t.Context(), bytes.NewReader(text), w.root, archive.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		want, got := in.wantedFiles(), readTree(t, w.root)
		for _, p := range rep.Bare { // this file system has no attributes
			e := in.entries[p]
			e.Extra = nil
			in2 := newFakeTree()
			in2.add("x", e, in.data[p])
			want[p] = in2.wantedFiles()["x"]
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", how, d)
		}
		if d := cmp.Diff(archive.Report{Files: 3, Dirs: 1, Symlinks: 1, Links: 1, FIFOs: 1, Bytes: 3012, Bare: rep.Bare}, rep); d != "" {
			t.Errorf("%s (-want +got):\n%s", how, d)
		}
		if d := cmp.Diff(w.before, w.snapshot()); d != "" {
			t.Errorf("%s, outside (-before +after):\n%s", how, d)
		}
	}
}

// The archive is one that every tar reads: PAX, in order, nothing of this machine.
func TestArchiveIsPlainTar(t *testing.T) {
	t.Parallel()
	in := tar.NewReader(bytes.NewReader(writeArchive(t, sample())))
	var names []string
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Uname != "" || h.Gname != "" || !h.AccessTime.IsZero() || !h.ChangeTime.IsZero() {
			t.Errorf("%q tells more: %+v", h.Name, h)
		}
	}
	if d := cmp.Diff([]string{"d/", "d/f", "d/l", "d/p", "n\xff\n", "z1", "z2"}, names); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

const aMark = "ws_0198c5a4-8f00-7000-8000-000000000001\n"

// What others put into a directory that is called as ours is taken like all else.
func TestT3_OnlyAMarkIsLeftOut(t *testing.T) {
	t.Parallel()
	root := must(fsxtest.NewMemory().OpenRoot("/"))(t)
	text := forgeArchive(t, file(".retake/keep.txt", "k"), file(".retake/id", "no mark"), file(".retake/deep/id", aMark), file("sub/.retake/id", aMark))
	rep, err := archive.Extract(t.Context(), bytes.NewReader(text), root, archive.Limits{})
	if err != nil || rep.Files != 4 || len(rep.Skipped) != 0 {
		t.Errorf("%+v %v", rep, err)
	}
}

// Rights are not imported, and that is told; neither is a mark.
func TestRightsAndMarksStayOutside(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range []tar.Header{
		{Name: "suid", Typeflag: tar.TypeReg, Mode: 0o4755},
		{Name: "sgid", Typeflag: tar.TypeReg, Mode: 0o2755},
		{Name: "both", Typeflag: tar.TypeReg, Mode: 0o7777},
		{Name: "dir/", Typeflag: tar.TypeDir, Mode: 0o2775, PAXRecords: map[string]string{"SCHILY.xattr.user.retake.workspace": "ws_x", "SCHILY.xattr.user.k": "v", "SCHILY.xattr.trusted.k": "v"}},
		{Name: "pipe", Typeflag: tar.TypeFifo, Mode: 0o4600},
		{Name: "sticky/", Typeflag: tar.TypeDir, Mode: 0o1777},
		{Name: ".retake/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "./.retake/id", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(aMark))},
		{Name: ".retake/cp_0198c5a4-8f00-7000-8000-000000000003/old", Typeflag: tar.TypeReg, Mode: 0o644},
		{Name: "./", Typeflag: tar.TypeDir, Mode: 0},
	} {
		h.Format = tar.FormatPAX
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, aMark[:h.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	root := must(fsxtest.NewMemory().OpenRoot("/"))(t)
	rep, err := archive.Extract(t.Context(), &out, root, archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"suid", "sgid", "both", "dir", "pipe"}, rep.Dropped); d != "" {
		t.Errorf("dropped (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"./.retake/id", ".retake/cp_0198c5a4-8f00-7000-8000-000000000003/old"}, rep.Skipped); d != "" {
		t.Errorf("skipped (-want +got):\n%s", d)
	}
	modes := map[string]uint32{}
	walkDir(t, root, "", func(p string, d fsx.Dir, name string, is fsx.Info) {
		modes[p] = is.Mode
		if p == "dir" {
			if x := must(must(d.OpenDir(name))(t).Xattrs())(t); len(x) != 1 || string(x["user.k"]) != "v" {
				t.Errorf("attributes: %v", x)
			}
		}
	})
	if d := cmp.Diff(map[string]uint32{"suid": 0o755, "sgid": 0o755, "both": 0o1777, "dir": 0o775, "pipe": 0o600, "sticky": 0o1777, ".retake": 0o755}, modes); d != "" {
		t.Errorf("modes (-want +got):\n%s", d)
	}
}

// Directories that close themselves, and come after what is in them, are as they say.
func TestClosedDirectories(t *testing.T) {
	t.Parallel()
	text := forgeArchive(t, file("a/b/f", "x"), item{tar.TypeDir, "a/b/", "", 0, ""}, file("a/g", "y"), item{tar.TypeDir, "a/", "", 0o100, ""})
	mem := fsxtest.NewMemory()
	root := must(mem.OpenRoot("/"))(t)
	if _, err := archive.Extract(t.Context(), bytes.NewReader(text), root, archive.Limits{}); err != nil {
		t.Fatal(err)
	}
	if is := must(root.Lstat("a"))(t); is.Mode != 0o100 {
		t.Errorf("%o", is.Mode)
	}
	if err := mem.Chmod("/a", 0o700); err != nil {
		t.Fatal(err)
	}
	if is := must(must(root.OpenDir("a"))(t).Lstat("b"))(t); is.Mode != 0 {
		t.Errorf("%o", is.Mode)
	}
	// A refusal clears them too.
	w := newGuardedRoot(t)
	bad := forgeArchive(t, item{tar.TypeDir, "a/", "", 0, ""}, file("a/b/f", "x"), item{tar.TypeDir, "a/b/", "", 0, ""}, link("s", ".."))
	if _, err := archive.Extract(t.Context(), bytes.NewReader(bad), w.root, archive.Limits{}); !retake.IsKind(err, retake.Invalid) {
		t.Error(err)
	}
	w.wantUntouched("a closed directory")
}

// What cannot be read never becomes an archive that looks whole.
func TestWriteThatFails(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"d/f", "d/l", "z1"} {
		in := sample()
		in.broken = p
		var out bytes.Buffer
		if err := archive.Write(t.Context(), in, "ws_1", "1", &out); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", p, err)
		}
		root := must(fsxtest.NewMemory().OpenRoot("/"))(t)
		if _, err := archive.Extract(t.Context(), &out, root, archive.Limits{}); err == nil {
			t.Errorf("%s: what was written is taken for all", p)
		}
	}
	for _, size := range []int64{5, 7} { // the entry says other than the bytes
		in := sample()
		e := in.entries["d/f"]
		e.Size = size
		in.entries["d/f"] = e
		if err := archive.Write(t.Context(), in, "ws_1", "1", io.Discard); err == nil {
			t.Errorf("6 bytes pass for %d", size)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := archive.Write(ctx, sample(), "ws_1", "1", io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	in := sample()
	in.entries["q"] = retake.Entry{Name: "q", Kind: "of-tomorrow"}
	if err := archive.Write(t.Context(), in, "ws_1", "1", io.Discard); err == nil {
		t.Error("an entry of a kind that is not known is left out in silence")
	}
}

// Whatever comes, the directory is as the archive says, or empty.
func FuzzExtract(f *testing.F) {
	seeds := [][]byte{sparseHeader("s", 1<<40), gnuLong(600)}
	seeds = append(seeds, forgeArchive(f, dir("d"), file("d/f", "x"), sym("s", "d"), link("h", "d/f"), fifo("p")))
	seeds = append(seeds, slices.Concat(compressGzip(f, seeds[2]), []byte("more")), compressZstd(f, seeds[2]))
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		mem := fsxtest.NewMemory()
		mem.SetCapacity(1 << 20)
		root := must(mem.OpenRoot("/"))(t)
		_, err := archive.Extract(t.Context(), bytes.NewReader(text), root, archive.Limits{Entries: 100, Bytes: 1 << 18, Depth: 10, Name: 300})
		if left := must(root.Names())(t); err != nil && len(left) > 0 {
			t.Errorf("%v leaves %q", err, left)
		}
	})
}

// A link that leads out is written as it is and reported. Nothing goes through it.
func TestOutwardLinksStayLinks(t *testing.T) {
	t.Parallel()
	w := newGuardedRoot(t)
	links := map[string]string{
		"venv/bin/python3": "/usr/bin/python3", "venv/bin/python": "python3", "venv/lib64": "lib", "venv/up": "../..", "out": "../f", "root": "/", "in": "venv/../venv", "near": "./venv/../../in",
	}
	items := []item{dir("venv"), dir("venv/lib")}
	for name, to := range links {
		items = append(items, sym(name, to))
	}
	r, err := archive.Extract(t.Context(), bytes.NewReader(forgeArchive(t, items...)), w.root, archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range links {
		if got, err := os.Readlink(filepath.Join(w.parent, "in", name)); err != nil || got != to {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	slices.Sort(r.Outward)
	if want := []string{"near", "out", "root", "venv/bin/python3", "venv/up"}; !slices.Equal(r.Outward, want) {
		t.Errorf("reported %q", r.Outward)
	}
	if d := cmp.Diff(w.before, w.snapshot()); d != "" {
		t.Errorf("outside (-before +after):\n%s", d)
	}
}
