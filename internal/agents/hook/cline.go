package hook

import "github.com/retake-dev/retake"

// readClineEvent reads Cline: a task is a session, and the content of an event is in an
// object named after the event.
func readClineEvent(h *eventReader) {
	f := h.fields
	h.event = f.text("hookName")
	roots, _ := f.list("workspaceRoots")
	h.base = retake.Signal{Session: f.text("taskId"), Dir: f.text("cwd"), Version: f.text("clineVersion")}
	if all := jsonStrings(roots); len(all) > 0 {
		h.base.Dir = all[0]
	}
	switch h.event {
	case "TaskStart":
		h.addSignal(retake.SignalSessionStart, withReason("startup"))
	case "TaskResume":
		h.addSignal(retake.SignalSessionStart, withReason("resume"))
	case "UserPromptSubmit":
		h.addSignal(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt = f.object("userPromptSubmit").text("prompt") })
	case "PreToolUse":
		c := clineCall(f.object("preToolUse"))
		h.addSignal(retake.SignalCall, func(s *retake.Signal) { s.Call = c })
	case "PostToolUse":
		o := f.object("postToolUse")
		c := clineCall(o)
		c.Failed = o.isFalse("success")
		h.addCalled(c, o.raw("result"))
	case "TaskComplete":
		o := f.object("taskComplete")
		h.addSignal(retake.SignalTurnEnd, func(s *retake.Signal) {
			s.Message = joinNonEmpty(o.text("result"), o.object("taskMetadata").text("result"))
		})
	case "TaskCancel":
		h.addSignal(retake.SignalTurnEnd, func(s *retake.Signal) { s.Failed = "canceled" })
	case "TaskError":
		h.addSignal(retake.SignalTurnEnd, func(s *retake.Signal) { s.Failed = failureText(f.object("taskError")) })
	case "PreCompact":
		h.addSignal(retake.SignalCompact, withReason(f.object("preCompact").text("compactionStrategy")))
	case "SessionShutdown":
		h.addSignal(retake.SignalSessionEnd, withReason(f.object("sessionShutdown").text("reason")))
	}
}

func clineCall(o jsonFields) *retake.Call {
	return newCall(o.text("toolName", "tool"), o.text("toolCallId", "callId"), o.raw("parameters", "input"))
}
