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
	claudeCode  = "claude-code"
	codex       = "codex"
	gemini      = "gemini"
	opencode    = "opencode"
	dockerAgent = "docker-agent"
)

// The speaker of a line.
const (
	You   = "you"
	Agent = "agent" // with Tool: it calls one
	Tool  = "tool"  // the result of a call
	Note  = "note"  // from the program: a summary, an interruption
)

// Line is one thing that was said, for people.
type Line struct {
	Who  string
	Tool string
	Text string
	Time time.Time
}

// Read returns what was said, oldest first. Records of unknown kinds are skipped. For
// agents whose format is not known it reads the transcript that Retake writes itself.
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

// jsonRecords returns the lines of a transcript that are complete JSON objects. A last line
// without a newline may still be being written; it counts if it is complete.
func jsonRecords(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(data) {
			line = bytes.TrimSpace(line)
			if len(line) > 1 && line[0] == '{' && json.Valid(line) && !yield(line) {
				return
			}
		}
	}
}

// decode unmarshals what fits. A record with one field of an unexpected type still yields
// the others.
func decode[T any](raw []byte) T {
	var v T
	_ = json.Unmarshal(raw, &v) // what does not fit stays empty
	return v
}

// jsonString returns the text of a JSON string, or "".
func jsonString(raw json.RawMessage) string { return decode[string](raw) }

// toolInputText returns in one line what a tool was called with: its command or its file if
// it has one, else the whole input.
func toolInputText(input json.RawMessage) string {
	if s := jsonString(input); s != "" {
		if inner := []byte(s); json.Valid(inner) && strings.HasPrefix(s, "{") {
			return toolInputText(inner) // arguments as a text of JSON
		}
		return s
	}
	in := decode[map[string]json.RawMessage](input)
	for _, key := range []string{"command", "cmd", "file_path", "filePath", "path", "pattern", "url", "query"} {
		if s := jsonString(in[key]); s != "" {
			return s
		}
	}
	if len(in) == 0 {
		return ""
	}
	return string(input)
}

// lineList collects lines; empty texts are skipped.
type lineList []Line

func (l *lineList) addText(who, words string, at time.Time) {
	if words = strings.TrimSpace(words); words != "" {
		*l = append(*l, Line{Who: who, Text: words, Time: at})
	}
}

func (l *lineList) addCall(tool, words string, at time.Time) {
	*l = append(*l, Line{Who: Agent, Tool: tool, Text: strings.TrimSpace(words), Time: at})
}

func (l *lineList) addResult(tool, words string, at time.Time) {
	*l = append(*l, Line{Who: Tool, Tool: tool, Text: strings.TrimSpace(words), Time: at})
}

func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// joinTexts joins the texts of a list of parts, or returns the string in its place.
func joinTexts(raw json.RawMessage) string {
	if s := jsonString(raw); s != "" {
		return s
	}
	var all []string
	for _, p := range decode[[]json.RawMessage](raw) {
		part := decode[struct {
			Text string `json:"text"`
		}](p)
		if part.Text != "" {
			all = append(all, part.Text)
		}
	}
	return strings.Join(all, "\n")
}
