package hooktest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// junkPayloads returns inputs that are not payloads.
func junkPayloads() []string {
	return []string{
		"", " ", "null", "true", "1e999", `"text"`, "[]", "[{}]", "{}", "{", "}", `{"a"}`, "\x00", "\xff\xfe{\x00}\x00", "\xef\xbb\xbf{}",
		"not json", `{"hook_event_name":"Stop"}{"hook_event_name":"Stop"}`, `{"session_id":"` + strings.Repeat("a", 1<<16),
		strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 20_000), `{"hook_event_name":{},"session_id":[]}`,
	}
}

// wrongValues returns values that no field of a payload has.
func wrongValues() map[string]any {
	return map[string]any{
		"null": nil, "number": 1e308, "false": false, "list": []any{1, "x", nil}, "object": map[string]any{"a": map[string]any{}},
		"climbing": "../../../etc/passwd", "lines": "a\nb\r\x00\x1b[31m", "invalid": "\xff\xfe\xed\xa0\x80", "dots": "..",
		"direction": "a\u202eb\u2028", "empty": "", "long": strings.Repeat("ü", 300), "json": `{"a":[1]}`,
	}
}

// brokenPayloads returns damaged variants of a payload: truncated, one field of another type
// or form, all texts too long or empty.
func brokenPayloads(payload []byte) map[string][]byte {
	out := make(map[string][]byte)
	for _, part := range []int{2, 3, 10} {
		out[fmt.Sprintf("cut at 1/%d", part)] = payload[:len(payload)/part]
	}
	var o map[string]any
	if json.Unmarshal(payload, &o) != nil {
		return out
	}
	for what, v := range wrongValues() {
		replaceEach(o, v, func(name string) { out[name+" is "+what] = encodeJSON(o) })
	}
	out["all long"] = encodeJSON(replaceTexts(o, strings.Repeat(`long "text" `, 6<<10)))
	out["all empty"] = encodeJSON(replaceTexts(o, ""))
	return out
}

// replaceEach replaces each field by v, one after the other, and calls back.
func replaceEach(o map[string]any, v any, call func(name string)) {
	for name, old := range o {
		o[name] = v
		call(name)
		o[name] = old
		if inner, ok := old.(map[string]any); ok {
			replaceEach(inner, v, func(below string) { call(name + "." + below) })
		}
	}
}

// replaceTexts replaces every text except the name of the event and the ids.
func replaceTexts(o map[string]any, text string) map[string]any {
	out := make(map[string]any)
	for name, v := range o {
		switch old := v.(type) {
		case map[string]any:
			out[name] = replaceTexts(old, text)
		case string:
			out[name] = text
			if keep := strings.ToLower(name); strings.HasSuffix(keep, "id") || strings.HasPrefix(keep, "hook") || keep == "tool_name" || keep == "toolname" {
				out[name] = old
			}
		default:
			out[name] = v
		}
	}
	return out
}

// encodeJSON encodes JSON but keeps bytes that are not valid UTF-8.
func encodeJSON(o map[string]any) []byte {
	raw, err := json.Marshal(o)
	if err != nil {
		return nil
	}
	return []byte(strings.ReplaceAll(string(raw), `\ufffd`, "\xff"))
}
