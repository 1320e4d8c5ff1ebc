package retake

import "time"

// StillMoving is the intent of a quiet checkpoint that could not wait for rest.
const StillMoving = "while files went on changing"

// Trigger is why a checkpoint was taken: a closed, append-only set.
type Trigger string

// The triggers of today.
const (
	TriggerInit     Trigger = "init"     // the first capture
	TriggerManual   Trigger = "manual"   // somebody asked
	TriggerComplete Trigger = "complete" // the rest of a capture that ran out of time
	TriggerSafety   Trigger = "safety"   // all there was before a restore
	TriggerReturn   Trigger = "return"   // after a restore, an undo, a redo or an adopt
	TriggerFork     Trigger = "fork"     // the first of a fork
	TriggerPrompt   Trigger = "prompt"   // before a turn
	TriggerTurn     Trigger = "turn"     // after a turn
	TriggerTask     Trigger = "task"     // a task was completed, or failed
	TriggerRisk     Trigger = "risk"     // before a call that may destroy something here
	TriggerCall     Trigger = "call"     // after a call
	TriggerSession  Trigger = "session"  // the session ended, or is about to forget
	TriggerQuiet    Trigger = "quiet"    // the files came to rest between turns, and nobody asked
)

// Checkpoint is one checkpoint on the timeline of a workspace.
type Checkpoint struct {
	ID        CheckpointID `json:"id"`
	Workspace WorkspaceID  `json:"workspace"`
	Number    int64        `json:"number"`
	Parent    CheckpointID `json:"parent,omitempty"`
	Time      time.Time    `json:"time"`
	Trigger   Trigger      `json:"trigger"`
	Intent    string       `json:"intent,omitempty"`
	Tree      ObjectID     `json:"tree"`
	Content   ContentID    `json:"content"`
	Coverage  Coverage     `json:"coverage"`
	Files     int64        `json:"files"`
	Dirs      int64        `json:"dirs"`
	Bytes     int64        `json:"bytes"`     // of the whole tree
	NewBytes  int64        `json:"new_bytes"` // of files that are new or have other bytes
	Changed   Counts       `json:"changed"`
	Policy    Policy       `json:"policy,omitzero"`
	Return    *Return      `json:"return,omitempty"`  // it was made by going back
	Turn      *Turn        `json:"turn,omitempty"`    // an agent's work led to it
	Effects   []Effect     `json:"effects,omitempty"` // done outside since the checkpoint before
	Rescues   []Rescue     `json:"rescues,omitempty"` // files elsewhere that the call after it could destroy
	Key       KeyID        `json:"key,omitempty"`     // the API key that took it; empty: no key, or an older version took it
}

// Counts counts the paths that differ from the parent; directories whose times
// alone changed do not count.
type Counts struct {
	Added   int64 `json:"added"`
	Deleted int64 `json:"deleted"`
	Edited  int64 `json:"edited"`
}

// Total is the number of paths that differ.
func (c Counts) Total() int64 { return c.Added + c.Deleted + c.Edited }

// ChangedFiles is how many files a checkpoint changed; of the first one, how many it holds.
// The timeline, the console and the brief show this count: a rename is one file, and
// directories and files of which only the time changed are not counted. The gist may be nil.
func (c *Checkpoint) ChangedFiles(g *Gist) int64 {
	counted := c.Changed.Total()
	switch {
	case c.Trigger == TriggerInit && c.Parent == "":
		return c.Files
	case g != nil && (g.Counts.Total() > 0 || counted == 0):
		return g.Counts.Total()
	default:
		return counted
	}
}

// Policy is what the user chose to leave out: nothing, by default. It comes from
// the user's configuration, never from a file in the workspace, and is written
// on the card of every checkpoint it shaped.
type Policy struct {
	GitIgnore  bool     `json:"gitignore,omitempty"`
	MaxNewFile int64    `json:"max_new_file,omitempty"` // bytes; 0 is no limit
	Exclude    []string `json:"exclude,omitempty"`      // patterns in the form of git's ignore files
}

// IsZero reports whether nothing is left out.
func (p Policy) IsZero() bool { return !p.GitIgnore && p.MaxNewFile == 0 && len(p.Exclude) == 0 }

// Card is what a person reads about a checkpoint, as the store keeps it: enough
// to make the row of the catalog again.
type Card struct {
	V          int        `json:"v"`
	Checkpoint Checkpoint `json:"checkpoint"`
}

// CardVersion is the version of card.json that we write.
const CardVersion = 1

// Tombstone stands where a forgotten checkpoint was. The number is never given again.
type Tombstone struct {
	Number int64        `json:"number"`
	ID     CheckpointID `json:"id"`
	Parent CheckpointID `json:"parent,omitempty"`
	Time   time.Time    `json:"time"`
	At     time.Time    `json:"at"`
}

// Pin keeps a checkpoint on purpose, under a name that is also a ref.
type Pin struct {
	Name       string       `json:"name"`
	Checkpoint CheckpointID `json:"checkpoint"`
	Number     int64        `json:"number"`
	Time       time.Time    `json:"time"`
}
