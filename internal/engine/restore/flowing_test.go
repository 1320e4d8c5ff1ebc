//go:build unix

package restore_test

import (
	"testing"

	"github.com/retake-dev/retake"
)

// A program that writes its log between the plan and the word for it must not keep
// everything else from going back; what it wrote is in the safety checkpoint. A database
// that moved on is another matter: it would be replaced by halves.
func TestALogThatGoesOnStopsNothing(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a", "1", "app.log", "x\n", "tmp/my.db", "db1")
	r.recordTurn("a", "22", "app.log", "x\ny\n")
	p := r.plan(to("1"))
	r.writeFiles("app.log", "x\ny\nz\n")
	ask := retake.ApplyRequest{PlanRequest: to("1"), Digest: p.Digest, Accept: []string{retake.ObstacleChanged}}
	ask.Workspace = r.ws
	res, err := r.s.ApplyRestore(t.Context(), ask)
	must(t, err)
	if len(res.Failed) > 0 {
		t.Errorf("left: %v", res.Failed)
	}
	r.wantFiles("a", "1", "app.log", "x\n")
	r.wantRestored(undo)
	r.wantFiles("a", "22")
	r.wantRestored(to("3"))
	r.wantFiles("a", "22", "app.log", "x\ny\nz\n")

	r.recordTurn("tmp/my.db", "db22")
	p = r.plan(to("1"))
	r.writeFiles("tmp/my.db", "db333")
	ask.Digest = p.Digest
	if _, err := r.s.ApplyRestore(t.Context(), ask); !retake.IsKind(err, retake.Moved) {
		t.Errorf("a database moved on: %v", err)
	}
}

// A log that changed since the last checkpoint asks for the word that every edit does.
func TestALogThatGoesOnAsks(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a", "1", "app.log", "x\n")
	r.recordTurn("a", "22", "app.log", "x\ny\n")
	p := r.plan(to("1"))
	r.writeFiles("app.log", "x\ny\nz\n")
	ask := retake.ApplyRequest{PlanRequest: to("1"), Digest: p.Digest}
	ask.Workspace = r.ws
	if _, err := r.s.ApplyRestore(t.Context(), ask); !retake.IsKind(err, retake.Denied) {
		t.Errorf("nobody was asked: %v", err)
	}
	r.wantFiles("a", "22", "app.log", "x\ny\nz\n")
}
