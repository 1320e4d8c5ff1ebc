package retake

import (
	"context"
	"time"
)

// Viewer arranges what people look at. It is computed once, here: a user interface draws the
// rows of a view and decides nothing about them.
type Viewer interface {
	// ViewTimeline arranges a part of the timeline in rows, newest first. Names that cannot be
	// found, because a checkpoint was forgotten, are left out.
	ViewTimeline(ctx context.Context, q TimelineQuery) (TimelineView, error)
}

// TimelineQuery chooses a part of the timeline and how it is folded.
type TimelineQuery struct {
	LogQuery
	Open         []string // the keys of folds that somebody opened
	FoldReplaced bool
	Now          bool // also say what changed since the newest checkpoint; waited for a short time only

	// Flat asks for one row per checkpoint, without folds, forks and a graph, and Graph for the
	// rows of a graph without what the ones of checkpoints say. Together they are a long timeline
	// that is read page by page and laid out as a whole.
	Flat  bool
	Graph bool
}

// IsFiltered reports whether checkpoints in between are left out.
func (q LogQuery) IsFiltered() bool { return q.Good || q.Path != "" || q.Session != "" }

// TimelineView is a part of a timeline in rows. Its texts are raw: who draws them escapes them.
type TimelineView struct {
	Workspace  Workspace     `json:"workspace"`
	Rows       []TimelineRow `json:"rows"`
	Lanes      int           `json:"lanes"`                // of the graph
	Shown      int64         `json:"shown"`                // checkpoints that the rows stand for
	Total      int64         `json:"total"`                // checkpoints of the workspace
	Newest     int64         `json:"newest,omitempty"`     // the number of the checkpoint on which the files stand; 0: not known
	Good       *Checkpoint   `json:"good,omitempty"`       // the newest good one, shown or not
	Tree       bool          `json:"tree,omitempty"`       // no checkpoint in between is left out
	Checked    bool          `json:"checked,omitempty"`    // somebody asked whether a checkpoint works
	Protection string        `json:"protection,omitempty"` // of the workspace, when it was asked what changed
	Upload     *Upload       `json:"upload,omitempty"`     // nil: there is no remote
}

// RowKind is what a row of a timeline stands for.
type RowKind string

// The kinds of rows.
const (
	RowNow        RowKind = "now"        // what changed since the newest checkpoint
	RowCheckpoint RowKind = "checkpoint" // one checkpoint
	RowQuiet      RowKind = "quiet"      // auto-checkpoints in which nobody looks for anything
	RowReplaced   RowKind = "replaced"   // checkpoints that a restore left behind, folded
	RowFork       RowKind = "fork"       // a fork, above the checkpoint that it started from
	RowMore       RowKind = "more"       // forks of one checkpoint that have no row
)

// TimelineRow is one row. Its key stays the same when rows come or go.
type TimelineRow struct {
	Kind  RowKind  `json:"kind"`
	Key   string   `json:"key"`
	Place RowPlace `json:"place"`

	Number int64     `json:"number,omitempty"` // of the checkpoint; of a fold: of its newest; of a row that counts forks: of their origin
	First  int64     `json:"first,omitempty"`  // of a fold: the number of its oldest checkpoint
	Count  int64     `json:"count,omitempty"`  // of a fold: checkpoints; of a row that counts forks: forks
	Base   int64     `json:"base,omitempty"`   // the number of the checkpoint it is compared with, if that is known
	Time   time.Time `json:"time,omitzero"`    // of a fold: of its oldest checkpoint
	Until  time.Time `json:"until,omitzero"`   // of a fold: of its newest checkpoint

	Who     string `json:"who,omitempty"`
	Title   string `json:"title"`
	Written bool   `json:"written,omitempty"` // somebody wrote the title; else it is made of facts
	About   string `json:"about,omitempty"`   // of a fold: more about what it holds
	Newest  bool   `json:"newest,omitempty"`  // the files stand here
	Good    bool   `json:"good,omitempty"`

	Files   int64     `json:"files"`             // that changed; of the first capture, that it holds
	Points  []Point   `json:"points,omitempty"`  // what really changed, in order
	Lead    string    `json:"lead,omitempty"`    // the same in a word or two
	Heavy   bool      `json:"heavy,omitempty"`   // the points say more than the title
	Counted bool      `json:"counted,omitempty"` // the points are only counts: nobody looked into the files yet
	Flags   []RowFlag `json:"flags,omitempty"`   // the gravest first
	Answers []Answer  `json:"answers,omitempty"` // of checks, the gravest first
	Pins    []string  `json:"pins,omitempty"`

	Checkpoint *Checkpoint     `json:"checkpoint,omitempty"` // of a row that stands for one
	Fork       *WorkspaceState `json:"fork,omitempty"`
	Adopted    bool            `json:"adopted,omitempty"` // the fork was taken in
	Changed    *Counts         `json:"changed,omitempty"` // of now; absent: not known yet
	Inside     []TimelineRow   `json:"inside,omitempty"`  // of a fold: the rows that it stands for
}

// Checkpoints calls f for each checkpoint that the rows stand for, newest first, until f
// returns false.
func (v *TimelineView) Checkpoints(f func(*TimelineRow) bool) {
	for i := range v.Rows {
		r := &v.Rows[i]
		if r.Checkpoint != nil && !f(r) {
			return
		}
		for k := range r.Inside {
			if !f(&r.Inside[k]) {
				return
			}
		}
	}
}

// RowFlag is a word that nobody should miss, and the reason for it.
type RowFlag struct {
	Word string   `json:"word"`
	Why  string   `json:"why,omitempty"`
	Tone FlagTone `json:"tone"`
}

// FlagTone is how grave a flag is.
type FlagTone string

// The tones.
const (
	ToneMismatch FlagTone = "mismatch" // words and facts disagree
	ToneWarning  FlagTone = "warning"  // something may be wrong
	ToneNote     FlagTone = "note"     // something to know
)

// RowPlace is the place of a row in the graph, with all that is drawn beside it. Lanes are
// counted from 0, on which the line of the files is.
type RowPlace struct {
	Lane     int     `json:"lane"`
	Replaced bool    `json:"replaced,omitempty"` // its line was left behind by a restore
	Detached bool    `json:"detached,omitempty"` // no line is drawn to what it grew from: there was no lane left
	Joins    []int   `json:"joins,omitempty"`    // lanes that end here: what grew from this row
	Opens    []int   `json:"opens,omitempty"`    // lanes that begin here: what was taken in
	Through  Strokes `json:"through,omitempty"`  // what passes by
	Joint    Strokes `json:"joint,omitempty"`    // what ends or begins here
	Below    Strokes `json:"below,omitempty"`    // what goes on to the next row
}

// Strokes are what is drawn in each lane; lanes that are absent are empty.
type Strokes []Stroke

// At returns the stroke in a lane.
func (s Strokes) At(lane int) Stroke {
	if lane < len(s) {
		return s[lane]
	}
	return StrokeNone
}

// Stroke is a part of a line.
type Stroke int

// The strokes.
const (
	StrokeNone     Stroke = 0
	StrokeLine     Stroke = 1
	StrokeReplaced Stroke = 2 // of a line that was left behind
)
