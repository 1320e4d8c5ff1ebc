//go:build postgres && s3

package real_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/engine/archive"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/test/real"
)

// farBucket is a bucket that answers late.
type farBucket struct {
	requests, inFlight, most atomic.Int64
}

// start puts a proxy that waits before each request in front of a server.
func (f *farBucket) start(t *testing.T, s *real.S3, latency time.Duration) *real.S3 {
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: s.Endpoint})
		r.Out.Host = r.In.Host // it is signed
	}}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.requests.Add(1)
		now := f.inFlight.Add(1)
		for most := f.most.Load(); now > most && !f.most.CompareAndSwap(most, now); most = f.most.Load() {
		}
		<-time.After(latency)
		proxy.ServeHTTP(w, r)
		f.inFlight.Add(-1)
	}))
	t.Cleanup(h.Close)
	return &real.S3{Endpoint: h.Listener.Addr().String(), Region: s.Region, Name: s.Name, AccessKey: s.AccessKey, SecretKey: s.SecretKey}
}

// measure runs f and returns how long it took, with how many requests, and how many at a time.
func (f *farBucket) measure(run func()) (took time.Duration, requests, most int64) {
	f.most.Store(0)
	before, began := f.requests.Load(), time.Now()
	run()
	return time.Since(began), f.requests.Load() - before, f.most.Load()
}

// Reads of a bucket are joined and wait for their answers together. With FILES=3000 it is as large as docs/server
// tells of.
func TestFarBucketIsReadTogether(t *testing.T) {
	t.Parallel()
	files := 300
	if n, err := strconv.Atoi(os.Getenv("FILES")); err == nil {
		files = n
	}
	changed := files / 6
	f := &farBucket{}
	far := f.start(t, real.StartS3(t), 20*time.Millisecond)
	home, ws := t.TempDir(), filepath.Join(t.TempDir(), "w")
	open := func() retake.Service {
		set, err := config.Load(filepath.Join(home, "config.json"))
		must(t, err)
		s, err := assemble.OpenService(t.Context(), config.Config{DataDir: filepath.Join(home, "data"), Home: "/nobody", BootID: "this run"}, set, assemble.Options{
			Exclusive: true, Store: bytesIn(far, home), Catalog: func(ctx context.Context) (catalog.Catalog, error) {
				return sqlite.Open(ctx, filepath.Join(home, "rows.db"), nameOf(home), sqlite.Options{})
			},
		})
		must(t, err)
		return s
	}
	s := open()
	first := saveInPieces(t, s, ws, files)
	rnd := rand.New(rand.NewPCG(9, 9))
	for i := range changed {
		must(t, os.WriteFile(fileAt(ws, i*5%files), []byte(fmt.Sprint("other ", rnd.Uint64())), 0o644))
	}
	_, err := s.Save(t.Context(), retake.SaveRequest{Workspace: first.Workspace, Trigger: retake.TriggerManual})
	must(t, err)
	reopen := func() { // what was read or written is in no memory
		must(t, s.(io.Closer).Close())
		s = open()
	}
	defer func() { must(t, s.(io.Closer).Close()) }()
	reopen()

	var wrote countWriter
	took, requests, most := f.measure(func() { must(t, archive.Write(t.Context(), s, first.Workspace, string(first.ID), &wrote)) })
	t.Logf("an archive of %d files: %v, %d requests, %d at a time", files, took, requests, most)
	if requests > int64(files)/2 || most < 2 || wrote < countWriter(files*1000) {
		t.Errorf("an archive of %d bytes takes %d requests, %d at a time", wrote, requests, most)
	}
	reopen()
	plan := retake.PlanRequest{Workspace: first.Workspace, Course: retake.CourseRestore, Ref: string(first.ID)}
	var res retake.RestoreResult
	took, requests, most = f.measure(func() {
		p, err := s.PlanRestore(t.Context(), plan)
		must(t, err)
		res, err = s.ApplyRestore(t.Context(), retake.ApplyRequest{PlanRequest: plan, Digest: p.Digest, Accept: []string{"changed"}})
		must(t, err)
	})
	t.Logf("a restore of %d files: %v, %d requests, %d at a time", res.Written, took, requests, most)
	if requests > int64(files)/2 || most < 2 || int(res.Written) < changed {
		t.Errorf("a restore of %d files takes %d requests, %d at a time", res.Written, requests, most)
	}
}

type countWriter int64

func (c *countWriter) Write(p []byte) (int, error) {
	*c += countWriter(len(p))
	return len(p), nil
}

func fileAt(ws string, i int) string {
	return filepath.Join(ws, fmt.Sprintf("d%02d", i/10), fmt.Sprintf("f%d.txt", i))
}

// saveInPieces makes files in several checkpoints, so that they lie in several packs, and returns
// the last one.
func saveInPieces(t *testing.T, s retake.Service, ws string, files int) retake.Checkpoint {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	must(t, os.MkdirAll(ws, 0o755))
	res, err := s.Init(t.Context(), retake.InitRequest{Dir: ws})
	must(t, err)
	for i := range files {
		text := make([]byte, 1000+rnd.IntN(7000))
		for j := range text {
			text[j] = byte(rnd.Uint32())
		}
		must(t, os.MkdirAll(filepath.Dir(fileAt(ws, i)), 0o755))
		must(t, os.WriteFile(fileAt(ws, i), text, 0o644))
		if i%(files/10) == files/10-1 {
			saved, err := s.Save(t.Context(), retake.SaveRequest{Workspace: res.Workspace.ID, Trigger: retake.TriggerManual})
			must(t, err)
			res.Checkpoint = saved.Checkpoint
		}
	}
	return res.Checkpoint
}
