//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// bomb is an archive that costs its sender little.
type bomb struct {
	name   string
	house  string // namespace that it is thrown at
	query  string // more of the request
	times  int    // that it is sent at once; 0: 1
	good   bool   // the server may take it
	leaves bool   // its sender goes away before the end
	long   bool   // it takes minutes: in full runs only
	write  func(w io.Writer) error
}

var bombs = []bomb{
	{name: "a small archive", house: "small", good: true, write: entries(1, file("f%d", 1000))},
	{name: "nothing", house: "small", write: func(io.Writer) error { return nil }},
	{name: "no archive", house: "small", write: func(w io.Writer) error { return noise(w, 1<<20) }},
	{name: "a sparse file of 1 TiB, GNU", house: "large", write: raw(sparse("s", 1<<40), end)},
	{name: "a sparse file of 1 TiB, PAX", house: "large", write: paxSparse(1 << 40)},
	{name: "a sparse file of 1 TiB, small namespace", house: "small", write: raw(sparse("s", 1<<40), end)},
	{name: "1 GiB of zeros, zstd", house: "large", write: zstdOf(zeros(1 << 30))},
	{name: "8 GiB of zeros, zstd", house: "large", long: true, write: zstdOf(zeros(8 << 30))},
	{name: "1 GiB of zeros, gzip", house: "large", write: gzipOf(zeros(1 << 30))},
	{name: "8 GiB of zeros, many gzip members", house: "large", write: gzipMembers(8 << 30)},
	{name: "100 GiB of zeros, many gzip members", house: "large",
		write: gzipMembers(100 << 30)},
	{name: "1 GiB of zeros, zstd, small namespace", house: "small", write: zstdOf(zeros(1 << 30))},
	{name: "more than the limit", house: "small", write: entries(3, file("f%d", 16<<20))},
	{name: "a path 100,000 deep", house: "large", write: entries(1, empty(strings.Repeat("d/", 100_000)+"f"))},
	{name: "a path 200 deep", house: "small", good: true, write: entries(1, empty(strings.Repeat("d/", 199)+"f"))},
	{name: "a name of 256 bytes", house: "small", write: entries(1, empty(strings.Repeat("n", 256)))},
	{name: "a path of 5,000 bytes", house: "small", write: entries(1, empty(strings.Repeat("12345678/", 555)+"f"))},
	{name: "a name of 1 MiB, GNU", house: "small", write: raw(longName(1<<20), block("f", '0', 0), end)},
	{name: "a header of 2 MiB", house: "small", write: raw(longRecord(2<<20), block("f", '0', 0), end)},
	{name: "a global header of 900 kB, 200 times, zstd", house: "small", write: zstdOf(entries(200, globalHeader(900_000)))},
	{name: "an attribute of 5,000 bytes", house: "small", write: entries(1, withRecord("SCHILY.xattr.user.x", 5000))},
	{name: "an attribute of 70,000 bytes", house: "small", write: entries(1, withRecord("SCHILY.xattr.user.x", 70_000))},
	{name: "an attribute with a name of 300 bytes", house: "small", write: entries(1, withRecord("SCHILY.xattr.user."+strings.Repeat("n", 300), 1))},
	{name: "1,500 directories with attributes of 900 kB, zstd", house: "large",
		write: zstdOf(entries(1500, attributeDir(900_000)))},
	{name: "a link of 4,096 bytes", house: "small", write: entries(1, link(4096))},
	{name: "a link of 1 MB", house: "small", write: entries(1, link(1_000_000))},
	{name: "70,000 hard links", house: "small", write: zstdOf(hardLinks(70_000))},
	{name: "3,000 tangled links", house: "small", good: true, write: zstdOf(tangled(3000))},
	{name: "a device", house: "small", write: entries(1, func(int) *tar.Header { return &tar.Header{Name: "d", Typeflag: tar.TypeBlock, Devmajor: 8} })},
	{name: "100,000 setuid files with paths of 3 kB, zstd", house: "large", long: true, write: zstdOf(entries(100_000, setuidFile))},
	{name: "50,000 directories, zstd", house: "small", write: zstdOf(entries(50_000, dir("d%d")))},
	{name: "2,000,000 empty files, zstd", house: "small", long: true, write: zstdOf(entries(2_000_000, func(i int) *tar.Header { return empty(fmt.Sprintf("d%d/f%d", i/1000, i))(i) }))},
	{name: "2,000,000 directories, zstd", house: "small", long: true, write: zstdOf(entries(2_000_000, func(i int) *tar.Header { return dir(fmt.Sprintf("d%d/d%d", i/1000, i))(i) }))},
	{name: "a truncated archive", house: "small", write: cutAt(20<<20, entries(1, file("f%d", 30<<20)))},
	{name: "a truncated archive, gzip", house: "small", write: cutAt(20<<20, gzipOf(entries(1, file("f%d", 30<<20))))},
	{name: "a truncated archive, zstd", house: "small", write: cutAt(20<<20, zstdOf(entries(1, file("f%d", 30<<20))))},
	{name: "a sender who leaves", house: "small", leaves: true, write: cutAt(20<<20, entries(1, file("f%d", 30<<20)))},
	{name: "12 truncated archives at once", house: "small", times: 12, write: cutAt(25<<20, entries(1, file("f%d", 30<<20)))},
	{name: "one workspace too many", house: "crowded", write: entries(1, file("f%d", 20<<20))},
	{name: "one workspace too many, 5 times", house: "crowded", times: 5, write: entries(1, file("f%d", 20<<20))},
	{name: "more history than allowed", house: "stuffed", write: entries(1, file("f%d", 20<<20))},
	{name: "more history than allowed, with intent", house: "stuffed", query: "&intent=first", write: entries(1, file("f%d", 20<<20))},
}

