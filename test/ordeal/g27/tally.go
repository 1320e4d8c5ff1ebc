//go:build linux

package g27

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake/test/ordeal/harness"
)

// failure is one call that something is wrong with.
type failure struct {
	Class, Call, What string
}

// tally is what a lane counted.
type tally struct {
	Tried, Losses, Caught, Programs int64

	How             map[string]int64    // losses, by how they are covered
	Unknown         map[string][]string // calls with losses that only an entry without a path covers, by class
	Missing         map[string]int      // programs that this machine does not have
	Idle            []string            // calls that should have destroyed something
	Noise           []string            // harmless calls with an entry without a path
	Failures        []failure
	Risky, Harmless []time.Duration // times of hooks
}

func newTally() *tally {
	return &tally{How: map[string]int64{}, Unknown: map[string][]string{}, Missing: map[string]int{}}
}

// add adds what another lane counted.
func (s *tally) add(o *tally) {
	s.Tried, s.Losses, s.Caught, s.Programs = s.Tried+o.Tried, s.Losses+o.Losses, s.Caught+o.Caught, s.Programs+o.Programs
	for k, n := range o.How {
		s.How[k] += n
	}
	for k, list := range o.Unknown {
		s.Unknown[k] = append(s.Unknown[k], list...)
	}
	for k, n := range o.Missing {
		s.Missing[k] += n
	}
	s.Idle, s.Noise, s.Failures = append(s.Idle, o.Idle...), append(s.Noise, o.Noise...), append(s.Failures, o.Failures...)
	s.Risky, s.Harmless = append(s.Risky, o.Risky...), append(s.Harmless, o.Harmless...)
}

// report writes the row. A call of the corpus that should destroy something and does not is a fault of
// the harness: it would prove nothing.
func (s *tally) report(v *harness.Verdict) {
	v.Tried, v.Caught = s.Tried, s.Caught
	for _, f := range s.Failures {
		v.Fail("%s: %s: %s", f.Class, f.Call, f.What)
	}
	for _, i := range s.Idle {
		v.Fail("it destroys nothing, and proves nothing: %s", i)
	}
	d := v.Detail
	d["losses"], d["covered"], d["commands of the program"], d["missing programs"] = s.Losses, s.How, s.Programs, s.Missing
	unknown := int64(0)
	byClass := map[string]int{}
	for class, list := range s.Unknown {
		byClass[class] = len(list)
		unknown += int64(len(list))
	}
	d["calls that only an unknown entry covers"], d["of these by class"], d["these calls"] = unknown, byClass, s.Unknown
	d["harmless calls with an unknown entry"] = s.Noise
	d["hook ms, risky"], d["hook ms, harmless"] = timesText(s.Risky), timesText(s.Harmless)
	if len(s.Idle) > 0 {
		d["calls that destroy nothing"] = s.Idle
	}
	if len(s.Failures) > 0 {
		all := map[string][]string{}
		for _, f := range s.Failures {
			all[f.Class] = append(all[f.Class], f.Call+"  → "+f.What)
		}
		d["all failures"] = all
	}
	if s.Tried > 0 && len(s.Harmless) > 0 {
		fmt.Printf("     G27: %d losses %v, unknown only: %d calls %v; hooks of risky calls %s ms, of harmless ones %s ms\n",
			s.Losses, s.How, unknown, slices.Sorted(maps.Keys(byClass)), timesText(s.Risky), timesText(s.Harmless))
	}
}

func timesText(d []time.Duration) string {
	if len(d) == 0 {
		return "none"
	}
	d = slices.Sorted(slices.Values(d))
	return fmt.Sprintf("median %d, p95 %d, max %d", d[len(d)/2].Milliseconds(), d[len(d)*95/100].Milliseconds(), d[len(d)-1].Milliseconds())
}

// hookLimit is what a hook may take now.
func hookLimit() time.Duration {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return maxHookTime
	}
	load, err := strconv.ParseFloat(strings.Fields(string(b))[0], 64)
	if err == nil && load > float64(runtime.NumCPU()) {
		return manyNow * maxHookTime
	}
	return maxHookTime
}

func (t *trial) fail(what string) {
	t.lane.sum.Failures = append(t.lane.sum.Failures, failure{t.play.class, t.play.String(), what})
}

// shortList is the first few of a list.
func shortList(all []string) string {
	const few = 4
	text := fmt.Sprintf("%q", all[:min(len(all), few)])
	if n := len(all) - few; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
