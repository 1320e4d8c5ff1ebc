package hook

import "github.com/retake-dev/retake"

// hearCline reads Cline: a task is a session, and what an event says stands in an
// object of its own, named after the event.
func hearCline(h *hearing) {
	f := h.f
	h.event = f.text("hookName")
	roots, _ := f.list("workspaceRoots")
	h.base = retake.Signal{Session: f.text("taskId"), Dir: f.text("cwd"), Version: f.text("clineVersion")}
	if all := strs(roots); len(all) > 0 {
		h.base.Dir = all[0]
	}
	switch h.event {
	case "TaskStart":
		h.say(retake.SignalSessionStart, reason("startup"))
	case "TaskResume":
		h.say(retake.SignalSessionStart, reason("resume"))
	case "UserPromptSubmit":
		h.say(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt = f.object("userPromptSubmit").text("prompt") })
	case "PreToolUse":
		c := clineCall(f.object("preToolUse"))
		h.say(retake.SignalCall, func(s *retake.Signal) { s.Call = c })
	case "PostToolUse":
		o := f.object("postToolUse")
		c := clineCall(o)
		c.Failed = o.denied("success")
		h.sayCalled(c, o.raw("result"))
	case "TaskComplete":
		o := f.object("taskComplete")
		h.say(retake.SignalTurnEnd, func(s *retake.Signal) {
			s.Message = joined(o.text("result"), o.object("taskMetadata").text("result"))
		})
	case "TaskCancel":
		h.say(retake.SignalTurnEnd, func(s *retake.Signal) { s.Failed = "canceled" })
	case "TaskError":
		h.say(retake.SignalTurnEnd, func(s *retake.Signal) { s.Failed = trouble(f.object("taskError")) })
	case "PreCompact":
		h.say(retake.SignalCompact, reason(f.object("preCompact").text("compactionStrategy")))
	case "SessionShutdown":
		h.say(retake.SignalSessionEnd, reason(f.object("sessionShutdown").text("reason")))
	}
}

func clineCall(o fields) *retake.Call {
	return newCall(o.text("toolName", "tool"), o.text("toolCallId", "callId"), o.raw("parameters", "input"))
}
