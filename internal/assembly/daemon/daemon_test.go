//go:build unix

package daemon_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/assembly/daemon"
	"github.com/retake-dev/retake/internal/assembly/daemonctl"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/diag"
)

const patience = 30 * time.Second

// house is one home with its daemon, which runs in this process.
type house struct {
	*testing.T
	conf     config.Config
	settings *config.Settings
	clock    clock.Clock
	news     *daemon.EventBuffer
	said     chan string
	ended    chan error
	stop     context.CancelFunc
}

func newHouse(t *testing.T) *house {
	t.Helper()
	return houseIn(t, t.TempDir())
}

func houseIn(t *testing.T, home string) *house {
	t.Helper()
	run, err := os.MkdirTemp("", "rt") // the path of a socket must be short
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(run) })
	h := &house{T: t, clock: clock.Wall, conf: config.Config{
		RetakeHome: home, DataDir: filepath.Join(home, "data"), SettingsFile: filepath.Join(home, "config.json"),
		SocketDir: run, Socket: filepath.Join(run, "s"), Home: "/nobody", BootID: "this run",
	}}
	h.settings, err = config.Load(h.conf.SettingsFile)
	must(t, err)
	must(t, h.settings.Set("floor", "1KB"))
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (h *house) solo(ctx context.Context) (retake.Service, error) {
	o := assemble.Options{Exclusive: true, Derivation: derivation}
	if h.news != nil {
		o.OnEvent = h.news.Add
	}
	return assemble.OpenService(ctx, h.conf, h.settings, o)
}

// begin runs the daemon and waits for its word.
func (h *house) begin(open func(context.Context) (retake.Service, error)) string {
	h.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	h.stop, h.said, h.ended = cancel, make(chan string, 1), make(chan error, 1)
	said, ended := h.said, h.ended
	go func() {
		ended <- daemon.Run(ctx, daemon.Options{
			Conf: h.conf, Settings: h.settings, Version: "v1.0.0", Clock: h.clock, Events: h.news,
			Open:        func(ctx context.Context, _ *diag.Recorder) (retake.Service, error) { return open(ctx) },
			ReportReady: func(line string) error { said <- line; return nil },
		})
	}()
	return wait(h.T, said)
}

// end stops the daemon and waits for it.
func (h *house) end() error {
	h.Helper()
	h.stop()
	return wait(h.T, h.ended)
}

func wait[V any](t *testing.T, c <-chan V) V {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("not reached")
	}
}

func (h *house) client() *client.Client { return client.New(client.Options{Socket: h.conf.Socket}) }

func (h *house) hand() *daemonctl.Controller { return daemonctl.New(h.conf, "v1.0.0") }

func TestAnswersBeforeItsServiceIsOpen(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	open := make(chan struct{})
	if word := h.begin(func(ctx context.Context) (retake.Service, error) {
		<-open
		return h.solo(ctx)
	}); word != "ready" {
		t.Fatalf("it says %q", word)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := h.client().Workspaces(short); err == nil {
		t.Error("answered without a service")
	}
	st, ok, err := h.hand().State(t.Context())
	if err != nil || !ok || st.About.PID != os.Getpid() || st.About.Version != "v1.0.0" || st.About.Home != h.conf.DataDir {
		t.Errorf("state: %+v %v %v", st, ok, err)
	}
	answer := make(chan error, 1)
	go func() {
		_, err := h.client().Workspaces(t.Context())
		answer <- err
	}()
	close(open)
	must(t, wait(t, answer))
	must(t, h.end())
	if _, err := os.Lstat(h.conf.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket stays: %v", err)
	}
}

func TestServiceThatDoesNotOpenIsTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	held := clock.NewManual(time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC))
	h.clock = held // it stays for a second of it
	h.begin(func(context.Context) (retake.Service, error) {
		return nil, &retake.Error{Kind: retake.Damaged, What: "the catalog is a poem", Err: errors.New("roses")}
	})
	_, err := h.client().Workspaces(t.Context())
	if !retake.IsKind(err, retake.Damaged) || !strings.Contains(err.Error(), "the catalog is a poem: roses") {
		t.Errorf("got %v", err)
	}
	held.Advance(time.Minute)
	must(t, wait(t, h.ended)) // it leaves, so that the next one tries again
}

// gated lets the test hold a request.
type gated struct {
	retake.Service
	in, out chan struct{}
}

func (g gated) Workspaces(ctx context.Context) ([]retake.WorkspaceState, error) {
	g.in <- struct{}{}
	<-g.out
	return g.Service.Workspaces(ctx)
}

// hold begins a daemon with one request in flight; closing out lets it go on.
func (h *house) hold() (g gated, answer chan error) {
	h.Helper()
	g = gated{in: make(chan struct{}), out: make(chan struct{})}
	h.begin(func(ctx context.Context) (retake.Service, error) {
		s, err := h.solo(ctx)
		return gated{s, g.in, g.out}, err
	})
	answer = make(chan error, 1)
	go func() {
		_, err := h.client().Workspaces(h.Context())
		answer <- err
	}()
	wait(h.T, g.in)
	return g, answer
}

