package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
)

// What comes twice, late, or from a second hook.

func TestEndOfATurnThatGaveWayEndsNothing(t *testing.T) {
	t.Parallel()
	p := begin(t)
	turn := func(id, text string) func(*retake.Signal) {
		return func(s *retake.Signal) { s.Turn, s.Prompt = id, text }
	}
	p.tell(retake.SignalPrompt, turn("t1", "one"))
	p.tell(retake.SignalPrompt, turn("t2", "two"))
	if a := p.tell(retake.SignalTurnEnd, turn("t1", "")); a.Save != nil {
		t.Errorf("the late end of the first turn asks for %+v", a.Save)
	}
	wantSave(t, p.tell(retake.SignalTurnEnd, turn("t2", "")), retake.TriggerTurn, "two")
}

func TestPromptThatIsHeardAgainBeginsNothing(t *testing.T) {
	t.Parallel()
	p := begin(t)
	var first retake.Signal
	p.tell(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt = "one"; first = *s })
	p.st.Seen = nil // its save did not work out, or 256 signals came since
	var act session.Act
	p.st, act = session.Next(p.st, first, "", p.habit, nil)
	if act.Save != nil {
		t.Errorf("what is there now is not what was before the turn, and %+v is asked for", act.Save)
	}
	if s := wantSave(t, p.tell(retake.SignalTurnEnd, nil), retake.TriggerTurn, "one"); s.Turn.Failed != "" {
		t.Errorf("the turn says %q", s.Turn.Failed)
	}
}

func TestEndThatIsHeardAgainStillHasItsPrompt(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("one"))
	var end retake.Signal
	p.tell(retake.SignalTurnEnd, func(s *retake.Signal) { end = *s })
	p.st.Seen = nil // the daemon died before it was done
	_, act := session.Next(p.st, end, "", p.habit, nil)
	if s := wantSave(t, act, retake.TriggerTurn, "one"); s.IfChanged {
		t.Errorf("what is asked for is %+v", s)
	}
}

func TestTurnNobodyToldOfIsItsOwn(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("one"))
	p.tell(retake.SignalTurnEnd, nil)
	s := wantSave(t, p.tell(retake.SignalTurnEnd, func(s *retake.Signal) { s.Turn = "t9" }), retake.TriggerTurn, "")
	if s.Turn.ID != "t9" || !s.IfChanged {
		t.Errorf("what is asked for is %+v", s)
	}
}

func TestSecondHookTellsNothingNew(t *testing.T) {
	t.Parallel()
	p := begin(t)
	in := func(edit func(*retake.Signal)) func(*retake.Signal) {
		return func(s *retake.Signal) { s.Turn = "t1"; edit(s) }
	}
	for i, want := range []bool{true, false} {
		if a := p.tell(retake.SignalPrompt, in(said("one"))); (a.Save != nil) != want {
			t.Errorf("prompt %d asks for %+v", i+1, a.Save)
		}
	}
	for i, want := range []int{1, 0} {
		if a := p.tell(retake.SignalCall, in(shell("git push origin main"))); len(a.Effects) != want {
			t.Errorf("call %d has the effects %+v", i+1, a.Effects)
		}
	}
	for i, want := range []bool{true, false} {
		if a := p.tell(retake.SignalTurnEnd, in(func(*retake.Signal) {})); (a.Save != nil) != want {
			t.Errorf("end %d asks for %+v", i+1, a.Save)
		}
	}
}

func TestCallThatIsToldAfterItsTurnBeginsNone(t *testing.T) {
	t.Parallel()
	for _, turn := range []string{"t1", ""} {
		p := begin(t)
		in := func(edit func(*retake.Signal)) func(*retake.Signal) {
			return func(s *retake.Signal) { s.Turn = turn; edit(s) }
		}
		p.tell(retake.SignalPrompt, in(said("one")))
		told := p.now // before the end, heard after it
		p.tell(retake.SignalTurnEnd, in(func(*retake.Signal) {}))
		p.tell(retake.SignalCalled, in(func(s *retake.Signal) { shell("make")(s); s.Time = told }))
		if got := p.st.Newest().Phase; got != session.Resting {
			t.Errorf("turn %q: the session is %s", turn, got)
		}
	}
}

func TestSessionAtWorkIsNotForgotten(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("one"))
	for i := range 100 {
		p.tell(retake.SignalSessionStart, func(s *retake.Signal) { s.Session = fmt.Sprintf("other-%d", i) })
	}
	wantSave(t, p.tell(retake.SignalTurnEnd, nil), retake.TriggerTurn, "one")
}

func TestTwoRewindsAreBothTold(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("one"))
	p.tell(retake.SignalTurnEnd, nil)
	p.st.AddRewind(session.Rewind{ID: "cp_1", At: p.now, Text: "first"})
	p.st.AddRewind(session.Rewind{ID: "cp_2", At: p.now, Text: "second"})
	a := p.tell(retake.SignalPrompt, said("two"))
	if !strings.Contains(a.Note, "first") || !strings.Contains(a.Note, "second") {
		t.Errorf("the note is %q", a.Note)
	}
	p.st.TakeBackNote(a.Session, id(p.n))
	if a := p.tell(retake.SignalPrompt, said("three")); !strings.Contains(a.Note, "second") {
		t.Errorf("what nobody heard is not told again: %q", a.Note)
	}
}
