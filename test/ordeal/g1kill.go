package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

func init() { register("G1-a-kill", killed) }

// killSteps is the number of saves of one scenario, the first one an init.
const killSteps = 3

// fastDir gives a place for the files of one trial. A kill takes nothing out of the
// page cache, so memory does as well as a disk.
func fastDir(r *run, name string) string {
	d, err := os.MkdirTemp("/dev/shm", "ordeal-"+name+"-")
	if err != nil {
		return r.scratch(name)
	}
	return d
}

// killed is G1 (a): the process is killed before an operation of the seam.
func killed(r *run) []verdict {
	start := time.Now()
	v := verdict{Guarantee: "G1", What: "SIGKILL at a seam operation: acknowledged is found", Control: "acknowledge before the seal"}
	ops, err := countOps(r)
	if err != nil {
		v.fail("count: %v", err)
		return []verdict{v}
	}
	n := r.figure(150, 1300)
	var mu sync.Mutex
	acked, kills, first := 0, 0, ""
	share(n, func(i int) {
		k, seed := spreadOver(i, n, ops), r.seed*1000+int64(i/int(ops))+1
		found, dead, err := killOnce(r, seed, k, false)
		mu.Lock()
		defer mu.Unlock()
		v.Tried++
		acked += found
		if dead {
			kills++
		}
		if err != nil {
			v.fail("seed %d, operation %d: %v", seed, k, err)
		}
	})
	control := 12
	share(control, func(i int) {
		_, _, err := killOnce(r, r.seed, spreadOver(i, control, ops), true)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			v.Caught++
			first = err.Error()
		}
	})
	v.Detail = map[string]any{"operations": ops, "killed": kills, "acknowledged checked": acked, "control tried": control, "control example": first}
	v.Seconds = time.Since(start).Seconds()
	return []verdict{v}
}

// spreadOver gives every operation its turn, or spreads fewer turns evenly.
func spreadOver(i, n int, ops int64) int64 {
	if int64(n) >= ops {
		return int64(i)%ops + 1
	}
	return int64(i)*ops/int64(n) + 1
}

// share runs the trials on two goroutines.
func share(n int, f func(i int)) {
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := w; i < n; i += 2 {
				f(i)
			}
		})
	}
	wg.Wait()
}

func countOps(r *run) (int64, error) {
	dir := fastDir(r, "count")
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	s := scenario(dir, r.seed)
	s.count = true
	if err := os.Mkdir(s.ws, 0o755); err != nil {
		return 0, err
	}
	out, _, err := s.start()
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(out), 10, 64)
}

func scenario(dir string, seed int64) saving {
	return saving{
		data: filepath.Join(dir, "data"), ws: filepath.Join(dir, "ws"), acks: filepath.Join(dir, "acks"),
		boot: "one", seed: seed, steps: killSteps,
	}
}

// killOnce runs the scenario up to operation k and checks what is left.
func killOnce(r *run, seed, k int64, early bool) (acked int, dead bool, err error) {
	dir := fastDir(r, "kill")
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	s := scenario(dir, seed)
	s.at, s.early = k, early
	if err := os.Mkdir(s.ws, 0o755); err != nil {
		return 0, false, err
	}
	if _, dead, err = s.start(); err != nil {
		return 0, dead, err
	}
	acks, err := readAcks(s.acks)
	if err != nil {
		return 0, dead, fmt.Errorf("read acks: %w", err)
	}
	w := wreckage{data: s.data, ws: s.ws, boot: "one", acks: acks, seed: seed, step: killSteps}
	return len(acks), dead, w.check(context.Background())
}
