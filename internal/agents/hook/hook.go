package hook

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/retake-dev/retake"
)

// The agents with an adapter of ours.
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

// Agents lists the names that have an adapter of ours.
func Agents() []string {
	return []string{claudeCode, codex, gemini, opencode, dockerAgent, cursor, copilot, cline, pi, droid}
}

// World is what a payload does not say.
type World struct {
	Dir   string // working directory of the process, for payloads that name none
	Now   time.Time
	NewID func() retake.SignalID
}

// Heard is what one payload says.
type Heard struct {
	Event    string // the agent's own name of it
	Signals  []retake.Signal
	Worktree *Worktree
}

// Worktree is what Claude Code asks for instead of a git worktree: a new one by
// name, or the removal of one.
type Worktree struct {
	Name   string // of the new one
	Remove string // path of the old one
	Dir    string // where the agent works
}

var (
	errJunk  = errors.New("payload is no JSON object")
	errLarge = errors.New("payload is too large")
)

// hearing is one payload on its way to signals.
type hearing struct {
	agent string
	f     fields
	event string
	base  retake.Signal // what all signals of this payload have in common
	out   []retake.Signal
	tree  *Worktree
}

// say adds a signal. What a subagent begins and ends are not the turns and the
// sessions of its agent.
func (h *hearing) say(kind retake.SignalKind, edit func(*retake.Signal)) {
	s := h.base
	s.Kind = kind
	if s.Subagent != "" {
		s.Kind = below(kind)
	}
	if edit != nil {
		edit(&s)
	}
	h.out = append(h.out, s)
}

func below(kind retake.SignalKind) retake.SignalKind {
	switch kind {
	case retake.SignalPrompt, retake.SignalSessionStart:
		return retake.SignalSubagentStart
	case retake.SignalTurnEnd, retake.SignalSessionEnd:
		return retake.SignalSubagentEnd
	default:
		return kind
	}
}

// Translate reads one payload. No signal and no error: an event that says nothing
// to us.
func Translate(agent string, payload []byte, w World) (Heard, error) {
	hear := adapter(agent)
	if hear == nil {
		return Heard{}, fmt.Errorf("hear %.40q: no adapter", agent)
	}
	if len(payload) > maxPayload {
		return unheard(agent, payload), fmt.Errorf("hear %s: %w", agent, errLarge)
	}
	f, ok := parse(bytes.TrimPrefix(payload, byteOrderMark))
	if !ok {
		return unheard(agent, payload), fmt.Errorf("hear %s: %w", agent, errJunk)
	}
	h := &hearing{agent: agent, f: f}
	hear(h)
	heard := Heard{Event: cleanID(h.event), Worktree: h.tree.admit(w)}
	for _, s := range h.out {
		s.Agent = agent
		if err := admit(&s, w); err != nil {
			return Heard{Event: heard.Event, Worktree: heard.Worktree}, fmt.Errorf("hear %s %s: %w", agent, heard.Event, err)
		}
		heard.Signals = append(heard.Signals, s)
	}
	return heard, nil
}

func adapter(agent string) func(*hearing) {
	switch agent {
	case claudeCode, codex, copilot, droid, pi:
		return hearClaude
	case gemini:
		return hearGemini
	case opencode:
		return hearOpencode
	case dockerAgent:
		return hearDocker
	case cursor:
		return hearCursor
	case cline:
		return hearCline
	default:
		return nil
	}
}

// unheard is what can be said of a payload that is no JSON, or too much of it: the
// event, when its name can be seen. Cursor blocks what is not answered, so a name
// that asks for nothing is not believed there.
func unheard(agent string, payload []byte) Heard {
	event := glimpse(payload)
	if agent == cursor && !cursorAsks(event) {
		event = ""
	}
	return Heard{Event: event}
}

// glimpse finds the name of the event without reading the payload as JSON.
func glimpse(payload []byte) string {
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
