package transcript_test

import (
	"bytes"
	"testing"

	"github.com/retake-dev/retake/internal/agents/transcript"
)

func TestEndsWithTheLastWords(t *testing.T) {
	t.Parallel()
	for _, agent := range agents {
		data := recorded(t, agent)
		for message, want := range map[string]bool{
			"Everything is tidy.":           true,
			"  Everything\n is  tidy. ":     true,
			"Everything is\n[cut]":          true,
			"I begin.\nEverything is tidy.": true, // all that was said in the turn
			"":                              true,
			"The package is installed.":     false,
			"Everything is tidy. Or not.":   false,
		} {
			if got := transcript.EndsWith(agent, data, message); got != want {
				t.Errorf("%s ends with %q: %t", agent, message, got)
			}
		}
	}
}

// lastWords is where the record with the last words begins. Codex writes them for
// the screen too, before and after.
func lastWords(agent string, data []byte) int {
	mark := "Everything is tidy."
	if agent == "codex" {
		mark = `"role":"assistant"`
	}
	return bytes.LastIndexByte(data[:bytes.LastIndex(data, []byte(mark))], '\n') + 1
}

// An agent flushes its transcript while we look: no earlier state may be taken for
// the end.
func TestEndsNotBeforeTheLastWordsAreThere(t *testing.T) {
	t.Parallel()
	for _, agent := range agents {
		data := recorded(t, agent)
		for n := range lastWords(agent, data) {
			if transcript.EndsWith(agent, data[:n], "Everything is tidy.") {
				t.Fatalf("%s: %d of %d bytes end with the last words", agent, n, len(data))
			}
		}
	}
}

func TestEndsOfHalfARecord(t *testing.T) {
	t.Parallel()
	for _, agent := range agents {
		data := bytes.TrimSpace(recorded(t, agent))
		if transcript.EndsWith(agent, data[:len(data)-1], "") {
			t.Errorf("%s: half a record is whole", agent)
		}
		if !transcript.EndsWith(agent, data, "") {
			t.Errorf("%s: a record without its line end is not whole", agent)
		}
	}
	if transcript.EndsWith("codex", nil, "") {
		t.Error("nothing has an end")
	}
}

// The tail of a long transcript begins anywhere.
func TestEndsFromAnyBeginning(t *testing.T) {
	t.Parallel()
	for _, agent := range agents {
		data := recorded(t, agent)
		for n := lastWords(agent, data); n >= 0; n -= 97 {
			if !transcript.EndsWith(agent, data[n:], "Everything is tidy.") {
				t.Fatalf("%s: from byte %d of %d it has no end", agent, n, len(data))
			}
		}
	}
}
