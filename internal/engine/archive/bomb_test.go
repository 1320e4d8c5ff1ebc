package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/archive"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

func compressZstd(t testing.TB, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// streamArchive gives an archive that f writes, packed, as it is read; it may be endless.
func streamArchive(t testing.TB, pack func(io.Writer) io.WriteCloser, f func(*tar.Writer, io.Writer) error) io.Reader {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() { r.Close() })
	go func() {
		z := pack(w)
		out := tar.NewWriter(z)
		err := errors.Join(f(out, z), out.Close(), z.Close())
		_ = w.CloseWithError(err)
	}()
	return r
}

type unpacked struct{ io.Writer }

func (unpacked) Close() error { return nil }

var packers = map[string]func(io.Writer) io.WriteCloser{
	"plain": func(w io.Writer) io.WriteCloser { return unpacked{w} },
	"gzip":  func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"zstd": func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err)
		}
		return z
	},
}

// endless are archives without an end, or with one that is too far away.
var endlessArchives = map[string]func(*tar.Writer, io.Writer) error{
	"one file": func(w *tar.Writer, _ io.Writer) error {
		if err := w.WriteHeader(&tar.Header{Name: "f", Typeflag: tar.TypeReg, Size: 1 << 40, Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err := io.Copy(w, zeroReader{})
		return err
	},
	"many files": func(w *tar.Writer, _ io.Writer) error {
		for i := 0; ; i++ {
			if err := w.WriteHeader(&tar.Header{Name: fmt.Sprint(i), Typeflag: tar.TypeReg, Size: 1000}); err != nil {
				return err
			}
			if _, err := w.Write(make([]byte, 1000)); err != nil {
				return err
			}
		}
	},
	"many names": func(w *tar.Writer, _ io.Writer) error {
		for i := 0; ; i++ {
			if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d/%d/%d/%d", i, i, i, i), Typeflag: tar.TypeDir}); err != nil {
				return err
			}
		}
	},
	"remarks": func(w *tar.Writer, _ io.Writer) error {
		for {
			h := &tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "g", Format: tar.FormatPAX, PAXRecords: map[string]string{"comment": strings.Repeat("x", 1<<19)}}
			if err := w.WriteHeader(h); err != nil {
				return err
			}
		}
	},
	"attributes": func(w *tar.Writer, _ io.Writer) error {
		for i := 0; ; i++ {
			h := &tar.Header{Typeflag: tar.TypeDir, Name: fmt.Sprint(i), Format: tar.FormatPAX, PAXRecords: map[string]string{"SCHILY.xattr.trusted.x": strings.Repeat("x", 1<<19)}}
			if err := w.WriteHeader(h); err != nil {
				return err
			}
		}
	},
	"a mark": func(w *tar.Writer, _ io.Writer) error {
		if err := w.WriteHeader(&tar.Header{Name: ".retake/id", Typeflag: tar.TypeReg, Size: 1 << 40, Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err := io.Copy(w, zeroReader{})
		return err
	},
	"sparse": func(_ *tar.Writer, raw io.Writer) error {
		_, err := raw.Write(sparseHeader("s", 1<<40))
		return err
	},
	"long names": func(_ *tar.Writer, raw io.Writer) error {
		for {
			if _, err := raw.Write(gnuLong(1 << 19)); err != nil {
				return err
			}
		}
	},
}

// gnuLong is a header that gives the next entry a long name.
func gnuLong(n int) []byte {
	b := block("././@LongLink", 'L', int64(n))
	return append(b, bytes.Repeat([]byte("n"), n)...)
}

// sparseHeader is a file of one hole, in the old form of GNU tar: 512 bytes that claim any size.
func sparseHeader(name string, size int64) []byte {
	b := block(name, 'S', 0)
	writeOctal(b[386:398], size) // where its only piece lies
	writeOctal(b[398:410], 0)
	writeOctal(b[483:495], size)
	return addChecksum(b)
}

func block(name string, typ byte, size int64) []byte {
	b := make([]byte, 512)
	copy(b, name)
	copy(b[100:], "0000644\x00")
	copy(b[108:], "0000000\x00")
	copy(b[116:], "0000000\x00")
	writeOctal(b[124:136], size)
	copy(b[136:], "00000000000\x00")
	b[156] = typ
	copy(b[257:], "ustar  \x00")
	return addChecksum(b)
}

func writeOctal(field []byte, n int64) {
	big.NewInt(n).FillBytes(field)
	field[0] |= 0x80
}

func addChecksum(b []byte) []byte {
	copy(b[148:156], "        ")
	total := 0
	for _, c := range b {
		total += int(c)
	}
	copy(b[148:156], fmt.Sprintf("%06o\x00 ", total))
	return b
}

// Bombs end early: what is written, what is held and the time it takes are bounded by
// the limits, not by what the archive says. Not parallel: it counts memory.
func TestBombsAreBounded(t *testing.T) {
	l := archive.Limits{Entries: 1000, Bytes: 1 << 20}
	for name, f := range endlessArchives {
		for how, pack := range packers {
			mem := fsxtest.NewMemory()
			mem.SetCapacity(2 << 20)
			root := must(mem.OpenRoot("/"))(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := clock.Wall.Now()
			_, err := archive.Extract(t.Context(), streamArchive(t, pack, f), root, l)
			took := clock.Wall.Now().Sub(began)
			runtime.ReadMemStats(&after)
			if !retake.IsKind(err, retake.Invalid) {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			// The packer of the test allocates too.
			if used := after.TotalAlloc - before.TotalAlloc; used > 512<<20 {
				t.Errorf("%s, %s: %d MB were allocated", name, how, used>>20)
			}
			if took > 20*time.Second {
				t.Errorf("%s, %s: %s", name, how, took)
			}
			if left := must(root.Names())(t); len(left) > 0 {
				t.Errorf("%s, %s leaves %d names", name, how, len(left))
			}
		}
	}
}

// A file of holes that fits is what it says: zeros.
func TestSparseFilesThatFit(t *testing.T) {
	t.Parallel()
	root := must(fsxtest.NewMemory().OpenRoot("/"))(t)
	text := append(sparseHeader("s", 100_000), make([]byte, 1024)...)
	rep, err := archive.Extract(t.Context(), bytes.NewReader(text), root, archive.Limits{})
	if err != nil || rep.Bytes != 100_000 {
		t.Errorf("%+v %v", rep, err)
	}
}

// paxSparse is an archive of one file that says it has a size and brings nothing, in the
// newest form of GNU tar.
func paxSparse(t *testing.T, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	records := map[string]string{"XNU.sparse.major": "1", "XNU.sparse.minor": "0", "XNU.sparse.name": "s", "XNU.sparse.realsize": fmt.Sprint(size)}
	err := w.WriteHeader(&tar.Header{Name: "s", Typeflag: tar.TypeReg, Size: 512, Mode: 0o644, PAXRecords: records})
	if err == nil {
		_, err = w.Write(append([]byte("0\n"), make([]byte, 510)...)) // no piece of it has bytes
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(out.Bytes(), []byte("XNU.sparse"), []byte("GNU.sparse")) // the writer does not write such
}

// An archive that brings nothing and says it is large is refused early, or takes no room.
func TestT2_SparseBomb(t *testing.T) {
	t.Parallel()
	for name, text := range map[string][]byte{"pax": paxSparse(t, 1<<40), "gnu": append(sparseHeader("s", 1<<40), make([]byte, 1024)...), "zeros": compressZstd(t, forgedZeros(t, 1<<30))} {
		dir := t.TempDir()
		root := must(fsx.OS().OpenRoot(dir))(t)
		asked := int64(0)
		_, err := archive.Extract(t.Context(), bytes.NewReader(text), root, archive.Limits{Ratio: 200, Room: func() (int64, error) { asked++; return 1 << 30, nil }})
		if !retake.IsKind(err, retake.Invalid) || !strings.Contains(err.Error(), "200 times") {
			t.Errorf("%s: %v", name, err)
		}
		if names := must(root.Names())(t); len(names) != 0 {
			t.Errorf("%s: %q is left", name, names)
		}
	}
	dir := t.TempDir()
	root := must(fsx.OS().OpenRoot(dir))(t)
	rep, err := archive.Extract(t.Context(), bytes.NewReader(paxSparse(t, 1<<30)), root, archive.Limits{Room: func() (int64, error) { return 1 << 20, nil }})
	if err != nil || rep.Bytes != 1<<30 {
		t.Fatalf("%+v %v", rep, err)
	}
	is := must(root.Lstat("s"))(t)
	if is.Size != 1<<30 || is.Blocks*512 > 1<<20 {
		t.Errorf("%d bytes take %d blocks", is.Size, is.Blocks)
	}
}

// forgedZeros is an archive of one file of zeros, as long as it says.
func forgedZeros(t *testing.T, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := w.WriteHeader(&tar.Header{Name: "z", Typeflag: tar.TypeReg, Size: size, Mode: 0o644})
	if err == nil {
		_, err = io.CopyN(w, zeroReader{}, size)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Room is asked for while files are written; without it nothing stays.
func TestT2_RoomIsAskedFor(t *testing.T) {
	t.Parallel()
	root := must(fsxtest.NewMemory().OpenRoot("/"))(t)
	big := strings.Repeat("x", 40<<20)
	room := int64(30 << 20)
	text := forgeArchive(t, file("small", "s"), file("big", big))
	_, err := archive.Extract(t.Context(), bytes.NewReader(text), root, archive.Limits{Room: func() (int64, error) {
		defer func() { room -= 16 << 20 }()
		return max(room, 0), nil
	}})
	if !retake.IsKind(err, retake.Limit) {
		t.Errorf("without room: %v", err)
	}
	if names := must(root.Names())(t); len(names) != 0 {
		t.Errorf("%q is left", names)
	}
	if _, err := archive.Extract(t.Context(), bytes.NewReader(text), root, archive.Limits{Room: func() (int64, error) { return 1 << 30, nil }}); err != nil {
		t.Errorf("with room: %v", err)
	}
}

// Nobody follows the links of an archive: a few thousand that would take hundreds of millions of
// steps take none.
func TestTangledLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	items := []item{dir("d"), sym("x", strings.Repeat("./", 2000))}
	for i := range 3000 {
		items = append(items, sym(fmt.Sprintf("d/%04d", i), strings.Repeat("../x/d/", 39)))
	}
	root := must(fsxtest.NewMemory().OpenRoot("/"))(t)
	began := clock.Wall.Now()
	_, err := archive.Extract(t.Context(), bytes.NewReader(forgeArchive(t, items...)), root, archive.Limits{})
	if took := clock.Wall.Now().Sub(began); took > 30*time.Second {
		t.Errorf("%s", took)
	}
	if err != nil {
		t.Error(err)
	}
}

// Each limit holds exactly.
func TestLimitsHoldExactly(t *testing.T) {
	t.Parallel()
	text := forgeArchive(t, dir("d"), file("d/é", "12345"), file("way/f", "678"), sym("s", "d/é"))
	for name, x := range map[string]struct {
		l    archive.Limits
		good bool
	}{
		"all":        {archive.Limits{Entries: 5, Bytes: 8, Depth: 2, Name: 5}, true},
		"no limit":   {archive.Limits{}, true},
		"an entry":   {archive.Limits{Entries: 4}, false},
		"a byte":     {archive.Limits{Bytes: 7}, false},
		"a level":    {archive.Limits{Depth: 1}, false},
		"a bit name": {archive.Limits{Name: 4}, false},
	} {
		w := newGuardedRoot(t)
		rep, err := archive.Extract(t.Context(), bytes.NewReader(text), w.root, x.l)
		if (err == nil) != x.good || !x.good && !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%s: %+v %v", name, rep, err)
		}
		if !x.good {
			w.wantUntouched(name)
		}
	}
}

// An archive that ends anywhere before its end is refused, and leaves nothing.
func TestEveryBeginningIsRefused(t *testing.T) {
	t.Parallel()
	in := newFakeTree()
	in.add("d/a", retake.Entry{Kind: retake.KindFile, Mode: 0o644}, strings.Repeat("x", 700))
	in.add("d/b", retake.Entry{Kind: retake.KindSymlink}, "a")
	in.add("\xff", retake.Entry{Kind: retake.KindFile, Mode: 0o644}, "")
	plain := writeArchive(t, in)
	for how, text := range map[string][]byte{"plain": plain, "gzip": compressGzip(t, plain), "zstd": compressZstd(t, plain)} {
		step := 1
		if how == "plain" {
			step = 64
		}
		end := len(text)
		if how != "plain" {
			end = len(text) * 9 / 10 // the very end is not needed to know all of the archive
		}
		for n := 0; n < end-1024*(step/64); n += step {
			root := must(fsxtest.NewMemory().OpenRoot("/"))(t)
			if _, err := archive.Extract(t.Context(), bytes.NewReader(text[:n]), root, archive.Limits{}); !retake.IsKind(err, retake.Invalid) {
				t.Errorf("%s, %d of %d bytes: %v", how, n, len(text), err)
			}
			if left := must(root.Names())(t); len(left) > 0 {
				t.Errorf("%s, %d bytes leave %q", how, n, left)
			}
		}
	}
}

// Trouble of the way, of the caller and of the disk is not blamed on the archive.
func TestTroubleOfOthers(t *testing.T) {
	t.Parallel()
	text := forgeArchive(t, file("f", strings.Repeat("x", 5000)), dir("d"))
	root := must(fsxtest.NewMemory().OpenRoot("/"))(t)
	for n := range 10 {
		r := io.MultiReader(bytes.NewReader(text[:n*512]), iotest.ErrReader(errBroken))
		if _, err := archive.Extract(t.Context(), r, root, archive.Limits{}); !errors.Is(err, errBroken) || retake.IsKind(err, retake.Invalid) {
			t.Errorf("broken after %d: %v", n*512, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := archive.Extract(ctx, bytes.NewReader(text), root, archive.Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	mem := fsxtest.NewMemory()
	mem.SetCapacity(4000)
	small := must(mem.OpenRoot("/"))(t)
	if _, err := archive.Extract(t.Context(), bytes.NewReader(text), small, archive.Limits{}); !retake.IsKind(err, retake.Limit) {
		t.Errorf("full: %v", err)
	}
	for name, d := range map[string]fsx.Dir{"after all": root, "after a full disk": small} {
		if left := must(d.Names())(t); len(left) > 0 {
			t.Errorf("%s: %q", name, left)
		}
	}
	if _, err := archive.Extract(t.Context(), bytes.NewReader(text), root, archive.Limits{}); err != nil {
		t.Fatal(err)
	}
	before := readTree(t, root)
	if _, err := archive.Extract(t.Context(), bytes.NewReader(text), root, archive.Limits{}); !retake.IsKind(err, retake.Exists) {
		t.Errorf("not empty: %v", err)
	}
	if d := cmp.Diff(before, readTree(t, root)); d != "" {
		t.Errorf("what was there (-before +after):\n%s", d)
	}
}
