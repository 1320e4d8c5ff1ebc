//go:build postgres && s3

package real_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/server"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/test/real"
)

// A second data directory with the same database or bucket is refused before anything is
// written; servers of one directory start beside each other; a take-over is by hand, and
// the one that was there first finds out.
func TestS10_SecondDataDirectory(t *testing.T) {
	dsn, s3 := real.StartPostgres(t, real.Careless).Database(t), real.StartS3(t)
	bucket := &kopia.Bucket{Endpoint: s3.Endpoint, Region: s3.Region, Name: s3.Name, AccessKey: s3.AccessKey, SecretKey: s3.SecretKey, Insecure: true, Prefix: "cell/"}
	open := func(data, dsn string, b *kopia.Bucket, force bool) (*server.Server, error) {
		return server.Open(t.Context(), server.Options{
			DataDir: data, ListenAddress: "127.0.0.1:0", Postgres: dsn, Bucket: b, TakeOver: force, Version: "test", Clock: clock.Wall,
			Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Floor: func(int64) int64 { return 0 }, Boot: "this run", Derivation: derivation,
		})
	}
	one, two := shortDir(t), shortDir(t)
	first, err := open(one, dsn, bucket, false)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close() //nolint:errcheck // the test is over
	if _, err := first.AddNamespace(t.Context(), retake.Namespace{ID: "team", Limits: retake.DefaultLimits()}, ""); err != nil {
		t.Fatal(err)
	}
	before := listed(t, s3.Dir)
	for what, try := range map[string]func() (*server.Server, error){
		"both":         func() (*server.Server, error) { return open(two, dsn, bucket, false) },
		"the database": func() (*server.Server, error) { return open(two, dsn, nil, false) },
		"the bucket":   func() (*server.Server, error) { return open(two, "", bucket, false) },
	} {
		s, err := try()
		if !retake.IsKind(err, retake.Denied) || !strings.Contains(err.Error(), "another data directory") {
			t.Errorf("%s from another data directory: %v", what, err)
		}
		if s != nil {
			_ = s.Close()
		}
	}
	if after := listed(t, s3.Dir); after != before {
		t.Errorf("the bucket changed:\n%s\n%s", before, after)
	}
	beside, err := open(one, dsn, bucket, false)
	if err != nil {
		t.Fatalf("a second server of the same directory: %v", err)
	}
	_ = beside.Close()
	over, err := open(two, dsn, bucket, true)
	if err != nil {
		t.Fatalf("take over: %v", err)
	}
	_ = over.Close()
	if _, err := open(one, dsn, bucket, false); !retake.IsKind(err, retake.Denied) {
		t.Errorf("the one that was taken over from: %v", err)
	}
}

// Of many that claim a bucket at once one gets it, and all learn who.
func TestS10_ClaimTogether(t *testing.T) {
	s3 := real.StartS3(t)
	b := kopia.Bucket{Endpoint: s3.Endpoint, Region: s3.Region, Name: s3.Name, AccessKey: s3.AccessKey, SecretKey: s3.SecretKey, Insecure: true}
	got := make(chan string, 8)
	for _, name := range strings.Split("abcdefgh", "") {
		go func() {
			is, err := b.Claim(context.WithoutCancel(t.Context()), name, false)
			if err != nil {
				t.Error(err)
			}
			got <- is
		}()
	}
	owner := <-got
	for range 7 {
		if is := <-got; is != owner {
			t.Errorf("one says %q, another %q", owner, is)
		}
	}
}

// A sweep stops when somebody else wrote into the bucket whom no lock holds back, and all
// that he wrote is still there.
func TestS10_SweepStopsAtStrangers(t *testing.T) {
	s3 := real.StartS3(t)
	o := inS3(t, s3, true)
	one := create(t, o)
	mine, err := seal(t.Context(), one, workspace(), bytes.NewReader(noise(1, 40_000)), nothing)
	must(t, err)
	other := o
	other.Dir, other.Locks = t.TempDir(), fsx.NewLocks(t.TempDir())
	two := create(t, other)
	theirs, err := seal(t.Context(), two, workspace(), bytes.NewReader(noise(2, 40_000)), nothing)
	must(t, err)
	for range 2 { // the second time as the first
		if _, err := one.Sweep(t.Context(), store.SweepOptions{}); !retake.IsKind(err, retake.Denied) {
			t.Errorf("swept beside a stranger: %v", err)
		}
	}
	must(t, errors.Join(one.Close(), two.Close()))
	again := create(t, o)
	holds(t, again, mine, noise(1, 40_000))
	holds(t, again, theirs, noise(2, 40_000))
	if _, err := again.Sweep(t.Context(), store.SweepOptions{}); err != nil {
		t.Errorf("alone again: %v", err)
	}
}

// A sweep of a bucket deletes no pack that is young, also when nothing needs it any more.
func TestS10_YoungPacksAreSpared(t *testing.T) {
	s3 := real.StartS3(t)
	o := inS3(t, s3, true)
	o.MinPackAge = 24 * time.Hour
	s, ws := create(t, o), workspace()
	for i := range uint64(20) { // so many small ones would be joined, and deleted
		_, err := seal(t.Context(), s, ws, bytes.NewReader(noise(i, 10_000)), nothing)
		must(t, err)
	}
	before := packs(listed(t, s3.Dir))
	_, err := s.Sweep(t.Context(), store.SweepOptions{})
	must(t, err)
	after := packs(listed(t, s3.Dir))
	for name := range before {
		if !after[name] {
			t.Errorf("pack %s is gone", name)
		}
	}
	if len(before) < 20 {
		t.Errorf("%d packs", len(before))
	}
}

func packs(list string) map[string]bool {
	out := map[string]bool{}
	for path := range strings.SplitSeq(list, "\n") {
		if name := filepath.Base(path); strings.HasPrefix(name, "p") || strings.HasPrefix(name, "q") {
			out[name] = true
		}
	}
	return out
}

func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// listed is every file below a directory.
func listed(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}
