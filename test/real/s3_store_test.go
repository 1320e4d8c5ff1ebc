//go:build s3

package real_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/blob/s3"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/object"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/storage/store/storetest"
	"github.com/retake-dev/retake/test/real"
)

const word = "a password that nobody writes down"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func inS3(t *testing.T, b *real.S3, sole bool) kopia.Options {
	return kopia.Options{
		Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: clock.Wall, Exclusive: sole, Password: word, Derivation: derivation,
		Bucket: &kopia.Bucket{Endpoint: b.Endpoint, Region: b.Region, Name: b.Name, Prefix: "ns/" + uuid.NewString(), AccessKey: b.AccessKey, SecretKey: b.SecretKey, Insecure: true},
	}
}

func create(t *testing.T, o kopia.Options) *kopia.Store {
	t.Helper()
	s, err := kopia.Create(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// stock opens the repository with the engine alone, as its own program would.
func stock(t *testing.T, o kopia.Options) repo.DirectRepository {
	t.Helper()
	b := o.Bucket
	st, err := s3.New(t.Context(), &s3.Options{
		BucketName: b.Name, Prefix: b.Prefix + "/", Endpoint: b.Endpoint, Region: b.Region, DoNotUseTLS: b.Insecure, AccessKeyID: b.AccessKey, SecretAccessKey: b.SecretKey,
	}, false)
	must(t, err)
	file := filepath.Join(t.TempDir(), "repository.config")
	must(t, repo.Connect(t.Context(), file, st, word, &repo.ConnectOptions{CachingOptions: content.CachingOptions{}}))
	r, err := repo.Open(t.Context(), file, word, &repo.Options{OnFatalError: func(err error) { t.Error(err) }})
	must(t, err)
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	return r.(repo.DirectRepository)
}

// damage flips a byte of an object, behind the server's back.
func damage(t *testing.T, b *real.S3, o kopia.Options, id retake.ObjectID) {
	t.Helper()
	r := stock(t, o)
	oid, err := object.ParseID(string(id))
	must(t, err)
	parts, err := r.VerifyObject(t.Context(), oid)
	must(t, err)
	i, err := r.ContentInfo(t.Context(), parts[0])
	must(t, err)
	path := filepath.Join(b.Dir, o.Bucket.Prefix, string(i.PackBlobID))
	bytes, err := os.ReadFile(path)
	must(t, err)
	bytes[int(i.PackOffset)+int(i.PackedLength)/2] ^= 1
	must(t, os.WriteFile(path, bytes, 0o600))
}

// The suite of every store, on a real object store.
func TestStoreInS3(t *testing.T) {
	t.Parallel()
	b := real.StartS3(t)
	for _, sole := range []bool{false, true} {
		t.Run(fmt.Sprint("sole ", sole), func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) storetest.Harness {
				o := inS3(t, b, sole)
				s := create(t, o)
				return storetest.Harness{Store: s, Reopen: func(t *testing.T) store.Store {
					must(t, s.Close())
					again, err := kopia.Open(context.Background(), o)
					must(t, err)
					t.Cleanup(func() { _ = again.Close() })
					return again
				}, Damage: func(t *testing.T, id retake.ObjectID) { damage(t, b, o, id) }}
			})
		})
	}
}

func noise(seed uint64, n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b) // never fails
	return b
}

func workspace() retake.Workspace {
	return retake.Workspace{ID: retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString()), Name: "w", Root: "/w"}
}

