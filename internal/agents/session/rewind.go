package session

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// Bounds of what agents are told of.
const (
	maxRewinds = 8
	maxNote    = 8 << 10
)

// Rewound makes every session that knew the files before hear of it.
func (s *State) Rewound(w Rewind) {
	s.Rewinds = append(slices.Clone(s.rewinds()), w)
	if over := len(s.Rewinds) - maxRewinds; over > 0 {
		s.Rewinds = s.Rewinds[over:]
	}
	s.Rewind = nil
}

func (s *State) rewinds() []Rewind {
	if len(s.Rewinds) == 0 && s.Rewind != nil {
		return []Rewind{*s.Rewind}
	}
	return s.Rewinds
}

// TakenSince are the rewinds that a conversation which ends at a checkpoint does not know
// of, although it knows what they took back.
func (s *State) TakenSince(number int64) []Rewind {
	return slices.DeleteFunc(slices.Clone(s.rewinds()), func(w Rewind) bool { return number < w.From || number >= w.Number })
}

// unheard are the rewinds that a session must hear of: those since the last one that it
// was told of, if it saw the files before them.
func (s *State) unheard(x *Session) []Rewind {
	all := s.rewinds()
	told := slices.IndexFunc(all, func(w Rewind) bool { return w.ID == x.Told })
	return slices.DeleteFunc(slices.Clone(all[told+1:]), func(w Rewind) bool { return !x.knew(&w) })
}

// knew reports whether a session knows the files as they were before a rewind: it was
// there, or it began later with a memory from before we heard of it.
func (x *Session) knew(w *Rewind) bool { return x.Resumed || !x.Since.After(w.At) }

// hears reports whether what is answered now reaches the agent in the middle of its turn.
// The calls of a subagent are answered to the subagent.
func (n *next) hears() bool {
	called := n.sig.Kind == retake.SignalCall || n.sig.Kind == retake.SignalCalled
	return called && n.sig.Hears && n.sig.Subagent == ""
}

// tell gives the agent what it must know, once.
func (n *next) tell() {
	var texts []string
	if n.x.Note != "" {
		texts = append(texts, n.x.Note)
	}
	news := n.st.unheard(n.x)
	for _, w := range news {
		texts = append(texts, w.Text)
	}
	if len(texts) == 0 {
		return
	}
	n.act.Note = cut(strings.Join(texts, "\n"), maxNote)
	n.x.Noted = Noted{By: n.sig.ID, Text: n.act.Note, Told: n.x.Told, Note: n.x.Note}
	if n.x.Note = ""; len(news) > 0 {
		n.x.Told = news[len(news)-1].ID
	}
}
