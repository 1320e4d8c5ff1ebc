package retake

import (
	"context"
	"time"
)

// Verifier remembers what commands answered, and which checkpoints are good.
type Verifier interface {
	// Attest records what a command answered that was run by who asks. One that was
	// run on the live files is compared with them: what changed meanwhile makes it no
	// answer about the checkpoint. On a server only a person, by an operator's key, says so
	// for good; what every other key reports is a claim.
	Attest(ctx context.Context, a Attestation) (Verification, error)
	// Verifications lists answers, newest first. With a ref, those that speak of it,
	// also by equal content; without one, all of the workspace.
	Verifications(ctx context.Context, q VerificationQuery) ([]Verification, error)
	// Standing lists the verifications that the user wants of every checkpoint.
	Standing(ctx context.Context, ws WorkspaceID) ([]Standing, error)
}

// VerificationID names one answer.
type VerificationID string

// VerificationPrefix begins the id of a verification; a UUID follows.
const VerificationPrefix = "vf_"

// Standing is a verification that is run after every turn. It comes from the user's
// configuration, never from the workspace.
type Standing struct {
	Name    string `json:"name"`
	Command string `json:"command"` // for a shell
}

// Verdict is what a verification says.
type Verdict string

// The verdicts. Only the first two are about the files.
const (
	Passed      Verdict = "passed"
	Failed      Verdict = "failed"
	CouldNotRun Verdict = "could-not-run" // 126, 127, out of time, no such directory
	RanOnOther  Verdict = "changed"       // the files changed while it ran
	Running     Verdict = "running"
)

// Where says on which files a command ran.
type Where string

// Where commands run. What ran at another path never makes a checkpoint good.
const (
	OnLive    Where = "live"
	InFork    Where = "fork"      // in a throw-away fork that stood at the workspace's own path
	Elsewhere Where = "elsewhere" // in a fork at another path
)

// Verification is a command and its recorded answer.
type Verification struct {
	ID         VerificationID `json:"id"`
	Workspace  WorkspaceID    `json:"workspace"`
	Checkpoint CheckpointID   `json:"checkpoint"`
	Number     int64          `json:"number"`
	Content    ContentID      `json:"content"` // equal content fills checkpoints that were never asked
	Name       string         `json:"name"`
	Command    string         `json:"command"`
	By         string         `json:"by"`               // "retake": a run of ours; else who says so, a person or an agent
	Claim      bool           `json:"claim,omitempty"`  // an agent says so; nobody saw it
	Bisect     bool           `json:"bisect,omitempty"` // it was asked to find a border, and decides nothing
	Where      Where          `json:"where"`
	Verdict    Verdict        `json:"verdict"`
	Why        string         `json:"why,omitempty"` // it could not run, or what changed
	Exit       int            `json:"exit"`
	Started    time.Time      `json:"started"`
	Took       time.Duration  `json:"took"`
	Score      string         `json:"score,omitempty"`  // what its runner counted, such as "14 of 212 failed"; empty when that is not sure
	Output     string         `json:"output,omitempty"` // the end of it, likely secrets masked
	Wrote      []string       `json:"wrote,omitempty"`  // by-products: what it left in the workspace
}

// Answer is what stands for one name at one checkpoint: its own newest answer, or where it
// was never asked, the newest about equal content.
type Answer struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	Claim   bool    `json:"claim,omitempty"`
	Bisect  bool    `json:"bisect,omitempty"` // of a search for a border; it makes nothing good
	As      int64   `json:"as,omitempty"`     // the checkpoint with the same content that was asked; 0: this one
	Was     Verdict `json:"was,omitempty"`    // of the checkpoint before, when that was another one
}

// Attestation is what a command answered. An empty Ref is the newest checkpoint, an empty
// Name is made of the command.
type Attestation struct {
	Workspace WorkspaceID
	Ref       string
	Name      string
	Command   string
	Where     Where
	By        string // the agent that says so, when Claim
	Claim     bool
	Bisect    bool
	Verdict   Verdict // "" is told by Exit
	Why       string
	Exit      int
	Started   time.Time
	Took      time.Duration
	Output    string
}

// VerificationQuery chooses answers; what is empty is any.
type VerificationQuery struct {
	Workspace WorkspaceID
	Ref       string
	Name      string
	Command   string
	Limit     int
}

// Drill is the last time that a good checkpoint was restored into a fork and verified there.
type Drill struct {
	At      time.Time `json:"at"`
	Number  int64     `json:"number"`
	Verdict Verdict   `json:"verdict"`
	Why     string    `json:"why,omitempty"`
}