// seal adds a checkpoint with one file, and answers it. Within seal, at is called before the
// last step.
func seal(ctx context.Context, s store.Store, ws retake.Workspace, file io.Reader, at func()) (retake.Checkpoint, error) {
	w, err := s.Begin(ctx, ws)
	if err != nil {
		return retake.Checkpoint{}, err
	}
	defer w.Close()
	id, n, err := w.WriteFile(ctx, "f", file)
	if err != nil {
		return retake.Checkpoint{}, err
	}
	dir, sum, err := w.WriteDir(ctx, []retake.Entry{{Name: "f", Kind: retake.KindFile, Mode: 0o600, Size: n, Object: id}}, 1)
	if err != nil {
		return retake.Checkpoint{}, err
	}
	cp := retake.Checkpoint{ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: ws.ID, Number: w.Head().Latest + 1, Tree: dir}
	at()
	return cp, w.Seal(ctx, store.SealRequest{Card: retake.Card{V: retake.CardVersion, Checkpoint: cp}, Files: retake.Entry{Kind: retake.KindDir, Object: dir, Sum: sum}})
}

func nothing() {}

// holds reads the one file of a checkpoint.
func holds(t *testing.T, s store.Store, cp retake.Checkpoint, want []byte) {
	t.Helper()
	leaf, err := s.Record(t.Context(), cp.Workspace, cp.Number)
	must(t, err)
	if leaf.Card.Checkpoint.ID != cp.ID {
		t.Fatalf("checkpoint %d is %s, want %s", cp.Number, leaf.Card.Checkpoint.ID, cp.ID)
	}
	entries, err := s.Dir(t.Context(), leaf.Files.Object)
	must(t, err)
	f, err := s.File(t.Context(), entries[0].Object)
	must(t, err)
	got, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("checkpoint %d: %d bytes, want %d, %v", cp.Number, len(got), len(want), err)
	}
}

// Two servers write to one bucket at once, to lines of their own and to one that they
// share, while one of them sweeps. All that was acknowledged is there.
func TestTwoStoresInOneBucket(t *testing.T) {
	t.Parallel()
	b := real.StartS3(t)
	first := inS3(t, b, false)
	second := first
	second.Dir = t.TempDir()
	shared := workspace()
	type checkpoint struct {
		cp   retake.Checkpoint
		seed uint64
	}
	var mu sync.Mutex
	var all []checkpoint
	var busy sync.WaitGroup
	for i, o := range []kopia.Options{first, second} {
		s := create(t, o)
		for j, ws := range []retake.Workspace{workspace(), shared} {
			busy.Go(func() {
				for n := range 15 {
					seed := uint64(1000*i + 100*j + n)
					cp, err := seal(t.Context(), s, ws, bytes.NewReader(noise(seed, 40_000)), nothing)
					if err != nil {
						t.Errorf("store %d, line %d, save %d: %v", i, j, n, err)
						return
					}
					mu.Lock()
					all = append(all, checkpoint{cp, seed})
					mu.Unlock()
				}
			})
		}
		busy.Go(func() {
			for range 2 {
				if _, err := s.Sweep(t.Context(), store.SweepOptions{}); err != nil {
					t.Errorf("store %d: sweep: %v", i, err)
				}
			}
		})
	}
	busy.Wait()
	third := create(t, first)
	for _, m := range all {
		holds(t, third, m.cp, noise(m.seed, 40_000))
	}
	if h, err := third.Head(t.Context(), shared.ID); err != nil || h.Latest != 30 {
		t.Errorf("the shared line ends with %d, %v", h.Latest, err)
	}
	rep, err := third.Scrub(t.Context(), retake.ScrubQuery{Share: 1})
	if err != nil || len(rep.Failed) > 0 || rep.Checkpoints != 60 {
		t.Errorf("scrub: %+v, %v", rep, err)
	}
}

// cutter calls f once, when half of its bytes are read.
type cutter struct {
	io.Reader
	left int
	f    func()
}

func (c *cutter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.left -= n; c.left <= 0 && c.f != nil {
		c.f()
		c.f = nil
	}
	return n, err
}

