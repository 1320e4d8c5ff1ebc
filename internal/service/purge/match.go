package purge

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	"github.com/retake-dev/retake"
)

// matcher finds contents in bytes as they are, in their JSON form, and inside gzip, bzip2,
// zlib, zip, tar and git packs. Other encodings are not searched.
type matcher struct {
	forms   [][]byte
	checked map[retake.ObjectID]bool // stored files that were read, with the result
}

const (
	maxArchiveDepth = 4
	maxArchiveBytes = 128 << 20 // of one archive that is opened in memory
	minArchiveBytes = 20        // no archive with something in it is smaller
)

// newMatcher returns a matcher for contents and their JSON forms.
func newMatcher(contents [][]byte) *matcher {
	m := &matcher{checked: map[retake.ObjectID]bool{}}
	for _, c := range contents {
		m.forms = append(m.forms, c)
		for _, html := range []bool{true, false} {
			if form := escapeJSON(c, html); form != nil && !bytes.Equal(form, c) {
				m.forms = append(m.forms, form)
			}
		}
	}
	return m
}

// escapeJSON returns a text as JSON writes it, without quotes, or nil.
func escapeJSON(text []byte, html bool) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if err := enc.Encode(string(text)); err != nil {
		return nil
	}
	quoted := bytes.TrimSpace(b.Bytes())
	return bytes.Clone(quoted[1 : len(quoted)-1])
}

func (m *matcher) matches(b []byte) bool {
	for _, f := range m.forms {
		if bytes.Contains(b, f) {
			return true
		}
	}
	return false
}

// mask replaces the content by stars of the same length, so that nothing else moves.
func (m *matcher) mask(b []byte) []byte {
	for _, f := range m.forms {
		if bytes.Contains(b, f) {
			b = bytes.ReplaceAll(b, f, bytes.Repeat([]byte("*"), len(f)))
		}
	}
	return b
}

// matchesFile reports whether a file contains the content, also inside an archive. Of an
// archive over maxArchiveBytes only a gzip stream is searched.
func (m *matcher) matchesFile(r io.ReadSeeker) (bool, error) {
	if found, err := m.scanStream(r); found || err != nil {
		return found, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	b, err := io.ReadAll(io.LimitReader(r, maxArchiveBytes+1))
	if err != nil {
		return false, err
	}
	if len(b) <= maxArchiveBytes {
		return m.matchesArchive(b, 0), nil
	}
	z, err := gzip.NewReader(io.MultiReader(bytes.NewReader(b), r)) // a large one is streamed
	if err != nil {
		return false, nil
	}
	found, _ := m.scanStream(z) // a damaged archive is not an error
	return found, nil
}

// scanStream searches a stream with a bounded buffer.
func (m *matcher) scanStream(r io.Reader) (bool, error) {
	longest := 0
	for _, f := range m.forms {
		longest = max(longest, len(f))
	}
	buf := make([]byte, 256<<10+longest)
	have := 0
	for {
		n, err := r.Read(buf[have:])
		if have += n; m.matches(buf[:have]) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if have == len(buf) {
			have = copy(buf, buf[have-longest:])
		}
	}
}

// matchesDeep searches bytes and, if they are an archive, its contents.
func (m *matcher) matchesDeep(b []byte, depth int) bool {
	return m.matches(b) || m.matchesArchive(b, depth)
}

// matchesArchive searches inside an archive, up to maxArchiveDepth. A damaged one is read
// as far as possible.
func (m *matcher) matchesArchive(b []byte, depth int) bool {
	if depth >= maxArchiveDepth || len(b) < minArchiveBytes {
		return false
	}
	whole := func(r io.Reader, err error) bool {
		if err != nil {
			return false
		}
		all, _ := io.ReadAll(io.LimitReader(r, maxArchiveBytes))
		return m.matchesDeep(all, depth+1)
	}
	switch {
	case bytes.HasPrefix(b, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(bytes.NewReader(b))
		return whole(z, err)
	case bytes.HasPrefix(b, []byte("BZh")):
		return whole(bzip2.NewReader(bytes.NewReader(b)), nil)
	case bytes.HasPrefix(b, []byte("PK")):
		return m.matchesZip(b, depth)
	case bytes.HasPrefix(b, []byte("PACK")):
		return m.matchesGitPack(b, depth)
	case len(b) > 262 && string(b[257:262]) == "ustar":
		return m.matchesTar(b, depth)
	case b[0]&0x0f == 8 && binary.BigEndian.Uint16(b)%31 == 0:
		z, err := zlib.NewReader(bytes.NewReader(b))
		return whole(z, err)
	}
	return false
}

// matchesZip searches the files of a zip archive. Unreadable ones are skipped.
func (m *matcher) matchesZip(b []byte, depth int) bool {
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return false
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			continue
		}
		all, _ := io.ReadAll(io.LimitReader(r, maxArchiveBytes))
		_ = r.Close() // only read
		if m.matchesDeep(all, depth+1) {
			return true
		}
	}
	return false
}

// matchesTar searches archives inside a tar; plain files in it were searched as part of its
// bytes.
func (m *matcher) matchesTar(b []byte, depth int) bool {
	t := tar.NewReader(bytes.NewReader(b))
	for {
		if _, err := t.Next(); err != nil {
			return false
		}
		all, _ := io.ReadAll(io.LimitReader(t, maxArchiveBytes))
		if m.matchesArchive(all, depth+1) { // the bytes themselves were searched in the tar
			return true
		}
	}
}

// matchesGitPack searches the objects of a git pack. Deltas are searched as they are:
// inserted bytes are part of them.
func (m *matcher) matchesGitPack(b []byte, depth int) bool {
	const header, address = 12, 20
	r := bytes.NewReader(b)
	if _, err := r.Seek(header, io.SeekStart); err != nil {
		return false
	}
	for r.Len() > address {
		first, err := r.ReadByte()
		kind := first >> 4 & 7
		for c := first; err == nil && c&0x80 != 0; {
			c, err = r.ReadByte()
		}
		switch kind {
		case 6: // delta with an offset to its base
			for c := byte(0x80); err == nil && c&0x80 != 0; {
				c, err = r.ReadByte()
			}
		case 7: // delta with the ID of its base
			_, err = r.Seek(address, io.SeekCurrent)
		}
		if err != nil {
			return false
		}
		z, err := zlib.NewReader(r)
		if err != nil {
			return false
		}
		all, err := io.ReadAll(io.LimitReader(z, maxArchiveBytes))
		if m.matchesDeep(all, depth+1) {
			return true
		}
		if err != nil {
			return false
		}
	}
	return false
}
