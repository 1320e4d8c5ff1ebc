package retake_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/retake-dev/retake"
)

// storedTypes are the types with a JSON form of their own: they keep bytes that are not UTF-8.
var storedTypes = []func() any{
	func() any { return new(retake.Entry) },
	func() any { return new(retake.Extra) },
	func() any { return new(retake.Gap) },
	func() any { return new(retake.Change) },
	func() any { return new(retake.Workspace) },
	func() any { return new(retake.WorkspaceState) },
	func() any { return new(retake.Estimate) },
	func() any { return new(retake.Step) },
	func() any { return new(retake.Keep) },
	func() any { return new(retake.Plan) },
	func() any { return new(retake.DamagedPath) },
	func() any { return new(retake.Card) },
	func() any { return new(retake.Signal) },
}

// Stored formats are read by later versions and written again. What was read once must not change
// when it is written and read a second time.
func FuzzStoredJSON(f *testing.F) {
	for kind, text := range []string{
		`{"name":"a","kind":"file","mode":420,"size":3,"name_raw":"/w=="}`,
		`{"xattrs":{"user.a":"eA==","raw:/w==":""}}`,
		`{"path":"d/a","why":"socket","path_raw":"/w=="}`,
		`{"path":"a","what":"edited"}`,
		`{"id":"ws_1","root":"/w","root_raw":"L/8=","name":"n"}`,
		`{"id":"ws_1","root":"/w","count":3,"gone":true,"latest":{"id":"cp_1","number":1}}`,
		`{"root":"/w","heaviest":"x","heaviest_raw":"/w=="}`,
		`{"path":"a","what":"added","then":{"name":"a","kind":"symlink","target":"b"}}`,
		`{"path":"a","side":"a.theirs","why":"changed"}`,
		`{"digest":"7f3a","writes":[{"path":"a","unit":"u","unit_raw":"/w=="}],"paths":["a"],"paths_raw":["/w=="]}`,
		`{"path":"a","path_raw":"/w=="}`,
		`{"v":1,"checkpoint":{"id":"cp_1","time":"2026-03-02T12:00:00Z"}}`,
		`{"id":"sg_1","kind":"call","call":{"tool":"Bash","input":{"a": 1}}}`,
	} {
		f.Add(byte(kind), []byte(text))
	}
	f.Fuzz(func(t *testing.T, kind byte, text []byte) {
		newValue := storedTypes[int(kind)%len(storedTypes)]
		v := newValue()
		if json.Unmarshal(text, v) != nil {
			return
		}
		first, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%T was read and cannot be written: %v", v, err)
		}
		again := newValue()
		if err := json.Unmarshal(first, again); err != nil {
			t.Fatalf("%T cannot read what it wrote: %v\n%s", v, err, first)
		}
		if second, err := json.Marshal(again); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%T changes with every pass: %v\n%s\n%s", v, err, first, second)
		}
	})
}

// Names are bytes: each one must come back from JSON as it was.
func FuzzNamesSurviveJSON(f *testing.F) {
	f.Add("a\xff", "user.x", []byte("v"))
	f.Add("", "raw:eA==", []byte{})
	f.Add("\u2028<&>\x00", "user.\xc3\x28", []byte(nil))
	f.Fuzz(func(t *testing.T, name, attribute string, value []byte) {
		in := retake.Step{Path: name, Unit: name, Then: &retake.Entry{Name: name, Extra: &retake.Extra{Xattrs: map[string][]byte{attribute: value}}}}
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out retake.Step
		if err := json.Unmarshal(b, &out); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		got, ok := out.Then.Extra.Xattrs[attribute]
		if out.Path != name || out.Unit != name || out.Then.Name != name || !ok || !bytes.Equal(got, value) || len(out.Then.Extra.Xattrs) != 1 {
			t.Fatalf("%q and %q came back as %+v %+v", name, attribute, out, out.Then.Extra)
		}
	})
}
