package retake

import (
	"fmt"
	"slices"
	"time"
)

// Course is where a plan leads.
type Course string

// The courses. Finish and unwind end a restore that was cut off.
const (
	CourseRestore Course = "restore" // make the files match a checkpoint
	CourseUndo    Course = "undo"    // take one item back
	CourseRedo    Course = "redo"    // bring an item again that was taken back
	CourseAdopt   Course = "adopt"   // bring the changes of a fork
	CourseFinish  Course = "finish"  // do the rest of what was cut off
	CourseUnwind  Course = "unwind"  // take back what was done of it
)

// Plan is the exact list of what going back would do. What is shown is what is
// applied, or nothing is.
type Plan struct {
	Digest    string      `json:"digest"` // of everything that would be done, and of what it would be done to
	Course    Course      `json:"course"`
	Workspace WorkspaceID `json:"workspace"`
	Target    *Checkpoint `json:"target"`         // the checkpoint gone to; for undo and redo the item
	Also      []int64     `json:"also,omitempty"` // numbers of older items that the same undo takes back, the newest first
	Fork      *Workspace  `json:"fork,omitempty"`
	Paths     []string    `json:"paths,omitempty"` // none: everything
	To        string      `json:"to,omitempty"`    // the directory outside of the workspace that files are brought back to; empty: the workspace
	Writes    []Step      `json:"writes"`
	Deletes   []Step      `json:"deletes"`
	Merges    []Step      `json:"merges"`
	Times     []Step      `json:"times"` // directories whose time alone is put back
	Keeps     []Keep      `json:"keeps"`
	Obstacles []Obstacle  `json:"obstacles"`
	Holders   []Holder    `json:"holders"` // processes that hold what would be replaced
	Effects   []Effect    `json:"effects"`
	Bytes     int64       `json:"bytes"`           // to be written
	Files     int64       `json:"files"`           // that are there now
	Safety    Safety      `json:"safety"`          // the checkpoint that holds all there is now
	Edits     *KeptEdits  `json:"edits,omitempty"` // that an undo leaves as they are; nil: there are none
	Next      int64       `json:"next,omitempty"`  // the item to name when nothing of this one is left to take back
	Lost      *LostRoot   `json:"lost,omitempty"`
	Facts     []Fact      `json:"facts,omitempty"`   // what the steps mean, from now to then; none: not known
	Working   []Worker    `json:"working,omitempty"` // agents in the middle of a turn here, but for the one that asks
	Git       []GitLeft   `json:"git,omitempty"`     // repositories that stay where they are, though the files go elsewhere
	Others    []Plan      `json:"others,omitempty"`  // of the other workspaces that the same turn worked in; the digest covers them
}

// KeptEdits are edits that an undo leaves in place: they are merged with what it takes back.
type KeptEdits struct {
	Unsaved     int64   `json:"unsaved"`           // paths that changed since the last checkpoint
	Checkpoints []int64 `json:"moments,omitempty"` // automatic checkpoints between turns that hold edits, the newest first
}

// Worker is an agent in the middle of a turn.
type Worker struct {
	Agent   string    `json:"agent"`
	Session string    `json:"session"`
	Since   time.Time `json:"since"`
}

// GitHead is where a repository is: on a branch or not, at a commit.
type GitHead struct {
	Branch string `json:"branch,omitempty"` // empty: no branch is checked out
	Commit string `json:"commit,omitempty"` // the first seven digits; empty: no commit yet, or not readable
}

// String is the head in words.
func (h GitHead) String() string {
	commit := h.Commit
	if commit == "" {
		commit = "no commit"
	}
	if h.Branch == "" {
		return commit
	}
	return h.Branch + " at " + commit
}

// GitLeft is a repository whose HEAD is elsewhere in the checkpoint gone to and that is not
// moved along.
type GitLeft struct {
	Path       string  `json:"path"` // of the repository
	Now        GitHead `json:"now"`
	Then       GitHead `json:"then"`
	Checkpoint int64   `json:"moment"` // in which it was there; 0: it is not known which
}

// Command moves the repository too, and nothing else. It is empty when no checkpoint has it.
func (g GitLeft) Command() string {
	if g.Checkpoint == 0 {
		return ""
	}
	return fmt.Sprintf("retake restore %d --git -- %s", g.Checkpoint, g.Path)
}

