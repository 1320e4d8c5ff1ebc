package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	return s.opts.Bucket.PutOnce(ctx, anchorPrefix(ns)+fmt.Sprintf("%020d", a.Seq), text)
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
	name, text, err := s.opts.Bucket.Last(ctx, anchorPrefix(ns))
	if err != nil {
		return nil, bucketUnreachable(err)
	}
	if text == nil {
		return out, nil
	}
	var a serverdb.Anchor
	if json.Unmarshal(text, &a) != nil { // its name alone says that there was an entry
		a.Seq, _ = strconv.ParseInt(strings.TrimPrefix(name, anchorPrefix(ns)), 10, 64)
	}
	return append(out, a), nil
}

func (s *Server) anchorFile(ns retake.NamespaceID) string {
	return filepath.Join(s.opts.DataDir, "anchors", string(ns))
}

func anchorPrefix(ns retake.NamespaceID) string { return "anchors/" + string(ns) + "/" }

// appendLine adds a line to a file and makes it durable. Several servers may do so at once.
func appendLine(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(append(text, '\n')); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// readNewestAnchor returns the anchor of the highest entry in a file, or nil. A line that is cut is
// left out: a crash leaves one.
func readNewestAnchor(path string) (*serverdb.Anchor, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var newest *serverdb.Anchor
	for in := bufio.NewScanner(bytes.NewReader(text)); in.Scan(); {
		var a serverdb.Anchor
		if json.Unmarshal(in.Bytes(), &a) == nil && (newest == nil || a.Seq > newest.Seq) {
			newest = &a
		}
	}
	return newest, err
}
