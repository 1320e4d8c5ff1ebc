package retake

import (
	"context"
	"io"
	"time"
)

// Observer hears what agents tell, and remembers what they held.
type Observer interface {
	// Observe hears one signal. The same signal again does nothing. An error means
	// that it was not heard.
	Observe(ctx context.Context, s Signal) (Reaction, error)
	// Effects lists what was done outside since a checkpoint, oldest first; since ""
	// is since the start.
	Effects(ctx context.Context, ws WorkspaceID, since string) ([]Effect, error)
	// Tasks answers the newest to-do list.
	Tasks(ctx context.Context, ws WorkspaceID) ([]Task, error)
	// SetTasks replaces the list, as somebody says who is no hook.
	SetTasks(ctx context.Context, ws WorkspaceID, tasks []Task) (Reaction, error)
	// State answers what the agent held at a checkpoint.
	State(ctx context.Context, ws WorkspaceID, ref string) (State, error)
	// Conversation gives the bytes of the conversation up to a checkpoint, as the
	// agent wrote them.
	Conversation(ctx context.Context, ws WorkspaceID, ref string) (io.ReadCloser, Conversation, error)
	// Approve lets a call pass once that a policy stopped, and returns what was stopped.
	Approve(ctx context.Context, req ApproveRequest) (Effect, error)
	// Resume makes a fork of the conversation that ends at a checkpoint, beside
	// the live one, and says how to go on with it.
	Resume(ctx context.Context, req ResumeRequest) (Resumption, error)
}

// ResumeRequest asks for a conversation to go on. Dir is where; empty: the root
// of the workspace. With Look nothing is written.
type ResumeRequest struct {
	Workspace WorkspaceID
	Ref       string
	Dir       string
	Look      bool
}

// Granularity is how often an agent's work becomes a checkpoint.
type Granularity string

// The granularities.
const (
	GranularityTurn Granularity = "turn"
	GranularityCall Granularity = "call" // also after each call
)

// Habits are the user's choices about agents in a workspace.
type Habits struct {
	Paused      bool        // no checkpoints are taken; what was told is dropped
	Granularity Granularity // "" is turn
	Quiet       bool        // what changes between turns becomes a checkpoint when it comes to rest
	Rescue      RescueLimit // what is saved of files outside the workspace before a call destroys them
	Risk        *RiskRules  // what the user adds to the rules for risky commands; nil: nothing
	Gate        Gate        // what happens to calls that nothing can take back
}

// RescueLimit bounds what one rescue reads. Bytes 0: nothing outside a workspace is saved.
type RescueLimit struct {
	Bytes int64
	Time  time.Duration
}

// RiskRules are programs and tools that a user adds to the rules for risky commands.
type RiskRules struct {
	Programs []RiskProgram `json:"programs"`
	Tools    []RiskTool    `json:"tools"`
}

// RiskProgram says which rule applies to programs, or which other program they are like.
type RiskProgram struct {
	Programs      []string `json:"programs"`
	Rule          string   `json:"rule"`
	Like          string   `json:"like"`           // judge it as this program; then there is no rule
	Subcommands   []string `json:"subcommands"`    // none: every use counts
	ValueFlags    []string `json:"value_flags"`    // flags that take a value
	HarmlessFlags []string `json:"harmless_flags"` // flags with which it does nothing
}

// RiskTool says what tools of MCP servers do. An empty server or tool fits all; nil: not said.
type RiskTool struct {
	Server      string `json:"server"`
	Tool        string `json:"tool"`
	ReadOnly    *bool  `json:"read_only"`
	Destructive *bool  `json:"destructive"`
	OpenWorld   *bool  `json:"open_world"`
}