// A bucket that goes away while a save runs: the save ends, soon, and says so; the checkpoint
// is whole or absent, and when the bucket is back the next save works.
func TestBucketGoesAway(t *testing.T) {
	t.Parallel()
	big := noise(1, 50<<20)
	for name, cut := range map[string]func(b *real.S3) (half, last func()){
		"while packs are written": func(b *real.S3) (func(), func()) { return b.Stop, nothing },
		"before the seal":         func(b *real.S3) (func(), func()) { return nothing, b.Stop },
		"beside the seal":         func(b *real.S3) (func(), func()) { return nothing, func() { go b.Stop() } },
	} {
		for _, sole := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, sole %v", name, sole), func(t *testing.T) {
				t.Parallel()
				b := real.StartS3(t)
				s := create(t, inS3(t, b, sole))
				ws := workspace()
				before, err := seal(t.Context(), s, ws, bytes.NewReader([]byte("before")), nothing)
				must(t, err)
				half, last := cut(b)
				began := time.Now()
				cp, err := seal(t.Context(), s, ws, &cutter{bytes.NewReader(big), len(big) / 2, half}, last)
				took := time.Since(began)
				t.Logf("after %v: %v", took, err)
				if err != nil && !retake.IsKind(err, retake.Away) || took > 60*time.Second {
					t.Errorf("after %v: %v", took, err)
				}
				if err == nil && name != "beside the seal" {
					t.Error("a bucket that is gone took a save")
				}
				b.Stop()
				must(t, b.Start())
				h, headErr := s.Head(t.Context(), ws.ID)
				must(t, headErr)
				switch {
				case h.Latest == 2:
					holds(t, s, cp, big)
				case h.Latest != 1 || err == nil:
					t.Fatalf("the line ends with %d, the save with %v", h.Latest, err)
				}
				after, err := seal(t.Context(), s, ws, bytes.NewReader([]byte("after")), nothing)
				must(t, err)
				holds(t, s, before, []byte("before"))
				holds(t, s, after, []byte("after"))
			})
		}
	}
}

// A bucket that is away for a moment is waited for.
func TestShortAbsenceIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := real.StartS3(t)
	s := create(t, inS3(t, b, true))
	ws := workspace()
	back := make(chan error, 1)
	cp, err := seal(t.Context(), s, ws, bytes.NewReader([]byte("one")), func() {
		b.Stop()
		time.AfterFunc(time.Second, func() { back <- b.Start() })
	})
	must(t, errors.Join(err, <-back))
	holds(t, s, cp, []byte("one"))
}

// Only the password opens a store, and it is nowhere in the bucket. The stock engine
// opens it too, and finds the lines.
func TestPasswordOfS3(t *testing.T) {
	t.Parallel()
	b := real.StartS3(t)
	o := inS3(t, b, false)
	s := create(t, o)
	cp, err := seal(t.Context(), s, workspace(), bytes.NewReader(noise(1, 5000)), nothing)
	must(t, err)
	_, err = s.Sweep(t.Context(), store.SweepOptions{})
	must(t, err)
	wrong := o
	wrong.Password = "a guess"
	if _, err := kopia.Open(t.Context(), wrong); !retake.IsKind(err, retake.Denied) {
		t.Errorf("another password: %v", err)
	}
	keys := o
	other := *o.Bucket
	other.SecretKey, keys.Bucket = "another", &other
	if _, err := kopia.Open(t.Context(), keys); !retake.IsKind(err, retake.Away) {
		t.Errorf("another key: %v", err)
	}
	files := 0
	must(t, filepath.WalkDir(b.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(word)) || bytes.Contains(text, []byte(b.SecretKey)) {
			t.Errorf("%s holds a secret", d.Name())
		}
		return err
	}))
	if files < 5 {
		t.Errorf("only %d blobs were looked at", files)
	}
	r := stock(t, o)
	oid, err := object.ParseID(string(cp.Tree))
	must(t, err)
	if _, err := r.VerifyObject(t.Context(), oid); err != nil {
		t.Errorf("the stock engine does not find the tree: %v", err)
	}
}
