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

// Codex writes what was said as items for the model, and again as events for the
// screen; only the items are read. What the program tells the model stands among
// them in messages of a developer, and of a user in angle brackets.
func readCodex(data []byte) []Line {
	var out lines
	tools := map[string]string{}
	for raw := range records(data) {
		r := into[codexRecord](raw)
		i := into[codexItem](r.Payload)
		at := when(r.Timestamp)
		switch {
		case r.Type == "compacted":
			out.say(Note, i.Message, at)
		case r.Type != "response_item":
		case i.Type == "message" && i.Role == "user":
			if s := prose(i.Content); !isTagged(s) {
				out.say(You, s, at)
			}
		case i.Type == "message" && i.Role == "assistant":
			out.say(Agent, prose(i.Content), at)
		case i.Type == "function_call":
			tools[i.Call] = i.Name
			out.call(i.Name, asked(i.Arguments), at)
		case i.Type == "custom_tool_call":
			tools[i.Call] = i.Name
			out.call(i.Name, asked(i.Input), at)
		case i.Type == "function_call_output", i.Type == "custom_tool_call_output":
			out.result(tools[i.Call], prose(i.Output), at)
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

func forkCodex(r ForkRequest) Branch {
	again := []string{"codex", "fork", r.Session}
	if why := unfit(r, "sessions", "*", "*", "*"); why != "" {
		return whole(r, why, again...)
	}
	data, ok := codexUpTo(r)
	if !ok {
		return whole(r, whyFormat, again...)
	}
	name := "rollout-" + r.Now.UTC().Format("2006-01-02T15-04-05") + "-" + r.New + ".jsonl"
	return Branch{
		Session: r.New,
		Files:   []File{{Path: filepath.Join(filepath.Dir(r.Path), name), Data: data}},
		Command: []string{"codex", "resume", r.New},
		Exact:   true,
	}
}

// codexUpTo is the rollout of a new thread, up to the end of the turn. The first
// record names the thread; its directory is where the thread goes on, else Codex
// asks for it.
func codexUpTo(r ForkRequest) (data []byte, ok bool) {
	reached, named := false, false
	for raw := range records(r.Data) {
		rec := into[codexRecord](raw)
		i := into[codexItem](rec.Payload)
		reached = reached || r.Turn != "" && i.Turn == r.Turn
		if reached && i.Type == "task_started" && i.Turn != r.Turn {
			break
		}
		switch {
		case rec.Type == "session_meta" && !named:
			named = true
			raw = splice(splice(raw, r.New, "payload", "id"), r.New, "payload", "session_id")
			if r.Dir != "" {
				raw = splice(raw, r.Dir, "payload", "cwd")
			}
			raw = splice(raw, r.Now.UTC().Format(time.RFC3339Nano), "payload", "timestamp")
		case rec.Type != "session_meta":
			raw = splice(splice(raw, r.New, "payload", "thread_id"), r.New, "payload", "session_id")
			ok = ok || named && rec.Type == "response_item"
		}
		data = append(append(data, raw...), '\n')
	}
	return data, ok
}
