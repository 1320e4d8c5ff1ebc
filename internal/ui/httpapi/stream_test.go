package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// zeros returns n bytes and then an error.
func zeros(n int64, end error) io.ReadCloser {
	return io.NopCloser(io.MultiReader(io.LimitReader(zeroReader{}, n), iotest.ErrReader(end)))
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A large file is streamed in chunks. Not parallel: it counts all allocations.
func TestLargeFileIsNotHeld(t *testing.T) {
	const size = 64 << 20
	c := serveFake(t, &fakeService{body: func() io.ReadCloser { return zeros(size, io.EOF) }})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, _, err := c.Open(t.Context(), wsID, "1", "big")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, make([]byte, 64<<10))
	if n != size || err != nil {
		t.Fatalf("%d bytes: %v", n, err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
		t.Errorf("%d bytes were allocated for %d", used, size)
	}
}

// An error in the middle is passed on in a trailer if the client accepts trailers, and otherwise
// cuts the body off. Before the first byte it is a problem.
func TestErrorInTheMiddleIsSeen(t *testing.T) {
	t.Parallel()
	damaged := &retake.Error{Kind: retake.Damaged, What: "other bytes", Safe: "Nothing was changed.", Hint: "see: all"}
	for name, end := range map[string]error{
		"of ours":    damaged,
		"plain":      errors.New("read pack: oh"),
		"unexpected": io.ErrUnexpectedEOF,
	} {
		for _, n := range []int64{0, 10, 64 << 10, 1 << 20} {
			f := &fakeService{body: func() io.ReadCloser { return zeros(n, end) }}
			c := serveFake(t, f)
			r, err := c.Bytes(t.Context(), "k1")
			var got int64
			if err == nil {
				got, err = io.Copy(io.Discard, r)
				r.Close()
			}
			switch {
			case err == nil:
				t.Errorf("%s after %d bytes looks like a good end", name, n)
			case errors.Is(end, damaged) && retake.AsError(err).Hint != damaged.Hint, retake.AsError(err).What != retake.AsError(end).What:
				t.Errorf("%s after %d bytes is %v", name, n, err)
			case n > 64<<10 && got != n:
				t.Errorf("%s: %d bytes of %d arrive before it", name, got, n)
			}
			s := httptest.NewServer(httpapi.New(f, httpapi.Options{}))
			resp, err := http.Get(s.URL + "/v1/objects/k1")
			if err == nil && resp.StatusCode == http.StatusOK {
				_, err = io.Copy(io.Discard, resp.Body)
			} else if err == nil {
				err = errors.New(resp.Status)
			}
			if err == nil {
				t.Errorf("%s after %d bytes looks like a good end to a stranger", name, n)
			}
			if resp != nil {
				resp.Body.Close()
			}
			s.Close()
		}
	}
}

// Extra that does not fit in a header is left out; all else is kept.
func TestEntryFitsInAHeader(t *testing.T) {
	t.Parallel()
	f := &fakeService{}
	h := httpapi.New(largeFile{f}, httpapi.Options{})
	_, e, err := serve(t, h).Open(t.Context(), wsID, "1", "x")
	want := filledValue[retake.Entry]()
	if err != nil || e.Extra != nil || e.Name != want.Name || e.Size != want.Size {
		t.Errorf("%v: %+v", err, e)
	}
}

type largeFile struct{ *fakeService }

func (l largeFile) Open(ctx context.Context, ws retake.WorkspaceID, ref, path string) (io.ReadCloser, retake.Entry, error) {
	r, e, err := l.fakeService.Open(ctx, ws, ref, path)
	e.Extra.Holes = make([]retake.Hole, 10000)
	return r, e, err
}

// Progress is sent at most ten times a second, however often it is set. Not parallel: a slow
// machine would hide what is too fast.
func TestProgressIsRare(t *testing.T) {
	enough := make(chan struct{})
	f := &fakeService{save: func(ctx context.Context, q retake.SaveRequest) (retake.SaveResult, error) {
		for n := int64(1); ; n++ {
			select {
			case <-enough:
				return retake.SaveResult{}, nil
			case <-ctx.Done():
				return retake.SaveResult{}, ctx.Err()
			default:
				q.Progress(retake.Progress{Files: n})
			}
		}
	}}
	c := serveFake(t, f)
	began, seen := clock.Wall.Now(), []int64{}
	_, err := c.Save(t.Context(), retake.SaveRequest{Workspace: wsID, Progress: func(p retake.Progress) {
		if seen = append(seen, p.Files); len(seen) == 4 {
			close(enough)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	// The first is sent at once; one more may be sent when the work ends.
	if took := clock.Wall.Now().Sub(began); took < 250*time.Millisecond {
		t.Errorf("%d events in %s", len(seen), took)
	}
	for i := 1; i < len(seen); i++ {
		if seen[i] <= seen[i-1] {
			t.Errorf("progress goes back: %v", seen)
		}
	}
}

// pendingWork is a save or a restore that waits, and its context.
type pendingWork struct {
	ctx     context.Context
	release chan struct{}
}

func newBlockingService() (*fakeService, chan pendingWork) {
	deeds := make(chan pendingWork, 1)
	wait := func(ctx context.Context) error {
		b := pendingWork{ctx, make(chan struct{})}
		deeds <- b
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-b.release:
			return nil
		}
	}
	return &fakeService{
		save: func(ctx context.Context, _ retake.SaveRequest) (retake.SaveResult, error) {
			return filledValue[retake.SaveResult](), wait(ctx)
		},
		restore: func(ctx context.Context, _ retake.ApplyRequest) (retake.RestoreResult, error) {
			return filledValue[retake.RestoreResult](), wait(ctx)
		},
	}, deeds
}

// The client disconnects during a save or a restore, with and without events.
func TestCarry(t *testing.T) {
	t.Parallel()
	quiet := func(retake.Progress) {}
	save := func(tell func(retake.Progress)) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			_, err := c.Save(ctx, retake.SaveRequest{Workspace: wsID, Progress: tell})
			return err
		}
	}
	back := func(tell func(retake.Progress)) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			_, err := c.ApplyRestore(ctx, retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: wsID}, Progress: tell})
			return err
		}
	}
	for name, call := range map[string]func(context.Context, *client.Client) error{
		"save": save(nil), "save with events": save(quiet), "restore": back(nil), "restore with events": back(quiet),
	} {
		for _, carry := range []bool{true, false} {
			f, deeds := newBlockingService()
			stop, halt := context.WithCancel(context.Background())
			gone, ended := make(chan struct{}), make(chan struct{})
			h := httpapi.New(f, httpapi.Options{DetachWork: carry, WorkContext: stop})
			c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				context.AfterFunc(r.Context(), func() { close(gone) })
				defer close(ended)
				h.ServeHTTP(w, r)
			}))
			ctx, leave := context.WithCancel(t.Context())
			answered := make(chan error, 1)
			go func() { answered <- call(ctx, c) }()
			deed := <-deeds
			leave()
			if err := <-answered; !retake.IsKind(err, retake.Canceled) || !errors.Is(err, context.Canceled) || strings.Contains(retake.AsError(err).Safe, "Nothing") {
				t.Errorf("%s: the asker who left hears %v", name, err)
			}
			<-gone
			if !carry {
				<-deed.ctx.Done()
				<-ended
				halt()
				continue
			}
			if deed.ctx.Err() != nil {
				t.Errorf("%s: it went with the asker", name)
			}
			select {
			case <-ended:
				t.Errorf("%s: the request ended before it", name)
			default:
			}
			halt()
			<-deed.ctx.Done() // WorkContext ends it
			<-ended
		}
	}
}

// Without a WorkContext the save continues to its end, even after the client has disconnected.
func TestCarriedToItsEnd(t *testing.T) {
	t.Parallel()
	f, saves := newBlockingService()
	ended := make(chan struct{})
	h := httpapi.New(f, httpapi.Options{DetachWork: true})
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		h.ServeHTTP(w, r)
	}))
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		_, _ = c.Save(ctx, retake.SaveRequest{Workspace: wsID}) // left on purpose
	}()
	save := <-saves
	leave()
	close(save.release)
	<-ended
	if save.ctx.Err() == nil {
		t.Error("the context of an ended save stays open")
	}
}