func TestLeavesWhenNobodyAsksAndNeverBefore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	held := clock.NewManual(clock.Wall.Now())
	h.clock = held
	must(t, h.settings.Set("daemon-idle", "10ms"))
	g, answer := h.hold()
	held.Advance(time.Hour)
	select {
	case err := <-h.ended:
		t.Fatalf("it left in the middle: %v", err)
	case <-time.After(200 * time.Millisecond): // twenty looks at the clock
	}
	close(g.out)
	must(t, wait(t, answer))
	if _, err := h.client().About(t.Context()); err != nil {
		t.Errorf("it left too early: %v", err)
	}
	held.Advance(time.Hour)
	must(t, wait(t, h.ended))
}

func TestLeavesOnlyAfterWhatItHas(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g, answer := h.hold()
	st, ok, err := h.hand().State(t.Context())
	if err != nil || !ok || st.InFlight != 1 {
		t.Fatalf("state: %+v %v %v", st, ok, err)
	}
	stopped := make(chan error, 1)
	go func() {
		_, err := h.hand().Stop(t.Context())
		stopped <- err
	}()
	for { // it takes no new requests
		if _, ok, _ := h.hand().State(t.Context()); !ok {
			break
		}
	}
	select {
	case err := <-h.ended:
		t.Fatalf("it left in the middle: %v", err)
	default:
	}
	close(g.out)
	must(t, wait(t, answer))
	must(t, wait(t, stopped))
	must(t, wait(t, h.ended))
}

func TestOnlyTheOneMeantIsStopped(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.begin(h.solo)
	c := &http.Client{Transport: &http.Transport{DialContext: dialer(h.conf.Socket)}}
	resp, err := c.Post("http://d/daemon/stop?pid=1", "", nil)
	must(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusConflict {
		t.Errorf("it answers %s", resp.Status)
	}
	must(t, h.end())
}

func TestSecondDaemonYields(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.begin(h.solo)
	other := *h
	if word := other.begin(h.solo); word != "alive" {
		t.Errorf("the second one says %q", word)
	}
	if err := wait(t, other.ended); !errors.Is(err, daemon.ErrAlive) {
		t.Errorf("it ends with %v", err)
	}
	if _, ok, err := h.hand().State(t.Context()); !ok || err != nil {
		t.Errorf("the first one is gone: %v", err)
	}
	must(t, h.end())
}

func TestSoloAndDaemonExcludeEachOther(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first, err := daemonctl.HoldOff(h.conf)
	must(t, err)
	second, err := daemonctl.HoldOff(h.conf)
	must(t, err)
	if word := h.begin(h.solo); !strings.Contains(word, `"kind":"busy"`) {
		t.Errorf("beside solo processes a daemon says %q", word)
	}
	if err := wait(t, h.ended); !retake.IsKind(err, retake.Busy) {
		t.Errorf("it ends with %v", err)
	}
	first()
	second()
	if word := h.begin(h.solo); word != "ready" {
		t.Fatalf("it says %q", word)
	}
	if _, err := daemonctl.HoldOff(h.conf); !retake.IsKind(err, retake.Busy) {
		t.Errorf("beside a daemon: %v", err)
	}
	must(t, h.end())
}

func TestOneDaemonIsFoundFromTwoPlaces(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.begin(h.solo)
	other := houseIn(t, h.conf.RetakeHome)
	if other.conf.Socket == h.conf.Socket {
		t.Fatal("there is only one place")
	}
	must(t, other.hand().EnsureRunning(t.Context()))
	if _, err := other.client().Workspaces(t.Context()); err != nil {
		t.Error(err)
	}
	must(t, h.end())
	if _, ok, err := other.hand().State(t.Context()); ok || err != nil {
		t.Errorf("after its end: %v %v", ok, err)
	}
}

func TestLogIsPutAside(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "daemon.log")
	must(t, os.WriteFile(path, []byte(strings.Repeat("x", daemon.MaxLog)), 0o600))
	l, err := daemon.OpenLog(path)
	must(t, err)
	defer l.Close()
	_, err = l.Write([]byte("first\n"))
	must(t, err)
	for range 2 {
		_, err = l.Write([]byte(strings.Repeat("y", daemon.MaxLog/2)))
		must(t, err)
	}
	_, err = l.Write([]byte("second\n"))
	must(t, err)
	now, err := os.ReadFile(path)
	must(t, err)
	old, err := os.ReadFile(path + ".old")
	must(t, err)
	if string(now) != "second\n" || !strings.HasPrefix(string(old), "first\n") {
		t.Errorf("now %.20q, old %.20q", now, old)
	}
}
