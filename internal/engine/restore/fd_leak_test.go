//go:build linux

package restore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
)

func TestRestoresLeaveNothingOpen(t *testing.T) {
	b := newRestoreTest(t, t.TempDir())
	path := filepath.Join(b.root, "a")
	must(t, os.WriteFile(path, []byte("1\n"), 0o644))
	s := b.beginService(t)
	defer s.Close()
	must(t, os.WriteFile(path, []byte("2\n"), 0o644))
	save(t, s, b.ws)
	open := func() map[string]int {
		out := map[string]int{}
		list, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		for _, e := range list {
			to, _ := os.Readlink("/proc/self/fd/" + e.Name())
			out[filepath.Base(to)]++
		}
		return out
	}
	before := open()
	for i := range 40 {
		_, err := b.applyPlan(s, retake.PlanRequest{Course: retake.CourseRestore, Ref: fmt.Sprint(1 + i%2)})
		must(t, err)
	}
	for name, n := range open() {
		if n > before[name]+4 {
			t.Errorf("%s: %d more are open", name, n-before[name])
		}
	}
}
