package kopia

import (
	"context"
	"sync"
)

// readGate keeps readers out while packs are moved. It prefers nobody: a sweep that waits for
// readers does not keep new ones out, because one that reads while it reads would wait for the
// sweep, and the sweep for it.
type readGate struct {
	mu      sync.Mutex
	readers int           // guarded by mu
	waiting int           // guarded by mu; readers that wait
	blocked bool          // guarded by mu
	free    chan struct{} // guarded by mu; closed when it is no longer as it was; nil: nobody waits
}

// enter waits until reading is possible. Who entered must leave.
func (g *readGate) enter(ctx context.Context) error {
	return g.await(ctx, &g.waiting, func() bool {
		if g.blocked {
			return false
		}
		g.readers++
		return true
	})
}

func (g *readGate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.readers--
	g.wakeLocked()
}

// block waits until nobody reads, and keeps readers out until unblock.
func (g *readGate) block(ctx context.Context) error {
	var sweeps int
	return g.await(ctx, &sweeps, g.blockLocked)
}

// tryBlock is block if nobody reads now.
func (g *readGate) tryBlock() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.blockLocked()
}

func (g *readGate) blockLocked() bool {
	if g.blocked || g.readers > 0 {
		return false
	}
	g.blocked = true
	return true
}

func (g *readGate) unblock() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.blocked = false
	g.wakeLocked()
}

// isAwaited reports whether readers wait.
func (g *readGate) isAwaited() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting > 0
}

// await calls try until it returns true or ctx ends. It is counted while it waits.
func (g *readGate) await(ctx context.Context, count *int, try func() bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	*count++
	defer func() { *count-- }()
	for !try() {
		if g.free == nil {
			g.free = make(chan struct{})
		}
		free := g.free
		g.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
		}
		g.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (g *readGate) wakeLocked() {
	if g.free != nil {
		close(g.free)
		g.free = nil
	}
}
