package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
)

const externalVersion = 1

var (
	errVersion = errors.New("version is not 1")
	errAnswer  = errors.New("answer is no JSON object, too large, or gives permission")
)

// ReadExternal reads the output of an external adapter for a payload.
//
// The program retake-agent-NAME gets the payload of the agent on stdin, and
// writes one JSON object to stdout, within the budget:
//
//	{"v": 1, "signals": [SIGNAL, ...], "answer": OBJECT or null}
//
// A SIGNAL has the fields of retake.Signal. Its id, time and agent are always set
// by Retake. Each signal passes admitSignal like those of built-in adapters: one
// without a valid session is dropped, long texts are truncated, paths that are not
// absolute are dropped; the other signals still count, up to 64. The answer is
// written to the agent as it is, unless it is not an object, is larger than 64 KiB,
// or grants permission to anything; then nothing is written. A note for the model
// cannot be delivered this way. If an adapter writes nothing, or anything else, its
// output is ignored and the agent gets no answer.
func ReadExternal(name string, said []byte, w EventContext) (ParsedEvent, []byte, error) {
	var reply struct {
		V       int               `json:"v"`
		Signals []json.RawMessage `json:"signals"`
		Answer  json.RawMessage   `json:"answer"`
	}
	if len(said) > maxPayload {
		return ParsedEvent{}, nil, fmt.Errorf("hear %s: %w", name, errTooLarge)
	}
	if err := json.Unmarshal(said, &reply); err != nil {
		return ParsedEvent{}, nil, fmt.Errorf("hear %s: %w", name, errNotObject)
	}
	if reply.V != externalVersion {
		return ParsedEvent{}, nil, fmt.Errorf("hear %s: %w", name, errVersion)
	}
	var heard ParsedEvent
	var errs []error
	for _, raw := range reply.Signals[:min(len(reply.Signals), maxSignals)] {
		var s retake.Signal
		err := json.Unmarshal(raw, &s)
		if err == nil {
			s.Agent, s.Hears, s.CanAsk = name, false, false
			err = admitSignal(&s, w)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("hear %s: %w", name, err))
			continue
		}
		heard.Signals = append(heard.Signals, s)
	}
	answer, err := checkExternalAnswer(reply.Answer)
	if err != nil {
		errs = append(errs, fmt.Errorf("answer %s: %w", name, err))
	}
	return heard, answer, errors.Join(errs...)
}

// checkExternalAnswer validates the answer of an external adapter and re-encodes it.
func checkExternalAnswer(raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if len(raw) > maxOutput || d.Decode(&v) != nil || givesPermission(v) {
		return nil, errAnswer
	}
	return encodeObject(v), nil
}

// givesPermission reports whether an answer grants something, in any agent's format.
func givesPermission(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			if givesPermission(inner) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if givesPermission(inner) {
				return true
			}
		}
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "allow", "approve", "approved", "allow_always", "always_allow":
			return true
		}
	}
	return false
}

// isExternalName reports whether a name may follow retake-agent-.
func isExternalName(name string) bool {
	if name == "" || len(name) > 64 || name[0] == '-' {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
