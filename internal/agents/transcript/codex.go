package transcript

import (
	"encoding/json"
	"path/filepath"
	"time"
)

// codexRecord is one line of a rollout.
type codexRecord struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

type codexItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Output    json.RawMessage `json:"output"`
	Call      string          `json:"call_id"`
	Turn      string          `json:"turn_id"`
	Message   string          `json:"message"`
	Metadata  struct {
		Kinds []string `json:"content_item_kinds"`
	} `json:"internal_chat_message_metadata_passthrough"`
}

// readCodex reads a rollout of Codex. Codex writes what was said as items for the model,
// and again as events for the screen; only the items are read. Text from the program is in
// messages of a developer, or in angle brackets in messages of a user.
func readCodex(data []byte) []Line {
	var out lineList
	tools := map[string]string{}
	for raw := range jsonRecords(data) {
		r := decode[codexRecord](raw)
		i := decode[codexItem](r.Payload)
		at := parseTime(r.Timestamp)
		switch {
		case r.Type == "compacted":
			out.addText(Note, i.Message, at)
		case r.Type != "response_item":
		case i.Type == "message" && i.Role == "user":
			if s := joinTexts(i.Content); !isTagged(s) {
				out.addText(You, s, at)
			}
		case i.Type == "message" && i.Role == "assistant":
			out.addText(Agent, joinTexts(i.Content), at)
		case i.Type == "function_call":
			tools[i.Call] = i.Name
			out.addCall(i.Name, toolInputText(i.Arguments), at)
		case i.Type == "custom_tool_call":
			tools[i.Call] = i.Name
			out.addCall(i.Name, toolInputText(i.Input), at)
		case i.Type == "function_call_output", i.Type == "custom_tool_call_output":
			out.addResult(tools[i.Call], joinTexts(i.Output), at)
		}
	}
	return out
}

// isTagged reports whether a text is one that programs wrap for a model, as in
// <environment_context>.
func isTagged(s string) bool {
	if len(s) < 3 || s[0] != '<' {
		return false
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '>':
			return i > 1
		case (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-':
			return false
		}
	}
	return false
}

// forkCodex writes the rollout up to the turn as a new thread beside the old one.
func forkCodex(r ForkRequest) Branch {
	again := []string{"codex", "fork", r.Session}
	if why := forkObstacle(r, "sessions", "*", "*", "*"); why != "" {
		return wholeBranch(r, why, again...)
	}
	data, ok := codexForkData(r)
	if !ok {
		return wholeBranch(r, reasonFormat, again...)
	}
	name := "rollout-" + r.Now.UTC().Format("2006-01-02T15-04-05") + "-" + r.NewSession + ".jsonl"
	return Branch{
		Session: r.NewSession,
		Files:   []File{{Path: filepath.Join(filepath.Dir(r.Path), name), Data: data}},
		Command: []string{"codex", "resume", r.NewSession},
		Exact:   true,
	}
}

// codexForkData returns the rollout of a new thread, up to the end of the turn. The first
// record has the id of the thread and the directory where it continues; without it Codex
// would ask for the directory.
func codexForkData(r ForkRequest) (data []byte, ok bool) {
	reached, named := false, false
	for raw := range jsonRecords(r.Data) {
		rec := decode[codexRecord](raw)
		i := decode[codexItem](rec.Payload)
		reached = reached || r.Turn != "" && i.Turn == r.Turn
		if reached && i.Type == "task_started" && i.Turn != r.Turn {
			break
		}
		switch {
		case rec.Type == "session_meta" && !named:
			named = true
			raw = replaceString(replaceString(raw, r.NewSession, "payload", "id"), r.NewSession, "payload", "session_id")
			if r.Dir != "" {
				raw = replaceString(raw, r.Dir, "payload", "cwd")
			}
			raw = replaceString(raw, r.Now.UTC().Format(time.RFC3339Nano), "payload", "timestamp")
		case rec.Type != "session_meta":
			raw = replaceString(replaceString(raw, r.NewSession, "payload", "thread_id"), r.NewSession, "payload", "session_id")
			ok = ok || named && rec.Type == "response_item"
		}
		data = append(append(data, raw...), '\n')
	}
	return data, ok
}
