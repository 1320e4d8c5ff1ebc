package hook

import (
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
)

// readCursorEvent reads Cursor. Events about files that it reads are ignored, so contents
// of files are never taken over. The general and the special events of one call may both
// come; each is a signal of its own.
func readCursorEvent(h *eventReader) {
	f := h.fields
	h.event = f.text("hook_event_name")
	h.base = retake.Signal{
		Session: f.text("conversation_id", "session_id"), Turn: f.text("generation_id"), Dir: cursorDir(f),
		Transcript: f.text("transcript_path"), Version: f.text("cursor_version"),
	}
	switch h.event {
	case "preToolUse":
		c := claudeCall(f)
		h.addSignal(retake.SignalCall, func(s *retake.Signal) { s.Call = c })
	case "postToolUse":
		h.addCalled(claudeCall(f), f.raw("tool_output", "tool_response"))
	case "postToolUseFailure":
		c := claudeCall(f)
		c.Failed = true
		h.addCalled(c, f.raw("error_message", "error", "tool_output"))
	case "beforeShellExecution", "beforeMCPExecution":
		c := cursorCall(h)
		h.addSignal(retake.SignalCall, func(s *retake.Signal) { s.Call = c })
	case "afterShellExecution", "afterMCPExecution", "afterFileEdit":
		h.addCalled(cursorCall(h), f.raw("output", "result_json"))
	default:
		readCursorTurn(h)
	}
}

// readCursorTurn reads the events that are not about tools.
func readCursorTurn(h *eventReader) {
	f := h.fields
	switch h.event {
	case "sessionStart":
		h.addSignal(retake.SignalSessionStart, withStartReason("new"))
	case "beforeSubmitPrompt":
		h.addSignal(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt = f.text("prompt") })
	case "stop":
		h.addSignal(retake.SignalTurnEnd, func(s *retake.Signal) {
			switch status := f.text("status"); status {
			case "aborted":
				s.Failed = status
			case "error":
				s.Failed = failureText(f)
			}
		})
	case "subagentStart", "subagentStop":
		if parent := f.text("parent_conversation_id"); parent != "" && parent != h.base.Session {
			h.base.Session, h.base.Subagent = parent, h.base.Session
		}
		nameSubagent(h)
		if h.event == "subagentStart" {
			h.addSignal(retake.SignalSubagentStart, withReason(f.text("subagent_type")))
		} else {
			h.addSignal(retake.SignalSubagentEnd, func(s *retake.Signal) { s.Message = f.text("summary") })
		}
	case "preCompact":
		h.addSignal(retake.SignalCompact, withReason(f.text("trigger")))
	case "sessionEnd":
		h.addSignal(retake.SignalSessionEnd, withReason(f.text("reason")))
	}
}

// cursorCall returns the call of the special events, which name no tool.
func cursorCall(h *eventReader) *retake.Call {
	f := h.fields
	switch h.event {
	case "afterFileEdit":
		return &retake.Call{Tool: "Write", Kind: retake.CallWrite, Paths: fieldPaths(f)}
	case "beforeMCPExecution", "afterMCPExecution":
		c := newCall(f.text("tool_name"), f.text("tool_use_id"), f.raw("tool_input"))
		c.Kind, c.Server, c.Command, c.Paths = retake.CallMCP, cursorServer(f), "", nil
		return c
	default:
		return &retake.Call{Tool: "Shell", Kind: retake.CallShell, Command: f.text("command")}
	}
}

// cursorServer returns a name for an MCP server that has none: its host, or its program.
// The rest of a URL or of a command line may contain a secret.
func cursorServer(f jsonFields) string {
	if name := f.text("server_name", "server"); name != "" {
		return name
	}
	if _, rest, ok := strings.Cut(f.text("url"), "://"); ok {
		host, _, _ := strings.Cut(rest, "/")
		host, _, _ = strings.Cut(host, "?")
		return host[strings.LastIndex(host, "@")+1:]
	}
	if words := strings.Fields(f.text("command")); len(words) > 0 {
		return filepath.Base(words[0])
	}
	return ""
}

// cursorDir returns the root that the agent works in: a command may run elsewhere, and
// hooks of the user run in Cursor's own directory.
func cursorDir(f jsonFields) string {
	items, _ := f.list("workspace_roots")
	roots, cwd := jsonStrings(items), f.text("cwd")
	for _, root := range roots {
		if cwd == root || strings.HasPrefix(cwd, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
			return root
		}
	}
	if len(roots) > 0 {
		return roots[0]
	}
	return cwd
}

// cursorWaits reports whether Cursor waits for permission to go on.
func cursorWaits(event string) bool {
	return event == "preToolUse" || event == "subagentStart" || strings.HasPrefix(event, "before")
}
