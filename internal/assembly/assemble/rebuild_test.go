package assemble_test

import (
	"os"
	"path/filepath"
	"strconv"
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
	done := make(chan error)
	go func() {
		var err error
		for range 20 {
			if err == nil {
				_, err = d.s.Rebuild(t.Context())
			}
		}
		done <- err
	}()
	for asked := 0; ; asked++ {
		select {
		case err := <-done:
			if err != nil || asked < 20 {
				t.Errorf("asked %d times, %v", asked, err)
			}
			return
		default:
		}
		if cp, err := d.s.Find(t.Context(), d.ws, "3"); err != nil || cp.ID != first.ID {
			t.Fatalf("asked %d times: %v", asked, err)
		}
		if _, err := d.s.Locate(t.Context(), filepath.Dir(d.at("shop/a"))); err != nil && !os.IsNotExist(err) {
			t.Fatalf("asked %d times: %v", asked, err)
		}
	}
}
