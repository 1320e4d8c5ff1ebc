package kopia_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/storage/store/storetest"
)

const secretWord = "a password that is kept elsewhere"

func inBucket(t *testing.T, f *fakeS3, sole bool) kopia.Options {
	return kopia.Options{
		Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: clock.Wall, Exclusive: sole, Derivation: derivation,
		Bucket: f.bucket("ns/one"), Password: secretWord,
	}
}

func createIn(t *testing.T, o kopia.Options) *kopia.Store {
	t.Helper()
	s, err := kopia.Create(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newBucketSweepTest(t *testing.T, o kopia.Options) *sweepTest {
	t.Helper()
	y := &sweepTest{T: t, dir: o.Dir, s: createIn(t, o)}
	y.ws = retake.Workspace{ID: retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString()), Name: "yard", Created: time.Unix(1e9, 0).UTC()}
	return y
}

// A store in a bucket does what a store on a disk does.
func TestBucketStore(t *testing.T) {
	t.Parallel()
	for _, sole := range []bool{false, true} {
		t.Run(fmt.Sprint("sole ", sole), func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) storetest.Harness {
				f := newFakeS3(t)
				f.page = 7
				o := inBucket(t, f, sole)
				s := createIn(t, o)
				return storetest.Harness{Store: s, Reopen: func(t *testing.T) store.Store {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					again, err := kopia.Open(context.Background(), o)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = again.Close() })
					return again
				}, Damage: func(t *testing.T, id retake.ObjectID) {
					name, offset, err := s.Place(t.Context(), id)
					if err != nil {
						t.Fatal(err)
					}
					f.change("ns/one/"+strings.TrimSuffix(name, ".f"), func(b []byte) []byte { b[offset] ^= 1; return b })
				}}
			})
		})
	}
}

// A save of small files costs three puts, and one list when others may write too.
func TestRequestsOfASave(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		sole bool
		list int
	}{{false, 1}, {true, 0}} {
		f := newFakeS3(t)
		y := newBucketSweepTest(t, inBucket(t, f, x.sole))
		create := f.requestCounts()
		for i := range 5 {
			var files [][]byte
			for n := range 10 {
				files = append(files, randomBytes(uint64(10*i+n), 2000))
			}
			y.seal(files...)
			got := f.requestCounts()
			t.Logf("sole %v: create %v, save %d: %v", x.sole, create, i+1, got)
			if i > 1 && (got["PUT"] != 3 || got["LIST"] != x.list || got["GET"]+got["HEAD"]+got["DELETE"] > 0) {
				t.Errorf("sole %v: save %d takes %v", x.sole, i+1, got)
			}
		}
		if _, err := y.s.Head(t.Context(), y.ws.ID); err != nil {
			t.Fatal(err)
		}
		t.Logf("sole %v: head %v", x.sole, f.requestCounts())
	}
}

// Another server's save costs its index and its directories, once.
func TestRequestsAfterAnother(t *testing.T) {
	t.Parallel()
	f := newFakeS3(t)
	o := inBucket(t, f, false)
	y := newBucketSweepTest(t, o)
	other := *y
	other.s = createIn(t, o)
	y.seal(randomBytes(1, 2000))
	for i := range 4 {
		other.next = y.next
		f.requestCounts()
		other.seal(randomBytes(uint64(2+i), 2000))
		got := f.requestCounts()
		t.Logf("after another: %v", got)
		if got["GET"] > 4 || got["PUT"] != 3 || got["LIST"] != 1 {
			t.Errorf("a save after another's takes %v", got)
		}
		y.next = other.next
		y.seal(randomBytes(uint64(20+i), 2000))
	}
}

