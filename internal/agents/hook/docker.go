package hook

import "github.com/retake-dev/retake"

// readDockerEvent reads docker-agent. Its "turn" is one call of the model, so the turns of
// a person are user_prompt_submit and stop. A turn that is aborted has no stop: then
// turn_end has the reason, and ends it. With other reasons of turn_end the work goes on, or
// a stop follows.
func readDockerEvent(h *eventReader) {
	f := h.fields
	h.event = f.text("hook_event_name")
	h.base = retake.Signal{Session: f.text("session_id"), Dir: f.text("cwd"), Version: f.text("version")}
	switch h.event {
	case "session_start":
		h.addSignal(retake.SignalSessionStart, withReason(f.text("source")))
	case "user_prompt_submit", "user_followup_submit":
		h.addSignal(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt = f.text("prompt") })
	case "pre_tool_use":
		c := claudeCall(f)
		h.addSignal(retake.SignalCall, func(s *retake.Signal) { s.Call = c })
	case "post_tool_use":
		c := claudeCall(f)
		c.Failed = f.isTrue("tool_error")
		h.addCalled(c, f.raw("tool_response"))
	case "stop":
		h.addSignal(retake.SignalTurnEnd, func(s *retake.Signal) { s.Message = f.text("stop_response") })
	case "turn_end":
		if why := f.text("reason"); isAborted(why) {
			h.addSignal(retake.SignalTurnEnd, func(s *retake.Signal) { s.Failed = why })
		}
	case "subagent_stop":
		if parent := f.text("parent_session_id"); parent != "" && parent != h.base.Session {
			h.base.Session, h.base.Subagent = parent, h.base.Session
		}
		nameSubagent(h)
		h.addSignal(retake.SignalSubagentEnd, func(s *retake.Signal) { s.Message = f.text("stop_response") })
	case "pre_compact":
		h.addSignal(retake.SignalCompact, withReason(f.text("source")))
	case "session_end":
		h.addSignal(retake.SignalSessionEnd, withReason(f.text("reason")))
	}
}

func isAborted(reason string) bool {
	switch reason {
	case "error", "canceled", "hook_blocked", "loop_detected":
		return true
	}
	return false
}
