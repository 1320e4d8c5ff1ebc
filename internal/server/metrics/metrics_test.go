package metrics_test

import (
	"errors"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake/internal/server/metrics"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
)

func newMeter(t *testing.T, gauges ...metrics.Gauge) *metrics.Meter {
	t.Helper()
	db, err := sqlite.OpenDB(t.Context(), filepath.Join(t.TempDir(), "x.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return metrics.New(db, gauges...)
}

func text(m *metrics.Meter) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// What is counted is served, as numbers that an operator can alert on.
func TestCounted(t *testing.T) {
	t.Parallel()
	m := newMeter(t)
	m.CountBackgroundFailure("store maintenance")
	m.CountBackgroundFailure("store maintenance")
	m.CountS3("put", "ok", 20*time.Millisecond)
	m.CountOpen("store", time.Second, nil)
	m.CountOpen("store", time.Second, errors.New("locked"))
	m.CountScrub("damaged")
	got := text(m)
	for _, want := range []string{
		`retake_background_failures_total{task="store maintenance"} 2`, `retake_s3_requests_total{operation="put",result="ok"} 1`,
		`retake_s3_request_duration_seconds_bucket{operation="put",le="0.025"} 1`, `retake_open_duration_seconds_count{part="store"} 1`,
		`retake_open_failures_total{part="store"} 1`, `retake_scrubs_total{result="damaged"} 1`, `go_sql_max_open_connections{db_name="retake"} 4`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}

// A gauge that is not known is not there. A 0 would be taken for a value.
func TestUnknownGaugesAreLeftOut(t *testing.T) {
	t.Parallel()
	known := false
	m := newMeter(t, metrics.Gauge{Name: "retake_x", Help: "X.", Labels: map[string]string{"queue": "q"}, Read: func() (float64, bool) { return 0, known }})
	if got := text(m); strings.Contains(got, "retake_x") {
		t.Errorf("an unknown value is served:\n%s", got)
	}
	known = true
	if got := text(m); !strings.Contains(got, `retake_x{queue="q"} 0`) {
		t.Errorf("a known value is missing:\n%s", got)
	}
}
