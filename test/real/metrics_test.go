//go:build postgres && s3

package real_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/server"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/test/parts"
	"github.com/retake-dev/retake/test/real"
)

// watched is a server on a database and a bucket of its own, and who looks at its metrics.
type watched struct {
	*testing.T
	pg     *parts.Postgres
	s3     *real.S3
	srv    *server.Server
	super  string // address of the database for its superuser
	prefix string
}

func watch(t *testing.T) *watched {
	t.Helper()
	dir, remove, err := parts.Scratch("")
	must(t, err)
	t.Cleanup(func() { must(t, remove()) })
	w := &watched{T: t, s3: real.StartS3(t)}
	w.pg, err = parts.StartPostgres(filepath.Join(dir, "pg"), real.Careless)
	must(t, err)
	t.Cleanup(w.pg.Kill)
	dsn, err := w.pg.Database("watched")
	must(t, err)
	w.super = w.pg.DSN("postgres", "watched")
	w.srv, err = server.Open(t.Context(), server.Options{
		DataDir: shortDir(t), ListenAddress: "127.0.0.1:0", Postgres: dsn, Version: "test", Clock: clock.Wall, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Floor: func(int64) int64 { return 0 }, Boot: "this run", Derivation: derivation,
		Bucket: &kopia.Bucket{Endpoint: w.s3.Endpoint, Region: w.s3.Region, Name: w.s3.Name, AccessKey: w.s3.AccessKey, SecretKey: w.s3.SecretKey, Insecure: true},
	})
	must(t, err)
	t.Cleanup(func() { _ = w.srv.Close() })
	return w
}

// ask asks the address of the operator, and says how long the answer took.
func (w *watched) ask(path string) (int, string, time.Duration) {
	begun, out := time.Now(), httptest.NewRecorder()
	w.srv.AdminHandler().ServeHTTP(out, httptest.NewRequest(http.MethodGet, path, nil))
	return out.Code, out.Body.String(), time.Since(begun)
}

// sum adds the values of a metric whose labels match.
func (w *watched) sum(name, labels string) (sum float64) {
	w.Helper()
	_, text, _ := w.ask("/metrics")
	for _, m := range regexp.MustCompile(`(?m)^`+name+`(?:\{([^}]*)\})? (\S+)$`).FindAllStringSubmatch(text, -1) {
		if regexp.MustCompile(labels).MatchString(m[1]) {
			v, err := strconv.ParseFloat(m[2], 64)
			must(w, err)
			sum += v
		}
	}
	return sum
}

// wantReady wants an answer of /readyz?verbose in time, whatever hangs.
func (w *watched) wantReady(when string, code int, parts ...string) {
	w.Helper()
	got, text, took := w.ask("/readyz?verbose")
	if got != code || took > 15*time.Second {
		w.Errorf("%s: %d after %s: %s", when, got, took, text)
	}
	for _, p := range parts {
		if !strings.Contains(text, p+"\n") {
			w.Errorf("%s: it says %q, without %q", when, text, p)
		}
	}
}

const failedRequests = `result="(error|timeout)"`

