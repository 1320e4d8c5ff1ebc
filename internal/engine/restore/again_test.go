//go:build unix

package restore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// A client whose answer was lost asks again. What it hears then must not deny what the
// first one did.
func TestACutIsNotDeniedToWhoAsksAgain(t *testing.T) {
	r := newServiceTest(t)
	for i := range 40 {
		r.writeFiles(fmt.Sprintf("f%02d", i), "1\n")
	}
	save(t, r.s, r.ws)
	for i := range 40 {
		r.writeFiles(fmt.Sprintf("f%02d", i), "two\n")
	}
	save(t, r.s, r.ws)
	req := retake.PlanRequest{Workspace: r.ws, Course: retake.CourseRestore, Ref: "2"}
	first := r.plan(req).Digest
	r.interrupt(req)
	r.wantFiles("f00", "1\n", "f39", "two\n")
	denied := func(ask retake.ApplyRequest, kind retake.ErrorKind) {
		t.Helper()
		_, err := r.s.ApplyRestore(t.Context(), ask)
		if !retake.IsKind(err, kind) || strings.Contains(retake.AsError(err).Safe, "Nothing was changed") {
			t.Errorf("%s: %v, %q", ask.Course, err, retake.AsError(err).Safe)
		}
	}
	denied(retake.ApplyRequest{PlanRequest: req, Digest: first}, retake.Partly)

	// A repair that was cut off leaves another plan behind.
	req = retake.PlanRequest{Workspace: r.ws, Course: retake.CourseUnwind}
	repair := r.plan(req).Digest
	r.writeFiles("f00", "two\n")
	denied(retake.ApplyRequest{PlanRequest: req, Digest: repair}, retake.Moved)
}
