package hook

import (
	"bytes"
	"encoding/json"
	"strings"
)

// jsonFields is an untrusted JSON object: a field of an unexpected type is treated as
// missing.
type jsonFields map[string]json.RawMessage

func parseFields(raw []byte) (jsonFields, bool) {
	var f jsonFields
	if err := json.Unmarshal(raw, &f); err != nil || f == nil {
		return nil, false
	}
	return f, true
}

// text returns the first of the named fields that is a non-empty string.
func (f jsonFields) text(names ...string) string {
	for _, name := range names {
		if s := jsonString(f[name]); s != "" {
			return s
		}
	}
	return ""
}

// raw returns the first of the named fields that is present and not null.
func (f jsonFields) raw(names ...string) json.RawMessage {
	for _, name := range names {
		if v := bytes.TrimSpace(f[name]); len(v) > 0 && !bytes.Equal(v, []byte("null")) {
			return v
		}
	}
	return nil
}

func (f jsonFields) object(names ...string) jsonFields {
	o, _ := parseFields(f.raw(names...))
	return o
}

// list returns a field that is an array; ok distinguishes an empty one from none.
func (f jsonFields) list(names ...string) (items []json.RawMessage, ok bool) {
	v := f.raw(names...)
	if len(v) == 0 || v[0] != '[' {
		return nil, false
	}
	return items, json.Unmarshal(v, &items) == nil
}

func (f jsonFields) isTrue(name string) bool {
	return bytes.Equal(bytes.TrimSpace(f[name]), []byte("true"))
}

func (f jsonFields) isFalse(name string) bool {
	return bytes.Equal(bytes.TrimSpace(f[name]), []byte("false"))
}

// jsonString returns a JSON string, or "".
func jsonString(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return ""
	}
	return s
}

// jsonStrings returns the non-empty strings of an array.
func jsonStrings(items []json.RawMessage) []string {
	var out []string
	for _, item := range items {
		if s := jsonString(item); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// unwrapJSON returns the JSON in a string that contains JSON, else raw itself.
func unwrapJSON(raw json.RawMessage) json.RawMessage {
	s := strings.TrimSpace(jsonString(raw))
	if s == "" || s[0] != '{' && s[0] != '[' || !json.Valid([]byte(s)) {
		return raw
	}
	return json.RawMessage(s)
}
