package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// geminiRecord is one line of Gemini CLI: the header of the session, a message, a newer
// version of a message, or a change of everything so far.
type geminiRecord struct {
	ID        string          `json:"id"`
	Session   string          `json:"sessionId"`
	Project   string          `json:"projectHash"`
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	Calls     []struct {
		Name   string          `json:"name"`
		Args   json.RawMessage `json:"args"`
		Result json.RawMessage `json:"result"`
	} `json:"toolCalls"`
	Messages []json.RawMessage `json:"messages"`
	Rewind   string            `json:"$rewindTo"`
	Set      struct {
		Session  string            `json:"sessionId"`
		Messages []json.RawMessage `json:"messages"`
	} `json:"$set"`
}

// geminiSession is what a session contains after some records.
type geminiSession struct {
	messages []geminiRecord
	index    map[string]int // of a message, by id
}

// applyRecord applies one record to the session.
func (t *geminiSession) applyRecord(raw []byte) {
	switch r := decode[geminiRecord](raw); {
	case r.Rewind != "":
		t.truncate(t.index[r.Rewind]) // an unknown one takes all, as in Gemini CLI
	case r.ID != "":
		t.putMessage(r)
	case r.Set.Messages != nil:
		t.truncate(0)
		t.putAll(r.Set.Messages)
	case r.Messages != nil:
		t.putAll(r.Messages)
	}
}

func (t *geminiSession) truncate(from int) {
	for _, r := range t.messages[from:] {
		delete(t.index, r.ID)
	}
	t.messages = t.messages[:from]
}

func (t *geminiSession) putAll(list []json.RawMessage) {
	for _, m := range list {
		if r := decode[geminiRecord](m); r.ID != "" {
			t.putMessage(r)
		}
	}
}

func (t *geminiSession) putMessage(r geminiRecord) {
	if i, known := t.index[r.ID]; known {
		t.messages[i] = r
		return
	}
	t.index[r.ID] = len(t.messages)
	t.messages = append(t.messages, r)
}

// geminiRecords returns the lines of a session, or the single document of older versions.
func geminiRecords(data []byte) [][]byte {
	if isDocument(data) && json.Valid(data) {
		return [][]byte{data}
	}
	return slices.Collect(jsonRecords(data))
}

// readGemini replays the records of a session and returns what is left of it.
func readGemini(data []byte) []Line {
	t := geminiSession{index: map[string]int{}}
	for _, raw := range geminiRecords(data) {
		t.applyRecord(raw)
	}
	var out lineList
	for _, r := range t.messages {
		at, words := parseTime(r.Timestamp), joinTexts(r.Content)
		switch r.Type {
		case "user":
			if !isTagged(words) {
				out.addText(You, words, at)
			}
		case "gemini":
			out.addText(Agent, words, at)
			for _, c := range r.Calls {
				out.addCall(c.Name, toolInputText(c.Args), at)
				out.addResult(c.Name, geminiToolOutput(c.Result), at)
			}
		default:
			out.addText(Note, words, at)
		}
	}
	return out
}

// geminiToolOutput returns what a tool returned to the model.
func geminiToolOutput(raw json.RawMessage) string {
	var all []string
	for _, p := range decode[[]json.RawMessage](raw) {
		part := decode[struct {
			Response struct {
				Response map[string]json.RawMessage `json:"response"`
			} `json:"functionResponse"`
		}](p)
		for _, key := range []string{"output", "error"} {
			if s := jsonString(part.Response.Response[key]); s != "" {
				all = append(all, s)
			}
		}
	}
	return strings.Join(all, "\n")
}

// forkGemini forks a session of Gemini CLI. In the same directory it is resumed by its id.
// For another directory Gemini CLI looks in a folder whose name only it knows; then it
// loads the file, and gives the session an id of its own.
//
// The file name ends with the whole id, where Gemini CLI uses only a part of it: Gemini CLI
// creates an empty session each time it resumes one, and deletes all files with that part
// of the id of an empty session.
func forkGemini(r ForkRequest) Branch {
	again := []string{"gemini", "--resume", r.Session}
	if why := forkObstacle(r, "chats"); why != "" {
		return wholeBranch(r, why, again...)
	}
	data, project, ok := geminiForkData(r)
	if !ok {
		return wholeBranch(r, reasonFormat, again...)
	}
	name := "session-" + r.Now.UTC().Format("2006-01-02T15-04") + "-" + r.NewSession + ".jsonl"
	if isDocument(r.Data) {
		name = strings.TrimSuffix(name, "l")
	}
	path := filepath.Join(filepath.Dir(r.Path), name)
	b := Branch{Session: r.NewSession, Files: []File{{Path: path, Data: data}}, Command: []string{"gemini", "--resume", r.NewSession}, Exact: true}
	if sum := sha256.Sum256([]byte(r.Dir)); r.Dir != "" && hex.EncodeToString(sum[:]) != project {
		b.Command = []string{"gemini", "--session-file", path}
	}
	return b
}

// geminiForkData returns the session with its new id, and the hash of its directory. Its
// start time is now: of two files of one session Gemini CLI takes the newer.
func geminiForkData(r ForkRequest) (data []byte, project string, ok bool) {
	for i, raw := range geminiRecords(r.Data) {
		rec := decode[geminiRecord](raw)
		if i == 0 {
			project = rec.Project
			ok = rec.Session != "" && project != ""
			raw = replaceString(raw, r.Now.UTC().Format(time.RFC3339Nano), "startTime")
		}
		raw = replaceString(replaceString(raw, r.NewSession, "sessionId"), r.NewSession, "$set", "sessionId")
		data = append(append(data, raw...), '\n')
	}
	return data, project, ok
}
