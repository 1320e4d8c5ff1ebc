package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// fakeService returns values in which every field is set, or an error, and records the arguments
// of its calls. It tests the encoding only; the behavior of a service is tested in servicetest.
type fakeService struct {
	err     error
	body    func() io.ReadCloser
	save    func(context.Context, retake.SaveRequest) (retake.SaveResult, error)
	restore func(context.Context, retake.ApplyRequest) (retake.RestoreResult, error)
	events  func(context.Context, retake.EventQuery) ([]retake.Event, error)

	mu    sync.Mutex
	calls []any // guarded by mu
}

// oddName is not valid UTF-8, and has characters that are special in URLs and in JSON.
const oddName = "n\xff \"<&+=%2F?#;\n\x00\u2028é"

func (f *fakeService) recordCall(what ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, what...)
}

func (f *fakeService) takeCalls() []any {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.calls
	f.calls = nil
	return out
}

// answerWith records a call and returns a filled value, or the error of the service.
func answerWith[T any](f *fakeService, what ...any) (T, error) {
	f.recordCall(what...)
	if f.err != nil {
		var none T
		return none, f.err
	}
	return filledValue[T](), nil
}

func (f *fakeService) Estimate(_ context.Context, dir string) (retake.Estimate, error) {
	return answerWith[retake.Estimate](f, dir)
}

func (f *fakeService) Init(_ context.Context, q retake.InitRequest) (retake.SaveResult, error) {
	if q.Progress != nil {
		q.Progress(filledValue[retake.Progress]())
	}
	q.Progress = nil
	return answerWith[retake.SaveResult](f, q)
}

func (f *fakeService) Locate(_ context.Context, dir string) (retake.Workspace, error) {
	return answerWith[retake.Workspace](f, dir)
}

func (f *fakeService) Workspaces(context.Context) ([]retake.WorkspaceState, error) {
	return answerWith[[]retake.WorkspaceState](f)
}

func (f *fakeService) Deinit(_ context.Context, ws retake.WorkspaceID) (retake.Workspace, error) {
	return answerWith[retake.Workspace](f, ws)
}

func (f *fakeService) Save(ctx context.Context, q retake.SaveRequest) (retake.SaveResult, error) {
	if f.save != nil {
		return f.save(ctx, q)
	}
	if q.Progress != nil {
		q.Progress(filledValue[retake.Progress]())
	}
	q.Progress = nil
	return answerWith[retake.SaveResult](f, q)
}

func (f *fakeService) ViewTimeline(_ context.Context, q retake.TimelineQuery) (retake.TimelineView, error) {
	return answerWith[retake.TimelineView](f, q)
}

func (f *fakeService) Log(_ context.Context, q retake.LogQuery) (retake.Timeline, error) {
	return answerWith[retake.Timeline](f, q)
}

func (f *fakeService) Find(_ context.Context, ws retake.WorkspaceID, ref string) (retake.Checkpoint, error) {
	return answerWith[retake.Checkpoint](f, ws, ref)
}

func (f *fakeService) Diff(_ context.Context, q retake.DiffQuery) (retake.Comparison, error) {
	return answerWith[retake.Comparison](f, q)
}

func (f *fakeService) List(_ context.Context, ws retake.WorkspaceID, ref, dir string) ([]retake.Entry, error) {
	return answerWith[[]retake.Entry](f, ws, ref, dir)
}

func (f *fakeService) Open(_ context.Context, ws retake.WorkspaceID, ref, path string) (io.ReadCloser, retake.Entry, error) {
	e, err := answerWith[retake.Entry](f, ws, ref, path)
	return f.openBody(), e, err
}

func (f *fakeService) Bytes(_ context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	_, err := answerWith[retake.Entry](f, id)
	return f.openBody(), err
}

func (f *fakeService) openBody() io.ReadCloser {
	if f.body != nil {
		return f.body()
	}
	return io.NopCloser(strings.NewReader("bytes of a file\n"))
}

