//go:build linux

package service_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/track"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// quietFixture is a service with quiet checkpoints and two workspaces; checkpoints of the
// other one show that time has passed.
type quietFixture struct {
	*summaryFixture
	other retake.WorkspaceID
	beats int64
}

func newQuietFixture(t *testing.T) *quietFixture {
	t.Helper()
	k := &quietFixture{summaryFixture: &summaryFixture{T: t, st: &countingStore{Store: memorytest.New()}, home: t.TempDir(), root: filepath.Join(t.TempDir(), "shop")}, beats: 1}
	k.tracker = func() *track.Tracker { return track.New(track.Options{TrustUnreadable: true, DrainTime: time.Minute}) }
	k.habits = func(retake.WorkspaceID) retake.Habits { return retake.Habits{Quiet: true} }
	k.dirs()
	k.write("a.go", "one\n")
	k.write("../clock/beat", "0")
	k.s = k.open(false) // they are protected before the daemon begins
	for dir, id := range map[string]*retake.WorkspaceID{k.root: &k.ws, k.path("../clock"): &k.other} {
		res, err := k.s.Init(t.Context(), retake.InitRequest{Dir: dir})
		k.must(err)
		*id = res.Workspace.ID
	}
	k.must(k.s.Close())
	return k
}

func (k *quietFixture) newest(ws retake.WorkspaceID) retake.Checkpoint {
	k.Helper()
	tl, err := k.s.Log(k.Context(), retake.LogQuery{Workspace: ws, Limit: 1})
	k.must(err)
	return tl.Checkpoints[0]
}

// waitForQuiet waits for a quiet checkpoint with that number.
func (k *quietFixture) waitForQuiet(ws retake.WorkspaceID, n int64) retake.Checkpoint {
	k.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for end := time.After(8 * time.Minute); ; { // on a busy machine a look takes long, and the next one waits for it
		if cp := k.newest(ws); cp.Number >= n {
			if cp.Number > n || cp.Trigger != retake.TriggerQuiet || cp.Turn != nil {
				k.Fatalf("checkpoint %d is %q of %+v", cp.Number, cp.Trigger, cp.Turn)
			}
			return cp
		}
		select {
		case <-end:
			k.Fatalf("there is never a checkpoint %d", n)
		case <-again.C:
		}
	}
}

// waitForBeats waits until what changed before has come to rest: the other workspace has had two
// checkpoints since.
func (k *quietFixture) waitForBeats() {
	k.Helper()
	for range 2 {
		k.beats++
		k.must(os.WriteFile(k.path("../clock/beat"), fmt.Append(nil, k.beats), 0o644))
		k.waitForQuiet(k.other, k.beats)
	}
}

// What somebody changes between turns becomes a checkpoint when it comes to rest, also what he
// changed while nobody watched. What programs write all day does not.
func TestQuietCheckpoints(t *testing.T) {
	t.Parallel()
	k := newQuietFixture(t)
	k.write("a.go", "while nobody watched\n")
	k.s = k.open(true)
	k.waitForQuiet(k.ws, 2)
	k.write("a.go", "two\n")
	if cp := k.waitForQuiet(k.ws, 3); cp.Changed.Edited != 1 || cp.Intent != "" {
		t.Errorf("%d edited, intent %q", cp.Changed.Edited, cp.Intent)
	}
	k.write("server.log", "a line\n")
	k.write("dist/app.js", "built\n")
	k.waitForBeats()
	if cp := k.newest(k.ws); cp.Number != 3 {
		t.Errorf("a log and build output made checkpoint %d", cp.Number)
	}
	k.write("a.go", "three\n")
	if cp := k.waitForQuiet(k.ws, 4); cp.Changed.Added != 2 || cp.Changed.Edited != 1 {
		t.Errorf("%+v changed, want the log and the output beside the file", cp.Changed)
	}
}

// A turn is one piece of work: what changes in it is in the checkpoint at its end.
func TestNoQuietCheckpointInATurn(t *testing.T) {
	t.Parallel()
	k := newQuietFixture(t)
	k.s = k.open(true)
	say := func(kind retake.SignalKind) {
		t.Helper()
		_, err := k.s.Observe(t.Context(), retake.Signal{ID: queue.NewID(), Kind: kind, Agent: "codex", Session: "s1", Turn: "t1", Dir: k.root, Prompt: "go on", Time: clock.Wall.Now()})
		k.must(err)
	}
	say(retake.SignalPrompt)
	k.write("a.go", "in the turn\n")
	k.waitForBeats()
	if cp := k.newest(k.ws); cp.Number != 1 {
		t.Errorf("there is checkpoint %d, %q, in the turn", cp.Number, cp.Trigger)
	}
	say(retake.SignalTurnEnd)
	k.waitForBeats()
	if cp := k.newest(k.ws); cp.Number != 2 || cp.Trigger != retake.TriggerTurn {
		t.Errorf("after the turn there is checkpoint %d, %q", cp.Number, cp.Trigger)
	}
	k.write("a.go", "by hand\n")
	k.waitForQuiet(k.ws, 3)
}

// A turn that was never ended and of which nobody told anything for long holds nothing up.
func TestAnOldTurnHoldsNothingUp(t *testing.T) {
	t.Parallel()
	k := newQuietFixture(t)
	k.s = k.open(true)
	_, err := k.s.Observe(t.Context(), retake.Signal{ID: queue.NewID(), Kind: retake.SignalPrompt, Agent: "codex", Session: "s1", Turn: "t1", Dir: k.root, Prompt: "go on", Time: clock.Wall.Now().Add(-time.Hour)})
	k.must(err)
	k.write("a.go", "by hand\n")
	k.waitForQuiet(k.ws, 2)
}

// A root that is away when the daemon begins is watched when it is there again.
func TestARootThatWasAway(t *testing.T) {
	t.Parallel()
	k := newQuietFixture(t)
	k.must(os.Rename(k.root, k.root+".away"))
	k.s = k.open(true)
	k.waitForBeats()
	k.must(os.Rename(k.root+".away", k.root))
	k.write("a.go", "back again\n")
	k.waitForQuiet(k.ws, 2)
}
