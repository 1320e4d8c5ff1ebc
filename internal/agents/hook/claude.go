package hook

import (
	"strings"

	"github.com/retake-dev/retake"
)

// readClaudeEvent reads the dialect that Claude Code began: also Codex, Droid, Copilot
// with event names in PascalCase, and our own extension for pi speak it.
//
// Cursor runs the hooks of Claude Code too and says its version; it has hooks of
// its own, so those payloads say nothing here.
func readClaudeEvent(h *eventReader) {
	f := h.fields
	h.event = f.text("hook_event_name")
	camel := h.agent == copilot || h.agent == droid // others that write so run hooks that are not theirs
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

// readClaudeTurn reads what is not about tools.
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

// withStartReason is why a session began; one that is new has one word for all agents.
func withStartReason(source string) func(*retake.Signal) {
	if source == "new" {
		source = "startup"
	}
	return withReason(source)
}

// withTurnEnd is the end of a turn: the last words, and what still runs.
func withTurnEnd(f jsonFields) func(*retake.Signal) {
	return func(s *retake.Signal) {
		s.Message = f.text("last_assistant_message")
		running, _ := f.list("background_tasks")
		s.Running = len(running)
	}
}

// failureText is why a turn was ended, in the words of the agent.
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

// nameSubagent gives a subagent a name when the agent gives it no id.
func nameSubagent(h *eventReader) {
	if h.base.Subagent == "" {
		h.base.Subagent = h.fields.text("subagent_id", "agent_name", "agent_type", "subagent_type")
	}
	if h.base.Subagent == "" {
		h.base.Subagent = "subagent"
	}
}

// isMachineSource reports whether a prompt comes from a clock or a program.
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
