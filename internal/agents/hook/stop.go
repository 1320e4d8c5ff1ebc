package hook

import (
	"slices"

	"github.com/retake-dev/retake"
)

// askingAgents can ask their user whether a call may run. All others only know a refusal: Codex takes
// a question for an error and runs the call, and Gemini CLI does not document one.
var askingAgents = []string{claudeCode, droid, copilot, dockerAgent, cursor}

// addStop adds the refusal of a call, or the question about it, in the format of the agent.
func addStop(answer map[string]any, agent, event string, s *retake.Stop) {
	text := truncate(s.Text, maxNote)
	decision := "deny"
	if s.Policy == retake.GateAsk && slices.Contains(askingAgents, agent) {
		decision = "ask"
	}
	switch agent {
	case cursor:
		answer["permission"], answer["user_message"], answer["agent_message"] = decision, text, text
	case cline:
		answer["cancel"], answer["errorMessage"] = true, text
	case gemini:
		answer["decision"], answer["reason"] = decision, text
	case opencode, pi:
		answer["stop"] = text
	case dockerAgent:
		addPermission(answer, "hook_specific_output", "hook_event_name", event, "permission_decision", decision, "permission_decision_reason", text)
	default:
		addPermission(answer, "hookSpecificOutput", "hookEventName", event, "permissionDecision", decision, "permissionDecisionReason", text)
	}
	if agent == copilot { // its own format, beside the one that it shares with others
		answer["permissionDecision"], answer["permissionDecisionReason"] = decision, text
	}
}

// addPermission adds pairs of names and values to an object of the answer.
func addPermission(answer map[string]any, object string, pairs ...string) {
	o, ok := answer[object].(map[string]string)
	if !ok {
		o = map[string]string{}
		answer[object] = o
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		o[pairs[i]] = pairs[i+1]
	}
}
