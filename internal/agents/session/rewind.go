package session

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// Limits on what agents are told.
const (
	maxRewinds = 8
	maxNote    = 8 << 10
)

// AddRewind records a rewind, so that every session that knew the files before is told.
func (s *State) AddRewind(w Rewind) {
	s.Rewinds = append(slices.Clone(s.allRewinds()), w)
	if over := len(s.Rewinds) - maxRewinds; over > 0 {
		s.Rewinds = s.Rewinds[over:]
	}
	s.Rewind = nil
	s.addUndone(w.Done)
	if over := len(s.Rewinds) - 1; over >= 0 {
		s.Rewinds[over].Done = nil // they are in Undone
	}
}

func (s *State) allRewinds() []Rewind {
	if len(s.Rewinds) == 0 && s.Rewind != nil {
		return []Rewind{*s.Rewind}
	}
	return s.Rewinds
}

// RewindsUnknownTo returns the rewinds that a conversation ending at a checkpoint does not
// know of, although it knows what they undid.
func (s *State) RewindsUnknownTo(number int64) []Rewind {
	return slices.DeleteFunc(slices.Clone(s.allRewinds()), func(w Rewind) bool { return number < w.From || number >= w.Number })
}

// unheardRewinds returns the rewinds that a session must be told: those since the last one
// it was told, if it saw the files before them.
func (s *State) unheardRewinds(x *Session) []Rewind {
	all := s.allRewinds()
	told := slices.IndexFunc(all, func(w Rewind) bool { return w.ID == x.Told })
	return slices.DeleteFunc(slices.Clone(all[told+1:]), func(w Rewind) bool { return !x.knewFilesBefore(&w) })
}

// knewFilesBefore reports whether a session knows the files as they were before a rewind:
// it existed then, or it was resumed and remembers an earlier session.
func (x *Session) knewFilesBefore(w *Rewind) bool { return x.Resumed || !x.Since.After(w.At) }

// canHearNow reports whether a note reaches the agent in the middle of its turn. The
// response to a subagent's call goes to the subagent.
func (n *transition) canHearNow() bool {
	called := n.signal.Kind == retake.SignalCall || n.signal.Kind == retake.SignalCalled
	return called && n.signal.Hears && n.signal.Subagent == ""
}

// deliverNote gives the agent what it must know, once.
func (n *transition) deliverNote() {
	var texts []string
	if n.session.Note != "" {
		texts = append(texts, n.session.Note)
	}
	news := n.state.unheardRewinds(n.session)
	for _, w := range news {
		texts = append(texts, w.Text)
	}
	if len(texts) == 0 {
		return
	}
	n.act.Note = truncate(strings.Join(texts, "\n"), maxNote)
	n.session.Noted = DeliveredNote{By: n.signal.ID, Text: n.act.Note, Told: n.session.Told, Note: n.session.Note}
	if n.session.Note = ""; len(news) > 0 {
		n.session.Told = news[len(news)-1].ID
	}
}
