package session

import (
	"slices"

	"github.com/retake-dev/retake"
)

// rule is one arrow of the diagram: in these phases this signal leads there, with or
// without a checkpoint.
type rule struct {
	phases         []Phase
	signal         retake.SignalKind
	to             Phase
	save           retake.Trigger // "" for none
	ifChanged      bool           // only when files changed
	wait           bool           // the agent waits for the save
	keepTranscript bool           // the conversation is kept with it
	deliversNote   bool           // the agent gets pending notes
	label          string         // for people
}

var anyPhase = []Phase{Away, Resting, Working}

// transitions is the whole table. Signals that match no row are only remembered.
var transitions = []rule{
	{phases: []Phase{Away, Resting}, signal: retake.SignalSessionStart, to: Resting, label: "it is there"},
	{phases: []Phase{Working}, signal: retake.SignalSessionStart, to: Working, label: "the session restarts during a turn"},
	{phases: []Phase{Away, Resting}, signal: retake.SignalPrompt, to: Working, save: retake.TriggerPrompt, ifChanged: true, wait: true, deliversNote: true, label: "what was there before"},
	{phases: []Phase{Working}, signal: retake.SignalPrompt, to: Working, save: retake.TriggerTurn, wait: true, keepTranscript: true, deliversNote: true, label: "the previous turn never ended"},
	{phases: anyPhase, signal: retake.SignalCall, to: Working, label: "harmless"},
	{phases: anyPhase, signal: retake.SignalCalled, to: Working, label: "remembered"},
	{phases: anyPhase, signal: retake.SignalTasks, to: Working, label: "remembered"},
	{phases: []Phase{Working}, signal: retake.SignalTurnEnd, to: Resting, save: retake.TriggerTurn, wait: true, keepTranscript: true, label: "what the turn made"},
	{phases: []Phase{Away, Resting}, signal: retake.SignalTurnEnd, to: Resting, save: retake.TriggerTurn, ifChanged: true, wait: true, keepTranscript: true, label: "a turn that was not announced"},
	{phases: anyPhase, signal: retake.SignalCompact, to: Working, save: retake.TriggerSession, ifChanged: true, keepTranscript: true, label: "before it forgets"},
	{phases: []Phase{Working}, signal: retake.SignalSessionEnd, to: Away, save: retake.TriggerTurn, wait: true, keepTranscript: true, label: "it left in the middle"},
	{phases: []Phase{Away, Resting}, signal: retake.SignalSessionEnd, to: Away, save: retake.TriggerSession, ifChanged: true, label: "what came after the last turn"},
}

// Checkpoints that depend on the content of a signal. They replace the checkpoint of the
// matching row.
var (
	riskRule = rule{signal: retake.SignalCall, save: retake.TriggerRisk, wait: true, keepTranscript: true, label: "it may destroy something here"}
	callRule = rule{signal: retake.SignalCalled, save: retake.TriggerCall, ifChanged: true, label: "granularity = call"}
	taskRule = rule{signal: retake.SignalTasks, save: retake.TriggerTask, keepTranscript: true, label: "a task was completed, or failed"}
)

func findRule(phase Phase, kind retake.SignalKind) (rule, bool) {
	i := slices.IndexFunc(transitions, func(r rule) bool { return r.signal == kind && slices.Contains(r.phases, phase) })
	if i < 0 {
		return rule{}, false
	}
	return transitions[i], true
}

// mayArriveLate reports whether a signal may arrive after its agent is gone: hooks that the
// agent does not wait for may run last.
func mayArriveLate(kind retake.SignalKind) bool {
	switch kind {
	case retake.SignalCalled, retake.SignalTasks, retake.SignalTurnEnd, retake.SignalSubagentEnd:
		return true
	default:
		return false
	}
}
