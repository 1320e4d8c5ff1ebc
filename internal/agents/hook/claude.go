package hook

import (
	"strings"

	"github.com/retake-dev/retake"
)

// hearClaude reads the dialect that Claude Code began: also Codex, Droid, Copilot
// with event names in PascalCase, and our own extension for pi speak it.
//
// Cursor runs the hooks of Claude Code too and says its version; it has hooks of
// its own, so those payloads say nothing here.
func hearClaude(h *hearing) {
	f := h.f
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
		h.say(retake.SignalCall, func(s *retake.Signal) { s.Call = c })
	case "PostToolUse":
		h.sayCalled(claudeCall(f), f.raw("tool_response", "tool_result", "tool_output"))
	case "PostToolUseFailure":
		c := claudeCall(f)
		c.Failed, c.Unfinished = true, f.truth("is_interrupt")
		h.sayCalled(c, f.raw("error", "tool_response", "tool_result"))
	case "WorktreeCreate":
		h.tree = &Worktree{Name: f.text("name", "worktree_name"), Dir: h.base.Dir}
	case "WorktreeRemove":
		h.tree = &Worktree{Remove: f.text("worktree_path"), Dir: h.base.Dir}
	default:
		claudeTurns(h)
	}
}

// claudeTurns reads what is not about tools.
func claudeTurns(h *hearing) {
	f := h.f
	switch h.event {
	case "SessionStart":
		h.say(retake.SignalSessionStart, began(f.text("source")))
	case "UserPromptSubmit":
		h.say(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt, s.Machine = f.text("prompt"), noPerson(f.text("source")) })
	case "Stop":
		h.say(retake.SignalTurnEnd, rested(f))
	case "StopFailure":
		h.say(retake.SignalTurnEnd, func(s *retake.Signal) {
			rested(f)(s)
			s.Failed = trouble(f)
		})
	case "ErrorOccurred": // Copilot; one that it can get over does not end the turn
		if !f.truth("recoverable") {
			h.say(retake.SignalTurnEnd, func(s *retake.Signal) { s.Failed = trouble(f) })
		}
	case "SubagentStart":
		nameSubagent(h)
		h.say(retake.SignalSubagentStart, func(s *retake.Signal) { s.Reason = f.text("agent_type", "agent_name") })
	case "SubagentStop":
		nameSubagent(h)
		h.say(retake.SignalSubagentEnd, rested(f))
	case "PreCompact":
		h.say(retake.SignalCompact, reason(f.text("trigger", "source")))
	case "SessionEnd":
		h.say(retake.SignalSessionEnd, reason(f.text("reason")))
	}
}

func reason(word string) func(*retake.Signal) {
	return func(s *retake.Signal) { s.Reason = word }
}

// began is why a session began; one that is new has one word for all agents.
func began(source string) func(*retake.Signal) {
	if source == "new" {
		source = "startup"
	}
	return reason(source)
}

// rested is the end of a turn: the last words, and what still runs.
func rested(f fields) func(*retake.Signal) {
	return func(s *retake.Signal) {
		s.Message = f.text("last_assistant_message")
		running, _ := f.list("background_tasks")
		s.Running = len(running)
	}
}

// trouble is why a turn was ended, in the words of the agent.
func trouble(f fields) string {
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
func nameSubagent(h *hearing) {
	if h.base.Subagent == "" {
		h.base.Subagent = h.f.text("subagent_id", "agent_name", "agent_type", "subagent_type")
	}
	if h.base.Subagent == "" {
		h.base.Subagent = "subagent"
	}
}

// noPerson reports whether a prompt comes from a clock or a program.
func noPerson(source string) bool {
	switch source {
	case "system", "loop_wakeup", "schedule_wakeup", "poll_event":
		return true
	}
	return false
}

func claudeCall(f fields) *retake.Call {
	c := newCall(f.text("tool_name"), f.text("tool_use_id", "call_id", "tool_call_id"), f.raw("tool_input"))
	atServer(c, f.object("mcp_server").text("name"))
	return c
}