func (f *fakeService) Status(_ context.Context, ws retake.WorkspaceID) (retake.Status, error) {
	return answerWith[retake.Status](f, ws)
}

func (f *fakeService) Pin(_ context.Context, ws retake.WorkspaceID, ref, name string) (retake.Pin, error) {
	return answerWith[retake.Pin](f, ws, ref, name)
}

func (f *fakeService) Unpin(_ context.Context, ws retake.WorkspaceID, name string) error {
	_, err := answerWith[retake.Pin](f, ws, name)
	return err
}

func (f *fakeService) Forget(_ context.Context, ws retake.WorkspaceID, refs []string) ([]retake.Tombstone, error) {
	return answerWith[[]retake.Tombstone](f, ws, refs)
}

func (f *fakeService) Scrub(_ context.Context, q retake.ScrubQuery) (retake.ScrubReport, error) {
	if q.Progress != nil {
		q.Progress(filledValue[retake.Progress]())
	}
	q.Progress = nil
	return answerWith[retake.ScrubReport](f, q)
}

func (f *fakeService) Space(context.Context) (retake.StoreState, error) {
	return answerWith[retake.StoreState](f)
}

func (f *fakeService) Sweep(context.Context) (retake.SweepReport, error) {
	return answerWith[retake.SweepReport](f)
}

func (f *fakeService) Rebuild(context.Context) (retake.RebuildReport, error) {
	return answerWith[retake.RebuildReport](f)
}

func (f *fakeService) Prove(_ context.Context, ws retake.WorkspaceID, ref string) (retake.Proof, error) {
	return answerWith[retake.Proof](f, ws, ref)
}

func (f *fakeService) Close() error { return nil }

// filledValue returns a value without zero fields, the same each time. Fields that may have any
// bytes are not valid UTF-8.
func filledValue[T any]() T {
	var v T
	n := 0
	fillIn(reflect.ValueOf(&v).Elem(), "", &n)
	return v
}

func fillIn(v reflect.Value, field string, n *int) {
	*n++
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Date(2026, 11, 3, 10, 27, 0, *n, time.UTC)))
		return
	}
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		v.Set(reflect.ValueOf(json.RawMessage(fmt.Sprintf(`{"%s":%d}`, field, *n))))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%s %d", field, *n))
		switch field {
		case "Root", "Path", "Paths", "Heaviest", "Side", "Unit", "Command":
			v.SetString(v.String() + oddName)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillIn(v.Elem(), field, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillIn(v.Index(0), field, n)
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fillIn(value, field, n)
		v.Set(reflect.MakeMap(v.Type()))
		key := reflect.ValueOf(field + oddName)
		if v.Type().Key() != key.Type() {
			key = reflect.ValueOf(field).Convert(v.Type().Key()) // an id is text
		}
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") == "-" && (v.Field(i).Kind() == reflect.Pointer || v.Field(i).Kind() == reflect.Map) {
				continue // it never leaves the process
			}
			name := v.Type().Field(i).Name
			if name == "Others" { // plans of plans, too
				continue
			}
			if name == "Inside" { // rows inside of rows end somewhere
				v.Field(i).Set(reflect.MakeSlice(v.Field(i).Type(), 1, 1))
				continue
			}
			if name == "Command" && v.Type() != reflect.TypeFor[retake.Holder]() {
				name = "Typed" // text, where a process has bytes
			}
			fillIn(v.Field(i), name, n)
		}
	case reflect.Func:
	default:
		panic("no value for " + v.Type().String())
	}
}

// serve returns a client of the handler on a real socket.
func serve(t *testing.T, h http.Handler) *client.Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "rt") // the path of a socket has 108 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l) // closed below
	}()
	t.Cleanup(func() { server.Close(); <-ended })
	c := client.New(client.Options{Socket: socket, Version: "1.2.3"})
	t.Cleanup(func() { c.Close() })
	return c
}

// serveFake returns a client of a service that is also the office.
func serveFake(t *testing.T, f *fakeService) *client.Client {
	t.Helper()
	return serve(t, httpapi.New(f, httpapi.Options{Office: f}))
}
