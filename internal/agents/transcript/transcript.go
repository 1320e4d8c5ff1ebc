package transcript

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
	"time"
)

// The agents whose conversations are known.
const (
	claudeCode = "claude-code"
	codex      = "codex"
	gemini     = "gemini"
	opencode   = "opencode"
	docker     = "docker-agent"
)

// Who speaks in a line.
const (
	You   = "you"
	Agent = "agent" // with Tool: it calls one
	Tool  = "tool"  // it answers
	Note  = "note"  // neither said it: a summary, an interruption
)

// Line is one thing that was said, for people.
type Line struct {
	Who  string
	Tool string
	Text string
	Time time.Time
}

// Read answers what was said, oldest first. It knows what it knows: records of
// other kinds are skipped. Agents whose form is not known have a transcript of ours, or
// one that says nothing here.
func Read(agent string, data []byte) []Line {
	switch agent {
	case claudeCode:
		return readClaude(data)
	case codex:
		return readCodex(data)
	case gemini:
		return readGemini(data)
	case opencode:
		return readOpencode(data)
	}
	return readOwn(data)
}

// records answers the lines of a transcript that are whole JSON objects. A last
// line without its end is still being written; it counts when it is whole.
func records(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(data) {
			line = bytes.TrimSpace(line)
			if len(line) > 1 && line[0] == '{' && json.Valid(line) && !yield(line) {
				return
			}
		}
	}
}

// into reads what fits. A record with one field of another type than expected
// still gives the others.
func into[T any](raw []byte) T {
	var v T
	_ = json.Unmarshal(raw, &v) // what does not fit stays empty
	return v
}

// text is the text of a JSON string, or nothing.
func text(raw json.RawMessage) string { return into[string](raw) }

// asked says in one line what a tool was called with: its command or its file
// when it has one, else all of it.
func asked(input json.RawMessage) string {
	if s := text(input); s != "" {
		if inner := []byte(s); json.Valid(inner) && strings.HasPrefix(s, "{") {
			return asked(inner) // arguments as a text of JSON
		}
		return s
	}
	in := into[map[string]json.RawMessage](input)
	for _, key := range []string{"command", "cmd", "file_path", "filePath", "path", "pattern", "url", "query"} {
		if s := text(in[key]); s != "" {
			return s
		}
	}
	if len(in) == 0 {
		return ""
	}
	return string(input)
}

// lines collects what was said; empty texts say nothing.
type lines []Line

func (l *lines) say(who, words string, at time.Time) {
	if words = strings.TrimSpace(words); words != "" {
		*l = append(*l, Line{Who: who, Text: words, Time: at})
	}
}

func (l *lines) call(tool, words string, at time.Time) {
	*l = append(*l, Line{Who: Agent, Tool: tool, Text: strings.TrimSpace(words), Time: at})
}

func (l *lines) result(tool, words string, at time.Time) {
	*l = append(*l, Line{Who: Tool, Tool: tool, Text: strings.TrimSpace(words), Time: at})
}

func when(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// prose joins the texts of a list of parts, or is the text that stands in its place.
func prose(raw json.RawMessage) string {
	if s := text(raw); s != "" {
		return s
	}
	var all []string
	for _, p := range into[[]json.RawMessage](raw) {
		part := into[struct {
			Text string `json:"text"`
		}](p)
		if part.Text != "" {
			all = append(all, part.Text)
		}
	}
	return strings.Join(all, "\n")
}