// LostRoot says that the workspace's own directory was deleted or replaced by another.
// The plan creates it again, or takes over what is there, and the timeline continues.
type LostRoot struct {
	Root  string `json:"root"`
	There bool   `json:"there"` // another directory is in its place, and not empty
}

// Total is the number of paths that would be touched.
func (p *Plan) Total() int { return len(p.Writes) + len(p.Deletes) + len(p.Merges) }

// Short is the digest as people read and type it.
func (p *Plan) Short() string { return ShortDigest(p.Digest) }

// ShortDigest is the beginning of a digest in two groups of four.
func ShortDigest(d string) string {
	if len(d) < 8 {
		return d
	}
	return d[:4] + "-" + d[4:8]
}

// Safety is the checkpoint that a restore takes first. It may be there already.
type Safety struct {
	Number int64 `json:"number"`
	There  bool  `json:"there"` // nothing changed since it was taken
}

// Step is one path that a plan touches, from what it is to what it becomes.
type Step struct {
	Path  string     `json:"path"`
	What  Difference `json:"what"` // added is brought back
	Now   *Entry     `json:"now,omitempty"`
	Then  *Entry     `json:"then,omitempty"`
	Unit  string     `json:"unit,omitempty"`  // the database it belongs to; its files are replaced as one
	Merge *Merge     `json:"merge,omitempty"` // lines of both sides
	Means string     `json:"means,omitempty"` // what it does to the content: "users 20 → 500 rows"; empty: not known, or bytes only
}

// Merge tells of a text that changed on both sides, line by line.
type Merge struct {
	Base   ObjectID `json:"base"`            // the text that both began with
	Want   ObjectID `json:"want"`            // the one that is brought in
	Digest string   `json:"digest"`          // of the text that is written
	Theirs int      `json:"theirs"`          // places that change as planned
	Yours  int      `json:"yours"`           // places that stay as they are now
	First  int      `json:"first"`           // the first line of yours
	Hunks  []Hunk   `json:"hunks,omitempty"` // of the change from Want to Base, which alone are taken back; none: the whole change
}

// Hunk is a run of lines that changed, as in a unified diff. Lines count from 1; a side that
// has no lines there begins where they would be.
type Hunk struct {
	OldStart int `json:"old_start"`
	OldLines int `json:"old_lines"`
	NewStart int `json:"new_start"`
	NewLines int `json:"new_lines"`
}

// KeepReason is why a path is left as it is.
type KeepReason string

// The reasons; append-only.
const (
	KeepGit        KeepReason = "git"        // a repository that is there and differs stays
	KeepVolatile   KeepReason = "volatile"   // changes all the time, by nobody's hand
	KeepChanged    KeepReason = "changed"    // changed since what would be taken back
	KeepConflict   KeepReason = "conflict"   // changed on both sides, in the same lines
	KeepUncaptured KeepReason = "uncaptured" // is in no checkpoint, so it could not be given back
	KeepUnheld     KeepReason = "unheld"     // the checkpoint gone to does not hold it
	KeepOccupied   KeepReason = "occupied"   // something that is kept lies there or below
	KeepOverlap    KeepReason = "overlap"    // changed while somebody else worked here too
	KeepDamaged    KeepReason = "damaged"    // its stored bytes cannot be read
)

// Keep is one path that is left alone though the checkpoints differ there. A
// directory ends in "/" and stands for everything below it.
type Keep struct {
	Path   string     `json:"path"`
	Why    KeepReason `json:"why"`
	Detail string     `json:"detail,omitempty"`
	Side   string     `json:"side,omitempty"` // where the other version is put, beside it
	Then   *Entry     `json:"then,omitempty"` // that version
}

// Obstacle is a reason to ask before a plan is applied.
type Obstacle struct {
	Class string   `json:"class"` // the word for --accept
	Text  string   `json:"text"`
	Paths []string `json:"paths,omitempty"` // never cut
}

