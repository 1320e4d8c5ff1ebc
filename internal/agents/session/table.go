package session

import (
	"slices"

	"github.com/retake-dev/retake"
)

// rule is one arrow of the diagram: in these phases this signal leads there, and a
// checkpoint is taken or not.
type rule struct {
	in      []Phase
	on      retake.SignalKind
	to      Phase
	save    retake.Trigger // "" for none
	changed bool           // only when files changed
	wait    bool           // the agent waits for the save
	keep    bool           // the conversation is kept with it
	note    bool           // it is told what it must know
	says    string         // for people
}

var anywhere = []Phase{Away, Resting, Working}

// table is all there is. Signals that fit no row are only remembered.
var table = []rule{
	{in: []Phase{Away, Resting}, on: retake.SignalSessionStart, to: Resting, says: "it is there"},
	{in: []Phase{Working}, on: retake.SignalSessionStart, to: Working, says: "the session restarts during a turn"},
	{in: []Phase{Away, Resting}, on: retake.SignalPrompt, to: Working, save: retake.TriggerPrompt, changed: true, wait: true, note: true, says: "what was there before"},
	{in: []Phase{Working}, on: retake.SignalPrompt, to: Working, save: retake.TriggerTurn, wait: true, keep: true, note: true, says: "the previous turn never ended"},
	{in: anywhere, on: retake.SignalCall, to: Working, says: "harmless"},
	{in: anywhere, on: retake.SignalCalled, to: Working, says: "remembered"},
	{in: anywhere, on: retake.SignalTasks, to: Working, says: "remembered"},
	{in: []Phase{Working}, on: retake.SignalTurnEnd, to: Resting, save: retake.TriggerTurn, wait: true, keep: true, says: "what the turn made"},
	{in: []Phase{Away, Resting}, on: retake.SignalTurnEnd, to: Resting, save: retake.TriggerTurn, changed: true, wait: true, keep: true, says: "a turn that was not announced"},
	{in: anywhere, on: retake.SignalCompact, to: Working, save: retake.TriggerSession, changed: true, keep: true, says: "before it forgets"},
	{in: []Phase{Working}, on: retake.SignalSessionEnd, to: Away, save: retake.TriggerTurn, wait: true, keep: true, says: "it left in the middle"},
	{in: []Phase{Away, Resting}, on: retake.SignalSessionEnd, to: Away, save: retake.TriggerSession, changed: true, says: "what came after the last turn"},
}

// more are checkpoints that depend on what a signal holds; they replace the save of
// the row above.
var (
	riskRule = rule{on: retake.SignalCall, save: retake.TriggerRisk, wait: true, keep: true, says: "it may destroy something here"}
	callRule = rule{on: retake.SignalCalled, save: retake.TriggerCall, changed: true, says: "granularity = call"}
	taskRule = rule{on: retake.SignalTasks, save: retake.TriggerTask, keep: true, says: "a task was completed, or failed"}
)

func find(phase Phase, kind retake.SignalKind) (rule, bool) {
	i := slices.IndexFunc(table, func(r rule) bool { return r.on == kind && slices.Contains(r.in, phase) })
	if i < 0 {
		return rule{}, false
	}
	return table[i], true
}