// entries writes an archive of so many entries. Files have bytes that cannot be compressed.
func entries(n int, header func(i int) *tar.Header) func(io.Writer) error {
	return func(w io.Writer) error {
		t := tar.NewWriter(w)
		for i := range n {
			h := header(i)
			if err := t.WriteHeader(h); err != nil {
				return err
			}
			if err := noise(t, h.Size); err != nil {
				return err
			}
		}
		return t.Close()
	}
}

func noise(w io.Writer, n int64) error {
	_, err := io.CopyN(w, rand.Reader, n)
	return err
}

func named(format string, i int) string {
	if strings.Contains(format, "%d") {
		return fmt.Sprintf(format, i)
	}
	return format
}

func file(name string, size int64) func(int) *tar.Header {
	return func(i int) *tar.Header {
		return &tar.Header{Name: named(name, i), Typeflag: tar.TypeReg, Mode: 0o644, Size: size}
	}
}

func empty(name string) func(int) *tar.Header { return file(name, 0) }

func dir(name string) func(int) *tar.Header {
	return func(i int) *tar.Header {
		return &tar.Header{Name: named(name, i) + "/", Typeflag: tar.TypeDir, Mode: 0o755}
	}
}

func link(n int) func(int) *tar.Header {
	return func(int) *tar.Header {
		return &tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: strings.Repeat("l", n)}
	}
}

// withRecord is a file with one record of PAX.
func withRecord(key string, n int) func(int) *tar.Header {
	return func(i int) *tar.Header {
		h := empty("f")(i)
		h.Format, h.PAXRecords = tar.FormatPAX, map[string]string{key: strings.Repeat("x", n)}
		return h
	}
}

func attributeDir(n int) func(int) *tar.Header {
	return func(i int) *tar.Header {
		h := dir("d%d")(i)
		h.Format, h.PAXRecords = tar.FormatPAX, map[string]string{"SCHILY.xattr.user.x": strings.Repeat("x", n)}
		return h
	}
}

func globalHeader(n int) func(int) *tar.Header {
	return func(int) *tar.Header {
		return &tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "g", Format: tar.FormatPAX, PAXRecords: map[string]string{"comment": strings.Repeat("x", n)}}
	}
}

func setuidFile(i int) *tar.Header {
	h := empty(strings.Repeat(strings.Repeat("p", 250)+"/", 12) + fmt.Sprint(i))(i)
	h.Mode = 0o4755
	return h
}

func hardLinks(n int) func(io.Writer) error {
	return entries(n+1, func(i int) *tar.Header {
		if i == 0 {
			return file("f", 1)(i)
		}
		return &tar.Header{Name: fmt.Sprintf("d%d/l%d", i/1000, i), Typeflag: tar.TypeLink, Linkname: "f"}
	})
}

// tangled links make hundreds of millions of steps for who follows them.
func tangled(n int) func(io.Writer) error {
	return entries(n+2, func(i int) *tar.Header {
		switch i {
		case 0:
			return dir("d")(i)
		case 1:
			return &tar.Header{Name: "x", Typeflag: tar.TypeSymlink, Linkname: strings.Repeat("./", 2000)}
		}
		return &tar.Header{Name: fmt.Sprintf("d/%d", i), Typeflag: tar.TypeSymlink, Linkname: strings.Repeat("../x/d/", 39)}
	})
}

