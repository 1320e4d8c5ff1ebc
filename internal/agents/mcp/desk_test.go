package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/mcp"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// desk is a service with one workspace, and a client that talks to its tools.
type desk struct {
	*testing.T
	s      retake.Service
	clock  *clock.Manual
	area   string
	policy retake.Policy
	client *sdk.ClientSession
}

// begin is when every desk begins.
var begin = time.Date(2026, 11, 3, 10, 27, 0, 0, time.UTC)

// newDesk has the workspace shop with two files, and one checkpoint.
func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{T: t, area: t.TempDir(), clock: clock.NewManual(begin)}
	d.s = d.service()
	d.write("a.txt", "one\ntwo\n")
	d.write("src/b.txt", "b\n")
	_, err := d.s.Init(t.Context(), retake.InitRequest{Dir: d.root()})
	must(t, err)
	d.client = d.connect(d.s, mcp.Options{Dir: d.root()}, "")
	return d
}

func (d *desk) service() retake.Service {
	d.Helper()
	home := d.TempDir()
	for _, dir := range []string{"index", "returns", "signals", "sessions"} {
		must(d.T, os.MkdirAll(filepath.Join(home, dir), 0o700))
	}
	cat, err := sqlite.Open(d.Context(), filepath.Join(home, "catalog.db"), "local", sqlite.Options{})
	must(d.T, err)
	st := memorytest.New()
	s := service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog:   cat,
			OpenStore: func(context.Context, bool) (store.Store, error) { return st, nil },
			FS:        fsx.OS(), IndexDir: filepath.Join(home, "index"), DataDir: home,
			RestoreDir: filepath.Join(home, "returns"), SignalDir: filepath.Join(home, "signals"), SessionDir: filepath.Join(home, "sessions"), Locks: fsx.NewMemoryLocks(),
			Clock: d.clock, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute,
			Policy:  func(retake.WorkspaceID) retake.Policy { return d.policy },
			MinFree: func(int64) int64 { return 0 },
			Habits:  func(retake.WorkspaceID) retake.Habits { return retake.Habits{} },
		},
		KernelFence: true,
	})
	d.Cleanup(func() { _ = s.Close() })
	return s
}

// connect serves over two pipes, as over standard input and output.
func (d *desk) connect(s retake.Service, o mcp.Options, version string) *sdk.ClientSession {
	d.Helper()
	if o.Clock == nil {
		o.Clock = d.clock
	}
	o.Data = true // tests look at the data too
	hear, say := io.Pipe()
	back, answer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcp.Serve(context.Background(), s, hear, answer, o) }()
	c, err := newClient().Connect(d.Context(), &sdk.IOTransport{Reader: back, Writer: say}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	must(d.T, err)
	d.Cleanup(func() {
		must(d.T, c.Close())
		must(d.T, <-ended)
	})
	return c
}

func newClient() *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil)
}

func (d *desk) root() string { return filepath.Join(d.area, "shop") }

func (d *desk) at(name string) string { return filepath.Join(d.root(), name) }

func (d *desk) write(name, text string) {
	d.Helper()
	must(d.T, os.MkdirAll(filepath.Dir(d.at(name)), 0o755))
	must(d.T, os.WriteFile(d.at(name), []byte(text), 0o644))
}

func (d *desk) read(name string) string {
	b, err := os.ReadFile(d.at(name))
	if err != nil {
		return "absent"
	}
	return string(b)
}

type args = map[string]any

// toolAnswer is a result as a client has it.
type toolAnswer struct {
	text   string
	bytes  int // of all of it, as it went over the wire
	failed bool
	data   map[string]any
}

func (d *desk) ask(name string, in args) toolAnswer {
	d.Helper()
	return askOver(d.T, d.client, name, in)
}

func askOver(t *testing.T, c *sdk.ClientSession, name string, in any) toolAnswer {
	t.Helper()
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: in})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	whole, err := json.Marshal(res)
	must(t, err)
	out := toolAnswer{failed: res.IsError, bytes: len(whole)}
	for _, c := range res.Content {
		out.text += c.(*sdk.TextContent).Text
	}
	if res.StructuredContent != nil {
		out.data = res.StructuredContent.(map[string]any)
	}
	return out
}

// good is the data of an answer that must be one.
func (d *desk) good(name string, in args) map[string]any {
	d.Helper()
	a := d.ask(name, in)
	if a.failed || a.data == nil {
		d.Fatalf("%s %v: %s", name, in, a.text)
	}
	return a.data
}

type errorReport struct{ Kind, What, Safe, Hint string }

// bad is the trouble of a call that must fail.
func (d *desk) bad(name string, in args) errorReport {
	d.Helper()
	return troubleOf(d.T, d.ask(name, in))
}

func troubleOf(t *testing.T, a toolAnswer) errorReport {
	t.Helper()
	var p errorReport
	if err := json.Unmarshal([]byte(a.text), &p); err != nil || !a.failed || a.data != nil {
		t.Fatalf("no trouble: %v %v: %s", err, a.data, a.text)
	}
	return p
}

// at walks through the data of an answer.
func at[T any](t *testing.T, data any, way ...string) T {
	t.Helper()
	for _, name := range way {
		m, ok := data.(map[string]any)
		if !ok {
			t.Fatalf("%v: nothing at %s in %v", way, name, data)
		}
		data = m[name]
	}
	v, ok := data.(T)
	if !ok {
		t.Fatalf("%v is %T %v", way, data, data)
	}
	return v
}

// ears are a service that was told something else by an agent: what no adapter we know
// would tell.
type ears struct {
	retake.Service
	tasks      []retake.Task
	resumption retake.Resumption
	asked      []retake.ResumeRequest
}

func (e *ears) Tasks(context.Context, retake.WorkspaceID) ([]retake.Task, error) { return e.tasks, nil }

func (e *ears) Resume(_ context.Context, req retake.ResumeRequest) (retake.Resumption, error) {
	e.asked = append(e.asked, req)
	return e.resumption, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
