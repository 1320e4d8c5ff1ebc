package mount_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/mount"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// mountTest is a service on a store in memory with one workspace, and a mount of it.
type mountTest struct {
	*testing.T
	s      *countingService
	store  *memorytest.Store
	ws     retake.Workspace
	clock  *clock.Manual
	root   string // of the workspace
	dir    string // of the mount
	cancel context.CancelFunc
	ended  chan struct{} // closed when Serve has answered err
	err    error
}

// countingService is a service whose bytes can only be read forward, as over a socket.
type countingService struct {
	retake.Service
	opened atomic.Int64
	logs   atomic.Int64
}

func (s *countingService) Bytes(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	s.opened.Add(1)
	r, err := s.Service.Bytes(ctx, id)
	if err != nil {
		return nil, err
	}
	return struct{ io.ReadCloser }{r}, nil
}

func (s *countingService) Log(ctx context.Context, q retake.LogQuery) (retake.Timeline, error) {
	s.logs.Add(1)
	return s.Service.Log(ctx, q)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// noon is the time that clocks are held at.
var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

// newMountTest protects what fill makes.
func newMountTest(t *testing.T, fill func(d *mountTest)) *mountTest {
	t.Helper()
	home := t.TempDir()
	d := &mountTest{T: t, store: memorytest.New(), clock: clock.NewManual(noon), root: filepath.Join(t.TempDir(), "shop"), dir: t.TempDir()}
	must(t, os.Mkdir(d.root, 0o755))
	fill(d)
	for _, sub := range []string{"index", "returns"} {
		must(t, os.Mkdir(filepath.Join(home, sub), 0o700))
	}
	cat, err := sqlite.Open(t.Context(), filepath.Join(home, "catalog.db"), "local", sqlite.Options{})
	must(t, err)
	d.s = &countingService{Service: service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog:   cat,
			OpenStore: func(context.Context, bool) (store.Store, error) { return d.store, nil },
			FS:        fsx.OS(), IndexDir: filepath.Join(home, "index"), RestoreDir: filepath.Join(home, "returns"), DataDir: home,
			Locks: fsx.NewMemoryLocks(), Clock: d.clock, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute,
			Policy:  func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
			MinFree: func(int64) int64 { return 0 },
		},
	})}
	t.Cleanup(func() { _ = d.s.Close() })
	res, err := d.s.Init(t.Context(), retake.InitRequest{Dir: d.root})
	must(t, err)
	d.ws = res.Workspace
	return d
}

// mount serves until the test ends, or skips where that cannot be.
func (d *mountTest) mount(o mount.Options) {
	d.Helper()
	fd, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		d.Skipf("open /dev/fuse: %v", err)
	}
	_ = syscall.Close(fd)
	o.Workspace, o.Clock = d.ws, d.clock
	if o.Service == nil {
		o.Service = d.s
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(d.Context()))
	d.cancel, d.ended = cancel, make(chan struct{})
	ready := make(chan struct{})
	go func() {
		defer close(d.ended)
		d.err = mount.Serve(ctx, d.dir, o, func() { close(ready) })
	}()
	d.Cleanup(func() {
		_ = d.waitEnd()
		_ = syscall.Unmount(d.dir, syscall.MNT_DETACH) // for the case that Serve left it
	})
	select {
	case <-ready:
	case <-d.ended:
		if e := retake.AsError(d.err); e.Kind == retake.Invalid && e.Err != nil {
			d.Skipf("mounting does not work here: %v", d.err)
		}
		d.Fatal(d.err)
	}
}

// waitEnd ends the mount, and returns what Serve did.
func (d *mountTest) waitEnd() error {
	d.cancel()
	<-d.ended
	return d.err
}

func (d *mountTest) writeFile(name, text string) {
	d.Helper()
	must(d.T, os.MkdirAll(filepath.Dir(filepath.Join(d.root, name)), 0o755))
	must(d.T, os.WriteFile(filepath.Join(d.root, name), []byte(text), 0o644))
}

func (d *mountTest) save(intent, pin string) retake.Checkpoint {
	d.Helper()
	res, err := d.s.Save(d.Context(), retake.SaveRequest{Workspace: d.ws.ID, Intent: intent, Pin: pin})
	must(d.T, err)
	return res.Checkpoint
}

func (d *mountTest) mountPath(name string) string { return filepath.Join(d.dir, name) }

func (d *mountTest) listNames(name string) []string {
	d.Helper()
	list, err := os.ReadDir(d.mountPath(name))
	must(d.T, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func (d *mountTest) readFile(name string) string {
	d.Helper()
	b, err := os.ReadFile(d.mountPath(name))
	must(d.T, err)
	return string(b)
}

// object is the address of the bytes of a file in the latest checkpoint.
func (d *mountTest) object(name string) retake.ObjectID {
	d.Helper()
	r, e, err := d.s.Open(d.Context(), d.ws.ID, "latest", name)
	must(d.T, err)
	_ = r.Close()
	return e.Object
}
