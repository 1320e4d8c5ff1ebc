package httpapi_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// Work that ends before anybody looks still reports its progress once. If several channels are
// ready the choice is random, hence many runs.
func TestQuickWorkIsTold(t *testing.T) {
	t.Parallel()
	for range 100 {
		w := httptest.NewRecorder()
		httpapi.WatchDone(w, retake.Progress{Files: 7})
		if n := strings.Count(w.Body.String(), "event: progress"); n != 1 {
			t.Fatalf("told %d times: %s", n, w.Body)
		}
	}
}
