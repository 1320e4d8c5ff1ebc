// Package g1 kills a save and cuts its power at every operation: what was acknowledged must
// be found.
package g1

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake/test/ordeal/crashbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("G1-a-kill", killed) }

// killSteps is the number of saves of one scenario, the first one an init.
const killSteps = 3

// killed is G1 (a): the process is killed before an operation of the seam.
func killed(r *harness.Run) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{Guarantee: "G1", What: "SIGKILL at a seam operation: acknowledged is found", Control: "acknowledge before the seal"}
	ops, err := countOps(r)
	if err != nil {
		v.Fail("count: %v", err)
		return []harness.Verdict{v}
	}
	n := r.Figure(150, 1300)
	var mu sync.Mutex
	acked, kills, first := 0, 0, ""
	harness.Share(n, func(i int) {
		k, seed := harness.SpreadOver(i, n, ops), r.Seed*1000+int64(i/int(ops))+1
		found, dead, err := killOnce(r, seed, k, false)
		mu.Lock()
		defer mu.Unlock()
		v.Tried++
		acked += found
		if dead {
			kills++
		}
		if err != nil {
			v.Fail("seed %d, operation %d: %v", seed, k, err)
		}
	})
	control := 12
	harness.Share(control, func(i int) {
		_, _, err := killOnce(r, r.Seed, harness.SpreadOver(i, control, ops), true)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			v.Caught++
			first = err.Error()
		}
	})
	v.Detail = map[string]any{"operations": ops, "killed": kills, "acknowledged checked": acked, "control tried": control, "control example": first}
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

func countOps(r *harness.Run) (int64, error) {
	dir := harness.FastDir(r, "count")
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	s := scenario(dir, r.Seed)
	s.Count = true
	if err := os.Mkdir(s.Ws, 0o755); err != nil {
		return 0, err
	}
	out, _, err := s.Start()
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(out), 10, 64)
}

func scenario(dir string, seed int64) crashbed.Saving {
	return crashbed.Saving{
		Data: filepath.Join(dir, "data"), Ws: filepath.Join(dir, "ws"), Acks: filepath.Join(dir, "acks"),
		Boot: "one", Seed: seed, Steps: killSteps,
	}
}

// killOnce runs the scenario up to operation k and checks what is left.
func killOnce(r *harness.Run, seed, k int64, early bool) (acked int, dead bool, err error) {
	dir := harness.FastDir(r, "kill")
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	s := scenario(dir, seed)
	s.At, s.Early = k, early
	if err := os.Mkdir(s.Ws, 0o755); err != nil {
		return 0, false, err
	}
	if _, dead, err = s.Start(); err != nil {
		return 0, dead, err
	}
	acks, err := crashbed.ReadAcks(s.Acks)
	if err != nil {
		return 0, dead, fmt.Errorf("read acks: %w", err)
	}
	w := crashbed.Wreckage{Data: s.Data, Ws: s.Ws, Boot: "one", Acks: acks, Seed: seed, Step: killSteps}
	return len(acks), dead, w.Check(context.Background())
}
