package retake

import (
	"encoding/json"
	"time"
)

// SignalID names one signal, so that one that is told twice is done once.
type SignalID string

// SignalPrefix begins the id of a signal; a UUID follows.
const SignalPrefix = "sg_"

// SignalKind is what an agent told us: a closed, append-only set.
type SignalKind string

// The kinds. Every adapter translates into these.
const (
	SignalSessionStart  SignalKind = "session-start"
	SignalPrompt        SignalKind = "prompt"    // a turn begins
	SignalCall          SignalKind = "call"      // a tool is about to run
	SignalCalled        SignalKind = "called"    // a tool has run
	SignalTasks         SignalKind = "tasks"     // the to-do list, whole
	SignalTurnEnd       SignalKind = "turn-end"  // the agent rests, or gave up
	SignalCompact       SignalKind = "compact"   // the agent is about to forget
	SignalSubagentStart SignalKind = "sub-start" // an agent of the agent begins
	SignalSubagentEnd   SignalKind = "sub-end"
	SignalSessionEnd    SignalKind = "session-end"
)

// SignalKinds are all of them.
var SignalKinds = []SignalKind{
	SignalSessionStart, SignalPrompt, SignalCall, SignalCalled, SignalTasks, SignalTurnEnd, SignalCompact,
	SignalSubagentStart, SignalSubagentEnd, SignalSessionEnd,
}

// Signal is one thing an agent told us, in normal form. All of it comes from
// outside: no path is made of its ids, and no word of it is run.
type Signal struct {
	ID         SignalID   `json:"id"`
	Kind       SignalKind `json:"kind"`
	Time       time.Time  `json:"time"`
	Agent      string     `json:"agent"`             // "claude-code"
	Version    string     `json:"version,omitempty"` // of the agent
	Session    string     `json:"session"`           // the agent's own name for it
	Turn       string     `json:"turn,omitempty"`    // the agent's own name for it
	Subagent   string     `json:"subagent,omitempty"`
	Dir        string     `json:"dir"`           // where the agent works
	PID        int        `json:"pid,omitempty"` // of the agent, when it runs on this machine
	Prompt     string     `json:"prompt,omitempty"`
	Machine    bool       `json:"machine,omitempty"` // no person wrote the prompt
	Call       *Call      `json:"call,omitempty"`
	Message    string     `json:"message,omitempty"`    // the agent's last words in a turn
	Transcript string     `json:"transcript,omitempty"` // file that the agent writes the conversation to
	Running    int        `json:"running,omitempty"`    // work that goes on in the background at the end of a turn
	Tasks      []Task     `json:"tasks,omitempty"`
	Reason     string     `json:"reason,omitempty"`  // why it began or ended: startup, resume, fork, clear, logout
	Failed     string     `json:"failed,omitempty"`  // the turn was ended by this trouble
	Hears      bool       `json:"hears,omitempty"`   // the agent puts the answer to this signal before its model
	CanAsk     bool       `json:"can_ask,omitempty"` // the agent can ask its user whether the call may run
	Joined     bool       `json:"joined,omitempty"`  // of a turn that began in another workspace, and works in this one, too
}

// CallKind is what a tool does, as far as its name tells.
type CallKind string

// The kinds of calls.
const (
	CallShell CallKind = "shell"
	CallWrite CallKind = "write" // files
	CallRead  CallKind = "read"
	CallMCP   CallKind = "mcp"
	CallOther CallKind = "other"
)

// Call is one use of a tool.
type Call struct {
	ID      string          `json:"id,omitempty"`
	Tool    string          `json:"tool"` // as the agent names it
	Kind    CallKind        `json:"kind"`
	Command string          `json:"command,omitempty"` // of a shell
	Paths   []string        `json:"paths,omitempty"`   // that it writes
	Server  string          `json:"server,omitempty"`  // of an MCP tool
	Input   json.RawMessage `json:"input,omitempty"`
	Output  string          `json:"output,omitempty"`
	Failed  bool            `json:"failed,omitempty"`

	// Unfinished: it was interrupted, or goes on in the background. Nobody knows how it ends.
	Unfinished bool `json:"unfinished,omitempty"`

	// Files is the text of the files that it runs, as far as they were read; by their paths as
	// risk.Judgement.Runs has them.
	Files map[string]string `json:"-"`

	// What an MCP server says of its tool; nil when it says nothing.
	ReadOnly    *bool `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	OpenWorld   *bool `json:"open_world,omitempty"`
}

// TaskStatus is how far a task is.
type TaskStatus string

// The states of a task.
const (
	TaskPending   TaskStatus = "pending"
	TaskActive    TaskStatus = "in-progress"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskSkipped   TaskStatus = "skipped"
)

// TaskStatuses are all of them.
var TaskStatuses = []TaskStatus{TaskPending, TaskActive, TaskCompleted, TaskFailed, TaskSkipped}

// Task is one item of an agent's to-do list.
type Task struct {
	ID     string     `json:"id"`
	Title  string     `json:"title"`
	Status TaskStatus `json:"status"`
}

// Open reports whether there is something left to do.
func (t Task) Open() bool { return t.Status == TaskPending || t.Status == TaskActive }

// Reaction is what a signal brought about.
type Reaction struct {
	Workspace  WorkspaceID `json:"workspace,omitempty"`  // empty: the directory is not protected, and nothing was done
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"` // that holds the files as they were at the signal
	Effects    []Effect    `json:"effects,omitempty"`    // that were recorded
	Note       string      `json:"note,omitempty"`       // to be put before the agent
	Later      bool        `json:"later,omitempty"`      // it is done after this answer
	Warnings   []Warning   `json:"warnings,omitempty"`
	Stop       *Stop       `json:"stop,omitempty"` // the call should not run
}
