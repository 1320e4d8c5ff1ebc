package kopia

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/format"

	"github.com/retake-dev/retake"
)

// The engine opens a repository through a configuration file that names a
// storage by type. Ours is registered once; the file holds only a key into mounts.
const storageType = "retake"

type storageOptions struct {
	Key string `json:"key"`
}

var openingStorages sync.Map // key to blobs, while a repository is being opened

func init() {
	blob.AddSupportedStorage(storageType, storageOptions{}, func(_ context.Context, o *storageOptions, _ bool) (blob.Storage, error) {
		b, ok := openingStorages.Load(o.Key)
		if !ok {
			return nil, fmt.Errorf("no storage is mounted as %q", o.Key)
		}
		return b.(blobStore), nil
	})
}

// sessionIdentity is the user and host of our sessions, the same on every machine: a session
// marker with it is ours.
const sessionIdentity = "retake"

// errNoEngineFile says that the engine's configuration could not be written. It says nothing about
// the store.
var errNoEngineFile = errors.New("the engine cannot be configured")

// openEngine opens the repository on b without a cache of the engine: a disk is near, the
// bucket has its own cache, and the engine's would be listed at every flush. OnFatalError must
// be set, or the engine would end the process.
func openEngine(ctx context.Context, b blobStore, now func() time.Time, password string) (repo.DirectRepository, error) {
	dir, err := os.MkdirTemp("", "retake-engine-")
	if err != nil {
		return nil, errors.Join(errNoEngineFile, fmt.Errorf("make engine configuration: %w", err))
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a stray file of a few bytes
	openingStorages.Store(dir, b)
	defer openingStorages.Delete(dir)
	conf, err := json.Marshal(repo.LocalConfig{
		Storage: &blob.ConnectionInfo{Type: storageType, Config: &storageOptions{Key: dir}},
		Caching: &content.CachingOptions{},
		// Readers hold no lock, and a view that may write would pack manifests as it
		// reads them. Sessions write to the blobs themselves.
		ClientOptions: repo.ClientOptions{ReadOnly: true, Hostname: sessionIdentity, Username: sessionIdentity, FormatBlobCacheDuration: format.DefaultRepositoryBlobCacheDuration},
	})
	if err != nil {
		return nil, fmt.Errorf("encode engine configuration: %w", err)
	}
	file := filepath.Join(dir, "repository.config")
	if err := os.WriteFile(file, conf, 0o600); err != nil {
		return nil, errors.Join(errNoEngineFile, fmt.Errorf("write engine configuration: %w", err))
	}
	var r repo.Repository
	for range maxListTries {
		r, err = repo.Open(ctx, file, password, &repo.Options{
			TimeNowFunc:          now,
			DisableRepositoryLog: true,
			DoNotWaitForUpgrade:  true,
			OnFatalError:         func(error) {}, // the call that found it fails; the process is not ours to end
		})
		if !errors.Is(err, errIndexGone) {
			break
		}
		if err = b.reloadListing(ctx); err != nil {
			break
		}
	}
	if errors.Is(err, repo.ErrInvalidPassword) {
		err = &retake.Error{Kind: retake.Denied, What: "the store does not open with this password", Safe: "Nothing was changed.", Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	direct, ok := r.(repo.DirectRepository)
	if !ok {
		return nil, fmt.Errorf("open repository: it is not direct")
	}
	return direct, nil
}
