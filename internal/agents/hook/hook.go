package hook

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/retake-dev/retake"
)

// The agents with a built-in adapter.
const (
	claudeCode  = "claude-code"
	codex       = "codex"
	gemini      = "gemini"
	opencode    = "opencode"
	dockerAgent = "docker-agent"
	cursor      = "cursor"
	copilot     = "copilot"
	cline       = "cline"
	pi          = "pi"
	droid       = "droid"
)

// Agents returns the names of the agents with a built-in adapter.
func Agents() []string {
	return []string{claudeCode, codex, gemini, opencode, dockerAgent, cursor, copilot, cline, pi, droid}
}

// EventContext is what a payload does not contain.
type EventContext struct {
	Dir   string // working directory of the process, for payloads that name none
	Now   time.Time
	NewID func() retake.SignalID
}

// ParsedEvent is the content of one payload.
type ParsedEvent struct {
	Event    string // the agent's own name of it
	Signals  []retake.Signal
	Worktree *WorktreeRequest
}

// WorktreeRequest is what Claude Code asks for instead of a git worktree: a new one by
// name, or the removal of one.
type WorktreeRequest struct {
	Name   string // of the new one
	Remove string // path of the old one
	Dir    string // where the agent works
}

var (
	errNotObject = errors.New("payload is no JSON object")
	errTooLarge  = errors.New("payload is too large")
)

// eventReader translates one payload into signals.
type eventReader struct {
	agent    string
	fields   jsonFields
	event    string
	base     retake.Signal // what all signals of this payload have in common
	signals  []retake.Signal
	worktree *WorktreeRequest
}

// addSignal adds a signal. The turns and sessions of a subagent are not those of its agent,
// so their kinds are changed.
func (h *eventReader) addSignal(kind retake.SignalKind, edit func(*retake.Signal)) {
	s := h.base
	s.Kind = kind
	if s.Subagent != "" {
		s.Kind = subagentKind(kind)
	}
	if edit != nil {
		edit(&s)
	}
	h.signals = append(h.signals, s)
}

// subagentKind returns the kind of a signal if a subagent sent it.
func subagentKind(kind retake.SignalKind) retake.SignalKind {
	switch kind {
	case retake.SignalPrompt, retake.SignalSessionStart:
		return retake.SignalSubagentStart
	case retake.SignalTurnEnd, retake.SignalSessionEnd:
		return retake.SignalSubagentEnd
	default:
		return kind
	}
}

// Translate translates one payload. An event that has no meaning for Retake yields neither
// a signal nor an error.
func Translate(agent string, payload []byte, w EventContext) (ParsedEvent, error) {
	hear := adapterFor(agent)
	if hear == nil {
		return ParsedEvent{}, fmt.Errorf("hear %.40q: no adapter", agent)
	}
	if len(payload) > maxPayload {
		return partialEvent(agent, payload), fmt.Errorf("hear %s: %w", agent, errTooLarge)
	}
	f, ok := parseFields(bytes.TrimPrefix(payload, byteOrderMark))
	if !ok {
		return partialEvent(agent, payload), fmt.Errorf("hear %s: %w", agent, errNotObject)
	}
	h := &eventReader{agent: agent, fields: f}
	hear(h)
	heard := ParsedEvent{Event: cleanID(h.event), Worktree: h.worktree.admit(w)}
	for _, s := range h.signals {
		s.Agent = agent
		if err := admitSignal(&s, w); err != nil {
			return ParsedEvent{Event: heard.Event, Worktree: heard.Worktree}, fmt.Errorf("hear %s %s: %w", agent, heard.Event, err)
		}
		heard.Signals = append(heard.Signals, s)
	}
	return heard, nil
}

// adapterFor returns the adapter of an agent, or nil.
func adapterFor(agent string) func(*eventReader) {
	switch agent {
	case claudeCode, codex, copilot, droid, pi:
		return readClaudeEvent
	case gemini:
		return readGeminiEvent
	case opencode:
		return readOpencodeEvent
	case dockerAgent:
		return readDockerEvent
	case cursor:
		return readCursorEvent
	case cline:
		return readClineEvent
	default:
		return nil
	}
}

// partialEvent returns what is known of a payload that is not JSON or is too large: the
// event, if its name can be found. Cursor blocks if an event is not answered, so there a
// name that expects no answer is not trusted.
func partialEvent(agent string, payload []byte) ParsedEvent {
	event := guessEventName(payload)
	if agent == cursor && !cursorWaits(event) {
		event = ""
	}
	return ParsedEvent{Event: event}
}

// guessEventName finds the name of the event without parsing the payload.
func guessEventName(payload []byte) string {
	for _, key := range []string{`"hook_event_name"`, `"hookName"`} {
		_, rest, ok := bytes.Cut(payload, []byte(key))
		if !ok {
			continue
		}
		rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest[:min(len(rest), 256)], " \t\r\n"), []byte(":"))
		if !ok {
			continue
		}
		rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"`))
		if name, _, closed := bytes.Cut(rest, []byte(`"`)); ok && closed && len(name) <= maxID {
			return cleanID(string(name))
		}
	}
	return ""
}
