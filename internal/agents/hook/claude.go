package hook

import (
	"strings"

	"github.com/retake-dev/retake"
)

// readClaudeEvent reads the format of Claude Code, which Codex, Droid, Copilot with event
// names in PascalCase, and our extension for pi use too.
//
// Cursor also runs the hooks of Claude Code and sends its version; it has hooks of its own,
// so those payloads are ignored here.
func readClaudeEvent(h *eventReader) {
	f := h.fields
	h.event = f.text("hook_event_name")
	camel := h.agent == copilot || h.agent == droid // other agents with camel case run hooks of somebody else
	if camel && h.event == "" {
		h.event = f.text("hookEventName")
	}
	if f.text("cursor_version") != "" {
		return
	}
	h.base = retake.Signal{
		Session: f.text("session_id"), Turn: f.text("turn_id", "prompt_id", "message_id"), Subagent: f.text("agent_id"),
		Dir: f.text("cwd"), Transcript: f.text("transcript_path"), Version: f.text("version"),
	}
	if camel && h.base.Session == "" {
		h.base.Session, h.base.Transcript = f.text("sessionId"), f.text("transcriptPath", "transcript_path")
	}
	switch h.event {
	case "PreToolUse":
		c := claudeCall(f)
		h.addSignal(retake.SignalCall, func(s *retake.Signal) { s.Call = c })
	case "PostToolUse":
		h.addCalled(claudeCall(f), f.raw("tool_response", "tool_result", "tool_output"))
	case "PostToolUseFailure":
		c := claudeCall(f)
		c.Failed, c.Unfinished = true, f.isTrue("is_interrupt")
		h.addCalled(c, f.raw("error", "tool_response", "tool_result"))
	case "WorktreeCreate":
		h.worktree = &WorktreeRequest{Name: f.text("name", "worktree_name"), Dir: h.base.Dir}
	case "WorktreeRemove":
		h.worktree = &WorktreeRequest{Remove: f.text("worktree_path"), Dir: h.base.Dir}
	default:
		readClaudeTurn(h)
	}
}

// readClaudeTurn reads the events that are not about tools.
func readClaudeTurn(h *eventReader) {
	f := h.fields
	switch h.event {
	case "SessionStart":
		h.addSignal(retake.SignalSessionStart, withStartReason(f.text("source")))
	case "UserPromptSubmit":
		h.addSignal(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt, s.Machine = f.text("prompt"), isMachineSource(f.text("source")) })
	case "Stop":
		h.addSignal(retake.SignalTurnEnd, withTurnEnd(f))
	case "StopFailure":
		h.addSignal(retake.SignalTurnEnd, func(s *retake.Signal) {
			withTurnEnd(f)(s)
			s.Failed = failureText(f)
		})
	case "ErrorOccurred": // Copilot; one that it can get over does not end the turn
		if !f.isTrue("recoverable") {
			h.addSignal(retake.SignalTurnEnd, func(s *retake.Signal) { s.Failed = failureText(f) })
		}
	case "SubagentStart":
		nameSubagent(h)
		h.addSignal(retake.SignalSubagentStart, func(s *retake.Signal) { s.Reason = f.text("agent_type", "agent_name") })
	case "SubagentStop":
		nameSubagent(h)
		h.addSignal(retake.SignalSubagentEnd, withTurnEnd(f))
	case "PreCompact":
		h.addSignal(retake.SignalCompact, withReason(f.text("trigger", "source")))
	case "SessionEnd":
		h.addSignal(retake.SignalSessionEnd, withReason(f.text("reason")))
	}
}

func withReason(word string) func(*retake.Signal) {
	return func(s *retake.Signal) { s.Reason = word }
}

// withStartReason sets why a session began; a new one has the same word for all agents.
func withStartReason(source string) func(*retake.Signal) {
	if source == "new" {
		source = "startup"
	}
	return withReason(source)
}

// withTurnEnd sets the final message of a turn, and how many tasks are still running.
func withTurnEnd(f jsonFields) func(*retake.Signal) {
	return func(s *retake.Signal) {
		s.Message = f.text("last_assistant_message")
		running, _ := f.list("background_tasks")
		s.Running = len(running)
	}
}

// failureText returns why a turn failed, in the words of the agent.
func failureText(f jsonFields) string {
	what := f.text("error", "error_type")
	o := f.object("error")
	if what == "" {
		what = o.text("message", "name", "type")
	}
	if more := f.text("error_details", "error_message"); more != "" && more != what {
		what = strings.TrimPrefix(what+": "+more, ": ")
	}
	if what == "" {
		return "error"
	}
	return what
}

// nameSubagent names a subagent that has no id.
func nameSubagent(h *eventReader) {
	if h.base.Subagent == "" {
		h.base.Subagent = h.fields.text("subagent_id", "agent_name", "agent_type", "subagent_type")
	}
	if h.base.Subagent == "" {
		h.base.Subagent = "subagent"
	}
}

// isMachineSource reports whether a prompt comes from a timer or a program.
func isMachineSource(source string) bool {
	switch source {
	case "system", "loop_wakeup", "schedule_wakeup", "poll_event":
		return true
	}
	return false
}

func claudeCall(f jsonFields) *retake.Call {
	c := newCall(f.text("tool_name"), f.text("tool_use_id", "call_id", "tool_call_id"), f.raw("tool_input"))
	setServer(c, f.object("mcp_server").text("name"))
	return c
}
