package httpapi_test

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// smallTree is a service whose checkpoints have a directory with two files.
type smallTree struct {
	*fakeService
	fail string // the object whose reading fails
}

func (s smallTree) List(_ context.Context, ws retake.WorkspaceID, ref, dir string) ([]retake.Entry, error) {
	s.recordCall(ws, ref, dir)
	if dir == "" {
		return []retake.Entry{{Name: "d", Kind: retake.KindDir, Mode: 0o755}}, nil
	}
	return []retake.Entry{
		{Name: "a\xff", Kind: retake.KindFile, Mode: 0o644, Size: 3, Object: "a"},
		{Name: "b", Kind: retake.KindFile, Mode: 0o600, Size: 200 << 10, Object: "b"},
	}, nil
}

func (s smallTree) Bytes(_ context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	text := "abc"
	if id == "b" {
		text = strings.Repeat("x", 200<<10)
	}
	if string(id) == s.fail {
		return io.NopCloser(io.MultiReader(strings.NewReader(text[:len(text)/2]), errReader{})), nil
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) {
	return 0, &retake.Error{Kind: retake.Damaged, What: "other bytes"}
}

// An archive is of the checkpoint that the ref named when the request came.
func TestArchive(t *testing.T) {
	t.Parallel()
	s := smallTree{fakeService: &fakeService{}}
	r, err := serve(t, httpapi.New(s, httpapi.Options{})).Archive(t.Context(), wsID, "git/é:1")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	names, in := []string{}, tar.NewReader(r)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
	if d := cmp.Diff([]string{"d/", "d/a\xff", "d/b"}, names); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Error(err)
	}
	id := string(filledValue[retake.Checkpoint]().ID)
	if d := cmp.Diff([]any{wsID, "git/é:1", wsID, id, "", wsID, id, "d"}, s.takeCalls()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// An archive that cannot be completed never looks complete.
func TestArchiveThatBreaksOff(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"a", "b"} {
		h := httpapi.New(smallTree{&fakeService{}, path}, httpapi.Options{})
		r, err := serve(t, h).Archive(t.Context(), wsID, "1")
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			r.Close()
		}
		if !retake.IsKind(err, retake.Damaged) {
			t.Errorf("%q: %v", path, err)
		}
		s := httptest.NewServer(h)
		resp, err := http.Get(s.URL + "/v1/workspaces/a/checkpoints/1/archive")
		if err == nil && resp.StatusCode == http.StatusOK {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		} else if err == nil {
			resp.Body.Close()
			err = errors.New(resp.Status)
		}
		if err == nil {
			t.Errorf("%q looks like a good end to a stranger", path)
		}
		s.Close()
	}
}

// A client that disconnects during an archive stops the reading of it.
func TestArchiveEndsWithItsReader(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	h := httpapi.New(smallTree{fakeService: &fakeService{}}, httpapi.Options{})
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		h.ServeHTTP(w, r)
	}))
	ctx, leave := context.WithCancel(t.Context())
	r, err := c.Archive(ctx, wsID, "1")
	if err != nil {
		t.Fatal(err)
	}
	leave()
	r.Close()
	<-ended
}

// newObstructedService returns a service that refuses until both classes are accepted.
func newObstructedService() *fakeService {
	f := &fakeService{}
	f.restore = func(_ context.Context, q retake.ApplyRequest) (retake.RestoreResult, error) {
		f.recordCall(q)
		return retake.RestoreResult{}, &retake.Error{Kind: retake.Denied, What: "not without consent", Hint: "look: retake restore 12 --plan"}
	}
	return f
}

// With obstacles that were not accepted nothing is changed, and the response has the plan.
func TestRestoreWithObstacles(t *testing.T) {
	t.Parallel()
	class := filledValue[retake.Plan]().Obstacles[0].Class
	for name, call := range map[string]func(*client.Client, []string) error{
		"workspace": func(c *client.Client, accept []string) error {
			_, err := c.Restore(t.Context(), retake.ApplyRequest{PlanRequest: planRequest, Accept: accept})
			return err
		},
		"with progress": func(c *client.Client, accept []string) error {
			_, err := c.Restore(t.Context(), retake.ApplyRequest{PlanRequest: planRequest, Accept: accept, Progress: func(retake.Progress) {}})
			return err
		},
		"snapshot": func(c *client.Client, accept []string) error {
			_, err := c.RestoreSnapshot(t.Context(), cpID, nil, accept)
			return err
		},
	} {
		err := call(serveFake(t, newObstructedService()), []string{retake.ObstacleHeld})
		var o *client.Obstructed
		if !errors.As(err, &o) || !retake.IsKind(err, retake.Denied) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(filledValue[retake.Plan](), o.Plan); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		// Denied for another reason: the plan does not explain it.
		if err := call(serveFake(t, newObstructedService()), []string{class}); errors.As(err, &o) || !retake.IsKind(err, retake.Denied) {
			t.Errorf("%s, accepted: %v", name, err)
		}
	}
	f := newObstructedService()
	w := httptest.NewRecorder()
	httpapi.New(f, httpapi.Options{}).ServeHTTP(w, httptest.NewRequest("POST", "/v1/workspaces/a/restore", strings.NewReader(`{"ref":"12"}`)))
	var p struct {
		Code  string
		Plan  struct{ Digest string }
		Steps []string `json:"next_steps"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusConflict || p.Code != "needs_confirmation" || p.Plan.Digest == "" {
		t.Errorf("%v: %d %s", err, w.Code, w.Body)
	}
	if d := cmp.Diff([]string{"retake restore 12 --plan"}, p.Steps); d != "" {
		t.Errorf("next steps (-want +got):\n%s", d)
	}
	if plan := f.takeCalls()[0].(retake.PlanRequest); plan.Course != retake.CourseRestore || plan.Ref != "12" {
		t.Errorf("%+v", plan)
	}
}

// If files change after the plan was made, it is made again, a few times.
func TestRestoreOfWhatMoves(t *testing.T) {
	t.Parallel()
	for moves, good := range map[int]bool{0: true, 1: true, 2: true, 3: false, 9: false} {
		n := 0
		f := &fakeService{restore: func(context.Context, retake.ApplyRequest) (retake.RestoreResult, error) {
			if n++; n <= moves {
				return retake.RestoreResult{}, &retake.Error{Kind: retake.Moved, What: "moved"}
			}
			return retake.RestoreResult{Written: 1}, nil
		}}
		_, err := serveFake(t, f).Restore(t.Context(), retake.ApplyRequest{PlanRequest: planRequest})
		if (err == nil) != good || !good && !retake.IsKind(err, retake.Moved) {
			t.Errorf("%d moves: %v", moves, err)
		}
	}
}

// An archive that is refused early gets a problem, however much of it is still to be sent.
func TestRefusedImportIsHeard(t *testing.T) {
	t.Parallel()
	f := &refusingOffice{&fakeService{}}
	c := serve(t, httpapi.New(f, httpapi.Options{Office: f}))
	_, err := c.Import(t.Context(), retake.ImportRequest{}, io.LimitReader(zeroReader{}, 32<<20))
	if !retake.IsKind(err, retake.Invalid) {
		t.Errorf("%v", err)
	}
}

type refusingOffice struct{ *fakeService }

func (*refusingOffice) Import(context.Context, retake.ImportRequest, io.Reader) (retake.SaveResult, error) {
	return retake.SaveResult{}, &retake.Error{Kind: retake.Invalid, What: "no"}
}
