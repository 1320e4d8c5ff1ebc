package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/agents/session"
)

// hearing is what a service knows of the agents in one workspace: the state that
// session.Next goes on from, and what it asked for and is not done yet. What is
// written to disk does not know the signals that are not done: after a crash the spool
// tells them again.
type hearing struct {
	s  *Service
	id retake.WorkspaceID

	mu    sync.Mutex // guards everything below
	state session.State
	queue []*hearingJob
	busy  bool         // a worker is at the queue
	pids  map[int]bool // processes of agents whose end is waited for

	keeps sync.Mutex // one conversation is kept at a time, in order
}

// hearingJob is one signal whose save is not done yet.
type hearingJob struct {
	ws         retake.Workspace
	sig        retake.Signal
	act        session.Act
	done       chan struct{}
	checkpoint *retake.Checkpoint
	recorded   bool
	warnings   []retake.Warning
	err        error
}

// hearingOf gives the hearing of a workspace, from disk the first time.
func (s *Service) hearingOf(id retake.WorkspaceID) *hearing {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.hearings[id]; h != nil {
		return h
	}
	h := &hearing{s: s, id: id}
	h.load()
	s.hearings[id] = h
	return h
}

// allHearings are those that are in memory.
func (s *Service) allHearings() []*hearing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.hearings))
}

// hear takes one signal in, and asks for what it needs. One that waited comes too late for
// a checkpoint before something.
func (h *hearing) hear(ws retake.Workspace, sig retake.Signal, habits retake.Habits, waited bool) *hearingJob {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hearLocked(ws, sig, habits, waited)
}

// hearLocked is hear for a caller that holds mu.
func (h *hearing) hearLocked(ws retake.Workspace, sig retake.Signal, habits retake.Habits, waited bool) *hearingJob {
	if i := slices.IndexFunc(h.queue, func(j *hearingJob) bool { return j.sig.ID == sig.ID }); i >= 0 {
		return h.queue[i]
	}
	if !slices.Contains(h.state.Seen, sig.ID) {
		h.writeDown(&sig)
	}
	st, act := session.Next(h.state, sig, below(ws.Root, sig.Dir), habits)
	if c := sig.Call; c != nil && c.Kind == retake.CallWrite {
		st.AddWrittenPaths(sig.Agent+" "+sig.Session, pathsBelow(ws.Root, sig.Dir, c.Paths), c.Failed)
	}
	if act.Save != nil && !act.Save.StillRisky(h.s.existsFor(ws, sig)) {
		act.Save = nil
	}
	j := &hearingJob{ws: ws, sig: sig, act: act, done: make(chan struct{})}
	if waited && act.Save != nil && act.Save.MustComeFirst() {
		j.act.Save, act.Save = nil, nil
	}
	if act.Save != nil && !act.Save.MustComeFirst() && h.s.p.Signals != "" {
		h.s.p.Diag.Note(taskEvents, queue.Put(h.s.p.Signals, sig)) // without it only a crash before the next checkpoint loses it
	}
	if h.state = st; act.Save != nil {
		h.queue = append(h.queue, j)
	}
	h.keepState() // what is lost without it is context, never a checkpoint
	if act.Save != nil && !h.busy {
		h.busy = true
		h.s.hears.Go(h.work)
	}
	h.followProcess(act.Session)
	return j
}

// work does what was asked for, in order, until nothing is left.
func (h *hearing) work() {
	for {
		h.mu.Lock()
		if len(h.queue) == 0 {
			h.busy = false
			h.keepState()
			h.mu.Unlock()
			return
		}
		j := h.queue[0]
		h.mu.Unlock()

		j.err = h.try(j)
		h.mu.Lock()
		h.queue = h.queue[1:]
		if unheard(j.err) { // it is told again: by the spool, or by who waits
			h.state.Seen = slices.DeleteFunc(h.state.Seen, func(id retake.SignalID) bool { return id == j.sig.ID })
		}
		h.mu.Unlock()
		if h.s.p.Signals != "" && !unheard(j.err) {
			h.s.p.Diag.Note(taskEvents, queue.Remove(h.s.p.Signals, j.sig)) // heard again, it finds its checkpoint
		}
		close(j.done)
		if j.err == nil && j.act.KeepTranscript && j.recorded {
			h.keepLater(j)
		}
	}
}

