//go:build linux

package main

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
)

func init() { register("DAEMON-upgrade", daemonReplaced) }

const (
	upgradeClients    = 4
	upgradeWorkspaces = 4
	buildsKept        = 5 // a client may still use an older one, but not for that long
	rudeTries         = 10
)

// daemonReplaced: younger builds take over while clients of the old and of the
// new one save all the time. No save fails and none is lost.
func daemonReplaced(r *run) []verdict {
	v := verdict{Guarantee: "DAEMON", What: "younger builds take over under saving clients: none fails", Control: "the old daemon is killed, and its clients ask once", Detail: map[string]any{}}
	start := time.Now()
	if err := upgrades(r, &v); err != nil {
		v.fail("%v", err)
	}
	caught, err := rudeUpgrade(r, &v)
	if err != nil {
		v.fail("control: %v", err)
	}
	v.Caught = caught
	v.Seconds = time.Since(start).Seconds()
	return []verdict{v}
}

// shelf holds the builds: the newest, and the one before it.
type shelf struct {
	dir  string
	base map[string][]byte // the two programs of release 0

	mu       sync.Mutex
	old, now string
}

func newShelf(r *run, exe string) (*shelf, error) {
	s := &shelf{dir: r.scratch("builds"), base: map[string][]byte{}, old: exe, now: exe}
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
	dir := filepath.Join(s.dir, release(n))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	for name, base := range s.base {
		b := bytes.ReplaceAll(base, []byte(release(0)), []byte(release(n)))
		if bytes.Equal(b, base) {
			return "", fmt.Errorf("build %s: the version is not in %s", release(n), name)
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

func upgrades(r *run, v *verdict) error {
	ctx := context.Background()
	h, err := furnished(ctx, r, upgradeWorkspaces)
	if err != nil {
		return err
	}
	s, err := newShelf(r, h.exe)
	if err != nil {
		return err
	}
	if _, err := h.ask(h.exe, "daemon", "start"); err != nil {
		return err
	}
	l := &ledger{}
	stop := l.busy(r, h, s)
	var longest time.Duration
	for n := 1; n <= r.figure(6, 100); n++ {
		began := time.Now()
		if err := takeOver(h, s, n); err != nil {
			v.fail("take-over %d: %v", n, err)
			break
		}
		longest = max(longest, time.Since(began))
		v.Tried++
	}
	stop()
	h.end(v)
	v.Detail["acknowledged"], v.Detail["refused"], v.Detail["slowest_ms"] = len(l.promises), len(l.refused), longest.Milliseconds()
	if n := int64(readyCount(h)); n != v.Tried+1 {
		v.fail("%d daemons were ready in %d take-overs", n, v.Tried)
	}
	for _, e := range l.errors {
		v.fail("save: %s", e)
	}
	l.keptBy(ctx, h, v)
	return nil
}

// busy lets clients of both builds save until it is stopped.
func (l *ledger) busy(r *run, h *home, s *shelf) (stop func()) {
	end := make(chan struct{})
	var clients sync.WaitGroup
	for c := range upgradeClients {
		rnd := rand.New(rand.NewSource(r.seed*100 + int64(c)))
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
func takeOver(h *home, s *shelf, n int) error {
	before, err := h.state()
	if err != nil {
		return err
	}
	path, err := s.build(n)
	if err != nil {
		return err
	}
	s.offer(path)
	var now telling
	if !await(func() bool {
		now, err = h.state()
		return err == nil && now.Running && now.About.Version == release(n)
	}) {
		return fmt.Errorf("%s answers, running %v, want %s: %w", now.About.Version, now.Running, release(n), err)
	}
	if before.Running && !await(func() bool { return !proc.IsAlive(before.About.PID) }) {
		return fmt.Errorf("the old process %d lives on", before.About.PID)
	}
	return os.RemoveAll(filepath.Join(s.dir, release(n-buildsKept)))
}

func readyCount(h *home) int {
	log, err := os.ReadFile(filepath.Join(h.dir, "data", "daemon.log"))
	if err != nil {
		return -1
	}
	return strings.Count(string(log), "msg=ready")
}

// rudeUpgrade is the control: a daemon that does not finish what it was asked for,
// and clients that do not ask again.
func rudeUpgrade(r *run, v *verdict) (caught int64, err error) {
	ctx := context.Background()
	h, err := furnished(ctx, r, 1)
	if err != nil {
		return 0, err
	}
	defer h.end(v)
	c := client.New(client.Options{Socket: filepath.Join(h.dir, "run", "daemon.sock")})
	defer c.Close() //nolint:errcheck // scratch
	for i := range rudeTries {
		if _, err := h.ask(h.exe, "daemon", "start"); err != nil {
			return caught, err
		}
		text := fmt.Sprintf("rude %d", i)
		if err := os.WriteFile(filepath.Join(h.root(0), "f"), []byte(text), 0o644); err != nil {
			return caught, err
		}
		answer := make(chan error, 1)
		go func() {
			_, err := c.Save(ctx, retake.SaveRequest{Workspace: h.ids[0], Intent: text})
			answer <- err
		}()
		h.kill()
		if err := <-answer; err != nil {
			caught++
		}
		if !await(func() bool { return len(h.daemons()) == 0 }) {
			return caught, fmt.Errorf("kill: it lives on")
		}
	}
	v.Detail["control_tried"] = rudeTries
	return caught, nil
}
