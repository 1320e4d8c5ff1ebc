//go:build linux

package daemon

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("DAEMON-upgrade", daemonReplaced) }

const (
	upgradeClients    = 4
	upgradeWorkspaces = 4
	buildsKept        = 5 // a client may still use an older one, but not for that long
	rudeTries         = 10
)

// daemonReplaced: younger builds take over while clients of the old and of the
// new one save all the time. No save fails and none is lost.
func daemonReplaced(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "DAEMON", What: "younger builds take over under saving clients: none fails", Control: "the old daemon is killed, and its clients ask once", Detail: map[string]any{}}
	start := time.Now()
	if err := upgrades(r, &v); err != nil {
		v.Fail("%v", err)
	}
	caught, err := rudeUpgrade(r, &v)
	if err != nil {
		v.Fail("control: %v", err)
	}
	v.Caught = caught
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// shelf holds the builds: the newest, and the one before it.
type shelf struct {
	dir  string
	base map[string][]byte // the two programs of release 0

	mu       sync.Mutex
	old, now string
}

func newShelf(r *harness.Run, exe string) (*shelf, error) {
	s := &shelf{dir: r.Scratch("builds"), base: map[string][]byte{}, old: exe, now: exe}
	for name, at := range map[string]string{"retake": exe, "retaked": exe + "d"} {
		b, err := os.ReadFile(at)
		if err != nil {
			return nil, err
		}
		s.base[name] = b
	}
	return s, nil
}

// build makes release n from release 0: the version is one string of the same
// length, so the rest of the program stays as the compiler made it.
func (s *shelf) build(n int) (string, error) {
	dir := filepath.Join(s.dir, daemonbed.Release(n))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	for name, base := range s.base {
		b := bytes.ReplaceAll(base, []byte(daemonbed.Release(0)), []byte(daemonbed.Release(n)))
		if bytes.Equal(b, base) {
			return "", fmt.Errorf("build %s: the version is not in %s", daemonbed.Release(n), name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o755); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "retake"), nil
}

// offer puts a new build on top. Clients that are under way may use the older ones.
func (s *shelf) offer(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old, s.now = s.now, path
}

func (s *shelf) either(rnd *rand.Rand) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rnd.Intn(2) == 0 {
		return s.old
	}
	return s.now
}

func upgrades(r *harness.Run, v *harness.Verdict) error {
	ctx := context.Background()
	h, err := daemonbed.Furnished(ctx, r, upgradeWorkspaces)
	if err != nil {
		return err
	}
	s, err := newShelf(r, h.Exe)
	if err != nil {
		return err
	}
	if _, err := h.Ask(h.Exe, "daemon", "start"); err != nil {
		return err
	}
	l := &ledger{}
	stop := l.busy(r, h, s)
	var longest time.Duration
	for n := 1; n <= r.Figure(6, 100); n++ {
		began := time.Now()
		if err := takeOver(h, s, n); err != nil {
			v.Fail("take-over %d: %v", n, err)
			break
		}
		longest = max(longest, time.Since(began))
		v.Tried++
	}
	stop()
	h.End(v)
	v.Detail["acknowledged"], v.Detail["refused"], v.Detail["slowest_ms"] = len(l.promises), len(l.refused), longest.Milliseconds()
	if n := int64(readyCount(h)); n != v.Tried+1 {
		v.Fail("%d daemons were ready in %d take-overs", n, v.Tried)
	}
	for _, e := range l.errors {
		v.Fail("save: %s", e)
	}
	l.keptBy(ctx, h, v)
	return nil
}

// busy lets clients of both builds save until it is stopped.
func (l *ledger) busy(r *harness.Run, h *daemonbed.Home, s *shelf) (stop func()) {
	end := make(chan struct{})
	var clients sync.WaitGroup
	for c := range upgradeClients {
		rnd := rand.New(rand.NewSource(r.Seed*100 + int64(c)))
		clients.Go(func() {
			for step := 0; ; step++ {
				select {
				case <-end:
					return
				default:
					l.deed(h, s.either(rnd), c, rnd.Intn(upgradeWorkspaces), step)
				}
			}
		})
	}
	return func() {
		close(end)
		clients.Wait()
	}
}

// takeOver offers a younger build, and waits until its daemon answers and the old
// process has ended. The clients bring it about.
func takeOver(h *daemonbed.Home, s *shelf, n int) error {
	before, err := h.State()
	if err != nil {
		return err
	}
	path, err := s.build(n)
	if err != nil {
		return err
	}
	s.offer(path)
	var now daemonbed.Telling
	if !daemonbed.Await(func() bool {
		now, err = h.State()
		return err == nil && now.Running && now.About.Version == daemonbed.Release(n)
	}) {
		return fmt.Errorf("%s answers, running %v, want %s: %w", now.About.Version, now.Running, daemonbed.Release(n), err)
	}
	if before.Running && !daemonbed.Await(func() bool { return !proc.IsAlive(before.About.PID) }) {
		return fmt.Errorf("the old process %d lives on", before.About.PID)
	}
	return os.RemoveAll(filepath.Join(s.dir, daemonbed.Release(n-buildsKept)))
}

func readyCount(h *daemonbed.Home) int {
	log, err := os.ReadFile(filepath.Join(h.Dir, "data", "daemon.log"))
	if err != nil {
		return -1
	}
	return strings.Count(string(log), "msg=ready")
}

// rudeUpgrade is the control: a daemon that does not finish what it was asked for,
// and clients that do not ask again.
func rudeUpgrade(r *harness.Run, v *harness.Verdict) (caught int64, err error) {
	ctx := context.Background()
	h, err := daemonbed.Furnished(ctx, r, 1)
	if err != nil {
		return 0, err
	}
	defer h.End(v)
	c := client.New(client.Options{Socket: filepath.Join(h.Dir, "run", "daemon.sock")})
	defer c.Close() //nolint:errcheck // scratch
	for i := range rudeTries {
		if _, err := h.Ask(h.Exe, "daemon", "start"); err != nil {
			return caught, err
		}
		text := fmt.Sprintf("rude %d", i)
		if err := os.WriteFile(filepath.Join(h.Root(0), "f"), []byte(text), 0o644); err != nil {
			return caught, err
		}
		answer := make(chan error, 1)
		go func() {
			_, err := c.Save(ctx, retake.SaveRequest{Workspace: h.Ids[0], Intent: text})
			answer <- err
		}()
		h.Kill()
		if err := <-answer; err != nil {
			caught++
		}
		if !daemonbed.Await(func() bool { return len(h.Daemons()) == 0 }) {
			return caught, fmt.Errorf("kill: it lives on")
		}
	}
	v.Detail["control_tried"] = rudeTries
	return caught, nil
}
