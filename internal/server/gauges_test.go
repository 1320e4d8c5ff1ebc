package server_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/server"
)

// metric returns a value of a server's metrics, by its name with labels.
func (b *testServer) metric(name string) (float64, bool) {
	b.t.Helper()
	w := httptest.NewRecorder()
	b.srv.AdminHandler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			must(b.t, err)
			return v, true
		}
	}
	return 0, false
}

func (b *testServer) wantMetric(name string, want float64) {
	b.t.Helper()
	if v, known := b.metric(name); !known || v != want {
		b.t.Errorf("%s is %v (known: %t), want %v", name, v, known, want)
	}
}

func (b *testServer) wantUnknown(name string) {
	b.t.Helper()
	if v, known := b.metric(name); known {
		b.t.Errorf("%s is %v, and nobody can know it", name, v)
	}
}

func (b *testServer) scrub() {
	b.t.Helper()
	if res, text := b.sendRequest(http.MethodPost, "/v1/scrub", b.keySecret(retake.KeyMaintainer), `{"share":1}`, nil); res.StatusCode != http.StatusOK {
		b.t.Fatalf("scrub: %d %s", res.StatusCode, text)
	}
}

// The disk's numbers are those of the disk, and a save fails when the one is below the other.
func TestDiskMetrics(t *testing.T) {
	t.Parallel()
	var floor atomic.Int64
	b := newTestServer(t, "", func(o *server.Options) { o.Floor = func(int64) int64 { return floor.Load() } })
	b.wantMetric("retake_disk_min_free_bytes", 0)
	floor.Store(1 << 60)
	free, known := b.metric("retake_disk_free_bytes")
	if !known || free <= 0 || free >= 1<<60 {
		t.Errorf("%v bytes are free", free)
	}
	for end := time.Now().Add(30 * time.Second); ; <-time.After(50 * time.Millisecond) { // one reading is kept for a second
		if v, _ := b.metric("retake_disk_min_free_bytes"); v == 1<<60 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the minimum does not move")
		}
	}
	b.writeFile("a", "1")
	_, err := b.clientAs(retake.KeyAgent).Save(t.Context(), retake.SaveRequest{Workspace: b.initial.Namespace.Default, Trigger: retake.TriggerManual})
	if err == nil {
		t.Error("saved below the minimum")
	}
}

// A scrub's result is there at once, on every server of the data directory and after a restart.
// Before the first there is none.
func TestScrubMetrics(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("a", "1")
	b.saveCheckpoint("first")
	b.wantUnknown("retake_scrub_age_seconds")
	b.wantUnknown("retake_scrub_damaged")
	b.scrub()
	b.wantMetric("retake_scrub_damaged", 0)
	b.wantMetric(`retake_scrubs_total{result="clean"}`, 1)
	packs, err := filepath.Glob(filepath.Join(b.data, "ns", "main", "*", "store", "blobs", "p*"))
	if err != nil || len(packs) == 0 {
		t.Fatalf("no packs: %v", err)
	}
	for _, p := range packs {
		must(t, os.Truncate(p, 10))
	}
	b.scrub()
	if v, _ := b.metric("retake_scrub_damaged"); v == 0 {
		t.Error("a damaged store counts as whole")
	}
	b.wantMetric(`retake_scrubs_total{result="damaged"}`, 1)
	other := filepath.Join(b.data, "ns", "other", "own") // has waited for an hour
	must(t, os.MkdirAll(other, 0o700))
	must(t, os.WriteFile(filepath.Join(other, "scrub.json"), []byte(`{"at":"`+time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)+`","damaged":100}`), 0o600))
	b.stop()
	b.start("", nil)
	if v, _ := b.metric("retake_scrub_damaged"); v <= 100 {
		t.Errorf("after a restart %v paths are damaged", v)
	}
	if v, _ := b.metric("retake_scrub_age_seconds"); v < 3600 || v > 7200 {
		t.Errorf("the oldest scrub was %v s ago", v)
	}
}

// What cannot be read is unknown, and counted.
func TestUnreadableScrub(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	must(t, os.WriteFile(filepath.Join(b.data, "ns", "main", "own", "scrub.json"), []byte(`{`), 0o600))
	b.wantUnknown("retake_scrub_damaged")
	if v, _ := b.metric(`retake_background_failures_total{task="namespace state"}`); v == 0 {
		t.Error("nobody is told")
	}
}

// oneCheckpoint is a history with one checkpoint without files.
type oneCheckpoint struct{ cp retake.Checkpoint }

func (h oneCheckpoint) Dir(context.Context, retake.ObjectID) ([]retake.Entry, error) { return nil, nil }

func (h oneCheckpoint) File(context.Context, retake.ObjectID) (io.ReadSeekCloser, error) {
	return nil, os.ErrNotExist
}

func (h oneCheckpoint) After(_ context.Context, n int64, f func(backup.Checkpoint) error) error {
	if n >= h.cp.Number {
		return nil
	}
	return f(backup.Checkpoint{Checkpoint: h.cp})
}

