package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
)

// Next returns the state after a signal, and what has to be done. Dir is where the agent
// works, below the root. Judged is what its call does, by the rules of h; nil: it is judged here.
func Next(st State, sig retake.Signal, dir string, h retake.Habits, judged *risk.Judgement) (State, Act) {
	if slices.Contains(st.Seen, sig.ID) {
		return st, repeatAct(&st, &sig)
	}
	st = st.clone()
	st.Seen = append(st.Seen, sig.ID)
	if over := len(st.Seen) - maxSeen; over > 0 {
		st.Seen = slices.Delete(st.Seen, 0, over)
	}
	n := &transition{state: &st, signal: &sig, habits: h, judged: judged}
	n.session = st.enterSession(&sig, dir)
	if sig.Subagent != "" {
		n.handleSubagent()
	} else {
		n.handleOwn()
	}
	n.act.Session = n.session.Key()
	return st, n.act
}

// repeatAct returns the act for a signal that was seen before: the same note, and nothing
// more.
func repeatAct(st *State, sig *retake.Signal) Act {
	key := sig.Agent + " " + sig.Session
	if x := st.Find(key); x != nil && x.Noted.By == sig.ID {
		return Act{Note: x.Noted.Text, Session: key, Stop: st.stopBy(sig.ID)}
	}
	return Act{Session: key, Stop: st.stopBy(sig.ID)}
}

// transition is the handling of one signal.
type transition struct {
	state   *State
	session *Session
	signal  *retake.Signal
	habits  retake.Habits
	judged  *risk.Judgement // of the call; nil: not yet
	act     Act
}

// handleOwn handles a signal of the agent itself.
func (n *transition) handleOwn() {
	r, ok := findRule(n.session.Phase, n.signal.Kind)
	if !ok {
		return
	}
	if n.isIgnorable() {
		return
	}
	if n.isLate() {
		r.to = n.session.Phase
		n.refineRule(r)
		return // later signals have already been handled
	}
	if n.signal.Kind == retake.SignalTasks && n.session.Phase != Working || n.signal.Kind == retake.SignalCompact {
		r.to = n.session.Phase // a list may also be given by hand
	}
	if n.session.Turn.End == n.signal.ID && n.signal.Kind == retake.SignalTurnEnd { // the daemon died before it was done
		r, _ = findRule(Working, n.signal.Kind)
	}
	n.beginTurn(r)
	r = n.refineRule(r)
	n.orderSave(r)
	n.enterPhase(r)
	if r.deliversNote || n.canHearNow() {
		n.deliverNote()
	}
}

// isIgnorable reports whether a signal changes nothing: a reminder in the middle of a turn
// is not a turn; the end of a turn that another one replaced ends nothing; a prompt may be
// repeated if nobody knows whether it was received, or by a second hook; an agent that left
// ends no turn.
func (n *transition) isIgnorable() bool {
	named := n.signal.Turn != "" && n.session.Turn.ID != "" && !strings.HasPrefix(n.session.Turn.ID, retake.SignalPrefix)
	same := named && n.signal.Turn == n.session.Turn.ID
	switch n.signal.Kind {
	case retake.SignalPrompt:
		return slices.Contains(n.session.Prompts, n.signal.ID) || n.session.Phase == Working && (n.signal.Machine || same)
	case retake.SignalTurnEnd:
		return n.session.Phase == Working && named && !same || n.session.Phase != Working && (same || n.session.Left) && n.session.Turn.End != n.signal.ID
	default:
		return false
	}
}

// isLate reports whether a call is reported after the end of its turn: some agents do not
// wait for their hooks.
func (n *transition) isLate() bool {
	switch n.signal.Kind {
	case retake.SignalCall, retake.SignalCalled, retake.SignalTasks:
		ended := n.signal.Turn != "" && n.signal.Turn == n.session.Turn.ID && n.session.Turn.End != ""
		left := n.session.Left && n.signal.Kind == retake.SignalCalled
		return n.session.Phase != Working && (ended || left || !n.session.Rested.IsZero() && !n.signal.Time.After(n.session.Rested))
	default:
		return false
	}
}

// beginTurn records a session or a turn whose beginning was not reported.
func (n *transition) beginTurn(r rule) {
	if n.signal.Kind == retake.SignalSessionStart && n.session.Since.Equal(n.signal.Time) { // else we know since when it is there
		n.session.Resumed = n.signal.Reason == "resume" || n.signal.Reason == "fork"
	}
	if n.session.Phase == Working || n.signal.Kind == retake.SignalPrompt {
		return
	}
	if r.to == Working || n.signal.Kind == retake.SignalTurnEnd && n.session.Turn.End != n.signal.ID { // a turn whose prompt was not reported
		n.session.Turn = Turn{ID: n.turnID(), Since: n.signal.Time}
	}
}

