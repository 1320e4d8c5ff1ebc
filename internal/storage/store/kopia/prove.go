package kopia

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kopia/kopia/fs"
	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/object"
	"github.com/kopia/kopia/snapshot/policy"
	"github.com/kopia/kopia/snapshot/upload"

	"github.com/retake-dev/retake"
)

// hashSize is the length of the hash in the names of contents, in bytes. The engine has others, but
// its stores of ours have this one, and it takes a longer one for a damaged index.
const hashSize = 16

// parseObject reads the name of an object, which may come from a request.
func parseObject(id retake.ObjectID) (object.ID, error) {
	oid, err := object.ParseID(string(id))
	if err != nil {
		return oid, err
	}
	inner := oid
	for more := true; more; {
		inner, more = inner.IndexObjectID()
	}
	if c, _, ok := inner.ContentID(); !ok || len(c.Hash()) != hashSize {
		return oid, errors.New("it is no name of an object")
	}
	return oid, nil
}

// Prove lets the stock uploader scan a stored tree, read all its bytes and compute the root id
// with its own code. What it writes is never flushed.
func (s *Store) Prove(ctx context.Context, files retake.Entry) (retake.ObjectID, string, error) {
	unlock, err := s.lockShared(ctx)
	if err != nil {
		return "", "", err
	}
	defer unlock()
	v, err := s.newOwnSession(ctx)
	if err != nil {
		return "", "", fmt.Errorf("prove: %w", err)
	}
	defer v.Close(ctx) //nolint:errcheck // nothing of it is kept
	tree := policy.BuildTree(map[string]*policy.Policy{".": stockPolicy()}, policy.DefaultPolicy)
	root := &storedDir{storedEntry{s, files}}
	m, err := upload.NewUploader(v).Upload(ctx, root, tree, historySource("ws_prove"))
	if err != nil {
		return "", "", fmt.Errorf("prove: %w", err)
	}
	return retake.ObjectID(m.RootObjectID().String()), "kopia v0.23.1, its own uploader", nil
}

// storedEntry presents an entry of a stored tree to the stock engine with its true times; the
// engine's own reader would replace those of directories.
type storedEntry struct {
	s *Store
	e retake.Entry
}

func (x *storedEntry) Name() string                { return storedName(x.e.Name) }
func (x *storedEntry) Size() int64                 { return x.e.Size }
func (x *storedEntry) ModTime() time.Time          { return time.Unix(0, x.e.ModTime) }
func (x *storedEntry) IsDir() bool                 { return x.e.Kind == retake.KindDir }
func (x *storedEntry) Sys() any                    { return nil }
func (x *storedEntry) Owner() fs.OwnerInfo         { return fs.OwnerInfo{UserID: x.e.UID, GroupID: x.e.GID} }
func (x *storedEntry) Device() fs.DeviceInfo       { return fs.DeviceInfo{} }
func (x *storedEntry) LocalFilesystemPath() string { return "" }
func (x *storedEntry) Close()                      {}

func (x *storedEntry) Mode() os.FileMode {
	m := os.FileMode(toStockMode(x.e.Mode))
	switch x.e.Kind {
	case retake.KindDir:
		m |= os.ModeDir
	case retake.KindSymlink:
		m |= os.ModeSymlink
	default:
	}
	return m
}

type storedDir struct{ storedEntry }

func (d *storedDir) SupportsMultipleIterations() bool { return true }

func (d *storedDir) Child(ctx context.Context, name string) (fs.Entry, error) {
	return fs.IterateEntriesAndFindChild(ctx, d, name)
}

func (d *storedDir) Iterate(ctx context.Context) (fs.DirectoryIterator, error) {
	entries, err := d.s.Dir(ctx, d.e.Object)
	if err != nil {
		return nil, err
	}
	var out []fs.Entry
	for _, e := range entries {
		x := storedEntry{d.s, e}
		switch e.Kind {
		case retake.KindDir:
			out = append(out, &storedDir{x})
		case retake.KindSymlink:
			out = append(out, &storedLink{x})
		default:
			out = append(out, &storedFile{x})
		}
	}
	return fs.StaticIterator(out, nil), nil
}

type storedFile struct{ storedEntry }

func (f *storedFile) Open(ctx context.Context) (fs.Reader, error) {
	rd, err := f.s.File(ctx, f.e.Object)
	if err != nil {
		return nil, err
	}
	return &storedReader{rd, f}, nil
}

type storedReader struct {
	io.ReadSeekCloser
	f *storedFile
}

func (r *storedReader) Entry() (fs.Entry, error) { return r.f, nil }

type storedLink struct{ storedEntry }

func (l *storedLink) Resolve(context.Context) (fs.Entry, error) {
	return nil, errors.New("a stored link is not followed")
}

func (l *storedLink) Readlink(ctx context.Context) (string, error) {
	return withFreshView(ctx, l.s, func(r repo.Repository) (string, error) {
		b, err := readAll(ctx, r, l.e.Object)
		return string(b), err
	})
}
