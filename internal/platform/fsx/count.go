package fsx

import (
	"maps"
	"sync"
)

// Counter counts operations.
type Counter struct {
	mu     sync.Mutex
	counts map[string]int64 // guarded by mu
}

// NewCountingFS answers inner with every operation counted, those that fail too.
func NewCountingFS(inner FS) (FS, *Counter) {
	c := &Counter{counts: map[string]int64{}}
	return &wrapFS{inner: inner, hook: c}, c
}

func (c *Counter) beforeOp(op string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[op]++
	return nil
}

// OpCounts answers the count of each operation, by names such as "Dir.Lstat" and
// "File.Write".
func (c *Counter) OpCounts() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.counts)
}

// SyncCount answers how often something was made durable.
func (c *Counter) SyncCount() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[opDirSync] + c.counts[opFileSync] + c.counts[opSyncFS]
}
