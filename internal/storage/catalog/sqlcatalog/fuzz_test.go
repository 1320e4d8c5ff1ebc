package sqlcatalog

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/retake-dev/retake"
)

// rowTypes are the types that the catalog keeps as JSON.
var rowTypes = []func() any{
	func() any { return new(retake.Checkpoint) },
	func() any { return new(retake.Tombstone) },
	func() any { return new(retake.Pin) },
	func() any { return new(retake.Workspace) },
	func() any { return new(retake.Verification) },
	func() any { return new(retake.Gist) },
	func() any { return new(retake.Fact) },
}

// Rows are read by later versions and written again: what was read once must stay as it is.
func FuzzRowJSON(f *testing.F) {
	for kind, text := range []string{
		`{"id":"cp_1","workspace":"ws_1","number":3,"time":"2026-03-02T12:00:00Z","turn":{"agent":"codex","session":"s"},"coverage":{"grade":"complete"}}`,
		`{"number":3,"id":"cp_1","parent":"cp_0"}`,
		`{"name":"before","checkpoint":"cp_1"}`,
		`{"id":"ws_1","root":"/w","name":"n","name_raw":"/w=="}`,
		`{"name":"test","command":"go test","verdict":"passed","took":7}`,
		`{"v":1,"text":"edited a"}`,
		`{"kind":"added","path":"a"}`,
	} {
		f.Add(byte(kind), []byte(text))
	}
	f.Fuzz(func(t *testing.T, kind byte, text []byte) {
		newValue := rowTypes[int(kind)%len(rowTypes)]
		v := newValue()
		if decodeJSON(text, v) != nil {
			return
		}
		first, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%T was read and cannot be written: %v", v, err)
		}
		again := newValue()
		if err := decodeJSON(first, again); err != nil {
			t.Fatalf("%T cannot read what it wrote: %v\n%s", v, err, first)
		}
		if second, err := json.Marshal(again); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%T changes with every pass: %v\n%s\n%s", v, err, first, second)
		}
	})
}

// A name becomes a key of bytes, which every database can index. Names have the same key only if they
// are the same text, and a name is found under the text that it was shown as.
func FuzzNameKey(f *testing.F) {
	f.Add("README.md", "readme.MD")
	f.Add("a\x00b", "a\xffb")
	f.Add(strings.Repeat("\x98", 200), strings.Repeat("x", maxKeyLen+1))
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := nameKey(a), nameKey(b)
		if len(x) > maxKeyLen || bytes.Equal(x, y) != (validUTF8(a) == validUTF8(b)) {
			t.Fatalf("%q has the key %q, %q has %q", a, x, b, y)
		}
		text := validUTF8(a)
		if !utf8.ValidString(text) || utf8.ValidString(a) && text != a || !bytes.Equal(nameKey(text), x) {
			t.Fatalf("%q became %q", a, text)
		}
	})
}
