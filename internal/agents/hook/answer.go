package hook

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// FormatAnswer returns what is written to stdout for an event: nil, or exactly one JSON
// object in the format of the agent. It never grants permission; only Cursor, which blocks
// without an answer, is told to go on. It refuses a call only if the user's policy stops it.
func FormatAnswer(agent, event string, r retake.Reaction) []byte {
	warning, note := warningText(r.Warnings), ""
	if acceptsNote(agent, event) {
		note = r.Note
		if systemMessage[agent] == "" {
			note, warning = strings.TrimSpace(warning+"\n"+note), ""
		}
		note = truncate(note, maxNote)
	}
	switch {
	case agent == cursor && r.Stop == nil:
		return cursorAnswer(event, warning)
	case agent == cline && r.Stop == nil:
		answer := map[string]any{"cancel": false}
		if note != "" {
			answer["contextModification"] = note
		}
		return encodeObject(answer)
	}
	answer := map[string]any{}
	if field := systemMessage[agent]; field != "" && warning != "" {
		answer[field] = warning
	}
	switch {
	case note == "", agent == cursor, agent == cline:
	case agent == opencode:
		answer["note"] = note
	case agent == dockerAgent:
		answer["hook_specific_output"] = map[string]string{"hook_event_name": event, "additional_context": note}
	default:
		answer["hookSpecificOutput"] = map[string]string{"hookEventName": event, "additionalContext": note}
	}
	if r.Stop != nil {
		addStop(answer, agent, event, r.Stop)
	}
	if len(answer) == 0 {
		return nil
	}
	return encodeObject(answer)
}

// systemMessage is the field by which a hook of an agent tells the user something at any event.
// The others are told by a note to the agent, where it accepts one.
var systemMessage = map[string]string{
	claudeCode: "systemMessage", codex: "systemMessage", droid: "systemMessage", gemini: "systemMessage", dockerAgent: "system_message",
}

// warningText returns the first warning that the user should see now: that something is not saved, or
// is done once more.
func warningText(all []retake.Warning) string {
	for _, w := range all {
		if w.Code == NotProtected || w.Code == retake.WarningNotSaved || w.Code == retake.WarningRepeated {
			return truncate(w.Text, maxNote)
		}
	}
	return ""
}

// acceptsNote reports whether the agent passes a note at an event on to its model.
func acceptsNote(agent, event string) bool { return slices.Contains(noteEvents[agent], event) }

// noteEvents are the events at which an agent accepts a note. The tool events among them
// deliver a note in the middle of a turn; Claude Code waits only for PreToolUse, the others
// accept notes after a tool has run. Agents without such an event get the note at the next
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

// cursorAnswer lets Cursor go on. If the event is not known, the answer fits all events
// that expect one.
func cursorAnswer(event, warning string) []byte {
	if warning != "" && event == "beforeSubmitPrompt" {
		return encodeObject(map[string]any{"continue": true, "user_message": warning})
	}
	if warning != "" && cursorWaits(event) {
		return encodeObject(map[string]any{"permission": "allow", "user_message": warning, "agent_message": warning})
	}
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
