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

// geminiRecord is one line of Gemini CLI: the head of the session, a message, a
// newer form of a message, or a change of everything so far.
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

// geminiTalk is what a session holds after some records.
type geminiTalk struct {
	list []geminiRecord
	at   map[string]int // where a message stands in the list
}

func (t *geminiTalk) hear(raw []byte) {
	switch r := into[geminiRecord](raw); {
	case r.Rewind != "":
		t.forget(t.at[r.Rewind]) // an unknown one takes all, as in Gemini CLI
	case r.ID != "":
		t.put(r)
	case r.Set.Messages != nil:
		t.forget(0)
		t.all(r.Set.Messages)
	case r.Messages != nil:
		t.all(r.Messages)
	}
}

func (t *geminiTalk) forget(from int) {
	for _, r := range t.list[from:] {
		delete(t.at, r.ID)
	}
	t.list = t.list[:from]
}

func (t *geminiTalk) all(list []json.RawMessage) {
	for _, m := range list {
		if r := into[geminiRecord](m); r.ID != "" {
			t.put(r)
		}
	}
}

func (t *geminiTalk) put(r geminiRecord) {
	if i, known := t.at[r.ID]; known {
		t.list[i] = r
		return
	}
	t.at[r.ID] = len(t.list)
	t.list = append(t.list, r)
}

// geminiRecords are the lines of a session, or the one document of older ones.
func geminiRecords(data []byte) [][]byte {
	if isDocument(data) && json.Valid(data) {
		return [][]byte{data}
	}
	return slices.Collect(records(data))
}

func readGemini(data []byte) []Line {
	t := geminiTalk{at: map[string]int{}}
	for _, raw := range geminiRecords(data) {
		t.hear(raw)
	}
	var out lines
	for _, r := range t.list {
		at, words := when(r.Timestamp), prose(r.Content)
		switch r.Type {
		case "user":
			if !isTagged(words) {
				out.say(You, words, at)
			}
		case "gemini":
			out.say(Agent, words, at)
			for _, c := range r.Calls {
				out.call(c.Name, asked(c.Args), at)
				out.result(c.Name, geminiOutput(c.Result), at)
			}
		default:
			out.say(Note, words, at)
		}
	}
	return out
}

// geminiOutput is what a tool answered the model.
func geminiOutput(raw json.RawMessage) string {
	var all []string
	for _, p := range into[[]json.RawMessage](raw) {
		part := into[struct {
			Response struct {
				Response map[string]json.RawMessage `json:"response"`
			} `json:"functionResponse"`
		}](p)
		for _, key := range []string{"output", "error"} {
			if s := text(part.Response.Response[key]); s != "" {
				all = append(all, s)
			}
		}
	}
	return strings.Join(all, "\n")
}

// forkGemini names the new session when it stays in its directory. Elsewhere
// Gemini CLI looks in another folder, whose name only it knows; then it loads the
// file, and gives the session a name of its own.
//
// The file ends with the whole id, where those of Gemini CLI end with a part of it:
// it deletes all files with the part of a session that holds no message, and makes
// such a session each time it resumes one.
func forkGemini(r ForkRequest) Branch {
	again := []string{"gemini", "--resume", r.Session}
	if why := unfit(r, "chats"); why != "" {
		return whole(r, why, again...)
	}
	data, project, ok := geminiUnder(r)
	if !ok {
		return whole(r, whyFormat, again...)
	}
	name := "session-" + r.Now.UTC().Format("2006-01-02T15-04") + "-" + r.New + ".jsonl"
	if isDocument(r.Data) {
		name = strings.TrimSuffix(name, "l")
	}
	path := filepath.Join(filepath.Dir(r.Path), name)
	b := Branch{Session: r.New, Files: []File{{Path: path, Data: data}}, Command: []string{"gemini", "--resume", r.New}, Exact: true}
	if sum := sha256.Sum256([]byte(r.Dir)); r.Dir != "" && hex.EncodeToString(sum[:]) != project {
		b.Command = []string{"gemini", "--session-file", path}
	}
	return b
}

// geminiUnder is the session under its new name, and the sum of its directory. It
// begins now: of two files of one session Gemini CLI takes the younger.
func geminiUnder(r ForkRequest) (data []byte, project string, ok bool) {
	for i, raw := range geminiRecords(r.Data) {
		rec := into[geminiRecord](raw)
		if i == 0 {
			project = rec.Project
			ok = rec.Session != "" && project != ""
			raw = splice(raw, r.Now.UTC().Format(time.RFC3339Nano), "startTime")
		}
		raw = splice(splice(raw, r.New, "sessionId"), r.New, "$set", "sessionId")
		data = append(append(data, raw...), '\n')
	}
	return data, project, ok
}
