package carry

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// guarded is a place whose panics are errors. Its methods run in goroutines of an upload, where a panic of the
// client of one remote would end the daemon.
type guarded struct {
	replica.Place
	log *slog.Logger
}

func (g guarded) Put(ctx context.Context, name string, data []byte) (err error) {
	defer g.recover(&err)
	return g.Place.Put(ctx, name, data)
}

func (g guarded) Get(ctx context.Context, name string, offset, length int64) (out []byte, err error) {
	defer g.recover(&err)
	return g.Place.Get(ctx, name, offset, length)
}

func (g guarded) List(ctx context.Context, prefix string) (out []replica.Object, err error) {
	defer g.recover(&err)
	return g.Place.List(ctx, prefix)
}

func (g guarded) Delete(ctx context.Context, name string) (err error) {
	defer g.recover(&err)
	return g.Place.Delete(ctx, name)
}

func (g guarded) Traits(ctx context.Context) (out replica.Traits, err error) {
	defer g.recover(&err)
	return g.Place.Traits(ctx)
}

func (g guarded) Close() (err error) {
	defer g.recover(&err)
	return g.Place.Close()
}

// recover is deferred, so that it ends a panic.
func (g guarded) recover(err *error) {
	if v := recover(); v != nil {
		g.log.Error("the client of a remote panicked", "panic", v, "stack", string(debug.Stack()))
		*err = fmt.Errorf("the client of the remote panicked: %v", v)
	}
}
