package g1

import (
	"sync"
	"time"

	"github.com/retake-dev/retake/test/ordeal/crashbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("G1-d-memory", crashStates) }

// crashStates is G1 (d).
func crashStates(r *harness.Run) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{Guarantee: "G1", What: "crash states in memory: acknowledged is whole", Control: "syncs do nothing", Detail: map[string]any{}}
	harsh := harness.Verdict{}
	n := r.Figure(600, 8000)
	for _, m := range crashbed.MemScenes() {
		if err := m.Prepare(r.Seed); err != nil {
			v.Fail("%s: %v", m.Name, err)
			continue
		}
		before := v.Tried
		crashScene(m, n*m.Share/100, uint64(r.Seed), crashbed.Model{Journal: true}, &v)
		v.Detail[m.Name] = map[string]int64{"operations": m.Ops, "changes": int64(len(m.Points)) - 1, "states": v.Tried - before}
		crashScene(m, max(20, n*m.Share/800), uint64(r.Seed), crashbed.Model{}, &harsh)
		var lies harness.Verdict
		crashScene(m, 20, uint64(r.Seed), crashbed.Model{Journal: true, NoSync: true}, &lies)
		v.Caught += lies.Failed
	}
	v.Detail["where only a directory's sync keeps names"] = map[string]any{"states": harsh.Tried, "failed": harsh.Failed, "first": harsh.Failures}
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// crashScene spreads n states over the operations of a scene.
func crashScene(m *crashbed.MemScene, n int, seed uint64, how crashbed.Model, v *harness.Verdict) {
	const states = 5
	points := (n + states - 1) / states
	var mu sync.Mutex
	harness.Share(points, func(i int) {
		k := m.Points[harness.SpreadOver(i, points, int64(len(m.Points)))-1]
		round := seed + uint64(i/len(m.Points))
		left, line := m.Crash(k, states, round, how)
		for j, mem := range left {
			err := m.Survive(mem, line, how)
			mu.Lock()
			v.Tried++
			if err != nil {
				v.Fail("%s, operation %d, state %d: %v", m.Name, k, j, err)
			}
			mu.Unlock()
		}
	})
}
