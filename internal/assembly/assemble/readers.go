package assemble

import (
	"context"
	"crypto/rand"
	"errors"
	"os"

	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/proc"
)

const readerKeySize = 32

// newReaderPool returns the pool that reads the meaning of files in child processes of our own
// program. The key lets hidden values be compared over time. All of it is optional: without a
// key nothing is read and the service still works.
func newReaderPool(self, keyFile string) *xray.Pool {
	if self == "" {
		return nil
	}
	key, err := loadReaderKey(keyFile)
	if err != nil {
		return nil
	}
	p := xray.NewPool(func(ctx context.Context) (xray.Child, error) { return proc.StartPiped(ctx, self, "xray") })
	p.Key = key
	return p
}

// ReaderPools returns a function that makes the reader pool of one tenant from its key file.
func ReaderPools(c config.Config) func(keyFile string) *xray.Pool {
	return func(keyFile string) *xray.Pool { return newReaderPool(c.Executable, keyFile) }
}

var errNoKey = errors.New("that is no key")

// loadReaderKey reads the key, or creates it. Any other file at that place is left alone.
func loadReaderKey(name string) ([]byte, error) {
	i, err := os.Lstat(name)
	if errors.Is(err, os.ErrNotExist) {
		key := make([]byte, readerKeySize)
		if _, err := rand.Read(key); err != nil {
			return nil, err
		}
		return key, fsx.ReplaceFile(name, key, 0o600)
	}
	if err != nil || !i.Mode().IsRegular() || i.Size() != readerKeySize {
		return nil, errors.Join(errNoKey, err)
	}
	return os.ReadFile(name)
}
