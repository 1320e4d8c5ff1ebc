package assemble

import (
	"context"
	"crypto/rand"
	"errors"
	"os"

	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
)

const readerKeySize = 32

// newReaderPool reads files for their meaning in a child that is our own program. The key lets
// values that nobody may see be compared over time; it is made once. All of it is context:
// without a key nothing is read, and the service is as whole.
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

// ReaderPools answers how the readers of one tenant are begun, by the file of their key.
func ReaderPools(c config.Config) func(keyFile string) *xray.Pool {
	return func(keyFile string) *xray.Pool { return newReaderPool(c.Executable, keyFile) }
}

var errNoKey = errors.New("that is no key")

// loadReaderKey reads the key, or makes it. Whatever else lies there is left alone.
func loadReaderKey(name string) ([]byte, error) {
	i, err := os.Lstat(name)
	if errors.Is(err, os.ErrNotExist) {
		key := make([]byte, readerKeySize)
		if _, err := rand.Read(key); err != nil {
			return nil, err
		}
		return key, os.WriteFile(name, key, 0o600)
	}
	if err != nil || !i.Mode().IsRegular() || i.Size() != readerKeySize {
		return nil, errors.Join(errNoKey, err)
	}
	return os.ReadFile(name)
}
