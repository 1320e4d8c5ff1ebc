//go:build unix

package assemble_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
)

// headless is an agent that lives for one turn, with a real process.
type headless struct {
	*desk
	cmd        *exec.Cmd
	hold       io.Closer
	transcript string
}

func newHeadless(d *desk) *headless {
	d.Helper()
	a := &headless{desk: d, cmd: exec.Command("cat"), transcript: d.at("talk.jsonl")}
	in, err := a.cmd.StdinPipe()
	must(d.T, err)
	must(d.T, a.cmd.Start())
	a.hold = in
	d.Cleanup(func() { _ = in.Close(); _ = a.cmd.Wait() })
	return a
}

func (a *headless) tell(kind retake.SignalKind, edit func(*retake.Signal)) retake.Reaction {
	a.Helper()
	s := retake.Signal{
		ID: retake.SignalID(retake.SignalPrefix + uuid.Must(uuid.NewV7()).String()), Kind: kind, Time: clock.Wall.Now(),
		Agent: "claude-code", Session: "s1", Dir: a.at("shop"), Transcript: a.transcript, PID: a.cmd.Process.Pid,
	}
	if edit != nil {
		edit(&s)
	}
	r, err := a.s.Observe(a.Context(), s)
	must(a.T, err)
	return r
}

// work begins a turn and changes a file.
func (a *headless) work() {
	a.Helper()
	a.tell(retake.SignalSessionStart, nil)
	a.tell(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt = "fix the login" })
	a.write("shop/agent", "by the agent")
}

// answers writes the answer into the transcript, as the agent does before it exits.
func (a *headless) answers() {
	a.Helper()
	at := clock.Wall.Now().UTC().Format(time.RFC3339Nano)
	must(a.T, os.WriteFile(a.transcript, fmt.Appendf(nil,
		`{"type":"user","uuid":"u1","sessionId":"s1","timestamp":%[1]q,"message":{"role":"user","content":"fix the login"}}
{"type":"assistant","uuid":"u2","sessionId":"s1","timestamp":%[1]q,"message":{"role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"Fixed."}]}}
`, at), 0o600))
}

// exits ends the process without a word.
func (a *headless) exits() {
	a.Helper()
	must(a.T, a.hold.Close())
	must(a.T, a.cmd.Wait())
}

// turn waits for the checkpoint of the turn. Nobody asks for it.
func (a *headless) turn() retake.Checkpoint {
	a.Helper()
	for end := clock.Wall.Now().Add(2 * time.Minute); ; <-time.After(5 * time.Millisecond) {
		log, err := a.s.Log(a.Context(), retake.LogQuery{Workspace: a.ws, Limit: 10})
		must(a.T, err)
		for _, cp := range log.Checkpoints {
			if cp.Trigger == retake.TriggerTurn {
				return cp
			}
		}
		if clock.Wall.Now().After(end) {
			a.Fatal("the end of the process does not end the turn")
		}
	}
}

func (a *headless) turns() int {
	a.Helper()
	log, err := a.s.Log(a.Context(), retake.LogQuery{Workspace: a.ws, Limit: 50})
	must(a.T, err)
	n := 0
	for _, cp := range log.Checkpoints {
		if cp.Trigger == retake.TriggerTurn {
			n++
		}
	}
	return n
}

// An agent that exits without reporting the end of its turn: the turn ends with its
// process, and is called cut off only when the conversation does not say otherwise.
func TestA1_EndOfTheProcessEndsTheTurn(t *testing.T) {
	t.Parallel()
	for name, answered := range map[string]bool{"answered": true, "cut off": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newHeadless(newDesk(t, assemble.Options{}))
			a.work()
			if answered {
				a.answers()
			}
			a.exits()
			cp := a.turn()
			if cp.Turn.Prompt != "fix the login" || (cp.Turn.Failed == "") != answered || answered && cp.Turn.Words != "Fixed." {
				t.Errorf("the checkpoint says %+v", cp.Turn)
			}
			a.write("shop/mine", "by a person")
			a.tell(retake.SignalTurnEnd, nil) // a hook that nobody waited for
			a.tell(retake.SignalCalled, func(s *retake.Signal) { s.Call = &retake.Call{ID: "c1", Tool: "Bash", Kind: retake.CallShell} })
			if n := a.turns(); n != 1 {
				t.Errorf("%d turns, after late news of one", n)
			}
		})
	}
}

// Stop is answered when the files are read: what is edited after it is nobody's turn. The
// control is an end that is not waited for.
func TestA1_EditsAfterStopAreNotOfTheTurn(t *testing.T) {
	t.Parallel()
	a := newHeadless(newDesk(t, assemble.Options{}))
	a.work()
	r := a.tell(retake.SignalTurnEnd, func(s *retake.Signal) { s.Message = "Fixed." })
	if r.Later || r.Checkpoint == nil {
		t.Fatalf("the end of a turn is answered before its files are read: %+v", r)
	}
	a.write("shop/mine", "by a person")
	if _, _, err := a.s.Open(t.Context(), a.ws, string(a.turn().ID), "mine"); !retake.IsKind(err, retake.NotFound) {
		t.Errorf("the turn holds an edit that came after it: %v", err)
	}
	b := newHeadless(newDesk(t, assemble.Options{}))
	b.work()
	b.write("shop/mine", "by a person") // the agent exits, and its Stop is heard after this
	b.tell(retake.SignalTurnEnd, nil)
	if _, _, err := b.s.Open(t.Context(), b.ws, string(b.turn().ID), "mine"); err != nil {
		t.Errorf("the control does not show the race: %v", err)
	}
}

// A session that ends while its Stop is under way did not end in the middle.
func TestA1_SessionEndBeforeStop(t *testing.T) {
	t.Parallel()
	a := newHeadless(newDesk(t, assemble.Options{}))
	a.work()
	a.answers()
	a.tell(retake.SignalSessionEnd, func(s *retake.Signal) { s.Reason = "other" })
	a.write("shop/mine", "by a person")
	a.tell(retake.SignalTurnEnd, func(s *retake.Signal) { s.Message = "Fixed." })
	if cp := a.turn(); cp.Turn.Failed != "" || a.turns() != 1 {
		t.Errorf("%d turns, the newest says %+v", a.turns(), cp.Turn)
	}
	if _, _, err := a.s.Open(t.Context(), a.ws, string(a.turn().ID), "mine"); !retake.IsKind(err, retake.NotFound) {
		t.Errorf("the turn holds an edit that came after it: %v", err)
	}
}
