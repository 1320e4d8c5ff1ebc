package assemble_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// lockedBuffer is a log that a test reads while others write to it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// What agents do is recorded in the background. When that cannot be written, checkpoints are
// saved all the same, and the status and the log say what failed.
func TestBackgroundFailureIsShown(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	set, err := config.Load(filepath.Join(home, "config.json"))
	must(t, err)
	log := &lockedBuffer{}
	c := config.Config{DataDir: filepath.Join(home, "data"), Home: "/nobody", BootID: "this run"}
	s, err := assemble.OpenService(t.Context(), c, set, assemble.Options{
		Derivation: derivation, Exclusive: true, Diag: diag.New(slog.New(slog.NewTextHandler(log, nil)), clock.Wall, nil),
	})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	root := filepath.Join(home, "shop")
	must(t, os.Mkdir(root, 0o755))
	res, err := s.Init(t.Context(), retake.InitRequest{Dir: root})
	must(t, err)
	st, err := s.Status(t.Context(), res.Workspace.ID)
	must(t, err)
	if len(st.Background) > 0 {
		t.Fatalf("before anything failed: %+v", st.Background)
	}

	sessions := filepath.Join(c.DataDir, "sessions")
	must(t, os.RemoveAll(sessions))
	must(t, os.WriteFile(sessions, []byte("x"), 0o600))
	must(t, os.WriteFile(filepath.Join(root, "a"), []byte("1"), 0o644))
	_, err = s.Observe(t.Context(), retake.Signal{ID: queue.NewID(), Kind: retake.SignalPrompt, Time: time.Now(), Agent: "claude-code", Session: "s1", Dir: root, Prompt: "one"})
	must(t, err)
	st, err = s.Status(t.Context(), res.Workspace.ID)
	must(t, err)
	if !slices.ContainsFunc(st.Background, func(b retake.BackgroundTask) bool {
		return b.Name == "store agent state" && b.Failing && b.Failures > 0 && b.Error != ""
	}) {
		t.Errorf("the status does not show it: %+v", st.Background)
	}
	if st.Count != 2 {
		t.Errorf("%d checkpoints, want 2", st.Count)
	}
	if !strings.Contains(log.String(), "background task failed") || !strings.Contains(log.String(), "store agent state") {
		t.Errorf("the log does not show it:\n%s", log)
	}
}

// brokenStore keeps checkpoints, but cannot be maintained or measured.
type brokenStore struct{ store.Store }

func (brokenStore) Maintain(context.Context) error { return errors.New("cannot maintain") }

func (brokenStore) Size(context.Context) (int64, error) { return 0, errors.New("cannot measure") }

// Maintenance and clean-up that fail are shown, though every save succeeds.
func TestFailingMaintenanceIsShown(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	set, err := config.Load(filepath.Join(home, "config.json"))
	must(t, err)
	inner := memorytest.New()
	rec := diag.New(slog.New(slog.DiscardHandler), clock.Wall, nil)
	s, err := assemble.OpenService(t.Context(), config.Config{DataDir: filepath.Join(home, "data"), Home: "/nobody", BootID: "this run"}, set, assemble.Options{
		Exclusive: true, Diag: rec, Store: func(context.Context, bool) (store.Store, error) { return brokenStore{inner}, nil },
	})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	root := filepath.Join(home, "shop")
	must(t, os.Mkdir(root, 0o755))
	_, err = s.Init(t.Context(), retake.InitRequest{Dir: root})
	must(t, err)
	for deadline := time.Now().Add(5 * time.Minute); ; <-time.After(5 * time.Millisecond) {
		failing := map[string]string{}
		for _, b := range rec.Failed() {
			failing[b.Name] = b.Error
		}
		if strings.Contains(failing["store maintenance"], "cannot maintain") && strings.Contains(failing["clean up"], "cannot measure") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("failing: %v", failing)
		}
	}
}
