//go:build linux

// Package g14 lets context fail, hang and lie: it must change no checkpoint and delay none.
package g14

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("G14", contextIsBestEffort) }

// contextIsBestEffort: whatever becomes of what agents tell and hold, the checkpoints of
// their turns are the same, byte by byte, as plain saves of a twin workspace of which
// no agent knows, and are there as soon.
func contextIsBestEffort(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "G14", What: "context that fails, hangs or lies changes no checkpoint and delays none", Control: "the conversation is read before the files, or kept among them", Detail: map[string]any{}}
	start := time.Now()
	reps := r.Figure(2, daemonbed.EnoughTurns)
	slowest := map[string]string{}
	worst, measuredAgain := 0.0, 0
	for _, p := range providers(r) {
		for _, f := range p.faults {
			v.Tried++
			t, again, err := punctual(r, f, reps)
			if again {
				v.Tried++
				measuredAgain++
			}
			if err != nil {
				v.Fail("%s, %s: %v", p.name, f.name, err)
			}
			if t == nil {
				continue
			}
			if q := t.quotient(); q > worst {
				worst = q
				slowest["fault"], slowest["times"], slowest["plain"] = p.name+", "+f.name, fmt.Sprintf("%.2f", q), harness.Middle(t.plain).Round(time.Microsecond).String()
			}
		}
	}
	v.Detail["measured_again"] = measuredAgain
	v.Detail["providers"], v.Detail["checkpoints_each"], v.Detail["slowest"] = len(providers(r)), 2*reps, slowest
	v.Caught = wrongOrder(r, &v)
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// punctual lets an agent work under a fault and judges how long it took. A median of
// few turns says little on a machine with other work, so what seems late is measured
// again over enough of them; what is wrong in a checkpoint is never asked twice.
func punctual(r *harness.Run, f contextFault, reps int) (t *twins, again bool, err error) {
	if t, err = troubled(r, f, reps, nil); err != nil {
		return nil, false, err
	}
	if err = t.late(); err == nil || reps >= daemonbed.EnoughTurns {
		return t, false, err
	}
	if t, err = troubled(r, f, daemonbed.EnoughTurns, nil); err != nil {
		return nil, true, err
	}
	return t, true, t.late()
}

// wrongOrder is the control: a harness that reads the conversation before the files,
// and one that keeps it among them.
func wrongOrder(r *harness.Run, v *harness.Verdict) (caught int64) {
	slow := contextFault{name: "control", arrange: pipeWithTime}
	t, err := troubled(r, slow, 3, func(t *twins, _ retake.Signal) error {
		_, err := os.ReadFile(t.transcript())
		return err
	})
	if err == nil {
		err = t.late()
	}
	v.Detail["control_waits"] = fmt.Sprint(err)
	if err != nil {
		caught++
	}
	_, err = troubled(r, contextFault{name: "control"}, 3, func(t *twins, sig retake.Signal) error {
		return os.WriteFile(filepath.Join(t.root(0), "context.json"), []byte(sig.ID), 0o644)
	})
	v.Detail["control_mixes"] = fmt.Sprint(err)
	if err != nil {
		caught++
	}
	return caught
}
