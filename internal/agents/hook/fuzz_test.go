package hook

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/iotest"
)

// An agent writes its event into a pipe, in pieces of any size, and may not close it. What is read
// is one JSON value from the beginning of the input, however it was cut.
func FuzzReadPayload(f *testing.F) {
	f.Add([]byte(`{"session_id":"s","prompt":"fix the test"}` + "\n"))
	f.Add([]byte("\ufeff{\"a\":1} {\"b\":2}"))
	f.Add([]byte(`{"a":`))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, input []byte) {
		payload, err := readPayload(bytes.NewReader(input))
		pieces, perr := readPayload(iotest.OneByteReader(bytes.NewReader(input)))
		if (err == nil) != (perr == nil) {
			t.Fatalf("at once: %v; byte by byte: %v", err, perr)
		}
		if !bytes.Contains(input, payload) {
			t.Fatalf("%q is not part of the input", payload)
		}
		if err != nil {
			return
		}
		if !json.Valid(payload) || !bytes.Equal(payload, pieces) {
			t.Fatalf("at once: %q; byte by byte: %q", payload, pieces)
		}
		rest := bytes.TrimLeft(bytes.TrimPrefix(input, byteOrderMark), " \t\r\n")
		if !bytes.HasPrefix(rest, payload) {
			t.Fatalf("%q is not the first value", payload)
		}
	})
}
