package retake

import (
	"strings"
	"time"
)

// Turn is what a checkpoint says of the agent's work that led to it.
type Turn struct {
	Agent     string        `json:"agent"`
	Version   string        `json:"version,omitempty"`
	Session   string        `json:"session"`
	ID        string        `json:"id,omitempty"`
	Prompt    string        `json:"prompt,omitempty"`
	Machine   bool          `json:"machine,omitempty"`   // no person wrote the prompt
	Dir       string        `json:"dir,omitempty"`       // below the root: the part that the agent was started in
	Command   string        `json:"command,omitempty"`   // the risky call it was taken before
	Risk      string        `json:"risk,omitempty"`      // why that is one
	Calls     int           `json:"calls,omitempty"`     // of the turn so far
	Running   int           `json:"running,omitempty"`   // work that went on in the background: the files were not at rest
	Contested []string      `json:"contested,omitempty"` // other sessions at work in the same time, "codex 0f3a"
	Failed    string        `json:"failed,omitempty"`    // the turn was ended by this trouble
	Late      time.Duration `json:"late,omitempty"`      // the files were read so long after the signal
	Tasks     *TaskCount    `json:"tasks,omitempty"`
	Began     time.Time     `json:"began,omitzero"`  // when the turn began, as its agent said
	Paths     []string      `json:"paths,omitempty"` // below the root: what its file tools wrote so far
	Words     string        `json:"words,omitempty"` // the beginning of the agent's last words, likely secrets masked
	Subagents []Subagent    `json:"subagents,omitempty"`
}

// Subagent is an agent that the agent of a turn started, as far as its hooks report it.
type Subagent struct {
	Name string `json:"name,omitempty"` // its kind, such as Explore
	Task string `json:"task,omitempty"` // what it was asked for, likely secrets masked
}

// Of reports whether a turn belongs to what a person names: a session by the beginning of
// its id, or an agent by its name or the first word of it, as claude for claude-code.
func (t *Turn) Of(word string) bool {
	first, _, _ := strings.Cut(t.Agent, "-")
	return strings.HasPrefix(t.Session, word) || t.Agent == word || first == word
}

// TaskCount is a to-do list in one line.
type TaskCount struct {
	Done   int    `json:"done"`
	Failed int    `json:"failed,omitempty"`
	Total  int    `json:"total"`
	Next   string `json:"next,omitempty"` // the first that is not done
}

// State is what the agent held at a checkpoint, as far as it is known.
type State struct {
	Checkpoint   Checkpoint    `json:"checkpoint"`
	Tasks        []Task        `json:"tasks"`
	Calls        []Call        `json:"calls"`
	Conversation *Conversation `json:"conversation,omitempty"`
}

// Conversation is an agent's conversation up to the end of a turn, as the agent
// wrote it. It is kept in segments, one a turn.
type Conversation struct {
	Agent    string    `json:"agent"`
	Version  string    `json:"version,omitempty"`
	Session  string    `json:"session"`
	Turn     string    `json:"turn,omitempty"`
	Path     string    `json:"path"` // where the agent keeps it
	Bytes    int64     `json:"bytes"`
	Segments []Segment `json:"segments"`
	Complete bool      `json:"complete"`          // it ends with the agent's last words
	Missing  string    `json:"missing,omitempty"` // why it is not complete
	Secrets  []string  `json:"secrets,omitempty"` // kinds of likely secrets in it
}

// Segment is a part of a conversation.
type Segment struct {
	Object ObjectID `json:"object"`
	Bytes  int64    `json:"bytes"`
}

// Spoken is what was said in a conversation, for people.
type Spoken struct {
	Conversation Conversation `json:"conversation"`
	Lines        []SpokenLine `json:"lines"` // oldest first
}

// SpokenLine is one thing that was said. Likely secrets in it are masked.
type SpokenLine struct {
	Who  string `json:"who"` // you, agent, tool, or note
	Tool string `json:"tool,omitempty"`
	Text string `json:"text"`
}

// Resumption is how a conversation goes on from a checkpoint, as a fork of the
// session: the live one is never changed.
type Resumption struct {
	Checkpoint Checkpoint `json:"checkpoint"`
	Agent      string     `json:"agent"`
	Session    string     `json:"session"` // the new one, or the old one when it is not forked at the turn
	Dir        string     `json:"dir"`
	Command    []string   `json:"command"`
	Exact      bool       `json:"exact"`         // it goes on at that turn; else with everything that was said
	Why        string     `json:"why,omitempty"` // it is not exact, or there is no command
	Tasks      []Task     `json:"tasks"`
	Next       *Task      `json:"next,omitempty"`
	Effects    []Effect   `json:"effects"`         // that stay done
	Note       string     `json:"note"`            // what the agent is told
	Taken      string     `json:"taken,omitempty"` // the turn that was taken back since, which the conversation still has
}
