package main

import (
	"encoding/json"
	"fmt"
)

// completions is the dialect of opencode: chat completions.
var completions = dialect{read: readCompletions, write: writeCompletion}

func readCompletions(body []byte) (talk []said, tools []string, stream bool) {
	var q struct {
		Stream bool `json:"stream"`
		Tools  []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Calls   []struct {
				Function struct {
					Name string `json:"name"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if json.Unmarshal(body, &q) != nil {
		return nil, nil, false
	}
	for _, t := range q.Tools {
		tools = append(tools, t.Function.Name)
	}
	for _, m := range q.Messages {
		who := map[string]string{"assistant": byModel, "tool": byTool, "user": byUser}[m.Role]
		if text := join(blocks(m.Content)); text != "" {
			talk = append(talk, said{Who: who, Text: text})
		}
		for _, c := range m.Calls {
			talk = append(talk, said{Who: byModel, Tool: c.Function.Name})
		}
	}
	return talk, tools, q.Stream
}

func writeCompletion(w *wire, s step) {
	id, finish, delta := newID("chat_"), "stop", map[string]any{"role": "assistant", "content": s.Text}
	if s.Tool != "" {
		args, _ := json.Marshal(s.Args) // a map of texts
		finish = "tool_calls"
		delta = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": 0, "id": newID("call_"), "type": "function",
			"function": map[string]any{"name": s.Tool, "arguments": string(args)},
		}}}
	}
	usage := map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	if !w.stream {
		writeJSON(w.to, map[string]any{"id": id, "object": "chat.completion", "model": "fake", "usage": usage,
			"choices": []any{map[string]any{"index": 0, "message": delta, "finish_reason": finish}}})
		return
	}
	chunk := func(delta map[string]any, finish any) map[string]any {
		return map[string]any{"id": id, "object": "chat.completion.chunk", "created": 1, "model": "fake",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}
	}
	w.event("", chunk(delta, nil))
	last := chunk(map[string]any{}, finish)
	last["usage"] = usage
	w.event("", last)
	fmt.Fprint(w.to, "data: [DONE]\n\n")
}
