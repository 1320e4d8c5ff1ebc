package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
)

// Next is what a signal makes of the state, and what it asks for. Dir is where the
// agent works, below the root.
func Next(st State, sig retake.Signal, dir string, h retake.Habits) (State, Act) {
	if slices.Contains(st.Seen, sig.ID) {
		return st, again(&st, &sig)
	}
	st = st.clone()
	st.Seen = append(st.Seen, sig.ID)
	if over := len(st.Seen) - maxSeen; over > 0 {
		st.Seen = slices.Delete(st.Seen, 0, over)
	}
	n := &next{st: &st, sig: &sig, habits: h}
	n.x = st.entered(&sig, dir)
	if sig.Subagent != "" {
		n.subagent()
	} else {
		n.own()
	}
	n.act.Session = n.x.Key()
	return st, n.act
}

// again is the answer to a signal that was heard before: the same note, and nothing more.
func again(st *State, sig *retake.Signal) Act {
	key := sig.Agent + " " + sig.Session
	if x := st.Find(key); x != nil && x.Noted.By == sig.ID {
		return Act{Note: x.Noted.Text, Session: key}
	}
	return Act{Session: key}
}

// next is one step on its way.
type next struct {
	st     *State
	x      *Session
	sig    *retake.Signal
	habits retake.Habits
	act    Act
}

// own follows a signal of the agent itself.
func (n *next) own() {
	r, ok := find(n.x.Phase, n.sig.Kind)
	if !ok {
		return
	}
	if n.passing() {
		return
	}
	if n.afterwards() {
		r.to = n.x.Phase
		n.refine(r)
		return // what came since stands
	}
	if n.sig.Kind == retake.SignalTasks && n.x.Phase != Working || n.sig.Kind == retake.SignalCompact {
		r.to = n.x.Phase // a list may also be given by hand
	}
	if n.x.Turn.End == n.sig.ID && n.sig.Kind == retake.SignalTurnEnd { // the daemon died before it was done
		r, _ = find(Working, n.sig.Kind)
	}
	n.begin(r)
	r = n.refine(r)
	n.save(r)
	n.move(r)
	if r.note || n.hears() {
		n.tell()
	}
}

// passing are signals that change nothing: a reminder in the middle of a turn is no turn;
// the end of a turn that gave way to another ends nothing; a prompt that began a turn is
// told again when nobody knows whether it was heard, or by a second hook; an agent that
// left ends no turn.
func (n *next) passing() bool {
	named := n.sig.Turn != "" && n.x.Turn.ID != "" && !strings.HasPrefix(n.x.Turn.ID, retake.SignalPrefix)
	same := named && n.sig.Turn == n.x.Turn.ID
	switch n.sig.Kind {
	case retake.SignalPrompt:
		return slices.Contains(n.x.Prompts, n.sig.ID) || n.x.Phase == Working && (n.sig.Machine || same)
	case retake.SignalTurnEnd:
		return n.x.Phase == Working && named && !same || n.x.Phase != Working && (same || n.x.Left) && n.x.Turn.End != n.sig.ID
	default:
		return false
	}
}

// afterwards reports whether a call is told after the end of its turn: some agents do
// not wait for what they tell.
func (n *next) afterwards() bool {
	switch n.sig.Kind {
	case retake.SignalCall, retake.SignalCalled, retake.SignalTasks:
		ended := n.sig.Turn != "" && n.sig.Turn == n.x.Turn.ID && n.x.Turn.End != ""
		left := n.x.Left && n.sig.Kind == retake.SignalCalled
		return n.x.Phase != Working && (ended || left || !n.x.Rested.IsZero() && !n.sig.Time.After(n.x.Rested))
	default:
		return false
	}
}

// begin notes a session or a turn that was not heard of.
func (n *next) begin(r rule) {
	if n.sig.Kind == retake.SignalSessionStart && n.x.Since.Equal(n.sig.Time) { // else we know since when it is there
		n.x.Resumed = n.sig.Reason == "resume" || n.sig.Reason == "fork"
	}
	if n.x.Phase == Working || n.sig.Kind == retake.SignalPrompt {
		return
	}
	if r.to == Working || n.sig.Kind == retake.SignalTurnEnd && n.x.Turn.End != n.sig.ID { // a turn whose prompt nobody told
		n.x.Turn = Turn{ID: n.turnID(), Since: n.sig.Time}
	}
}

