package hook

import (
	"bytes"
	"encoding/json"
	"strings"
)

// jsonFields is a JSON object of which nothing is trusted: a field of another type
// than expected is a field that is not there.
type jsonFields map[string]json.RawMessage

func parseFields(raw []byte) (jsonFields, bool) {
	var f jsonFields
	if err := json.Unmarshal(raw, &f); err != nil || f == nil {
		return nil, false
	}
	return f, true
}

// text is the first of the named fields that is a text and not empty.
func (f jsonFields) text(names ...string) string {
	for _, name := range names {
		if s := jsonString(f[name]); s != "" {
			return s
		}
	}
	return ""
}

// raw is the first of the named fields that is there and not null.
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

// list is a field that is an array; ok tells an empty one from none.
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

// jsonString is a JSON string, or nothing.
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

// jsonStrings are the texts of an array.
func jsonStrings(items []json.RawMessage) []string {
	var out []string
	for _, item := range items {
		if s := jsonString(item); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// unwrapJSON is a value that may come as a text that holds JSON.
func unwrapJSON(raw json.RawMessage) json.RawMessage {
	s := strings.TrimSpace(jsonString(raw))
	if s == "" || s[0] != '{' && s[0] != '[' || !json.Valid([]byte(s)) {
		return raw
	}
	return json.RawMessage(s)
}
