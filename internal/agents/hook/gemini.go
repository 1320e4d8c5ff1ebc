package hook

import "github.com/retake-dev/retake"

// hearGemini reads Gemini CLI: a turn is BeforeAgent and AfterAgent.
func hearGemini(h *hearing) {
	f := h.f
	h.event = f.text("hook_event_name")
	h.base = retake.Signal{
		Session: f.text("session_id"), Turn: f.text("prompt_id"), Subagent: f.text("agent_id"), Dir: f.text("cwd"),
		Transcript: f.text("transcript_path"), Version: f.text("version"),
	}
	switch h.event {
	case "SessionStart":
		h.say(retake.SignalSessionStart, reason(f.text("source", "trigger")))
	case "BeforeAgent":
		h.say(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt = f.text("prompt") })
	case "BeforeTool":
		c := geminiCall(f)
		h.say(retake.SignalCall, func(s *retake.Signal) { s.Call = c })
	case "AfterTool":
		h.sayCalled(geminiCall(f), f.raw("tool_response"))
	case "AfterAgent":
		h.say(retake.SignalTurnEnd, func(s *retake.Signal) { s.Message = f.text("prompt_response") })
	case "PreCompress":
		if f.text("trigger") == "auto" {
			return // told before every question to the model, also when nothing is forgotten
		}
		h.say(retake.SignalCompact, reason(f.text("trigger")))
	case "SessionEnd":
		h.say(retake.SignalSessionEnd, reason(f.text("reason", "trigger")))
	}
}

func geminiCall(f fields) *retake.Call {
	c := newCall(f.text("tool_name"), f.text("tool_use_id", "call_id"), f.raw("tool_input"))
	atServer(c, f.object("mcp_context").text("server_name"))
	return c
}