// try performs one job. A panic is an error of that job alone.
func (h *hearing) try(j *hearingJob) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("save for a signal: %v", p)
		}
	}()
	return h.s.perform(context.WithoutCancel(h.s.life), h, j)
}

// pending are the effects since the newest checkpoint.
func (h *hearing) pending() []retake.Effect {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state.PendingEffects()
}

// ended are those of them that a checkpoint takes along.
func (h *hearing) ended(at time.Time) []retake.Effect {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state.EndedEffects(at)
}

// takenSince are the rewinds that a conversation up to a checkpoint does not know of.
func (h *hearing) takenSince(number int64) []session.Rewind {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state.RewindsUnknownTo(number)
}

// settled forgets effects that a checkpoint holds now.
func (h *hearing) settled(done []retake.Effect) {
	h.speak(func(st *session.State) { st.Effects = unsettled(st.Effects, done) })
}

// unsettled are the effects that are not among those that are done.
func unsettled(effects, done []retake.Effect) []retake.Effect {
	return slices.DeleteFunc(slices.Clone(effects), func(e retake.Effect) bool {
		return slices.ContainsFunc(done, func(d retake.Effect) bool { return d.ID == e.ID && d.Time.Equal(e.Time) })
	})
}

func (h *hearing) tasks() []retake.Task {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range slices.Backward(h.state.Sessions) {
		if len(x.Tasks) > 0 {
			return slices.Clone(x.Tasks)
		}
	}
	return []retake.Task{}
}

// speak changes the state, and writes it.
func (h *hearing) speak(f func(*session.State)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(&h.state)
	h.keepState()
}

// does reports whether a signal was heard and is not done yet.
func (h *hearing) does(id retake.SignalID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.queue, func(j *hearingJob) bool { return j.sig.ID == id })
}

// unfinishedJobs are the jobs that are not done yet, in their order.
func (h *hearing) unfinishedJobs() []*hearingJob {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.queue)
}

// works reports whether a session is in a turn here.
func (h *hearing) works(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.state.Find(key)
	return x != nil && x.Phase == session.Working
}

const maxHearing = 16 << 20

func (h *hearing) file() string { return string(h.id) + ".json" }

// load reads the state. Whatever stands in the way, it is begun anew: it is context, and
// effects are numbered on from what the timeline holds.
func (h *hearing) load() {
	if h.state = (session.State{V: 1}); h.s.p.Sessions == "" {
		return
	}
	var st session.State
	if h.s.readSmall(h.file(), &st) {
		h.state = st
	}
	recent, last := h.s.recentEffects(h.id, len(h.state.Effects) > 0 || h.state.Counted == 0)
	h.state.Effects = unsettled(h.state.Effects, recent) // it may have been written before they were
	h.state.Counted = max(h.state.Counted, last)
}

// recentEffects are those of the newest checkpoint that has any, with all in the checkpoints
// after it, and the highest number of one.
func (s *Service) recentEffects(ws retake.WorkspaceID, look bool) (recent []retake.Effect, last int64) {
	q := retake.LogQuery{Workspace: ws, Limit: stride}
	for look {
		page, err := s.p.Catalog.Page(s.life, q)
		if err != nil {
			return nil, 0
		}
		for _, cp := range page {
			recent = append(recent, cp.Effects...)
			last = max(last, highest(cp.Effects))
			q.Before = cp.Number
		}
		look = last == 0 && len(page) == stride
	}
	return recent, last
}

func highest(effects []retake.Effect) (last int64) {
	for _, e := range effects {
		if n, err := strconv.ParseInt(strings.TrimPrefix(e.ID, "e"), 10, 64); err == nil {
			last = max(last, n)
		}
	}
	return last
}

// keepState writes the state and records whether that worked. The caller holds mu.
func (h *hearing) keepState() { h.s.p.Diag.Note(taskSession, h.store()) }

// store writes the state. The caller holds mu.
func (h *hearing) store() error {
	if h.s.p.Sessions == "" {
		return nil
	}
	st := h.state
	st.Seen = slices.DeleteFunc(slices.Clone(st.Seen), func(id retake.SignalID) bool {
		return slices.ContainsFunc(h.queue, func(j *hearingJob) bool { return j.sig.ID == id })
	})
	return h.s.writeSmall(h.file(), st)
}
