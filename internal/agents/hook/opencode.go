package hook

import "github.com/retake-dev/retake"

// hearOpencode reads what our plugin forwards. opencode has no hooks with stdin;
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
// A session with a parent is a subagent: it is told under the session of the
// parent. Its messages are written by a model and its list is not the session's,
// so they say nothing.
func hearOpencode(h *hearing) {
	f := h.f
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
		if h.base.Subagent == "" { // nobody to tell it of
			h.base.Session = ""
		}
	}
	opencodeEvent(h)
}

func opencodeEvent(h *hearing) {
	f := h.f
	switch h.event {
	case "session.created":
		h.say(retake.SignalSessionStart, began("new"))
	case "chat.message":
		h.say(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt, s.Machine = f.text("prompt"), noPerson(f.text("source")) })
	case "tool.execute.before":
		c := opencodeCall(f)
		h.say(retake.SignalCall, func(s *retake.Signal) { s.Call = c })
	case "tool.execute.after":
		h.sayCalled(opencodeCall(f), f.raw("tool_output"))
	case "todo.updated":
		if list, ok := listed(f.raw("todos")); ok {
			h.sayTasks(list)
		}
	case "session.idle":
		h.say(retake.SignalTurnEnd, rested(f))
	case "session.error":
		h.say(retake.SignalTurnEnd, func(s *retake.Signal) {
			rested(f)(s)
			s.Failed = trouble(f)
		})
	case "session.compacted":
		h.say(retake.SignalCompact, reason(f.text("trigger")))
	case "session.deleted":
		h.say(retake.SignalSessionEnd, reason("deleted"))
	}
}

func opencodeCall(f fields) *retake.Call {
	c := newCall(f.text("tool_name"), f.text("call_id"), f.raw("tool_input"))
	atServer(c, f.text("server"))
	return c
}
