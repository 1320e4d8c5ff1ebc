package hook

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/retake-dev/retake"
)

// FormatAnswer is what goes to stdout for an event: nil, or exactly one JSON object in
// the dialect of the agent. Nothing is ever permitted by it; Cursor alone takes
// silence for a no, and hears that nothing stands in the way.
func FormatAnswer(agent, event string, r retake.Reaction) []byte {
	note := ""
	if acceptsNote(agent, event) {
		note = truncate(r.Note, maxNote)
	}
	switch agent {
	case cursor:
		return cursorAnswer(event)
	case cline:
		answer := map[string]any{"cancel": false}
		if note != "" {
			answer["contextModification"] = note
		}
		return encodeObject(answer)
	}
	if note == "" {
		return nil
	}
	switch agent {
	case opencode:
		return encodeObject(map[string]any{"note": note})
	case dockerAgent:
		return encodeObject(map[string]any{"hook_specific_output": map[string]string{"hook_event_name": event, "additional_context": note}})
	default:
		return encodeObject(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": event, "additionalContext": note}})
	}
}

// acceptsNote reports whether the agent puts what we say at an event before its model.
func acceptsNote(agent, event string) bool { return slices.Contains(noteEvents[agent], event) }

// noteEvents are those at which an agent listens, by agent. The tools among them are how a
// note reaches an agent in the middle of a turn; Claude Code waits for PreToolUse only, and
// the others listen after a tool has run. Agents without such an event hear at the next
// prompt.
var noteEvents = map[string][]string{
	claudeCode:  {"UserPromptSubmit", "SessionStart", "PreToolUse"},
	codex:       {"UserPromptSubmit", "SessionStart", "PostToolUse"},
	droid:       {"UserPromptSubmit", "SessionStart", "PostToolUse"},
	copilot:     {"UserPromptSubmit", "SessionStart"},
	pi:          {"UserPromptSubmit", "SessionStart"},
	gemini:      {"BeforeAgent", "SessionStart", "AfterTool"},
	dockerAgent: {"user_prompt_submit", "session_start"},
	opencode:    {"chat.message"},
	cline:       {"UserPromptSubmit", "TaskStart", "TaskResume", "PreToolUse", "PostToolUse"},
}

// cursorAnswer lets Cursor go on. When the event is not known, the answer is right
// for each of those that wait for one.
func cursorAnswer(event string) []byte {
	switch {
	case event == "":
		return encodeObject(map[string]any{"permission": "allow", "continue": true})
	case event == "beforeSubmitPrompt":
		return encodeObject(map[string]any{"continue": true})
	case cursorWaits(event):
		return encodeObject(map[string]any{"permission": "allow"})
	default:
		return nil
	}
}

func encodeObject(v map[string]any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}
