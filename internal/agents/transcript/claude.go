package transcript

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"
)

// claudeRecord is one line of Claude Code. A message of the model is split into several
// records, one for each block.
type claudeRecord struct {
	Type      string `json:"type"`
	Sidechain bool   `json:"isSidechain"` // of a subagent
	Meta      bool   `json:"isMeta"`      // said by the program
	Summary   bool   `json:"isCompactSummary"`
	PromptID  string `json:"promptId"`
	Session   string `json:"sessionId"`
	Dir       string `json:"cwd"`
	UUID      string `json:"uuid"`
	Timestamp string `json:"timestamp"`
	Message   struct {
		Content json.RawMessage `json:"content"`
		Stop    string          `json:"stop_reason"`
	} `json:"message"`
}

type claudeBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Call    string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
}

// readClaude reads a transcript of Claude Code, without subagents and program messages.
func readClaude(data []byte) []Line {
	var out lineList
	tools := map[string]string{}
	for raw := range jsonRecords(data) {
		r := decode[claudeRecord](raw)
		if r.Sidechain || r.Meta || r.Type != "user" && r.Type != "assistant" {
			continue
		}
		who, at := You, parseTime(r.Timestamp)
		switch {
		case r.Summary:
			who = Note
		case r.Type == "assistant":
			who = Agent
		}
		if s := jsonString(r.Message.Content); s != "" {
			out.addText(who, s, at)
			continue
		}
		for _, b := range decode[[]claudeBlock](r.Message.Content) {
			switch b.Type {
			case "text":
				out.addText(who, b.Text, at)
			case "tool_use":
				tools[b.ID] = b.Name
				out.addCall(b.Name, toolInputText(b.Input), at)
			case "tool_result":
				out.addResult(tools[b.Call], joinTexts(b.Content), at)
			}
		}
	}
	return out
}

// forkClaude writes the conversation up to the turn under a new session id, in the folder
// of the directory where it continues.
func forkClaude(r ForkRequest) Branch {
	again := []string{"claude", "--resume", r.Session, "--fork-session"}
	if why := forkObstacle(r, "projects", "*"); why != "" {
		return wholeBranch(r, why, again...)
	}
	data, dir, ok := claudeForkData(r)
	if !ok {
		return wholeBranch(r, reasonFormat, again...)
	}
	folder := filepath.Dir(r.Path)
	if r.Dir != "" && filepath.Base(folder) == claudeFolder(dir) && claudeFolder(r.Dir) != claudeFolder(dir) {
		folder = filepath.Join(filepath.Dir(folder), claudeFolder(r.Dir))
	}
	return Branch{
		Session: r.NewSession,
		Files:   []File{{Path: filepath.Join(folder, r.NewSession+".jsonl"), Data: data}},
		Command: []string{"claude", "--resume", r.NewSession},
		Exact:   true,
	}
}

// claudeForkData returns the transcript with the new session id, up to the end of the turn,
// and the directory that it began in.
func claudeForkData(r ForkRequest) (data []byte, dir string, ok bool) {
	reached := false
	for raw := range jsonRecords(r.Data) {
		rec := decode[claudeRecord](raw)
		reached = reached || r.Turn != "" && rec.PromptID == r.Turn
		if reached && rec.PromptID != "" && rec.PromptID != r.Turn {
			break
		}
		if dir == "" {
			dir = rec.Dir
		}
		ok = ok || rec.UUID != "" && (rec.Type == "user" || rec.Type == "assistant")
		data = append(append(data, replaceString(raw, r.NewSession, "sessionId")...), '\n')
	}
	return data, dir, ok
}

const maxClaudeFolder = 200

// claudeFolder returns the name under which Claude Code keeps the conversations of a
// directory: every character that is not an ASCII letter or digit becomes a dash. A long
// name is cut, and a hash of the path is added. Characters are UTF-16 code units.
func claudeFolder(dir string) string {
	var b strings.Builder
	var sum int32
	for _, u := range utf16.Encode([]rune(dir)) {
		sum = sum*31 + int32(u)
		if u < 128 && (u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z') {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	if b.Len() <= maxClaudeFolder {
		return b.String()
	}
	n := int64(sum)
	return b.String()[:maxClaudeFolder] + "-" + strconv.FormatInt(max(n, -n), 36)
}