// Requests to the bucket are counted, by what they do and how they end. A bucket that is gone, and
// one that hangs, are seen, and are the only part that is named.
func TestMetricsOfABucket(t *testing.T) {
	w := watch(t)
	_, err := w.srv.AddNamespace(t.Context(), retake.Namespace{ID: "team", Limits: retake.DefaultLimits()}, "")
	must(t, err)
	for _, operation := range []string{"put", "get", "list"} {
		of := `operation="` + operation + `"`
		if n, m := w.sum("retake_s3_requests_total", of), w.sum("retake_s3_request_duration_seconds_count", of); n == 0 || n != m {
			t.Errorf("%v requests %s, %v of them timed", n, operation, m)
		}
	}
	if n := w.sum("retake_s3_requests_total", failedRequests); n != 0 {
		t.Errorf("%v requests failed before anything did", n)
	}
	w.wantReady("all is there", http.StatusOK, "bucket ok", "database ok", "disk ok")

	away := w.s3.Dir + ".away"
	must(t, os.Rename(w.s3.Dir, away))
	w.wantReady("the bucket is deleted", http.StatusServiceUnavailable, "bucket away", "database ok", "disk ok")
	deleted := w.sum("retake_s3_requests_total", failedRequests)
	if deleted == 0 {
		t.Error("no request failed at a bucket that is not there")
	}
	must(t, os.Rename(away, w.s3.Dir))

	must(t, w.s3.Freeze())
	w.wantReady("the bucket hangs", http.StatusServiceUnavailable, "bucket away", "database ok", "disk ok")
	for end := time.Now().Add(time.Minute); w.sum("retake_s3_requests_total", `result="timeout"`) == 0; <-time.After(100 * time.Millisecond) {
		if time.Now().After(end) { // who waited for it is answered first
			t.Fatal("no request timed out at a bucket that hangs")
		}
	}
	w.s3.Thaw()

	w.s3.Kill()
	w.wantReady("nobody answers for the bucket", http.StatusServiceUnavailable, "bucket away", "database ok")
	if n := w.sum("retake_s3_requests_total", failedRequests); n <= deleted {
		t.Errorf("%v requests failed, as before", n)
	}
	must(t, w.s3.Start())
	w.wantReady("the bucket is back", http.StatusOK, "bucket ok", "database ok", "disk ok")
}

// A database that hangs is the only part that is named, and the metrics are served all the same.
func TestMetricsOfADatabaseThatHangs(t *testing.T) {
	w := watch(t)
	if n := w.sum("retake_queue_depth", `queue="outbox"`); n != 0 {
		t.Errorf("the queue has %v items", n)
	}
	must(t, w.pg.Freeze())
	w.wantReady("the database hangs", http.StatusServiceUnavailable, "database away", "bucket ok", "disk ok")
	for end := time.Now().Add(time.Minute); w.sum("retake_queue_depth", `queue="outbox"`) != -1; <-time.After(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the depth of a queue in a database that hangs is known")
		}
	}
	if _, _, took := w.ask("/metrics"); took > 15*time.Second {
		t.Errorf("the metrics took %s", took)
	}
	w.pg.Thaw()
	for end := time.Now().Add(time.Minute); w.sum("retake_queue_depth", `queue="outbox"`) != 0; <-time.After(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the depth is not known again")
		}
	}
	w.wantReady("the database goes on", http.StatusOK, "database ok")
}

// When all connections are in use, the metrics say so and are served without one.
func TestMetricsOfAnExhaustedPool(t *testing.T) {
	w := watch(t)
	if n := w.sum("go_sql_wait_count_total", ""); n != 0 {
		t.Errorf("%v have waited before anybody had to", n)
	}
	super, err := sql.Open("pgx", w.super)
	must(t, err)
	defer super.Close()
	tx, err := super.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback() //nolint:errcheck // it ends the lock
	_, err = tx.ExecContext(t.Context(), "LOCK TABLE namespace, terms IN ACCESS EXCLUSIVE MODE")
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	most := w.sum("go_sql_max_open_connections", "")
	for range int(most) + 10 {
		all.Go(func() {
			for ctx.Err() == nil { // each ends after the database's own limit
				_, _ = w.srv.Namespaces(ctx)
			}
		})
	}
	for end := time.Now().Add(time.Minute); w.sum("go_sql_in_use_connections", "") < most || w.sum("go_sql_wait_count_total", "") == 0; <-time.After(20 * time.Millisecond) {
		if time.Now().After(end) {
			_, text, _ := w.ask("/metrics")
			t.Fatal(text)
		}
	}
	if _, _, took := w.ask("/metrics"); took > 15*time.Second {
		t.Errorf("the metrics took %s", took)
	}
	if fmt.Sprint(most) != "16" {
		t.Errorf("the pool has %v connections", most)
	}
}
