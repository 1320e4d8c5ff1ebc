// Package session decides what a signal means: when to save, what to record and
// what to answer. It is one pure function over a table.
//
// It uses no file, no clock and no store; the service keeps the state and performs
// the acts. The diagram in docs/start/agents.md is made of the same table.
//
//	N1  The same signal again changes nothing and asks for nothing.
//	N2  A turn that had a prompt becomes a checkpoint, whatever ends it.
//	N3  A call that may destroy something here is preceded by a checkpoint.
//	N4  Nothing grows without a bound, whatever signals come.
package session

import (
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
)

// Phase is the state of a session.
type Phase string

// The phases of a session.
const (
	Away    Phase = "away"    // unknown, or ended
	Resting Phase = "resting" // between two turns
	Working Phase = "working" // in a turn
)

// Limits on what is kept.
const (
	maxSessions = 32
	maxSeen     = 256
	maxCalls    = 200
	maxOutput   = 4 << 10
	maxEffects  = 1000
	maxPrompts  = 32
	maxTasks    = 200
	maxWrote    = 500
	maxTitle    = 300
	staleAfter  = 30 * time.Minute // after the last signal of a turn
)

// State is what is known about the agents in one workspace.
type State struct {
	V        int               `json:"v"`
	Sessions []Session         `json:"sessions"`          // the most recently heard last
	Effects  []retake.Effect   `json:"effects"`           // since the newest checkpoint
	Counted  int64             `json:"counted"`           // effects so far, for their names
	Rewind   *Rewind           `json:"rewind,omitempty"`  // of older versions, which knew the newest alone
	Rewinds  []Rewind          `json:"rewinds,omitempty"` // the newest last
	Seen     []retake.SignalID `json:"seen"`

	Stopped []StoppedCall   `json:"stopped,omitempty"` // by policies, the newest last
	Undone  []retake.Effect `json:"undone,omitempty"`  // done before the files were restored to an earlier state
}

// Session is one run of an agent.
type Session struct {
	Agent   string        `json:"agent"`
	Version string        `json:"version,omitempty"`
	ID      string        `json:"id"`
	Dir     string        `json:"dir"` // below the root
	PID     int           `json:"pid,omitempty"`
	Steady  bool          `json:"steady,omitempty"` // the process called twice: it is the agent, not a wrapper around one hook
	Left    bool          `json:"left,omitempty"`   // the session or its process ended; nothing new was heard since
	Phase   Phase         `json:"phase"`
	Since   time.Time     `json:"since"`
	Last    time.Time     `json:"last"`
	Rested  time.Time     `json:"rested"`            // when its last turn ended
	Resumed bool          `json:"resumed,omitempty"` // it began with what was said before
	Told    string        `json:"told,omitempty"`    // the rewind that it heard of
	Note    string        `json:"note,omitempty"`    // what it alone must hear
	Noted   DeliveredNote `json:"noted,omitzero"`
	Turn    Turn          `json:"turn"`
	Joined  bool          `json:"joined,omitempty"` // its turn began in another workspace, which hears of its calls

	Prompts    []retake.SignalID `json:"prompts,omitempty"` // that began its last turns
	Judged     []string          `json:"judged,omitempty"`  // ids of its last calls
	Tasks      []retake.Task     `json:"tasks,omitempty"`
	Calls      []retake.Call     `json:"-"`                   // since its last checkpoint; only in memory, because it is much
	Subagents  int               `json:"subagents,omitempty"` // that are at work now
	Started    []StartedSubagent `json:"started,omitempty"`   // those of this turn
	Transcript string            `json:"transcript,omitempty"`
	Talk       Talk              `json:"talk,omitzero"`
}

// Turn is the newest turn of a session.
type Turn struct {
	ID      string    `json:"id,omitempty"`
	Prompt  string    `json:"prompt,omitempty"`
	Machine bool      `json:"machine,omitempty"`
	Since   time.Time `json:"since"`
	Calls   int       `json:"calls,omitempty"`

	Wrote []string `json:"wrote,omitempty"` // below the root: by its file tools

	End retake.SignalID `json:"end,omitempty"` // the signal that ended it
}

