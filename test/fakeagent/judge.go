package fakeagent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// trouble is what is wrong with a hook that did not end with 0; nothing when it did.
func (r result) trouble() string {
	switch {
	case r.late:
		return "timed out"
	case r.err != nil:
		return r.err.Error()
	case r.exit != 0:
		return strings.TrimSpace(fmt.Sprintf("exit code %d %s", r.exit, r.complaint))
	}
	return ""
}

// answer is a JSON object on stdout, read by its agent's names.
type answer map[string]json.RawMessage

func (v answer) text(key string) string {
	var s string
	_ = json.Unmarshal(v[key], &s) // another type is no text
	return s
}

func (v answer) object(key string) answer {
	var o answer
	_ = json.Unmarshal(v[key], &o) // another type is no object
	return o
}

func (v answer) is(key, value string) bool { return string(bytes.TrimSpace(v[key])) == value }

// object reads exactly one JSON object.
func object(out string) (answer, bool) {
	var v answer
	err := json.Unmarshal([]byte(out), &v)
	return v, err == nil && v != nil
}

// judgeClaude: 0 goes on, 2 stops, anything else is complained about and passed
// over. Text that is no JSON is put before the model at a prompt and at the begin.
func judgeClaude(e event, name string, _ handler, r result) verdict {
	if t := r.trouble(); t != "" {
		if r.exit == 2 && !r.late {
			return verdict{stop: t}
		}
		return verdict{fault: t}
	}
	if r.out == "" {
		return verdict{}
	}
	if r.out[0] != '{' {
		if e.kind == asked || e.kind == begins {
			return verdict{notes: []string{r.out}}
		}
		return verdict{fault: "text that nobody reads: " + r.out}
	}
	v, ok := object(r.out)
	if !ok {
		return verdict{fault: "JSON that cannot be read: " + r.out}
	}
	return decided(name, v)
}

// decided reads the answer that Claude Code, Codex, Gemini CLI, Copilot and Droid share.
func decided(name string, v answer) verdict {
	out := decision(name, v)
	if text := v.text("systemMessage"); text != "" {
		out.shown = []string{text}
	}
	return out
}

// decision is whether the agent goes on, and with what.
func decision(name string, v answer) verdict {
	own := v.object("hookSpecificOutput")
	switch {
	case v.is("continue", "false"):
		return verdict{stop: "continue is false"}
	case v.text("decision") != "" && v.text("decision") != "allow" && v.text("decision") != "approve":
		return verdict{stop: v.text("decision") + " " + v.text("reason")}
	case own != nil && own.text("hookEventName") != name:
		return verdict{fault: "an answer to " + own.text("hookEventName")}
	}
	if p := cmp.Or(own.text("permissionDecision"), v.text("permissionDecision")); p == "allow" {
		return verdict{fault: "permission is given"}
	} else if p != "" {
		return verdict{stop: p + " " + own.text("permissionDecisionReason")}
	}
	if note := own.text("additionalContext"); note != "" {
		return verdict{notes: []string{note}}
	}
	return verdict{}
}

var codexKeys = []string{"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}

// judgeCodex: what begins like JSON must be JSON, and holds no other keys. A question, and a refusal
// without a reason, are errors, after which the tool runs.
func judgeCodex(e event, name string, h handler, r result) verdict {
	if strings.HasPrefix(r.out, "[") {
		return verdict{fault: "a list"}
	}
	if v, ok := object(r.out); ok {
		for key := range v {
			if !slices.Contains(codexKeys, key) {
				return verdict{fault: "the key " + key}
			}
		}
		own := v.object("hookSpecificOutput")
		if p := own.text("permissionDecision"); p != "" && (p != "deny" || own.text("permissionDecisionReason") == "") {
			return verdict{fault: "the permission " + p + " is not supported"}
		}
	}
	return judgeClaude(e, name, h, r)
}

// judgeGemini: nothing but JSON may be on stdout.
func judgeGemini(e event, name string, h handler, r result) verdict {
	if r.trouble() == "" && r.out != "" {
		if _, ok := object(r.out); !ok {
			return verdict{fault: "stdout is not JSON: " + r.out}
		}
	}
	return judgeClaude(e, name, h, r)
}

// judgeCopilot: a hook before a tool that fails denies the tool.
func judgeCopilot(e event, name string, h handler, r result) verdict {
	if t := r.trouble(); t != "" {
		if e.kind == before {
			return verdict{stop: t}
		}
		return verdict{fault: t}
	}
	return judgeClaude(e, name, h, r)
}

// judgeCursor: where it asks, an answer that is no JSON stops it; a hook that fails
// is passed over, unless the settings say otherwise.
func judgeCursor(e event, _ string, h handler, r result) verdict {
	asks := e.kind == before || e.kind == asked
	if t := r.trouble(); t != "" {
		if r.exit == 2 && !r.late || h.failClosed {
			return verdict{stop: t}
		}
		return verdict{fault: t}
	}
	v, ok := object(r.out)
	switch {
	case !ok && asks:
		return verdict{stop: "the answer is not JSON: " + r.out}
	case !ok && r.out != "":
		return verdict{fault: "the answer is not JSON: " + r.out}
	case v.text("permission") != "" && v.text("permission") != "allow":
		return verdict{stop: v.text("permission") + " " + v.text("agent_message")}
	case v.is("continue", "false"):
		return verdict{stop: "continue is false"}
	case e.kind == asked && !v.is("continue", "true"):
		return verdict{fault: "continue is not said"}
	}
	return verdict{}
}

// judgeCline: every hook answers with one object.
func judgeCline(_ event, _ string, _ handler, r result) verdict {
	if t := r.trouble(); t != "" {
		return verdict{fault: t}
	}
	v, ok := object(r.out)
	switch {
	case !ok || !v.is("cancel", "true") && !v.is("cancel", "false"):
		return verdict{fault: "no answer: " + r.out}
	case v.is("cancel", "true"):
		return verdict{stop: v.text("errorMessage")}
	}
	if note := v.text("contextModification"); note != "" {
		return verdict{notes: []string{note}}
	}
	return verdict{}
}

// judgeDocker: a hook before a tool that fails stops the tool. Text is put before
// the model.
func judgeDocker(e event, name string, _ handler, r result) verdict {
	if t := r.trouble(); t != "" {
		if r.exit == 2 && !r.late || e.kind == before {
			return verdict{stop: t}
		}
		return verdict{fault: t}
	}
	v, ok := object(r.out)
	own := v.object("hook_specific_output")
	switch {
	case r.out == "":
		return verdict{}
	case !ok:
		return verdict{notes: []string{r.out}}
	case v["hookSpecificOutput"] != nil:
		return verdict{fault: "the answer is in another spelling"}
	case v.text("decision") == "block":
		return verdict{stop: v.text("reason")}
	case own != nil && own.text("hook_event_name") != name:
		return verdict{fault: "an answer to " + own.text("hook_event_name")}
	}
	if p := own.text("permission_decision"); p == "allow" {
		return verdict{fault: "permission is given"}
	} else if p != "" {
		return verdict{stop: p + " " + own.text("permission_decision_reason")}
	}
	if note := own.text("additional_context"); note != "" {
		return verdict{notes: []string{note}}
	}
	return verdict{}
}
