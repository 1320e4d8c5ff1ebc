package main

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
)

// anthropic is the dialect of Claude Code: messages of blocks.
var anthropic = dialect{read: readMessages, write: writeMessage}

var serial atomic.Int64

func newID(prefix string) string { return fmt.Sprintf("%s%06d", prefix, serial.Add(1)) }

type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"`
}

func readMessages(body []byte) (talk []said, tools []string, stream bool) {
	var q struct {
		Stream bool `json:"stream"`
		Tools  []struct {
			Name string `json:"name"`
		} `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(body, &q) != nil {
		return nil, nil, false
	}
	for _, t := range q.Tools {
		tools = append(tools, t.Name)
	}
	for _, m := range q.Messages {
		who := byUser
		if m.Role == "assistant" {
			who = byModel
		}
		for _, b := range blocks(m.Content) {
			switch b.Type {
			case "tool_use":
				talk = append(talk, said{Who: byModel, Tool: b.Name})
			case "tool_result":
				talk = append(talk, said{Who: byTool, Text: join(blocks(b.Content))})
			default:
				talk = append(talk, said{Who: who, Text: b.Text})
			}
		}
	}
	return talk, tools, q.Stream
}

// blocks reads content that is either one text or a list.
func blocks(raw json.RawMessage) []block {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var list []block
	_ = json.Unmarshal(raw, &list) // what is no list says nothing
	return list
}

func join(list []block) string {
	text := ""
	for _, b := range list {
		text += b.Text
	}
	return text
}

func writeMessage(w *wire, s step) {
	stop, content := "end_turn", map[string]any{"type": "text", "text": s.Text}
	if s.Tool != "" {
		stop, content = "tool_use", map[string]any{"type": "tool_use", "id": newID("toolu_"), "name": s.Tool, "input": s.Args}
	}
	usage := map[string]any{"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	message := map[string]any{
		"id": newID("msg_"), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}
	if !w.stream {
		message["content"], message["stop_reason"] = []any{content}, stop
		writeJSON(w.to, message)
		return
	}
	w.event("message_start", map[string]any{"type": "message_start", "message": message})
	start, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": s.Text}
	if s.Tool != "" {
		input, _ := json.Marshal(s.Args) // a map of texts
		start = map[string]any{"type": "tool_use", "id": content["id"], "name": s.Tool, "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
	}
	w.event("content_block_start", map[string]any{"type": "content_block_start", "index": 0, "content_block": start})
	w.event("content_block_delta", map[string]any{"type": "content_block_delta", "index": 0, "delta": delta})
	w.event("content_block_stop", map[string]any{"type": "content_block_stop", "index": 0})
	w.event("message_delta", map[string]any{
		"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": usage,
	})
	w.event("message_stop", map[string]any{"type": "message_stop"})
}
