package metrics_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/server/metrics"
)

// Failures of background work are numbers that an operator can alert on.
func TestBackgroundFailuresAreServed(t *testing.T) {
	t.Parallel()
	m := metrics.New(func() float64 { return 1 }, []string{"outbox"}, func(string) float64 { return 2 }, func(string) float64 { return 3 })
	m.CountBackgroundFailure("store maintenance")
	m.CountBackgroundFailure("store maintenance")
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`retake_background_failures_total{task="store maintenance"} 2`, `retake_namespaces_open 1`, `retake_queue_depth{queue="outbox"} 2`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, w.Body)
		}
	}
}
