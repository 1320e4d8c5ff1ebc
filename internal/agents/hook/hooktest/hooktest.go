// Package hooktest is the suite that every adapter passes: ours, and those that
// run as programs of their own.
//
// It calls an adapter with good payloads and with broken ones, and checks what
// it returns. It is independent of the agents.
package hooktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/hook"
)

// Adapter translates a payload, and returns the answer for the agent to a reaction of the
// service.
type Adapter func(payload []byte, w hook.EventContext, r retake.Reaction) (hook.ParsedEvent, []byte, error)

// Facts describe an adapter to the suite.
type Facts struct {
	Agent         string
	Payloads      map[string][]byte // valid ones, by name; some yield signals
	SilenceBlocks bool              // the agent blocks without an answer
}

// NewEventContext returns a context with a fixed time and numbered ids, so that two runs can
// be compared.
func NewEventContext() hook.EventContext {
	n := 0
	return hook.EventContext{
		Dir: "/home/dev/work", Now: time.Date(2026, 11, 14, 9, 0, 0, 0, time.UTC),
		NewID: func() retake.SignalID {
			n++
			return retake.SignalID(fmt.Sprintf("%s00000000-0000-7000-8000-%012d", retake.SignalPrefix, n))
		},
	}
}

// Run checks an adapter against everything that holds for all of them.
func Run(t *testing.T, hear Adapter, facts Facts) {
	t.Helper()
	t.Run("says something", func(t *testing.T) {
		kinds := make(map[retake.SignalKind]int)
		for name, payload := range facts.Payloads {
			heard := callAdapter(t, name, hear, facts, payload)
			for _, s := range heard.Signals {
				kinds[s.Kind]++
			}
		}
		if kinds[retake.SignalPrompt] == 0 || kinds[retake.SignalTurnEnd] == 0 {
			t.Errorf("signals: %v, want the beginning and the end of a turn", kinds)
		}
	})
	t.Run("the same again", func(t *testing.T) {
		for name, payload := range facts.Payloads {
			if diff := cmp.Diff(callAdapter(t, name, hear, facts, payload), callAdapter(t, name, hear, facts, payload)); diff != "" {
				t.Errorf("%s: two times, two meanings\n%s", name, diff)
			}
		}
	})
	t.Run("junk", func(t *testing.T) {
		for _, junk := range junkPayloads() {
			heard := callAdapter(t, fmt.Sprintf("%.20q", junk), hear, facts, []byte(junk))
			if len(heard.Signals) > 0 {
				t.Errorf("%.20q: %d signals", junk, len(heard.Signals))
			}
		}
	})
	t.Run("broken payloads", func(t *testing.T) {
		for name, payload := range facts.Payloads {
			for what, broken := range brokenPayloads(payload) {
				heard, answer, _ := hear(broken, NewEventContext(), retake.Reaction{}) // it may be refused
				if err := Check(facts, heard, answer); err != nil {
					t.Errorf("%s, %s: %v", name, what, err)
				}
			}
		}
	})
}

// callAdapter calls the adapter with and without a note, and checks the results.
func callAdapter(t *testing.T, name string, hear Adapter, facts Facts, payload []byte) hook.ParsedEvent {
	t.Helper()
	long := strings.Repeat("note\n\x00\xff", 4<<10)
	_, noted, _ := hear(payload, NewEventContext(), retake.Reaction{Note: long}) // the error is the same as below
	heard, answer, err := hear(payload, NewEventContext(), retake.Reaction{})
	if err != nil && !strings.Contains(err.Error(), facts.Agent) {
		t.Errorf("%s: the error does not name the agent: %v", name, err)
	}
	for _, a := range [][]byte{noted, answer} {
		if err := Check(facts, heard, a); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return heard
}

// Check returns an error unless the output of an adapter is valid.
func Check(facts Facts, heard hook.ParsedEvent, answer []byte) error {
	for i := range heard.Signals {
		if err := checkSignal(facts, &heard.Signals[i]); err != nil {
			return fmt.Errorf("signal %d: %w", i, err)
		}
	}
	if w := heard.Worktree; w != nil && (!isCleanAbs(w.Dir) || strings.ContainsAny(w.Name, "/\n\x00")) {
		return fmt.Errorf("worktree %+v", *w)
	}
	if len(answer) == 0 {
		return nil
	}
	var o map[string]any
	d := json.NewDecoder(bytes.NewReader(answer))
	if err := d.Decode(&o); err != nil || o == nil || d.More() {
		return fmt.Errorf("answer %.80q is not one object", answer)
	}
	if !utf8.Valid(answer) || len(answer) > 64<<10 {
		return fmt.Errorf("answer of %d bytes", len(answer))
	}
	if !facts.SilenceBlocks && bytes.Contains(bytes.ToLower(answer), []byte(`"allow"`)) {
		return fmt.Errorf("answer %.80q permits", answer)
	}
	return nil
}
