package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// script is sdk/behaviours.json.
type script struct {
	Behaviours []behaviour `json:"behaviours"`
}

// behaviour is one thing that a client must do right, in a workspace of its own.
type behaviour struct {
	Name    string            `json:"name"`
	Files   map[string]string `json:"files"`   // of the workspace; none: there is no workspace but the default one
	Without map[string]string `json:"without"` // languages that cannot do it, and why
	Control string            `json:"control"` // it must fail, and say this: what it breaks must be noticed
	Steps   []step            `json:"steps"`
}

// step is a call, or something done around calls. Texts may hold {name}; a text $name.path
// is what was kept under the name.
type step struct {
	Call    string         `json:"call"`
	Args    map[string]any `json:"args"`
	Key     string         `json:"key"` // a kind, or a secret; empty: operator
	In      string         `json:"in"`  // a workspace; empty: that of the behaviour
	Retries *int           `json:"retries"`
	Fault   *fault         `json:"fault"`
	Keep    string         `json:"keep"`
	Want    [][]any        `json:"want"`  // path, word, value: of the answer
	Error   [][]any        `json:"error"` // the same, of the error that there must be
	Seen    [][]any        `json:"seen"`  // the same, of what the proxy saw
	Until   bool           `json:"until"` // asks again until it is as wanted

	Disk    *deed  `json:"disk"`
	Restart bool   `json:"restart"`
	Hook    string `json:"hook"` // waits for messages
	Count   int    `json:"count"`

	Then []step `json:"then"` // of follow: behind the first event
}

func readScript(file string) (script, error) {
	var s script
	text, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return s, d.Decode(&s)
}

var inText = regexp.MustCompile(`\{(\w+(?:\.\w+)*)\}`)

// filled puts what was kept into a value.
func filled(v any, kept map[string]any) any {
	switch v := v.(type) {
	case string:
		if name, ok := strings.CutPrefix(v, "$"); ok {
			return at(kept, name)
		}
		return inText.ReplaceAllStringFunc(v, func(m string) string {
			if x := at(kept, m[1:len(m)-1]); x != nil {
				return fmt.Sprint(x)
			}
			return m
		})
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = filled(v[i], kept)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[fmt.Sprint(filled(k, kept))] = filled(x, kept)
		}
		return out
	}
	return v
}

// at walks a path of names and numbers; -1 is the last.
func at(v any, path string) any {
	if path == "" {
		return v
	}
	for _, part := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[part]
		case []any:
			i, err := strconv.Atoi(part)
			if i < 0 {
				i += len(x)
			}
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// judge holds an answer against what is wanted of it.
func judge(v any, want [][]any, kept map[string]any) error {
	for _, w := range want {
		path, word := fmt.Sprint(w[0]), fmt.Sprint(w[1])
		var value any
		if len(w) > 2 {
			value = filled(w[2], kept)
		}
		got := at(v, path)
		if !holds(got, word, value) {
			text, _ := json.Marshal(got) // for people
			return fmt.Errorf("%s is %.300s, want %s %v", path, text, word, value)
		}
	}
	return nil
}

func holds(got any, word string, value any) bool {
	switch word {
	case "is":
		return reflect.DeepEqual(got, value)
	case "not":
		return !reflect.DeepEqual(got, value)
	case "set":
		return !empty(got)
	case "empty":
		return empty(got)
	case "count":
		list, _ := got.([]any)
		return float64(len(list)) == value
	case "above":
		n, ok := got.(float64)
		return ok && n > value.(float64)
	case "has":
		text, ok := got.(string)
		return ok && strings.Contains(text, fmt.Sprint(value)) || among(got, value) > 0
	case "once":
		return among(got, value) == 1
	}
	return false
}

// among counts the elements that contain a value.
func among(got, value any) int {
	list, _ := got.([]any)
	n := 0
	for _, x := range list {
		if contains(x, value) {
			n++
		}
	}
	return n
}

// contains: of an object, only the fields that value has are looked at.
func contains(x, value any) bool {
	fields, ok := value.(map[string]any)
	if !ok {
		return reflect.DeepEqual(x, value)
	}
	for k, v := range fields {
		if !reflect.DeepEqual(at(x, k), v) {
			return false
		}
	}
	return true
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case float64:
		return v == 0
	case bool:
		return !v
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// plain is a value as JSON has it.
func plain(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	return out, json.Unmarshal(text, &out)
}
