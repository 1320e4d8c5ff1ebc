package agentstate

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/explain/risk"
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// State is what the service knows of the agents in one workspace: the state that
// session.Next continues from, and the signals whose checkpoint is not taken yet.
// Unfinished signals are not part of the state on disk; after a crash they are read again
// from the signal queue.
type State struct {
	svc       *Agents
	workspace retake.WorkspaceID

	mu          sync.Mutex // guards everything below
	state       session.State
	queue       []*signalJob
	isRunning   bool         // runJobs is running
	awaitedPIDs map[int]bool // agent processes whose exit is awaited
	version     uint64       // counts the versions of state that are to be stored

	replacing sync.Mutex // taken before mu; held while a to-do list is replaced

	storing sync.Mutex // taken after mu or alone; guards what follows
	stored  uint64     // the version that is on disk

	transcripts workspace.Lock // transcripts are saved one at a time, in order
}

// signalJob is one signal whose checkpoint is not taken yet.
type signalJob struct {
	ws         retake.Workspace
	sig        retake.Signal
	act        session.Act
	who        retake.Actor  // whose key reported it; empty: none, or it was queued before the last start
	stored     chan struct{} // closed when the state that knows of the signal is on disk
	done       chan struct{}
	checkpoint *retake.Checkpoint
	recorded   bool
	warnings   []retake.Warning
	stop       *retake.Stop // the call should not run, because of what could not be saved
	err        error
}

// StateOf returns the agent state of a workspace and loads it from disk on first use.
func (s *Agents) StateOf(id retake.WorkspaceID) *State {
	s.mu.Lock()
	h := s.states[id]
	if h != nil {
		s.mu.Unlock()
		return h
	}
	h = &State{svc: s, workspace: id, transcripts: workspace.NewLock()}
	h.mu.Lock() // who asks for this state meanwhile waits until it is loaded, and nobody else
	defer h.mu.Unlock()
	s.states[id] = h
	s.mu.Unlock()
	h.loadState()
	return h
}

// allAgentStates returns the agent states that are in memory.
func (s *Agents) allAgentStates() []*State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.states))
}

// arrival says how a signal came. waited is set for one that was queued: it is too late for a
// checkpoint that must come before something.
type arrival struct {
	waited bool
	who    retake.Actor
	judged *risk.Judgement // of its call; nil: nobody has judged it yet
}

// handleSignal updates the state with one signal and queues the checkpoint it needs.
func (h *State) handleSignal(ws retake.Workspace, sig retake.Signal, habits retake.Habits, from arrival) *signalJob {
	j, store := func() (*signalJob, func()) {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.handleSignalLocked(ws, sig, habits, from)
	}()
	store() // beside the checkpoint: on some file systems this takes as long
	return j
}

// handleSignalLocked is handleSignal for a caller that holds mu. The caller must call store,
// with mu or without: the job ends only after it.
func (h *State) handleSignalLocked(ws retake.Workspace, sig retake.Signal, habits retake.Habits, from arrival) (j *signalJob, store func()) {
	if i := slices.IndexFunc(h.queue, func(j *signalJob) bool { return j.sig.ID == sig.ID }); i >= 0 {
		return h.queue[i], func() {}
	}
	if !slices.Contains(h.state.Seen, sig.ID) {
		h.appendToOwnTranscript(&sig)
	}
	st, act := session.Next(h.state, sig, relativeDir(ws.Root, sig.Dir), habits, from.judged)
	if c := sig.Call; c != nil && c.Kind == retake.CallWrite {
		st.AddWrittenPaths(sig.Agent+" "+sig.Session, relativePaths(ws.Root, sig.Dir, c.Paths), c.Failed)
	}
	if act.Save != nil && !act.Save.StillRisky(h.svc.pathFuncs(ws, sig)) {
		act.Save = nil
	}
	j = &signalJob{ws: ws, sig: sig, act: act, who: from.who, stored: make(chan struct{}), done: make(chan struct{})}
	if from.waited && act.Save != nil && act.Save.MustComeFirst() {
		j.act.Save, act.Save = nil, nil
	}
	if act.Save != nil && !act.Save.MustComeFirst() && h.svc.workspaces.SignalDir != "" {
		h.svc.workspaces.Diag.Note(workspace.TaskQueue, queue.Put(h.svc.workspaces.SignalDir, sig)) // on failure only a crash before the next checkpoint loses it
	}
	if h.state = st; act.Save != nil {
		h.queue = append(h.queue, j)
	}
	write := h.snapshotState()
	h.watchProcess(act.Session)
	if act.Save != nil && !h.isRunning {
		h.isRunning = true
		h.svc.workspaces.Work.Go(h.runJobs)
	}
	return j, func() {
		defer close(j.stored)
		h.svc.workspaces.Diag.Note(workspace.TaskSession, write()) // a failure loses context, never a checkpoint
	}
}

