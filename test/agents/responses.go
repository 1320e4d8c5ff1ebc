package main

import "encoding/json"

// responses is the dialect of Codex: a list of items.
var responses = dialect{read: readResponses, write: writeResponse}

func readResponses(body []byte) (talk []said, tools []string, stream bool) {
	var q struct {
		Stream bool `json:"stream"`
		Tools  []struct {
			Name string `json:"name"`
			Type string `json:"type"`
		} `json:"tools"`
		Input []struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Name    string          `json:"name"`
			Content json.RawMessage `json:"content"`
			Output  json.RawMessage `json:"output"`
		} `json:"input"`
	}
	if json.Unmarshal(body, &q) != nil {
		return nil, nil, false
	}
	for _, t := range q.Tools {
		tools = append(tools, t.Type+":"+t.Name)
	}
	for _, i := range q.Input {
		switch i.Type {
		case "function_call", "custom_tool_call", "local_shell_call":
			talk = append(talk, said{Who: byModel, Tool: i.Name})
		case "function_call_output", "custom_tool_call_output":
			talk = append(talk, said{Who: byTool, Text: join(blocks(i.Output))})
		case "message":
			who := byUser
			if i.Role == "assistant" {
				who = byModel
			}
			talk = append(talk, said{Who: who, Text: join(blocks(i.Content))})
		}
	}
	return talk, tools, q.Stream
}

func writeResponse(w *wire, s step) {
	id := newID("resp_")
	item := map[string]any{
		"type": "message", "id": newID("msg_"), "role": "assistant",
		"content": []any{map[string]any{"type": "output_text", "text": s.Text}},
	}
	switch {
	case s.Raw != "":
		item = map[string]any{"type": "custom_tool_call", "call_id": newID("call_"), "name": s.Tool, "input": s.Raw}
	case s.Tool != "":
		args, _ := json.Marshal(s.Args) // a map of texts
		item = map[string]any{"type": "function_call", "call_id": newID("call_"), "name": s.Tool, "arguments": string(args)}
	}
	usage := map[string]any{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
	w.event("response.created", map[string]any{"type": "response.created", "response": map[string]any{"id": id}})
	w.event("response.output_item.done", map[string]any{"type": "response.output_item.done", "output_index": 0, "item": item})
	w.event("response.completed", map[string]any{"type": "response.completed", "response": map[string]any{"id": id, "usage": usage}})
}
