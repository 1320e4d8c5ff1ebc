package cli_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/retake-dev/retake"
)

// hears reports a call of an agent to the service, and returns the reaction.
func (p *person) hears(nth, pid int, command string) retake.Reaction {
	p.t.Helper()
	var out retake.Reaction
	p.wrap = func(s retake.Service) retake.Service {
		sig := retake.Signal{
			ID: retake.SignalID(fmt.Sprintf("sg_00000000-0000-7000-8000-%012d", nth)), Kind: retake.SignalCall, Time: p.clock.Now(), Agent: "codex", Session: "s1", Dir: p.dir, PID: pid,
			Call: &retake.Call{ID: fmt.Sprint("c", nth), Tool: "Bash", Kind: retake.CallShell, Command: command},
		}
		var err error
		if out, err = s.Observe(context.Background(), sig); err != nil {
			p.t.Error(err)
		}
		return s
	}
	p.types("", "effects")
	p.wrap = nil
	return out
}

// A person lets a stopped call pass once, at a terminal, and only there.
func TestApprove(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.types("", "config", "gate.publish", "deny").want(t, 0, "deny", "")
	if r := p.hears(1, 0, "npm publish"); r.Stop == nil || r.Stop.ID != "e1" {
		t.Fatalf("the reaction is %+v", r)
	}
	p.types("", "effects").want(t, 0, "stopped", "")
	p.types("", "approve", "e1", "--no-input").want(t, 6, "", "Only a person can approve a call, in a terminal.")
	p.types("", "approve", "e2").want(t, 3, "", "No stopped call has the ID e2.")
	p.types("n\n", "approve", "e1").want(t, 6, "", "  npm publish\nLet it run once?  [y/N] ")
	if r := p.hears(2, 0, "npm publish"); r.Stop == nil {
		t.Error("it passes after a no")
	}
	p.types("y\n", "approve", "e1").want(t, 0, "Approved once, for an hour.", "")
	if r := p.hears(3, 0, "npm publish"); r.Stop != nil || len(r.Effects) != 1 {
		t.Errorf("the reaction is %+v", r)
	}
	if r := p.hears(4, 0, "npm publish"); r.Stop == nil {
		t.Error("it passes twice")
	}
}

// A process that an agent started can't approve, at a terminal either.
func TestAgentsCannotApprove(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.types("", "config", "gate.publish", "deny").want(t, 0, "deny", "")
	p.hears(1, os.Getpid(), "npm publish")
	p.types("y\n", "approve", "e1").want(t, 6, "", "An agent can't approve a call: this runs in a session of Codex.")
}

// Policies are tightened by anybody, and loosened by a person.
func TestLooserGate(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "config", "gate.deploy", "ask").want(t, 0, "ask", "")
	p.types("", "config", "gate.deploy", "deny").want(t, 0, "deny", "")
	p.types("n\n", "config", "gate.deploy", "ask").want(t, 6, "", "Loosen gate.deploy?")
	p.types("n\n", "config", "--unset", "gate.deploy").want(t, 6, "", "Loosen gate.deploy?")
	p.types("y\n", "config", "gate.deploy", "allow").want(t, 0, "allow", "")
	p.types("", "config", "--unset", "gate.deploy").want(t, 0, "allow", "")
}