// runJobs runs the queued jobs in order and returns when the queue is empty.
func (h *State) runJobs() {
	for {
		h.mu.Lock()
		if len(h.queue) == 0 {
			h.isRunning = false
			h.persistState()
			h.mu.Unlock()
			return
		}
		j := h.queue[0]
		h.mu.Unlock()

		j.err = h.runJob(j)
		<-j.stored // before the signal leaves the queue on disk
		h.mu.Lock()
		h.queue = h.queue[1:]
		if shouldRetrySignal(j.err) { // it will be sent again, from the queue or by its sender
			h.state.Seen = slices.DeleteFunc(h.state.Seen, func(id retake.SignalID) bool { return id == j.sig.ID })
		}
		h.mu.Unlock()
		if h.svc.workspaces.SignalDir != "" && !shouldRetrySignal(j.err) {
			h.svc.workspaces.Diag.Note(workspace.TaskQueue, queue.Remove(h.svc.workspaces.SignalDir, j.sig)) // if that fails, the repeated signal finds its checkpoint
		}
		close(j.done)
		if j.err == nil && j.act.KeepTranscript && j.recorded {
			h.saveTranscriptLater(j)
		}
	}
}

// runJob runs one job. A panic becomes an error of that job alone. Often nobody waits for the
// checkpoint, so its failure is also one of a background task, which the status shows.
func (h *State) runJob(j *signalJob) (err error) {
	err = errSavePanicked
	h.svc.workspaces.RunTask(workspace.TaskSaves, func() error {
		err = h.svc.saveForSignal(context.WithoutCancel(h.svc.workspaces.Lifetime), h, j)
		if retake.IsKind(err, retake.NotFound) || retake.IsKind(err, retake.Moved) || retake.IsKind(err, retake.Exists) {
			return diag.ErrSkipped // the directory is not there; commands that need it say so
		}
		return err
	})
	return err
}

var errSavePanicked = errors.New("the checkpoint of a turn panicked; the log has more")

// PendingEffects returns the effects since the newest checkpoint.
func (h *State) PendingEffects() []retake.Effect {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state.PendingEffects()
}

// endedEffects returns the pending effects that a checkpoint taken at the given time
// includes.
func (h *State) endedEffects(at time.Time) []retake.Effect {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state.EndedEffects(at)
}

// rewindsUnknownTo returns the rewinds that a conversation up to the given checkpoint does
// not know of.
func (h *State) rewindsUnknownTo(number int64) []session.Rewind {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state.RewindsUnknownTo(number)
}

// dropEffects removes effects that are now part of a checkpoint.
func (h *State) dropEffects(done []retake.Effect) {
	h.updateState(func(st *session.State) { st.Effects = withoutEffects(st.Effects, done) })
}

// withoutEffects returns the effects that are not in done.
func withoutEffects(effects, done []retake.Effect) []retake.Effect {
	return slices.DeleteFunc(slices.Clone(effects), func(e retake.Effect) bool {
		return slices.ContainsFunc(done, func(d retake.Effect) bool { return d.ID == e.ID && d.Time.Equal(e.Time) })
	})
}