// zeros is an archive of one file of zeros, as long as it says.
func zeros(n int64) func(io.Writer) error {
	return func(w io.Writer) error {
		t := tar.NewWriter(w)
		if err := t.WriteHeader(file("z", n)(0)); err != nil {
			return err
		}
		if _, err := io.CopyN(t, zeroReader{}, n); err != nil {
			return err
		}
		return t.Close()
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func gzipOf(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		return errors.Join(write(z), z.Close())
	}
}

func zstdOf(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			return err
		}
		return errors.Join(write(z), z.Close())
	}
}

// gzipMembers repeats one compressed piece, which costs the sender nothing but sending.
func gzipMembers(n int64) func(io.Writer) error {
	const piece = 64 << 20
	return func(w io.Writer) error {
		var head bytes.Buffer
		z := gzip.NewWriter(&head)
		if err := errors.Join(tar.NewWriter(z).WriteHeader(file("z", n)(0)), z.Close()); err != nil {
			return err
		}
		var one bytes.Buffer
		if err := gzipOf(func(w io.Writer) error { _, err := io.CopyN(w, zeroReader{}, piece); return err })(&one); err != nil {
			return err
		}
		_, err := w.Write(head.Bytes())
		for range n / piece {
			if err == nil {
				_, err = w.Write(one.Bytes())
			}
		}
		return err
	}
}

// cutAt ends an archive early.
func cutAt(n int64, write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		r, pipe := io.Pipe()
		go func() { _ = pipe.CloseWithError(write(pipe)) }() // never fails
		_, err := io.CopyN(w, r, n)
		return errors.Join(err, r.Close())
	}
}

var end = make([]byte, 1024)

func raw(pieces ...[]byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(bytes.Join(pieces, nil))
		return err
	}
}

// block is a header that the writer of the standard library would not write.
func block(name string, typ byte, size int64) []byte {
	b := make([]byte, 512)
	copy(b, name)
	copy(b[100:], "0000644\x00")
	copy(b[108:], "0000000\x00")
	copy(b[116:], "0000000\x00")
	writeNumber(b[124:136], size)
	copy(b[136:], "00000000000\x00")
	b[156] = typ
	copy(b[257:], "ustar  \x00")
	return addChecksum(b)
}

func writeNumber(field []byte, n int64) {
	big.NewInt(n).FillBytes(field)
	field[0] |= 0x80
}

func addChecksum(b []byte) []byte {
	copy(b[148:156], "        ")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return b
}

// sparse is a file of one hole, in the old form of GNU tar: 512 bytes that claim any size.
func sparse(name string, size int64) []byte {
	b := block(name, 'S', 0)
	writeNumber(b[386:398], size)
	writeNumber(b[398:410], 0)
	writeNumber(b[483:495], size)
	return addChecksum(b)
}

// longName is a header that gives the next entry a long name.
func longName(n int) []byte {
	b := block("././@LongLink", 'L', int64(n))
	return append(b, bytes.Repeat([]byte("n"), n)...)
}

// longRecord is a header of PAX for the next entry, longer than the writer of the library allows.
func longRecord(n int) []byte {
	text := fmt.Sprintf("%d comment=", n)
	text += strings.Repeat("x", n-len(text)-1) + "\n"
	return append(block("PaxHeaders.0/f", 'x', int64(n)), text...)
}

// paxSparse is a file of one hole, in the new form of GNU tar.
func paxSparse(size int64) func(io.Writer) error {
	return func(w io.Writer) error {
		var out bytes.Buffer
		t := tar.NewWriter(&out)
		h := &tar.Header{Name: "s", Typeflag: tar.TypeReg, Size: 512, Mode: 0o644, PAXRecords: map[string]string{
			"XNU.sparse.major": "1", "XNU.sparse.minor": "0", "XNU.sparse.name": "s", "XNU.sparse.realsize": fmt.Sprint(size),
		}}
		err := t.WriteHeader(h)
		if err == nil {
			_, err = t.Write(append([]byte("0\n"), make([]byte, 510)...)) // no piece of it has bytes
		}
		if err = errors.Join(err, t.Close()); err != nil {
			return err
		}
		_, err = w.Write(bytes.ReplaceAll(out.Bytes(), []byte("XNU.sparse"), []byte("GNU.sparse"))) // the writer does not write such
		return err
	}
}
