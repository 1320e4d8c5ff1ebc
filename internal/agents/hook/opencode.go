package hook

import "github.com/retake-dev/retake"

// readOpencodeEvent reads what our plugin forwards. opencode has no hooks with stdin;
// the plugin sends one JSON object per event:
//
//	hook_event_name  chat.message, session.idle, session.error, session.created, session.compacted,
//	                 session.deleted, tool.execute.before, tool.execute.after, todo.updated
//	session_id, parent_id?, message_id?, transcript_path?, cwd, version
//	prompt                                     of chat.message
//	tool_name, tool_input, tool_output, call_id, server?   of the tools
//	todos [{id, content, status}]              of todo.updated
//	last_assistant_message                     of session.idle
//	error                                      of session.error
//
// A session with a parent is a subagent: it is reported under the session of the
// parent. Its messages are written by a model and its task list is not the
// session's, so both are ignored.
func readOpencodeEvent(h *eventReader) {
	f := h.fields
	h.event = f.text("hook_event_name")
	h.base = retake.Signal{
		Session: f.text("session_id"), Turn: f.text("message_id"), Dir: f.text("cwd"), Version: f.text("version"),
		Transcript: f.text("transcript_path"),
	}
	if parent := f.text("parent_id"); parent != "" {
		h.base.Session, h.base.Subagent = parent, h.base.Session
		if h.event == "chat.message" || h.event == "session.deleted" {
			return
		}
		if h.base.Subagent == "" { // the subagent is unknown, so the signal is refused
			h.base.Session = ""
		}
	}
	readOpencodeTurn(h)
}

// readOpencodeTurn reads one event, whose session is already determined.
func readOpencodeTurn(h *eventReader) {
	f := h.fields
	switch h.event {
	case "session.created":
		h.addSignal(retake.SignalSessionStart, withStartReason("new"))
	case "chat.message":
		h.addSignal(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt, s.Machine = f.text("prompt"), isMachineSource(f.text("source")) })
	case "tool.execute.before":
		c := opencodeCall(f)
		h.addSignal(retake.SignalCall, func(s *retake.Signal) { s.Call = c })
	case "tool.execute.after":
		h.addCalled(opencodeCall(f), f.raw("tool_output"))
	case "todo.updated":
		if list, ok := parseTaskList(f.raw("todos")); ok {
			h.addTasks(list)
		}
	case "session.idle":
		h.addSignal(retake.SignalTurnEnd, withTurnEnd(f))
	case "session.error":
		h.addSignal(retake.SignalTurnEnd, func(s *retake.Signal) {
			withTurnEnd(f)(s)
			s.Failed = failureText(f)
		})
	case "session.compacted":
		h.addSignal(retake.SignalCompact, withReason(f.text("trigger")))
	case "session.deleted":
		h.addSignal(retake.SignalSessionEnd, withReason("deleted"))
	}
}

func opencodeCall(f jsonFields) *retake.Call {
	c := newCall(f.text("tool_name"), f.text("call_id"), f.raw("tool_input"))
	setServer(c, f.text("server"))
	return c
}
