package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Who can write to the database can also write another audit log with other anchors, or none. So
// anchors are kept outside of it, too: in a file of the data directory, and in the bucket if there
// is one. Check compares the log with the newest of each.

// keepAnchor keeps an anchor outside of the database. One that is kept already is no error.
func (s *Server) keepAnchor(ctx context.Context, ns retake.NamespaceID, a serverdb.Anchor) error {
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode anchor: %w", err)
	}
	if err := appendLine(s.anchorFile(ns), text); err != nil {
		return fmt.Errorf("keep anchor: %w", err)
	}
	if s.opts.Bucket == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, ownerTimeout)
	defer cancel()
	return s.opts.Bucket.PutOnce(ctx, anchorPrefix(ns)+anchorName(a.Seq), text)
}

// keptAnchors returns the newest anchors that are kept outside of the database.
func (s *Server) keptAnchors(ctx context.Context, ns retake.NamespaceID) ([]serverdb.Anchor, error) {
	var out []serverdb.Anchor
	newest, err := readNewestAnchor(s.anchorFile(ns))
	if err != nil {
		return nil, fmt.Errorf("read kept anchors: %w", err)
	}
	if newest != nil {
		out = append(out, *newest)
	}
	if s.opts.Bucket == nil {
		return out, nil
	}
	ctx, cancel := context.WithTimeout(ctx, ownerTimeout)
	defer cancel()
	name, text, err := s.opts.Bucket.First(ctx, anchorPrefix(ns))
	if err != nil {
		return nil, bucketUnreachable(err)
	}
	if text == nil {
		return out, nil
	}
	var a serverdb.Anchor
	if json.Unmarshal(text, &a) != nil { // its name alone says that there was an entry
		n, _ := strconv.ParseInt(strings.TrimPrefix(name, anchorPrefix(ns)), 10, 64)
		a.Seq = math.MaxInt64 - n
	}
	return append(out, a), nil
}

func (s *Server) anchorFile(ns retake.NamespaceID) string {
	return filepath.Join(s.opts.DataDir, "anchors", string(ns))
}

func anchorPrefix(ns retake.NamespaceID) string { return "anchors/" + string(ns) + "/" }

// anchorName is lower the higher the entry, so that the newest is the first that a bucket lists.
func anchorName(seq int64) string { return fmt.Sprintf("%020d", math.MaxInt64-seq) }

// appendLine adds a line to a file and makes it durable. Several servers may do so at once. It
// begins with an empty line: the last one may be cut.
func appendLine(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(slices.Concat([]byte("\n"), text, []byte("\n"))); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// anchorTail is how much of the end of a file is read. Servers that write together differ by less.
const anchorTail = 64 << 10

// readNewestAnchor returns the anchor of the highest entry in a file, or nil. A line that is cut is
// left out: a crash leaves one.
func readNewestAnchor(path string) (*serverdb.Anchor, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	if i, err := f.Stat(); err == nil && i.Size() > anchorTail {
		if _, err := f.Seek(-anchorTail, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	text, err := io.ReadAll(f)
	var newest *serverdb.Anchor
	for in := bufio.NewScanner(bytes.NewReader(text)); in.Scan(); {
		var a serverdb.Anchor
		if json.Unmarshal(in.Bytes(), &a) == nil && (newest == nil || a.Seq > newest.Seq) {
			newest = &a
		}
	}
	return newest, err
}
