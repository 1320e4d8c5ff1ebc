// Package engine is the floor of a commit: Kopia's library alone, with the
// splitter, compressor, encryption and syncs of the store, and nothing of retake.
//
// It may write below the directory it is given, and reads the workspace. It keeps
// no history: nothing of it can be listed or restored.
//
//	E1  A batch holds the bytes that a commit must write: the changed files, and
//	    every directory from them up to the root. It is encoded before the clock starts.
//	E2  When Write returns, packs, index and directory are synced.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/compression"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/format"
	"github.com/kopia/kopia/repo/object"
)

// What the store uses; the page says so.
const (
	compressor  = compression.Name("zstd-fastest")
	dirPrefix   = content.IDPrefix("k")
	storageType = "retake-bench"
	password    = "measure"
	identity    = "bench"
)

type mountOptions struct {
	Path string `json:"path"`
}

var mounts sync.Map // path to *disk

func init() {
	blob.AddSupportedStorage(storageType, mountOptions{}, func(_ context.Context, o *mountOptions, _ bool) (blob.Storage, error) {
		d, ok := mounts.Load(o.Path)
		if !ok {
			return nil, fmt.Errorf("no storage is mounted at %q", o.Path)
		}
		return d.(*disk), nil
	})
}

// Engine is an open repository with one writer.
type Engine struct {
	disk *disk
	rep  repo.DirectRepository
	w    repo.DirectRepositoryWriter
	tree *tree
}

// Create makes a repository in dir, which need not exist, and opens it for writing.
func Create(ctx context.Context, dir string) (*Engine, error) {
	d, err := newDisk(filepath.Join(dir, "blobs"))
	if err != nil {
		return nil, err
	}
	mounts.Store(d.path, d)
	if err := repo.Initialize(ctx, d, &repo.NewRepositoryOptions{}, password); err != nil {
		return nil, fmt.Errorf("initialize engine: %w", err)
	}
	file, err := writeConfig(dir, d.path)
	if err != nil {
		return nil, err
	}
	r, err := repo.Open(ctx, file, password, &repo.Options{
		DisableRepositoryLog: true, DoNotWaitForUpgrade: true, OnFatalError: func(error) {},
	})
	if err != nil {
		return nil, fmt.Errorf("open engine: %w", err)
	}
	direct, ok := r.(repo.DirectRepository)
	if !ok {
		return nil, errors.New("open engine: it is not direct")
	}
	_, w, err := direct.NewDirectWriter(ctx, repo.WriteSessionOptions{Purpose: identity})
	if err != nil {
		return nil, fmt.Errorf("open engine: %w", err)
	}
	return &Engine{disk: d, rep: direct, w: w, tree: newTree()}, nil
}

func writeConfig(dir, mount string) (string, error) {
	conf, err := json.Marshal(repo.LocalConfig{
		Storage:       &blob.ConnectionInfo{Type: storageType, Config: &mountOptions{Path: mount}},
		Caching:       &content.CachingOptions{},
		ClientOptions: repo.ClientOptions{Hostname: identity, Username: identity, FormatBlobCacheDuration: format.DefaultRepositoryBlobCacheDuration},
	})
	if err != nil {
		return "", fmt.Errorf("encode configuration: %w", err)
	}
	file := filepath.Join(dir, "engine.config")
	if err := os.WriteFile(file, conf, 0o600); err != nil {
		return "", fmt.Errorf("write configuration: %w", err)
	}
	return file, nil
}

// Close gives everything back.
func (e *Engine) Close(ctx context.Context) error {
	mounts.Delete(e.disk.path)
	return errors.Join(e.w.Close(ctx), e.rep.Close(ctx), e.disk.dir.Close())
}

// write stores one object.
func (e *Engine) write(ctx context.Context, prefix content.IDPrefix, fill func(object.Writer) error) (object.ID, error) {
	o := e.w.NewObjectWriter(ctx, object.WriterOptions{Prefix: prefix, Compressor: compressor, MetadataCompressor: compressor})
	defer o.Close() //nolint:errcheck // Result tells
	if err := fill(o); err != nil {
		return object.EmptyID, fmt.Errorf("write object: %w", err)
	}
	id, err := o.Result()
	if err != nil {
		return id, fmt.Errorf("write object: %w", err)
	}
	return id, nil
}

func (e *Engine) flush(ctx context.Context) error {
	if err := e.w.Flush(ctx); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}