// No password, no store: what is in the bucket tells nothing of it.
func TestPasswordStaysOutside(t *testing.T) {
	t.Parallel()
	f := newFakeS3(t)
	o := inBucket(t, f, true)
	if there, err := kopia.Exists(t.Context(), o); there || err != nil {
		t.Fatalf("before: %v, %v", there, err)
	}
	if _, err := kopia.Open(t.Context(), o); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("open before: %v", err)
	}
	y := newBucketSweepTest(t, o)
	y.seal(randomBytes(1, 3000))
	if there, err := kopia.Exists(t.Context(), o); !there || err != nil {
		t.Errorf("after: %v, %v", there, err)
	}
	wrong := o
	wrong.Password = "another"
	for _, open := range []func(context.Context, kopia.Options) (*kopia.Store, error){kopia.Open, kopia.Create} {
		if _, err := open(t.Context(), wrong); !retake.IsKind(err, retake.Denied) {
			t.Errorf("wrong password: %v", err)
		}
	}
	for _, k := range f.keys("") {
		f.change(k, func(b []byte) []byte {
			if bytes.Contains(b, []byte(secretWord)) {
				t.Errorf("%s holds the password", k)
			}
			return b
		})
	}
	d, err := fsx.OS().OpenRoot(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if names, err := d.Names(); err != nil || len(names) > 0 {
		t.Errorf("the directory holds %v, %v", names, err)
	}
}

// A password of the caller's is not written beside a disk either.
func TestPasswordOfADisk(t *testing.T) {
	t.Parallel()
	o := kopia.Options{Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewMemoryLocks(), Clock: clock.Wall, Derivation: derivation, Password: secretWord}
	if there, err := kopia.Exists(t.Context(), o); there || err != nil {
		t.Fatalf("before: %v, %v", there, err)
	}
	y := newBucketSweepTest(t, o)
	cp := y.seal([]byte("one"))
	if err := y.s.Close(); err != nil {
		t.Fatal(err)
	}
	if there, err := kopia.Exists(t.Context(), o); !there || err != nil {
		t.Errorf("after: %v, %v", there, err)
	}
	plain := o
	plain.Password = ""
	if _, err := kopia.Open(t.Context(), plain); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("open without a password: %v", err)
	}
	y.s = createIn(t, o)
	y.wantFiles(cp, []byte("one"))
}

// What an interrupted Create left is made again; where files of somebody may be nothing is
// removed.
func TestHalfMadeBucket(t *testing.T) {
	t.Parallel()
	f := newFakeS3(t)
	o := inBucket(t, f, false)
	f.put("ns/onestore/x", []byte("of a neighbour")) // whose prefix begins the same
	for _, keep := range []string{"kopia.repository", "kopia.", "kopia. q"} {
		s, err := kopia.Create(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, k := range f.keys("ns/one/") {
			kept := false
			for _, p := range strings.Fields(keep) {
				kept = kept || strings.HasPrefix(k, "ns/one/"+p)
			}
			if !kept {
				f.change(k, func([]byte) []byte { return nil })
			}
		}
		if _, err := kopia.Open(t.Context(), o); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: open answers %v", keep, err)
		}
	}
	y := newBucketSweepTest(t, o)
	y.wantFiles(y.seal([]byte("one")), []byte("one"))
	for _, k := range f.keys("ns/one/x") {
		f.change(k, func([]byte) []byte { return nil })
	}
	before := len(f.keys("ns/one/"))
	if _, err := kopia.Create(t.Context(), o); !errors.Is(err, store.ErrDamaged) || len(f.keys("ns/one/")) != before {
		t.Errorf("create over packs: %v, %d of %d blobs are left", err, len(f.keys("ns/one/")), before)
	}
	if len(f.keys("ns/onestore/")) != 1 {
		t.Error("the neighbour's blob is gone")
	}
}

func TestBucketNeedsAll(t *testing.T) {
	t.Parallel()
	f := newFakeS3(t)
	for _, spoil := range []func(*kopia.Options){
		func(o *kopia.Options) { o.Password = "" },
		func(o *kopia.Options) { o.Bucket.AccessKey = "" },
		func(o *kopia.Options) { o.Bucket.SecretKey = "" },
		func(o *kopia.Options) { o.Bucket.Name = "" },
		func(o *kopia.Options) { o.Bucket.Endpoint = "" },
	} {
		o := inBucket(t, f, false)
		spoil(&o)
		if _, err := kopia.Create(t.Context(), o); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%+v: %v", o.Bucket, err)
		}
	}
	if n := f.requestCounts(); len(n) > 0 {
		t.Errorf("requests were made: %v", n)
	}
}
