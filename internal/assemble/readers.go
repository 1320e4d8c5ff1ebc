package assemble

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"github.com/retake-dev/retake/internal/proc"
	"github.com/retake-dev/retake/internal/story/xray"
)

const readerKeySize = 32

// readers reads files for their meaning in a child that is our own program. The key lets
// values that nobody may see be compared over time; it is made once.
func readers(self, keyFile string) (*xray.Pool, error) {
	if self == "" {
		return nil, nil
	}
	key, err := os.ReadFile(keyFile)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(key) != readerKeySize {
		key = make([]byte, readerKeySize)
		if _, err = rand.Read(key); err == nil {
			err = os.WriteFile(keyFile, key, 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("find the key of readers: %w", err)
	}
	p := xray.NewPool(func(ctx context.Context) (xray.Child, error) { return proc.StartPiped(ctx, self, "xray") })
	p.Key = key
	return p, nil
}
