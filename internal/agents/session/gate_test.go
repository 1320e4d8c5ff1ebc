package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
)

func denies(classes ...retake.GateClass) retake.Gate {
	g := retake.Gate{}
	for _, c := range classes {
		g[c] = retake.GateDeny
	}
	return g
}

// A stopped call does nothing outside, is no reason for a checkpoint, and keeps its ID when the agent
// tries it again.
func TestStoppedCall(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.habit.Gate = denies(retake.GateForcePush)
	p.tell(retake.SignalPrompt, said("push it"))
	push := shell("git push --force origin main && rm -rf dist")
	act := p.tell(retake.SignalCall, push)
	if act.Stop == nil || act.Stop.Policy != retake.GateDeny || act.Stop.Class != retake.GateForcePush || act.Stop.ID != "e1" {
		t.Fatalf("the stop is %+v", act.Stop)
	}
	if !strings.HasPrefix(act.Stop.Text, "Stopped: git push --force origin main\n") || !strings.Contains(act.Stop.Text, "retake approve e1") {
		t.Errorf("the text is %q", act.Stop.Text)
	}
	if act.Save != nil || len(act.Effects) > 0 {
		t.Errorf("it runs: %+v", act)
	}
	again := p.tell(retake.SignalCall, func(s *retake.Signal) { push(s); s.Call.ID = "c2" })
	if again.Stop == nil || again.Stop.ID != "e1" {
		t.Errorf("again it is %+v", again.Stop)
	}
	if e := p.st.PendingEffects(); len(e) != 1 || e[0].Outcome != retake.OutcomeStopped || !e[0].Failed() {
		t.Errorf("effects are %+v", e)
	}
	if act := p.tell(retake.SignalCall, shell("git push origin main")); act.Stop != nil {
		t.Errorf("an ordinary push is stopped: %+v", act.Stop)
	}
}

// An approval lets the call pass once, and for an hour.
func TestApprovedCall(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.habit.Gate = denies(retake.GatePublish)
	p.tell(retake.SignalPrompt, said("publish it"))
	n := 0
	publish := func() session.Act {
		n++
		return p.tell(retake.SignalCall, func(s *retake.Signal) {
			shell("npm publish")(s)
			s.Call.ID = strings.Repeat("c", n)
		})
	}
	publish()
	p.st.FindStopped("e1").Approved = p.now
	if act := publish(); act.Stop != nil || len(act.Effects) != 1 || !act.Approved {
		t.Errorf("after an approval it is %+v", act)
	}
	act := publish()
	if act.Stop == nil {
		t.Fatal("it passes twice")
	}
	p.st.FindStopped(act.Stop.ID).Approved = p.now
	p.now = p.now.Add(2 * time.Hour)
	if act := publish(); act.Stop == nil {
		t.Error("it passes two hours later")
	}
}

// An agent that can ask its user does so; the call may run.
func TestAskedCall(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.habit.Gate = retake.Gate{retake.GateDeploy: retake.GateAsk}
	p.tell(retake.SignalPrompt, said("ship it"))
	deploy := shell("kubectl apply -f k8s/")
	act := p.tell(retake.SignalCall, func(s *retake.Signal) { deploy(s); s.CanAsk = true })
	if act.Stop == nil || act.Stop.Policy != retake.GateAsk || act.Stop.ID != "" || len(act.Effects) != 1 {
		t.Errorf("it is %+v", act)
	}
	act = p.tell(retake.SignalCall, func(s *retake.Signal) { deploy(s); s.Call.ID = "c2" })
	if act.Stop == nil || act.Stop.Policy != retake.GateDeny || len(act.Effects) > 0 {
		t.Errorf("without a question it is %+v", act)
	}
}

// What was done before the files were restored is told when it is done once more, once.
func TestRepeatedCall(t *testing.T) {
	t.Parallel()
	pay := shell("stripe charges create --amount 5")
	for _, policy := range []retake.GatePolicy{retake.GateAllow, retake.GateDeny} {
		p := begin(t)
		p.habit.Gate = retake.Gate{retake.GateRepeat: policy}
		p.tell(retake.SignalPrompt, said("pay"))
		paid := p.tell(retake.SignalCall, pay)
		push := p.tell(retake.SignalCall, func(s *retake.Signal) { shell("git push origin main")(s); s.Call.ID = "push" })
		p.tell(retake.SignalTurnEnd, nil)
		p.st.AddRewind(session.Rewind{ID: "cp_1", At: p.now, Done: append(paid.Effects, push.Effects...)})
		p.tell(retake.SignalPrompt, said("pay again"))
		act := p.tell(retake.SignalCall, func(s *retake.Signal) { pay(s); s.Call.ID, s.Hears = "c2", true })
		if stopped := act.Stop != nil; stopped != (policy == retake.GateDeny) {
			t.Fatalf("with %s it is %+v", policy, act.Stop)
		}
		if policy == retake.GateDeny {
			continue
		}
		if len(act.Repeats) != 1 || len(act.Effects) != 1 || act.Effects[0].Repeats != "e1" || !strings.Contains(act.Note, "e1 did the same already") {
			t.Errorf("it is %+v", act)
		}
		if act := p.tell(retake.SignalCall, func(s *retake.Signal) { pay(s); s.Call.ID = "c3" }); len(act.Repeats) > 0 {
			t.Errorf("a third time it is %+v", act)
		}
		if act := p.tell(retake.SignalCall, func(s *retake.Signal) { shell("git push origin main")(s); s.Call.ID = "c4" }); len(act.Repeats) > 0 {
			t.Errorf("a push is %+v", act)
		}
	}
}

// A call whose files could not be saved is stopped, and what it would have done outside was not done.
func TestUnsavedCall(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("clean up"))
	var sig retake.Signal
	p.tell(retake.SignalCall, func(s *retake.Signal) { shell("rm -rf ~/big; git push")(s); sig = *s })
	if stop := p.st.StopUnsaved(sig, retake.GateAllow, "x"); stop != nil {
		t.Errorf("where it is allowed it is %+v", stop)
	}
	stop := p.st.StopUnsaved(sig, retake.GateDeny, "~/big has more than 256 MB.")
	if stop == nil || stop.Class != retake.GateNotSaved || !strings.Contains(stop.Text, "~/big has more than 256 MB.") {
		t.Fatalf("it is %+v", stop)
	}
	for _, e := range p.st.PendingEffects() {
		if e.Outcome != retake.OutcomeStopped {
			t.Errorf("%+v was not stopped", e)
		}
	}
	p.st.FindStopped(stop.ID).Approved = p.now
	if stop := p.st.StopUnsaved(sig, retake.GateDeny, "x"); stop != nil {
		t.Errorf("after an approval it is %+v", stop)
	}
}

// Nothing grows without a bound.
func TestStoppedCallsAreBounded(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.habit.Gate = denies(retake.GatePublish)
	for i := range 100 {
		p.tell(retake.SignalCall, func(s *retake.Signal) {
			shell("npm publish --tag " + strings.Repeat("x", i+1))(s)
			s.Call.ID = strings.Repeat("c", i+1)
		})
	}
	if n := len(p.st.Stopped); n > 32 {
		t.Errorf("%d are kept", n)
	}
}
