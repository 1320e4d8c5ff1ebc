package carry

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// nowhere panics whatever it is asked.
type nowhere struct{ replica.Place }

// A client that panics fails what it was asked, and no more.
func TestPanicOfAPlace(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	g := guarded{nowhere{}, slog.New(slog.NewTextHandler(&log, nil))}
	calls := map[string]func(context.Context) error{
		"put":    func(ctx context.Context) error { return g.Put(ctx, "p1", nil) },
		"get":    func(ctx context.Context) error { _, err := g.Get(ctx, "p1", 0, -1); return err },
		"list":   func(ctx context.Context) error { _, err := g.List(ctx, ""); return err },
		"delete": func(ctx context.Context) error { return g.Delete(ctx, "p1") },
		"traits": func(ctx context.Context) error { _, err := g.Traits(ctx); return err },
		"close":  func(context.Context) error { return g.Close() },
	}
	for name, call := range calls {
		if err := call(t.Context()); err == nil || !strings.Contains(err.Error(), "panicked") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := strings.Count(log.String(), "stack="); n != len(calls) {
		t.Errorf("%d of %d are in the log", n, len(calls))
	}
}
