//go:build linux

package g5

import (
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// foes exchange names, each burst on a thread of its own. After a burst everything
// lies where it lay before it, so that they can be made to rest.
type foes struct {
	rest  sync.RWMutex // held for reading during a burst
	stop  atomic.Bool
	wg    sync.WaitGroup
	mu    sync.Mutex
	swaps map[string]int64 // guarded by mu
	base  int              // handle of the yard
	root  int              // handle of the root, wherever it is
}

// exchange is two names that change places.
type exchange struct {
	kind   string
	dir    int
	one    string
	two    string
	parted bool
}

func (e *exchange) swap() bool {
	if unix.Renameat2(e.dir, e.one, e.dir, e.two, unix.RENAME_EXCHANGE) != nil {
		return false
	}
	e.parted = !e.parted
	return true
}

// newFoes lets all those work that are named; none: everybody.
func (y *yard) newFoes(o raid) (*foes, error) {
	f := &foes{swaps: map[string]int64{}}
	var err error
	if f.base, err = unix.Open(y.dir, unix.O_PATH|unix.O_DIRECTORY, 0); err != nil {
		return nil, err
	}
	if f.root, err = unix.Open(y.at("root"), unix.O_PATH|unix.O_DIRECTORY, 0); err != nil {
		return nil, err
	}
	wanted := func(kind string) bool { return len(o.Foes) == 0 || slices.Contains(o.Foes, kind) }
	var pairs []*exchange
	for k := range plots {
		for name, kind := range map[string]string{"d": "dirlink", "f": "filelink", "h": "hardlink", "w": "hardlink", "p": "fifo", "s": "socket"} {
			if one := fmt.Sprintf("%s%d", name, k); wanted(kind) {
				pairs = append(pairs, &exchange{kind: kind, dir: f.root, one: one, two: one + ".alt"})
			}
		}
	}
	if wanted("root") {
		pairs = append(pairs, &exchange{kind: "root", dir: f.base, one: "root", two: "decoy"})
	}
	rnd := rand.New(rand.NewSource(o.Seed))
	if len(pairs) > 0 {
		f.loop(func() { f.burst(rnd, pairs) })
	}
	if wanted("bind") && os.Getuid() == 0 {
		f.loop(f.bind(y))
	}
	return f, nil
}

func (f *foes) loop(burst func()) {
	f.wg.Add(1)
	go func() {
		defer f.wg.Done()
		runtime.LockOSThread()
		for !f.stop.Load() {
			f.rest.RLock()
			burst()
			f.rest.RUnlock()
		}
	}()
}

// burst exchanges at random, then puts everything back.
func (f *foes) burst(rnd *rand.Rand, pairs []*exchange) {
	made := map[string]int64{}
	for range 40 + rnd.Intn(200) {
		if p := pairs[rnd.Intn(len(pairs))]; p.swap() {
			made[p.kind]++
		}
	}
	for _, p := range pairs {
		if p.parted && p.swap() {
			made[p.kind]++
		}
	}
	f.note(made)
}

func (f *foes) note(made map[string]int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for kind, n := range made {
		f.swaps[kind] += n
	}
}

// bind covers directories of the root with those outside, for a moment each.
func (f *foes) bind(y *yard) func() {
	k := 0
	return func() {
		k = (k + 1) % plots
		to := fmt.Sprintf("/proc/self/fd/%d/m%d", f.root, k)
		if unix.Mount(fmt.Sprintf("%s/m%d", y.at("outside"), k), to, "", unix.MS_BIND, "") != nil {
			return
		}
		time.Sleep(200 * time.Microsecond) // long enough to be met
		for unix.Unmount(to, unix.MNT_DETACH) != nil {
			runtime.Gosched() // it must not stay: the next state is laid below the root
		}
		f.note(map[string]int64{"bind": 2})
	}
}

func (f *foes) end() {
	if f.stop.Swap(true) {
		return
	}
	f.wg.Wait()
	_ = unix.Close(f.base) // scratch
	_ = unix.Close(f.root)
}
