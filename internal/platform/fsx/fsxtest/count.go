package fsxtest

import (
	"maps"
	"sync"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Counter counts operations.
type Counter struct {
	mu     sync.Mutex
	counts map[string]int64 // guarded by mu
}

// NewCountingFS returns inner with a counter of all operations, including those that fail.
func NewCountingFS(inner fsx.FS) (fsx.FS, *Counter) {
	c := &Counter{counts: map[string]int64{}}
	return &wrapFS{inner: inner, hook: c}, c
}

func (c *Counter) beforeOp(op string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[op]++
	return nil
}

// OpCounts returns the number of calls of each operation, by names such as "Dir.Lstat" and
// "File.Write".
func (c *Counter) OpCounts() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.counts)
}

// SyncCount returns the number of operations that made something durable.
func (c *Counter) SyncCount() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[opDirSync] + c.counts[opFileSync] + c.counts[opSyncFS]
}