// DeliveredNote is the last note that was delivered, and for which signal. If that signal
// is repeated, the note was not received.
type DeliveredNote struct {
	By   retake.SignalID `json:"by"`
	Text string          `json:"text"`
	Told string          `json:"told"`           // what was told before
	Note string          `json:"note,omitempty"` // the part that was meant for this session alone
}

// Talk is how much of the conversation is stored.
type Talk struct {
	Path     string           `json:"path,omitempty"`
	Segments []retake.Segment `json:"segments,omitempty"`
	Bytes    int64            `json:"bytes,omitempty"`
	Tail     []byte           `json:"tail,omitempty"`   // the last bytes that were kept
	Number   int64            `json:"number,omitempty"` // of the newest checkpoint that reaches the segments
}

// Rewind is a restore that agents which knew the files before must be told.
type Rewind struct {
	ID    string    `json:"id"` // the checkpoint that it made
	At    time.Time `json:"at"`
	Text  string    `json:"text"`
	Taken string    `json:"taken,omitempty"` // the turn that was taken back, in short

	Number int64 `json:"number,omitempty"` // of that checkpoint
	From   int64 `json:"from,omitempty"`   // a conversation up to this checkpoint, or a later one, knows the files before

	Done []retake.Effect `json:"-"` // external actions that it did not take back
}

// Act is what a signal asks the service to do.
type Act struct {
	Save           *Save
	Effects        []retake.Effect
	Note           string
	Stop           *retake.Stop // the call should not run
	Approved       bool         // a person has let the call pass
	Repeats        []string     // sentences about what the call does once more
	KeepTranscript bool         // keep the conversation with that save
	Session        string
}

// Save is a checkpoint to take.
type Save struct {
	Trigger   retake.Trigger
	Intent    string
	IfChanged bool
	Wait      bool // the agent waits for it
	Turn      retake.Turn
	Tasks     []retake.Task
	Calls     []retake.Call

	judged risk.Judgement // of a call that it is taken before
}

// Targets returns what the call that a checkpoint is taken before may destroy; more is set if it may
// destroy what no target names.
func (s *Save) Targets() (list []risk.Target, more bool) { return s.judged.Targets() }

// StillRisky judges the call that a checkpoint is taken before once more, with knowledge of
// the files: a call that only creates files needs no checkpoint, and one that writes over files
// needs one if they are not inside the workspace.
func (s *Save) StillRisky(exists, inside func(place string) bool) bool {
	if s.Trigger != retake.TriggerRisk {
		return true
	}
	s.judged = s.judged.WithoutMissing(exists, inside)
	s.Turn.Risk = truncate(s.judged.AllReasons(), maxTitle)
	return s.judged.Destructive
}

// MustComeFirst reports whether the checkpoint is useless once the agent goes on.
func (s *Save) MustComeFirst() bool {
	return s.Trigger == retake.TriggerPrompt || s.Trigger == retake.TriggerRisk
}

// Key identifies a session among those of all agents.
func (s *Session) Key() string { return s.Agent + " " + s.ID }

// Find returns a session by its key, or nil.
func (s *State) Find(key string) *Session {
	if i := s.index(key); i >= 0 {
		return &s.Sessions[i]
	}
	return nil
}

func (s *State) index(key string) int {
	return slices.IndexFunc(s.Sessions, func(x Session) bool { return x.Key() == key })
}

// Newest returns the session that was heard last, or nil.
func (s *State) Newest() *Session {
	if len(s.Sessions) == 0 {
		return nil
	}
	return &s.Sessions[len(s.Sessions)-1]
}

// clone copies what Next changes.
func (s State) clone() State {
	s.Sessions = slices.Clone(s.Sessions)
	s.Effects = slices.Clone(s.Effects)
	s.Seen = slices.Clone(s.Seen)
	s.Stopped = slices.Clone(s.Stopped)
	return s
}

