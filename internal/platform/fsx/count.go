package fsx

import (
	"maps"
	"sync"
)

// Counter counts operations.
type Counter struct {
	mu  sync.Mutex
	ops map[string]int64 // guarded by mu
}

// Counting answers inner with every operation counted, those that fail too.
func Counting(inner FS) (FS, *Counter) {
	c := &Counter{ops: map[string]int64{}}
	return &wrapFS{inner: inner, gate: c}, c
}

func (c *Counter) pass(op string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ops[op]++
	return nil
}

// Ops answers the count of each operation, by names such as "Dir.Lstat" and
// "File.Write".
func (c *Counter) Ops() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.ops)
}

// Syncs answers how often something was made durable.
func (c *Counter) Syncs() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ops[opDirSync] + c.ops[opFileSync] + c.ops[opSyncFS]
}
