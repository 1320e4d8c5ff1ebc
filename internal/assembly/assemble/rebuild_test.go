package assemble_test

import (
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
)

// While the catalog is rebuilt, as a purge does, checkpoints are found.
func TestCheckpointsAreFoundDuringARebuild(t *testing.T) {
	t.Parallel()
	d := newDesk(t, assemble.Options{})
	for i := range 30 {
		d.write("shop/a", strconv.Itoa(i))
		d.save(retake.SaveRequest{})
	}
	first, err := d.s.Find(t.Context(), d.ws, "3")
	must(t, err)
	var rebuilt atomic.Int64
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			if _, err := d.s.Rebuild(t.Context()); err != nil {
				done <- err
				return
			}
			rebuilt.Add(1)
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
		}
	}()
	for asked := 0; asked < 20 || rebuilt.Load() < 5; asked++ {
		select {
		case err := <-done:
			t.Fatalf("asked %d times, the rebuild: %v", asked, err)
		default:
		}
		if cp, err := d.s.Find(t.Context(), d.ws, "3"); err != nil || cp.ID != first.ID {
			t.Fatalf("asked %d times: %v", asked, err)
		}
		if _, err := d.s.Locate(t.Context(), filepath.Dir(d.at("shop/a"))); err != nil && !os.IsNotExist(err) {
			t.Fatalf("asked %d times: %v", asked, err)
		}
	}
	close(stop)
	must(t, <-done)
}
