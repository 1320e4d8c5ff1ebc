package storetest

import (
	"errors"
	"testing"

	"github.com/retake-dev/retake/internal/storage/store"
)

// testSweepYields: a sweep that may not wait gives up beside a writer, who notices nothing;
// one that is stopped leaves everything whole, and the next one does the rest.
func testSweepYields(t *testing.T, h Harness) {
	check := fillAndForget(t, h.Store)
	w := beginWriter(t, h.Store, newWorkspace())
	if _, err := h.Store.Sweep(t.Context(), store.SweepOptions{Wait: shortWait}); !errors.Is(err, store.ErrBusy) {
		t.Errorf("Sweep beside a writer: %v, want ErrBusy", err)
	}
	card := w.sealFile(1, []byte("beside a sweep"))
	w.close()
	wantRecord(t, h.Store, card, []byte("beside a sweep"))

	stop := func() bool { return true }
	if _, err := h.Store.Sweep(t.Context(), store.SweepOptions{Wait: testTimeout, Stop: stop}); err != nil {
		t.Fatalf("Sweep that is stopped: %v", err)
	}
	check(h.Store)
	runSweep(t, h.Store)
	s := reopen(t, h)
	check(s)
	wantRecord(t, s, card, []byte("beside a sweep"))
}
