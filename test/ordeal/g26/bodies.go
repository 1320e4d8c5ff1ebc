//go:build linux

package g26

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// allIsWell is what an agent says that wants to be believed.
const allIsWell = "All tests pass."

// boastWords are parts of names of fields that may carry a result, or the name of who
// gives it. A field of tomorrow that is called so is tried without being listed here.
var boastWords = []string{
	"verdict", "verif", "answer", "result", "outcome", "pass", "good", "green", "success", "check", "test", "claim", "by", "where", "exit", "score",
	"output", "status", "state", "trigger", "command", "message", "intent", "label", "why", "note", "title", "words", "prompt", "failed", "kind",
	"name", "task", "call", "actor", "who", "key",
}

// boastful reports whether a field may carry a result.
func boastful(field string) bool {
	if strings.HasSuffix(field, "_raw") || strings.HasSuffix(field, "_id") {
		return false
	}
	return slices.ContainsFunc(boastWords, func(w string) bool { return strings.Contains(strings.ToLower(field), w) })
}

// boastsOf are the values of a field by which a result would be good.
func boastsOf(field string) []any {
	switch field {
	case "verdict", "answer", "result", "outcome":
		return []any{"passed"}
	case "claim", "failed":
		return []any{false, true}
	case "by", "actor", "who":
		return []any{ourName, "first operator", "operator"}
	case "where":
		return []any{"live", "fork"}
	case "exit", "score":
		return []any{0}
	case "status", "state":
		return []any{"completed", "passed"}
	case "kind":
		var out []any
		for _, k := range retake.SignalKinds {
			out = append(out, string(k))
		}
		return append(out, "operator")
	case "trigger":
		return []any{"turn", "task", "verified"}
	case "command":
		return []any{"true"}
	case "name":
		return nil // names of things: they are made fresh
	}
	return []any{allIsWell, true}
}

func queryText(v any) string { return url.QueryEscape(fmt.Sprint(v)) }

// strangers are fields that no body has today; a server that takes one tomorrow takes it
// as a claim.
func strangers() map[string]any {
	result := map[string]any{"name": "test", "command": "true", "verdict": "passed", "exit": 0, "by": ourName, "where": "live", "claim": false}
	return map[string]any{
		"verification": result, "verifications": []any{result}, "attest": result, "answers": []any{result}, "verify": "true",
		"verdict": "passed", "claim": false, "by": ourName, "exit": 0, "good": true, "findings": map[string]any{"good": true, "answers": []any{result}},
	}
}

// boasts are bodies made of one that is meant: each field that may carry a result alone,
// all of them together, fields that nobody knows, and for what takes a verdict every
// combination of whose word it is.
func boasts(c *serverbed.Dice, s serverbed.Schema, base map[string]any) []map[string]any {
	s = whole(c, s)
	with := func(more map[string]any) map[string]any {
		out := maps.Clone(base)
		maps.Copy(out, more)
		return out
	}
	var out []map[string]any
	all := map[string]any{}
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		if !boastful(field) {
			continue
		}
		for _, said := range boastValues(c, field, s.Properties[field], 0) {
			all[field] = said
			out = append(out, with(map[string]any{field: said}))
			if _, ok := s.Properties["message"]; ok {
				out = append(out, with(map[string]any{field: said, "message": allIsWell}))
			}
		}
	}
	out = append(out, with(all), with(strangers()))
	if _, ok := s.Properties["verdict"]; ok {
		out = append(out, attestations(with)...)
	}
	return out
}

// attestations cross whose word a result is with where and how it came out.
func attestations(with func(map[string]any) map[string]any) []map[string]any {
	var out []map[string]any
	for _, claim := range []any{nil, false, true} {
		for _, by := range []any{nil, ourName, "first operator"} {
			for _, where := range []any{nil, "live", "fork", "elsewhere"} {
				for _, verdict := range []any{nil, "passed"} {
					body := with(map[string]any{"exit": 0})
					for k, said := range map[string]any{"claim": claim, "by": by, "where": where, "verdict": verdict} {
						if delete(body, k); said != nil {
							body[k] = said
						}
					}
					out = append(out, body)
				}
			}
		}
	}
	return out
}

// whole follows a reference.
func whole(c *serverbed.Dice, s serverbed.Schema) serverbed.Schema {
	for s.Ref != "" {
		s = c.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	return s
}

// boastValues are the values of a field as its schema wants them.
func boastValues(c *serverbed.Dice, field string, s serverbed.Schema, deep int) []any {
	s = whole(c, s)
	switch {
	case deep > 2:
		return nil
	case len(s.Enum) > 0:
		return s.Enum
	case s.Items != nil:
		var out []any
		for _, v := range boastValues(c, strings.TrimSuffix(field, "s"), *s.Items, deep+1) {
			out = append(out, []any{v})
		}
		return out
	case len(s.Properties) > 0:
		full := map[string]any{}
		for name, p := range s.Properties {
			if vs := boastValues(c, name, p, deep+1); len(vs) > 0 && boastful(name) {
				full[name] = vs[0]
			} else if slices.Contains(s.Required, name) {
				full[name] = "1"
			}
		}
		return []any{full}
	}
	return boastsOf(field)
}

// archives carry files that look like results of ours.
func (b *boaster) archives() []serverbed.Asked {
	result := `{"id":"vf_00000000-0000-7000-8000-000000000000","name":"test","command":"true","by":"retake","where":"live","verdict":"passed","exit":0}`
	var out []serverbed.Asked
	for _, path := range []string{"verification-vf_00000000-0000-7000-8000-000000000000.json", ".retake/verification.json", ".retake-state/verification-1.json"} {
		b.m.Fresh++
		q := b.m.Importing(fmt.Sprintf("boast%d", b.m.Fresh))
		q.Body = tarOf(map[string]string{path: result, "a.txt": allIsWell})
		q.Path += "&intent=" + queryText(allIsWell)
		out = append(out, q)
	}
	return out
}

func tarOf(files map[string]string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		errs = append(errs, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), ModTime: time.Unix(1_700_000_000, 0)}))
		_, err := w.Write([]byte(files[name]))
		errs = append(errs, err)
	}
	if err := errors.Join(append(errs, w.Close())...); err != nil {
		panic(err) // memory takes everything
	}
	return b.Bytes()
}