// turnID names a turn as the agent does, else by the signal it began with.
func (n *transition) turnID() string {
	if n.signal.Turn != "" {
		return n.signal.Turn
	}
	return string(n.signal.ID)
}

// refineRule adjusts the rule to the content of the signal.
func (n *transition) refineRule(r rule) rule {
	switch n.signal.Kind {
	case retake.SignalCall:
		return n.judgeCall(r, n.signal.Call)
	case retake.SignalCalled:
		n.rememberCall(n.signal.Call)
		n.recordOutcomes(n.signal.Call)
		if list, ok := applyTaskCall(n.session.Tasks, n.signal.Call); ok && n.updateTasks(list) {
			return withSave(r, taskRule)
		}
		if n.habits.Granularity == retake.GranularityCall && mayChangeFiles(n.signal.Call) {
			return withSave(r, callRule)
		}
	case retake.SignalTasks:
		if n.updateTasks(n.signal.Tasks) {
			return withSave(r, taskRule)
		}
	default:
	}
	return r
}

// withSave returns r with the checkpoint of another rule.
func withSave(r, more rule) rule {
	r.save, r.ifChanged, r.wait, r.keepTranscript, r.label = more.save, more.ifChanged, more.wait, more.keepTranscript, more.label
	return r
}

// judgeCall judges a call that is about to run. It records external effects, and orders a
// checkpoint if the call may destroy something.
func (n *transition) judgeCall(r rule, c *retake.Call) rule {
	if c == nil {
		return r
	}
	once := truncate(c.ID+" "+c.Command, maxTitle)
	if c.ID != "" && slices.Contains(n.session.Judged, once) {
		return r // a second hook reports the same call
	}
	n.session.Judged = append(slices.Clone(n.session.Judged), once)
	if over := len(n.session.Judged) - maxPrompts; over > 0 {
		n.session.Judged = n.session.Judged[over:]
	}
	n.session.Turn.Calls++
	n.session.noteDelegation(c)
	if n.judged == nil {
		j := risk.JudgeWith(n.habits.Risk, *c)
		n.judged = &j
	}
	j := *n.judged
	if g, ok := n.strictestGate(j); ok {
		if n.act.Approved = n.state.passApproved(n.signal); !n.act.Approved {
			n.act.Stop = n.state.stopCall(n.signal, g)
		}
	}
	if n.act.Stop != nil && n.act.Stop.Policy == retake.GateDeny {
		return r // it does not run
	}
	for _, e := range j.Effects {
		n.state.Counted++
		eff := retake.Effect{
			ID: fmt.Sprintf("e%d", n.state.Counted), Time: n.signal.Time, Text: truncate(e.Text, maxTitle), Kind: e.Kind, Target: truncate(e.Target, maxTitle),
			Agent: n.session.Agent, Session: n.session.ID, Call: c.ID,
		}
		n.noteRepeat(&eff, e)
		n.act.Effects = append(n.act.Effects, eff)
		n.state.Effects = append(n.state.Effects, eff)
	}
	if over := len(n.state.Effects) - maxEffects; over > 0 {
		n.state.Effects = slices.Delete(n.state.Effects, 0, over)
	}
	if !j.Destructive && !j.MayDestroyOutside {
		return r
	}
	r = withSave(r, riskRule)
	n.act.Save = &Save{Turn: retake.Turn{Command: callText(c), Risk: truncate(j.AllReasons(), maxTitle)}, judged: j}
	return r
}

// mayChangeFiles reports whether a call may have changed files.
func mayChangeFiles(c *retake.Call) bool { return c != nil && c.Kind != retake.CallRead }

// rememberCall keeps a call for the next checkpoint.
func (n *transition) rememberCall(c *retake.Call) {
	if c == nil {
		return
	}
	kept := *c
	kept.Output, kept.Paths, kept.Files = truncate(kept.Output, maxOutput), nil, nil
	if len(kept.Input) > maxOutput {
		kept.Input = nil
	}
	kept.Command = truncate(kept.Command, maxOutput)
	n.session.Calls = append(slices.Clone(n.session.Calls), kept)
	if over := len(n.session.Calls) - maxCalls; over > 0 {
		n.session.Calls = slices.Delete(n.session.Calls, 0, over)
	}
}