// enterSession makes the session of a signal the newest one, and returns it.
func (s *State) enterSession(sig *retake.Signal, dir string) *Session {
	key := sig.Agent + " " + sig.Session
	at := s.index(key)
	var x Session
	if at < 0 {
		x = Session{Agent: sig.Agent, ID: sig.Session, Dir: dir, Phase: Away, Since: sig.Time}
	} else {
		x = s.Sessions[at]
		s.Sessions = slices.Delete(s.Sessions, at, at+1)
	}
	if sig.Version != "" {
		x.Version = sig.Version
	}
	if sig.Transcript != "" && sig.Subagent == "" {
		x.Transcript = sig.Transcript
	}
	if sig.PID > 0 {
		x.Steady = x.PID == sig.PID
		x.PID = sig.PID
	}
	if x.Left && !mayArriveLate(sig.Kind) {
		x.Left = false
	}
	if sig.Kind == retake.SignalPrompt {
		x.Joined = sig.Joined
	}
	x.Last = sig.Time
	return s.Add(x)
}

// Add makes a session the newest one. If there are too many, the oldest idle one is dropped
// before one that is working.
func (s *State) Add(x Session) *Session {
	for len(s.Sessions) >= maxSessions {
		gone := 0
		for _, phase := range []Phase{Away, Resting} {
			if i := slices.IndexFunc(s.Sessions, func(o Session) bool { return o.Phase == phase }); i >= 0 {
				gone = i
				break
			}
		}
		s.Sessions = slices.Delete(s.Sessions, gone, gone+1)
	}
	s.Sessions = append(s.Sessions, x)
	return s.Newest()
}

// TakeBackNote restores a note that was not received.
func (s *State) TakeBackNote(key string, by retake.SignalID) {
	x := s.Find(key)
	if x == nil || x.Noted.By != by {
		return
	}
	x.Told, x.Note = x.Noted.Told, x.Noted.Note
	x.Noted = DeliveredNote{}
}

// DeadSessions returns the sessions that are in a turn and whose process is gone.
func (s *State) DeadSessions(alive func(pid int) bool) []Session {
	var out []Session
	for _, x := range s.Sessions {
		if x.Phase == Working && x.Steady && !alive(x.PID) {
			out = append(out, x)
		}
	}
	return out
}

// MarkLeft marks a session whose process ended: later signals of it are late, and begin no
// new turn.
func (s *State) MarkLeft(key string) {
	if x := s.Find(key); x != nil {
		x.Left = true
	}
}

// contestedBy names the other sessions that were working since the turn of x began.
func (s *State) contestedBy(x *Session, now time.Time) []string {
	var out []string
	for i := range s.Sessions {
		o := &s.Sessions[i]
		busy := o.Phase == Working && now.Sub(o.Last) < staleAfter
		if o.Key() != x.Key() && (busy || o.Rested.After(x.Turn.Since)) && !x.Turn.Since.IsZero() {
			out = append(out, o.Agent+" "+shortID(o.ID))
		}
	}
	return out
}

func shortID(id string) string { return truncate(id, 8) }

func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// OngoingTurn returns the current turn of a session, for a checkpoint that somebody else
// asked for, or nil.
func (s *State) OngoingTurn(i int, at time.Time) *retake.Turn {
	x := &s.Sessions[i]
	if x.Phase != Working || at.Sub(x.Last) > staleAfter {
		return nil
	}
	return &retake.Turn{
		Agent: x.Agent, Version: x.Version, Session: x.ID, Dir: x.Dir, ID: x.Turn.ID, Prompt: x.Turn.Prompt, Machine: x.Turn.Machine,
		Calls: x.Turn.Calls, Tasks: countTasks(x.Tasks), Contested: s.contestedBy(x, at), Began: x.Turn.Since, Paths: x.Turn.Wrote,
	}
}

// AddWrittenPaths records the paths below the root that a file tool of a session wrote. A
// failed call wrote nothing.
func (s *State) AddWrittenPaths(key string, paths []string, failed bool) {
	x := s.Find(key)
	if x == nil || len(paths) == 0 {
		return
	}
	wrote := slices.Clone(x.Turn.Wrote)
	for _, p := range paths {
		at := slices.Index(wrote, p)
		switch {
		case failed && at >= 0:
			wrote = slices.Delete(wrote, at, at+1)
		case !failed && at < 0 && len(wrote) < maxWrote:
			wrote = append(wrote, p)
		}
	}
	x.Turn.Wrote = wrote
}
