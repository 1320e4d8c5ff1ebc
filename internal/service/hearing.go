package service

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/session"
	"github.com/retake-dev/retake/internal/spool"
)

// hearing is what a service knows of the agents in one workspace: the state that
// session.Next goes on from, and what it asked for and is not done yet. What is
// written to disk holds nothing that was not done: after a crash the spool tells the
// rest again.
type hearing struct {
	s  *Service
	id retake.WorkspaceID

	mu    sync.Mutex // guards everything below
	state session.State
	queue []*hearingJob
	busy  bool // a worker is at the queue

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
func (s *Service) hearingOf(id retake.WorkspaceID) (*hearing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.hearings[id]; h != nil {
		return h, nil
	}
	h := &hearing{s: s, id: id}
	if err := h.load(); err != nil {
		return nil, err
	}
	s.hearings[id] = h
	return h, nil
}

// hear takes one signal in. The answer is nil when there is nothing more to do.
func (h *hearing) hear(ws retake.Workspace, sig retake.Signal, habits retake.Habits) (*hearingJob, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	st, act := session.Next(h.state, sig, below(ws.Root, sig.Dir), habits)
	j := &hearingJob{ws: ws, sig: sig, act: act, done: make(chan struct{})}
	if act.Save == nil {
		h.state = st
		if len(h.queue) == 0 {
			_ = h.store() // what is lost by this is context, never a moment
		}
		return j, nil
	}
	if !act.Save.Wait && h.s.p.Signals != "" {
		if err := spool.Put(h.s.p.Signals, sig); err != nil {
			return nil, err // the state is as before: it was not heard
		}
	}
	h.state = st
	h.queue = append(h.queue, j)
	if !h.busy {
		h.busy = true
		h.s.hears.Go(h.work)
	}
	return j, nil
}

// work does what was asked for, in order, until nothing is left.
func (h *hearing) work() {
	for {
		h.mu.Lock()
		if len(h.queue) == 0 {
			h.busy = false
			_ = h.store() // as above
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
			_ = spool.Drop(h.s.p.Signals, j.sig) // again, it finds its checkpoint
		}
		close(j.done)
		if j.err == nil && j.act.Keep && j.recorded {
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

// pending are the effects since the newest moment.
func (h *hearing) pending() []retake.Effect {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]retake.Effect{}, h.state.Effects...)
}

// settled forgets effects that a moment holds now.
func (h *hearing) settled(done []retake.Effect) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state.Effects = slices.DeleteFunc(h.state.Effects, func(e retake.Effect) bool {
		return slices.ContainsFunc(done, func(d retake.Effect) bool { return d.ID == e.ID })
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

// speak changes or reads the state, and writes it when nothing waits.
func (h *hearing) speak(f func(*session.State)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(&h.state)
	if len(h.queue) == 0 {
		_ = h.store() // context
	}
}

const maxHearing = 16 << 20

func (h *hearing) file() string { return string(h.id) + ".json" }

// load reads the state. One that cannot be read is begun anew: it is context, and
// effects are numbered on from what the timeline holds.
func (h *hearing) load() error {
	if h.state = (session.State{V: 1}); h.s.p.Sessions == "" {
		return nil
	}
	dir, err := h.s.p.FS.OpenRoot(h.s.p.Sessions)
	if err != nil {
		return fmt.Errorf("read sessions: %w", err)
	}
	defer dir.Close() //nolint:errcheck // only read
	f, err := dir.OpenFile(h.file())
	if err == nil {
		defer f.Close() //nolint:errcheck // only read
		var st session.State
		b, rerr := io.ReadAll(io.LimitReader(f, maxHearing))
		if rerr == nil && json.Unmarshal(b, &st) == nil {
			h.state = st
			return nil
		}
	}
	h.state.Counted = h.s.lastEffect(h.id)
	return nil
}

// lastEffect is the highest number of an effect on a timeline.
func (s *Service) lastEffect(ws retake.WorkspaceID) int64 {
	q := retake.LogQuery{Workspace: ws, Limit: stride}
	for {
		page, err := s.p.Catalog.Page(s.life, q)
		if err != nil {
			return 0
		}
		for _, cp := range page {
			if last, ok := highest(cp.Effects); ok {
				return last
			}
			q.Before = cp.Number
		}
		if len(page) < stride {
			return 0
		}
	}
}

func highest(effects []retake.Effect) (last int64, ok bool) {
	for _, e := range effects {
		if n, err := strconv.ParseInt(strings.TrimPrefix(e.ID, "e"), 10, 64); err == nil {
			last, ok = max(last, n), true
		}
	}
	return last, ok
}

// store writes the state. The caller holds mu.
func (h *hearing) store() error {
	if h.s.p.Sessions == "" {
		return nil
	}
	b, err := json.Marshal(h.state)
	if err != nil {
		return fmt.Errorf("write sessions: %w", err)
	}
	dir, err := h.s.p.FS.OpenRoot(h.s.p.Sessions)
	if err != nil {
		return fmt.Errorf("write sessions: %w", err)
	}
	defer dir.Close() //nolint:errcheck // a directory handle
	return replaceSmall(dir, h.file(), b)
}
