package main

import "encoding/json"

// gemini is the dialect of Gemini CLI: contents of parts.
var gemini = dialect{read: readContents, write: writeContent}

type part struct {
	Text string `json:"text"`
	Call *struct {
		Name string `json:"name"`
	} `json:"functionCall"`
	Response *struct {
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

func (p part) said(who string) said {
	switch {
	case p.Call != nil:
		return said{Who: byModel, Tool: p.Call.Name}
	case p.Response != nil:
		return said{Who: byTool, Text: string(p.Response.Response)}
	}
	return said{Who: who, Text: p.Text}
}

func readContents(body []byte) (talk []said, tools []string, stream bool) {
	var q struct {
		Tools []struct {
			Functions []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Contents []struct {
			Role  string `json:"role"`
			Parts []part `json:"parts"`
		} `json:"contents"`
	}
	if json.Unmarshal(body, &q) != nil {
		return nil, nil, false
	}
	for _, t := range q.Tools {
		for _, f := range t.Functions {
			tools = append(tools, f.Name)
		}
	}
	for _, c := range q.Contents {
		who := byUser
		if c.Role == "model" {
			who = byModel
		}
		for _, p := range c.Parts {
			talk = append(talk, p.said(who))
		}
	}
	return talk, tools, false
}

func writeContent(w *wire, s step) {
	part := map[string]any{"text": s.Text}
	if s.Tool != "" {
		part = map[string]any{"functionCall": map[string]any{"name": s.Tool, "args": s.Args}}
	}
	answer := map[string]any{
		"candidates": []any{map[string]any{
			"content": map[string]any{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0,
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
		"modelVersion":  "fake",
	}
	if w.stream {
		w.event("", answer)
		return
	}
	writeJSON(w.to, answer)
}