// turnID names a turn: as the agent does, else by the signal it began with.
func (n *next) turnID() string {
	if n.sig.Turn != "" {
		return n.sig.Turn
	}
	return string(n.sig.ID)
}

// refine looks at what the signal holds.
func (n *next) refine(r rule) rule {
	switch n.sig.Kind {
	case retake.SignalCall:
		return n.called(r, n.sig.Call)
	case retake.SignalCalled:
		n.remember(n.sig.Call)
		n.answered(n.sig.Call)
		if list, ok := folded(n.x.Tasks, n.sig.Call); ok && n.tasks(list) {
			return merged(r, taskRule)
		}
		if n.habits.Granularity == retake.GranularityCall && changes(n.sig.Call) {
			return merged(r, callRule)
		}
	case retake.SignalTasks:
		if n.tasks(n.sig.Tasks) {
			return merged(r, taskRule)
		}
	default:
	}
	return r
}

func merged(r, more rule) rule {
	r.save, r.changed, r.wait, r.keep, r.says = more.save, more.changed, more.wait, more.keep, more.says
	return r
}

// called judges a call that is about to run.
func (n *next) called(r rule, c *retake.Call) rule {
	if c == nil {
		return r
	}
	once := cut(c.ID+" "+c.Command, maxTitle)
	if c.ID != "" && slices.Contains(n.x.Judged, once) {
		return r // a second hook tells of the same call
	}
	n.x.Judged = append(slices.Clone(n.x.Judged), once)
	if over := len(n.x.Judged) - maxPrompts; over > 0 {
		n.x.Judged = n.x.Judged[over:]
	}
	n.x.Turn.Calls++
	n.x.delegates(c)
	j := risk.Judge(*c)
	for _, e := range j.Effects {
		n.st.Counted++
		eff := retake.Effect{
			ID: fmt.Sprintf("e%d", n.st.Counted), Time: n.sig.Time, Text: cut(e.Text, maxTitle), Kind: e.Kind, Target: cut(e.Target, maxTitle),
			Agent: n.x.Agent, Session: n.x.ID, Call: c.ID,
		}
		n.act.Effects = append(n.act.Effects, eff)
		n.st.Effects = append(n.st.Effects, eff)
	}
	if over := len(n.st.Effects) - maxEffects; over > 0 {
		n.st.Effects = slices.Delete(n.st.Effects, 0, over)
	}
	if !j.Destructive {
		return r
	}
	r = merged(r, riskRule)
	n.act.Save = &Save{Turn: retake.Turn{Command: words(c), Risk: cut(j.All(), maxTitle)}, judged: j}
	return r
}

// changes reports whether a call may have changed files.
func changes(c *retake.Call) bool { return c != nil && c.Kind != retake.CallRead }

// remember keeps a call for the state of the next checkpoint.
func (n *next) remember(c *retake.Call) {
	if c == nil {
		return
	}
	kept := *c
	kept.Output, kept.Paths = cut(kept.Output, maxOutput), nil
	if len(kept.Input) > maxOutput {
		kept.Input = nil
	}
	kept.Command = cut(kept.Command, maxOutput)
	n.x.Calls = append(slices.Clone(n.x.Calls), kept)
	if over := len(n.x.Calls) - maxCalls; over > 0 {
		n.x.Calls = slices.Delete(n.x.Calls, 0, over)
	}
}

// tasks takes a new list and reports whether one of them came to its end.
func (n *next) tasks(list []retake.Task) bool {
	list = slices.Clone(list[:min(len(list), maxTasks)])
	ended := false
	for i, t := range list {
		list[i].Title, list[i].ID = masked(t.Title, maxTitle), cut(t.ID, maxTitle)
		if t.Status != retake.TaskCompleted && t.Status != retake.TaskFailed {
			continue
		}
		was := slices.IndexFunc(n.x.Tasks, func(o retake.Task) bool { return o.ID == list[i].ID && o.Title == list[i].Title })
		if was < 0 || n.x.Tasks[was].Status != t.Status {
			ended = true
		}
	}
	n.x.Tasks = list
	return ended
}