// latestTasks returns the task list of the most recent session that has one.
func (h *State) latestTasks() []retake.Task {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range slices.Backward(h.state.Sessions) {
		if len(x.Tasks) > 0 {
			return slices.Clone(x.Tasks)
		}
	}
	return []retake.Task{}
}

// updateState changes the state under the lock and writes it to disk.
func (h *State) updateState(f func(*session.State)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(&h.state)
	h.persistState()
}

// Rewrite changes the state and stores it at once. f reports whether it changed anything; with
// an error nothing is stored.
func (h *State) Rewrite(f func(*session.State) (changed bool, err error)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed, err := f(&h.state)
	if err != nil || !changed {
		return err
	}
	return h.writeState()
}

// hasQueued reports whether a signal is in the queue.
func (h *State) hasQueued(id retake.SignalID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.queue, func(j *signalJob) bool { return j.sig.ID == id })
}

// unfinishedJobs returns the queued jobs in order.
func (h *State) unfinishedJobs() []*signalJob {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.queue)
}

func (h *State) fileName() string { return string(h.workspace) + ".json" }

// loadState reads the state from disk. On any error it starts with an empty state: the
// state is context only, and effects are numbered on from those of the timeline.
func (h *State) loadState() {
	if h.state = (session.State{V: 1}); h.svc.workspaces.SessionDir == "" {
		return
	}
	var st session.State
	if h.svc.workspaces.ReadSessionFile(h.fileName(), &st) {
		h.state = st
	}
	recent, last := h.svc.recentEffects(h.workspace, len(h.state.Effects) > 0 || h.state.Counted == 0)
	h.state.Effects = withoutEffects(h.state.Effects, recent) // the state may be older than these checkpoints
	h.state.Counted = max(h.state.Counted, last)
}

// recentEffects returns the effects of the newest checkpoint that has any and of all later
// ones, and the highest effect number among them.
func (s *Agents) recentEffects(ws retake.WorkspaceID, look bool) (recent []retake.Effect, last int64) {
	q := retake.LogQuery{Workspace: ws, Limit: history.TimelinePageSize}
	for look {
		page, err := s.workspaces.Catalog.Page(s.workspaces.Lifetime, q)
		if err != nil {
			return nil, 0
		}
		for _, cp := range page {
			recent = append(recent, cp.Effects...)
			last = max(last, highestEffectNumber(cp.Effects))
			q.Before = cp.Number
		}
		look = last == 0 && len(page) == history.TimelinePageSize
	}
	return recent, last
}

func highestEffectNumber(effects []retake.Effect) (last int64) {
	for _, e := range effects {
		if n, err := strconv.ParseInt(strings.TrimPrefix(e.ID, "e"), 10, 64); err == nil {
			last = max(last, n)
		}
	}
	return last
}

// persistState writes the state and records whether that worked. The caller holds mu.
func (h *State) persistState() { h.svc.workspaces.Diag.Note(workspace.TaskSession, h.writeState()) }

// writeState writes the state to disk. The caller holds mu.
func (h *State) writeState() error { return h.snapshotState()() }

// snapshotState returns a function that writes the state as it is now, without the signals
// that are still queued, unless a newer one was written meanwhile. The caller holds mu; whoever
// calls the function need not.
func (h *State) snapshotState() (write func() error) {
	if h.svc.workspaces.SessionDir == "" {
		return func() error { return nil }
	}
	st := h.state
	st.Seen = slices.DeleteFunc(slices.Clone(st.Seen), func(id retake.SignalID) bool {
		return slices.ContainsFunc(h.queue, func(j *signalJob) bool { return j.sig.ID == id })
	})
	doc, err := json.Marshal(st)
	h.version++
	version := h.version
	return func() error {
		h.storing.Lock()
		defer h.storing.Unlock()
		if err != nil || version < h.stored {
			return err
		}
		h.stored = version
		return h.svc.workspaces.WriteSessionFile(h.fileName(), json.RawMessage(doc))
	}
}