// updateTasks replaces the list and reports whether one of the tasks was completed or
// failed.
func (n *transition) updateTasks(list []retake.Task) bool {
	list = slices.Clone(list[:min(len(list), maxTasks)])
	ended := false
	for i, t := range list {
		list[i].Title, list[i].ID = maskAndTruncate(t.Title, maxTitle), truncate(t.ID, maxTitle)
		if t.Status != retake.TaskCompleted && t.Status != retake.TaskFailed {
			continue
		}
		was := slices.IndexFunc(n.session.Tasks, func(o retake.Task) bool { return o.ID == list[i].ID && o.Title == list[i].Title })
		if was < 0 || n.session.Tasks[was].Status != t.Status {
			ended = true
		}
	}
	n.session.Tasks = list
	return ended
}

// orderSave fills in the checkpoint that the rule asks for.
func (n *transition) orderSave(r rule) {
	if r.save == "" {
		return
	}
	s := Save{}
	if n.act.Save != nil {
		s = *n.act.Save
	}
	cmd, why := s.Turn.Command, s.Turn.Risk
	s.Trigger, s.IfChanged, s.Wait = r.save, r.ifChanged, r.wait
	s.Turn = n.checkpointTurn(r)
	s.Turn.Command, s.Turn.Risk = cmd, why
	s.Intent = intentText(r.save, s.Turn, n.session.Tasks)
	s.Tasks, s.Calls = n.session.Tasks, n.session.Calls
	if r.save == retake.TriggerTurn && s.Turn.Prompt == "" {
		s.IfChanged = true // without a prompt there is nothing to record unless files changed
	}
	if r.save == retake.TriggerTurn || r.save == retake.TriggerSession {
		n.session.Calls = nil
	}
	n.act.Save, n.act.KeepTranscript = &s, r.keepTranscript
}

// checkpointTurn returns what the checkpoint records about the agent.
func (n *transition) checkpointTurn(r rule) retake.Turn {
	t := retake.Turn{
		Agent: n.session.Agent, Version: n.session.Version, Session: n.session.ID, Dir: n.session.Dir,
		ID: n.session.Turn.ID, Prompt: n.session.Turn.Prompt, Machine: n.session.Turn.Machine, Calls: n.session.Turn.Calls,
		Running: n.signal.Running, Failed: maskAndTruncate(n.signal.Failed, maxTitle), Tasks: countTasks(n.session.Tasks),
		Contested: n.state.contestedBy(n.session, n.signal.Time), Began: n.session.Turn.Since, Paths: n.session.Turn.Wrote, Subagents: n.session.turnSubagents(),
	}
	switch {
	case r.save == retake.TriggerPrompt:
		t.ID, t.Prompt, t.Machine, t.Calls = n.turnID(), promptText(n.signal.Prompt), n.signal.Machine, 0
		t.Began, t.Paths, t.Subagents = n.signal.Time, nil, nil
	case r.save == retake.TriggerSession && n.session.Phase != Working: // it is of no turn
		t.ID, t.Prompt, t.Machine, t.Calls = "", "", false, 0
		t.Began, t.Paths, t.Subagents = time.Time{}, nil, nil
	case n.signal.Kind == retake.SignalPrompt:
		t.Failed = "its end was not reported"
	case n.signal.Kind == retake.SignalSessionEnd && n.session.Phase == Working && t.Failed == "":
		t.Failed = "the session ended in the middle"
	}
	return t
}

// enterPhase moves the session to the phase of the rule.
func (n *transition) enterPhase(r rule) {
	if n.session.Phase == Working && r.to != Working {
		n.session.Rested, n.session.Turn.End = n.signal.Time, n.signal.ID
	}
	n.session.Phase = r.to
	n.session.Left = n.session.Left || n.signal.Kind == retake.SignalSessionEnd
	if n.signal.Kind == retake.SignalPrompt {
		n.session.Turn = Turn{ID: n.turnID(), Prompt: promptText(n.signal.Prompt), Machine: n.signal.Machine, Since: n.signal.Time}
		n.session.Subagents, n.session.Started = 0, nil
		n.session.Prompts = append(slices.Clone(n.session.Prompts), n.signal.ID)
		if over := len(n.session.Prompts) - maxPrompts; over > 0 {
			n.session.Prompts = n.session.Prompts[over:]
		}
	}
}

// handleSubagent handles a signal of a subagent: its calls count, its turns do not.
func (n *transition) handleSubagent() {
	switch n.signal.Kind {
	case retake.SignalSubagentStart:
		n.session.Subagents++
		n.session.noteSubagent(n.signal)
	case retake.SignalCall, retake.SignalCalled:
		n.handleOwn()
	case retake.SignalSubagentEnd:
		n.session.Subagents = max(n.session.Subagents-1, 0)
		n.session.noteSubagent(n.signal) // its start may not have been reported
	default:
	}
}
