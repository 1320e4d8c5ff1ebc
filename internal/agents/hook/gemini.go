package hook

import "github.com/retake-dev/retake"

// readGeminiEvent reads Gemini CLI: a turn is BeforeAgent and AfterAgent.
func readGeminiEvent(h *eventReader) {
	f := h.fields
	h.event = f.text("hook_event_name")
	h.base = retake.Signal{
		Session: f.text("session_id"), Turn: f.text("prompt_id"), Subagent: f.text("agent_id"), Dir: f.text("cwd"),
		Transcript: f.text("transcript_path"), Version: f.text("version"),
	}
	switch h.event {
	case "SessionStart":
		h.addSignal(retake.SignalSessionStart, withReason(f.text("source", "trigger")))
	case "BeforeAgent":
		h.addSignal(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt = f.text("prompt") })
	case "BeforeTool":
		c := geminiCall(f)
		h.addSignal(retake.SignalCall, func(s *retake.Signal) { s.Call = c })
	case "AfterTool":
		h.addCalled(geminiCall(f), f.raw("tool_response"))
	case "AfterAgent":
		h.addSignal(retake.SignalTurnEnd, func(s *retake.Signal) { s.Message = f.text("prompt_response") })
	case "PreCompress":
		if f.text("trigger") == "auto" {
			return // sent before every request to the model, even if nothing is compressed
		}
		h.addSignal(retake.SignalCompact, withReason(f.text("trigger")))
	case "SessionEnd":
		h.addSignal(retake.SignalSessionEnd, withReason(f.text("reason", "trigger")))
	}
}

func geminiCall(f jsonFields) *retake.Call {
	c := newCall(f.text("tool_name"), f.text("tool_use_id", "call_id"), f.raw("tool_input"))
	setServer(c, f.object("mcp_context").text("server_name"))
	return c
}