// save writes the order for a checkpoint.
func (n *next) save(r rule) {
	if r.save == "" {
		return
	}
	s := Save{}
	if n.act.Save != nil {
		s = *n.act.Save
	}
	cmd, why := s.Turn.Command, s.Turn.Risk
	s.Trigger, s.IfChanged, s.Wait = r.save, r.changed, r.wait
	s.Turn = n.turn(r)
	s.Turn.Command, s.Turn.Risk = cmd, why
	s.Intent = intent(r.save, s.Turn, n.x.Tasks)
	s.Tasks, s.Calls = n.x.Tasks, n.x.Calls
	if r.save == retake.TriggerTurn && s.Turn.Prompt == "" {
		s.IfChanged = true // nothing was asked, so there is nothing to say when nothing was done
	}
	if r.save == retake.TriggerTurn || r.save == retake.TriggerSession {
		n.x.Calls = nil
	}
	n.act.Save, n.act.Keep = &s, r.keep
}

// turn is what the checkpoint says of the agent.
func (n *next) turn(r rule) retake.Turn {
	t := retake.Turn{
		Agent: n.x.Agent, Version: n.x.Version, Session: n.x.ID, Dir: n.x.Dir,
		ID: n.x.Turn.ID, Prompt: n.x.Turn.Prompt, Machine: n.x.Turn.Machine, Calls: n.x.Turn.Calls,
		Running: n.sig.Running, Failed: masked(n.sig.Failed, maxTitle), Tasks: counted(n.x.Tasks),
		Contested: n.st.contested(n.x, n.sig.Time), Began: n.x.Turn.Since, Paths: n.x.Turn.Wrote, Subagents: n.x.subagents(),
	}
	switch {
	case r.save == retake.TriggerPrompt:
		t.ID, t.Prompt, t.Machine, t.Calls = n.turnID(), prompt(n.sig.Prompt), n.sig.Machine, 0
		t.Began, t.Paths, t.Subagents = n.sig.Time, nil, nil
	case r.save == retake.TriggerSession && n.x.Phase != Working: // it is of no turn
		t.ID, t.Prompt, t.Machine, t.Calls = "", "", false, 0
		t.Began, t.Paths, t.Subagents = time.Time{}, nil, nil
	case n.sig.Kind == retake.SignalPrompt:
		t.Failed = "its end was not reported"
	case n.sig.Kind == retake.SignalSessionEnd && n.x.Phase == Working && t.Failed == "":
		t.Failed = "the session ended in the middle"
	}
	return t
}

// move goes on to the next phase.
func (n *next) move(r rule) {
	if n.x.Phase == Working && r.to != Working {
		n.x.Rested, n.x.Turn.End = n.sig.Time, n.sig.ID
	}
	n.x.Phase = r.to
	n.x.Left = n.x.Left || n.sig.Kind == retake.SignalSessionEnd
	if n.sig.Kind == retake.SignalPrompt {
		n.x.Turn = Turn{ID: n.turnID(), Prompt: prompt(n.sig.Prompt), Machine: n.sig.Machine, Since: n.sig.Time}
		n.x.Subagents, n.x.Started = 0, nil
		n.x.Prompts = append(slices.Clone(n.x.Prompts), n.sig.ID)
		if over := len(n.x.Prompts) - maxPrompts; over > 0 {
			n.x.Prompts = n.x.Prompts[over:]
		}
	}
}

// subagent follows a signal of an agent of the agent: its calls count, its turns
// do not.
func (n *next) subagent() {
	switch n.sig.Kind {
	case retake.SignalSubagentStart:
		n.x.Subagents++
		n.x.began(n.sig)
	case retake.SignalCall, retake.SignalCalled:
		n.own()
	case retake.SignalSubagentEnd:
		n.x.Subagents = max(n.x.Subagents-1, 0)
		n.x.began(n.sig) // one whose start nobody reported
	default:
	}
}