func (h oneCheckpoint) Known(context.Context, int64) (retake.CheckpointID, error) {
	return h.cp.ID, nil
}

// The age of a backup is that of its last push, and one that fails is told by how long it fails.
func TestBackupMetrics(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	b := newTestServer(t, "", nil)
	b.wantUnknown("retake_backup_age_seconds")
	b.wantUnknown("retake_backup_failing_seconds")
	remote := filepath.Join(t.TempDir(), "remote.git")
	must(t, exec.Command(git, "init", "--bare", "-q", remote).Run())
	// The server's own worker takes no directory for a remote.
	w := backup.New(backup.Options{Dir: filepath.Join(b.data, "ns", "main", "own", "backup"), Path: os.Getenv("PATH"), AllowPaths: true})
	ws := retake.Workspace{ID: b.initial.Namespace.Default, Name: "default"}
	_, err = w.Set(t.Context(), ws, retake.BackupRequest{URL: remote})
	must(t, err)
	history := oneCheckpoint{retake.Checkpoint{
		ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: ws.ID, Number: 1, Time: time.Now(), Tree: "kempty",
		Trigger: retake.TriggerManual, Coverage: retake.Coverage{Grade: retake.Complete},
	}}
	_, err = w.Run(t.Context(), ws.ID, history)
	must(t, err)
	b.stop()
	b.start("", nil) // a server reads them once a minute
	if v, known := b.metric("retake_backup_age_seconds"); !known || v > 600 {
		t.Errorf("the last push was %v s ago (known: %t)", v, known)
	}
	b.wantMetric("retake_backup_failing_seconds", 0)
	must(t, os.RemoveAll(remote))
	if _, err := w.Run(t.Context(), ws.ID, history); err == nil {
		t.Fatal("pushed to nowhere")
	}
	b.stop()
	b.start("", nil)
	if v, _ := b.metric("retake_backup_failing_seconds"); v <= 0 {
		t.Errorf("it fails for %v s", v)
	}
}

// A namespace and a store that cannot be opened are counted; those that can are measured.
func TestOpenMetrics(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("a", "1")
	b.saveCheckpoint("first")
	b.wantMetric(`retake_open_duration_seconds_count{part="namespace"}`, 1)
	b.wantMetric(`retake_open_duration_seconds_count{part="store"}`, 1)
	b.wantUnknown(`retake_open_failures_total{part="store"}`)
	b.stop()
	must(t, os.WriteFile(filepath.Join(b.data, "kek"), []byte(secretbox.FormatKey(secretbox.NewKey())), 0o600))
	b.start("", nil)
	_, _ = b.sendRequest(http.MethodPost, "/v1/scrub", b.keySecret(retake.KeyMaintainer), `{}`, nil)
	if v, _ := b.metric(`retake_open_failures_total{part="store"}`); v == 0 {
		t.Error("a store that cannot be unlocked is not counted")
	}
	b.stop()
	index := filepath.Join(b.data, "ns", "main", "own", "index")
	must(t, os.RemoveAll(index))
	must(t, os.WriteFile(index, nil, 0o600))
	b.start("", nil)
	if res, _ := b.sendRequest(http.MethodGet, "/v1/namespace", b.keySecret(retake.KeyReader), "", nil); res.StatusCode < 500 {
		t.Errorf("a namespace that cannot be opened is answered with %d", res.StatusCode)
	}
	if v, _ := b.metric(`retake_open_failures_total{part="namespace"}`); v == 0 {
		t.Error("a namespace that cannot be opened is not counted")
	}
}

// No label has a name of the history.
func TestMetricsNameNobody(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("a", "1")
	b.saveCheckpoint("first")
	b.scrub()
	w := httptest.NewRecorder()
	b.srv.AdminHandler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, secret := range []string{"main", "default", "ws_", "cp_", "rtk_", b.data} {
		for line := range strings.Lines(w.Body.String()) {
			if strings.HasPrefix(line, "retake_") && strings.Contains(line, secret) {
				t.Errorf("%q is in %s", secret, line)
			}
		}
	}
}

// Every metric that is served, and every one that an alert is about, is on the page.
func TestMetricsAreOnThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/server/setup.md")
	must(t, err)
	rules, err := os.ReadFile("../../deploy/prometheus.rules.yaml")
	must(t, err)
	b := newTestServer(t, "", nil)
	b.writeFile("a", "1")
	b.saveCheckpoint("first")
	b.scrub()
	w := httptest.NewRecorder()
	b.srv.AdminHandler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	name := regexp.MustCompile(`\bretake_[a-z0-9_]+`)
	known := map[string]bool{}
	for _, n := range name.FindAllString(string(page), -1) {
		known[n] = true
	}
	seen := 0
	for _, n := range name.FindAllString(string(rules)+w.Body.String(), -1) {
		for _, end := range []string{"_bucket", "_sum", "_count"} {
			n = strings.TrimSuffix(n, end)
		}
		if seen++; !known[n] {
			t.Errorf("the page does not name %s", n)
		}
	}
	if seen < 30 {
		t.Errorf("%d names were looked at", seen)
	}
}