// Classes of obstacles.
const (
	ObstacleUncaptured = "uncaptured"  // something in the way is in no checkpoint
	ObstacleChanged    = "changed"     // changed since the last checkpoint
	ObstaclePartial    = "partial"     // the checkpoint gone to is partial or torn
	ObstacleHeld       = "held"        // a process holds files that are replaced
	ObstacleMassDelete = "mass-delete" // many deletions
	ObstacleSpace      = "space"       // not enough room
	ObstacleNames      = "names"       // names that are one name on this file system
	ObstacleSetuid     = "setuid"      // files that run with the rights of their owner
	ObstacleDatabase   = "database"    // a database that is running
	ObstacleOverlap    = "overlap"     // another session, or you, worked on the same files at the same time
	ObstacleGit        = "git"         // git is moved, or is left behind by files that go elsewhere
	ObstacleDamaged    = "damaged"     // the stored bytes of some files cannot be read; they stay as they are

	ObstacleAgentWorking = "agent-working" // an agent is in the middle of a turn here
)

// ObstacleClasses are all of them.
var ObstacleClasses = []string{
	ObstacleUncaptured, ObstacleChanged, ObstaclePartial, ObstacleHeld, ObstacleMassDelete, ObstacleSpace, ObstacleNames, ObstacleSetuid, ObstacleDatabase, ObstacleGit, ObstacleOverlap,
	ObstacleAgentWorking, ObstacleDamaged,
}

// givenBack are the classes that lose nothing: what they are about is in the safety
// checkpoint, whole.
var givenBack = []string{ObstacleChanged, ObstacleMassDelete, ObstacleHeld, ObstacleGit, ObstacleOverlap, ObstacleAgentWorking}

// CanBeTakenBack reports whether the safety checkpoint holds all that an obstacle is about,
// so that going on loses nothing. A new class is not such a one until it is listed.
func (o *Obstacle) CanBeTakenBack() bool { return slices.Contains(givenBack, o.Class) }

// Effect is something that was done outside the workspace; no restore takes it back.
type Effect struct {
	ID      string    `json:"id"` // e1, e2: as people say it
	Time    time.Time `json:"time"`
	Text    string    `json:"text"` // what was run or called, secrets masked
	Kind    string    `json:"kind,omitempty"`
	Target  string    `json:"target,omitempty"` // where it went
	Agent   string    `json:"agent,omitempty"`
	Session string    `json:"session,omitempty"`
	Call    string    `json:"call,omitempty"`

	Outcome Outcome `json:"outcome,omitempty"`
	Repeats string  `json:"repeats,omitempty"` // the ID of the same one that was done before the files were restored
}

// Outcome is how an effect ended. It is empty in checkpoints of older versions, which took
// what was asked for as done.
type Outcome string

// The outcomes of an effect.
const (
	OutcomeDone    Outcome = "done"
	OutcomeFailed  Outcome = "failed"  // nothing was done outside
	OutcomeUnknown Outcome = "unknown" // no answer came, or it does not tell
	OutcomeStopped Outcome = "stopped" // a policy of the user stopped it; nothing was done
)

// Failed reports whether nothing was done: there is nothing to warn about.
func (e Effect) Failed() bool { return e.Outcome == OutcomeFailed || e.Outcome == OutcomeStopped }

// Word says in two words how an effect ended.
func (e Effect) Word() string {
	switch e.Outcome {
	case OutcomeFailed:
		return "failed"
	case OutcomeUnknown:
		return "may be done"
	case OutcomeStopped:
		return "stopped"
	default:
		return "can't be undone"
	}
}

// Return is what a checkpoint says that was made by going back, sideways or
// forward.
type Return struct {
	Course Course         `json:"course"`
	Target CheckpointID   `json:"target"`         // as in the plan
	Also   []CheckpointID `json:"also,omitempty"` // older items that the same undo took back
	Before CheckpointID   `json:"before"`         // what was there: the safety checkpoint
	Paths  []string       `json:"paths,omitempty"`
	Hunks  []Hunk         `json:"hunks,omitempty"` // of the one path, that alone were taken back; none: all of it

	Written int       `json:"written"`
	Deleted int       `json:"deleted"`
	Merged  int       `json:"merged,omitempty"`
	Kept    int       `json:"kept,omitempty"`
	Failed  []Failure `json:"failed,omitempty"` // paths that were left, because they moved on
}

// Interruption is a restore that was cut off. Nothing is repaired by itself.
type Interruption struct {
	ID     string    `json:"id"`
	Course Course    `json:"course"`
	Target int64     `json:"target"`
	Safety int64     `json:"safety"`
	Done   int       `json:"done"`
	Total  int       `json:"total"`
	Since  time.Time `json:"since"`
}
