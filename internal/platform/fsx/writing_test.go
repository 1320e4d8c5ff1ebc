//go:build unix

package fsx_test

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

func TestWriteAtAndTruncate(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		f, err := d.Create("f", 0o600)
		must(t, err)
		for _, w := range []struct {
			at   int64
			data string
		}{{5, "world"}, {0, "hello"}, {4, "O-W"}, {12, "!"}} {
			if n, err := f.WriteAt([]byte(w.data), w.at); n != len(w.data) || err != nil {
				t.Fatalf("wrote %d at %d: %v", n, w.at, err)
			}
		}
		_, err = f.Write([]byte("H")) // WriteAt leaves the position alone
		must(t, err)
		if got := readFile(t, d, "f"); got != "HellO-Wrld\x00\x00!" {
			t.Errorf("the file holds %q", got)
		}
		must(t, f.Truncate(6))
		must(t, f.Truncate(8))
		if got := readFile(t, d, "f"); got != "HellO-\x00\x00" {
			t.Errorf("cut and lengthened: %q", got)
		}
		if _, err := f.WriteAt([]byte("x"), -1); err == nil {
			t.Error("written before the beginning")
		}
		if f.Truncate(-1) == nil {
			t.Error("cut to less than nothing")
		}
		must(t, f.Close())
		if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("write after close: %v", err)
		}
		if err := f.Truncate(0); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("truncate after close: %v", err)
		}
	})
}

func TestWriteAtNeedsTheRightHandle(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		writeFile(t, d, "f", "data")
		r, err := d.OpenFile("f")
		must(t, err)
		defer r.Close()
		a, err := d.Append("f", 0o600)
		must(t, err)
		defer a.Close()
		if _, err := a.WriteAt([]byte("x"), 0); err == nil {
			t.Error("an appending file is written at a place")
		}
		if _, err := r.WriteAt([]byte("x"), 0); err == nil || r.Truncate(0) == nil {
			t.Error("a file opened for reading is written")
		}
		must(t, a.Truncate(2))
		if got := readFile(t, d, "f"); got != "da" {
			t.Errorf("the file holds %q", got)
		}
	})
}

func TestSparseFilesAreMade(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		f, err := d.Create("sparse", 0o600)
		must(t, err)
		defer f.Close()
		must(t, f.Truncate(4*mib))
		for _, at := range []int64{0, 2 * mib} {
			_, err = f.WriteAt(bytes.Repeat([]byte("d"), mib), at)
			must(t, err)
		}
		must(t, f.Sync())
		got, err := f.Holes()
		must(t, err)
		want := []fsx.Hole{{Offset: mib, Length: mib}, {Offset: 3 * mib, Length: mib}}
		if p.holes && !slices.Equal(got, want) {
			t.Errorf("holes %v", got)
		}
		wantData := strings.Repeat(strings.Repeat("d", mib)+strings.Repeat("\x00", mib), 2)
		if readFile(t, d, "sparse") != wantData {
			t.Error("the data is another")
		}
	})
}

func TestCloneFrom(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		data := strings.Repeat("0123456789abcdef", 4096)
		writeFile(t, d, "src", data)
		src, err := d.OpenFile("src")
		must(t, err)
		defer src.Close()
		f, err := d.Create("f", 0o600)
		must(t, err)
		defer f.Close()
		switch err := f.CloneFrom(src); {
		case errors.Is(err, errors.ErrUnsupported):
			if got := readFile(t, d, "f"); got != "" {
				t.Errorf("unsupported, but %d bytes came", len(got))
			}
		case err != nil:
			t.Fatal(err)
		default:
			_, err = f.WriteAt([]byte("X"), 0)
			must(t, err)
			if readFile(t, d, "f") != "X"+data[1:] || readFile(t, d, "src") != data {
				t.Error("the clone and its source are not two files")
			}
		}
		if err := f.CloneFrom(f); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("clone of itself: %v", err)
		}
		other, err := memoryTestFS(t).open(t).Create("f", 0o600)
		must(t, err)
		if err := f.CloneFrom(other); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("clone from another file system: %v", err)
		}
	})
}
