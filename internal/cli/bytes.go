package cli

import (
	"unicode/utf8"

	"github.com/retake-dev/retake"
)

// change and entry carry names that JSON cannot hold: text in JSON is UTF-8 and
// names are bytes. Where they differ, the bytes stand beside in base64.
type change struct {
	retake.Change
	PathBytes []byte `json:"path_bytes,omitempty"`
}

type entry struct {
	retake.Entry
	NameBytes []byte `json:"name_bytes,omitempty"`
}

func withBytes(changes []retake.Change) []change {
	out := make([]change, len(changes))
	for i, c := range changes {
		out[i] = change{Change: c, PathBytes: odd(c.Path)}
	}
	return out
}

func entriesWithBytes(entries []retake.Entry) []entry {
	out := make([]entry, len(entries))
	for i, e := range entries {
		out[i] = entry{Entry: e, NameBytes: odd(e.Name)}
	}
	return out
}

func odd(name string) []byte {
	if utf8.ValidString(name) {
		return nil
	}
	return []byte(name)
}
