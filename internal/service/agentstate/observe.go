package agentstate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/pure/secrets"
	"github.com/retake-dev/retake/internal/service/checkpoint"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Observe handles one signal of an agent. What session.Next decides is done in the order of
// the signals, and before Observe returns if the agent waits for it. A signal that is still
// useful later is queued on disk first, so that a crash does not lose it.
func (s *Agents) Observe(ctx context.Context, sig retake.Signal) (retake.Reaction, error) {
	sig.Joined = false // only spreadSignal knows
	select {           // queued signals come first
	case <-s.caughtUp:
	case <-ctx.Done():
		return retake.Reaction{}, ctx.Err()
	}
	waited := false
	if s.workspaces.Exclusive {
		var err error
		waited, err = s.HandleOlderSignals(sig.ID)
		s.workspaces.Diag.Note(workspace.TaskEvents, err)
		if !waited && s.hasSenderLeft(ctx, sig) {
			waited, ctx = true, context.WithoutCancel(ctx)
		}
	}
	// Others are in the queue while they are done, also when their sender still waits.
	return s.observeSignal(ctx, sig, waited && (sig.Kind == retake.SignalPrompt || sig.Kind == retake.SignalCall))
}

// hasSenderLeft reports whether the hook that sent a late signal has given up. A daemon
// that was held up reads signals whose hooks may have ended without queueing them. Only the
// connection decides, because clocks step; it takes a moment until the end of one is seen.
func (s *Agents) hasSenderLeft(ctx context.Context, sig retake.Signal) bool {
	if s.signalDelay(sig) == 0 {
		return false
	}
	select {
	case <-ctx.Done():
		return true
	case <-time.After(senderWait):
		return false
	}
}

const senderWait = 100 * time.Millisecond

// observeSignal handles one signal; waited is set if it was queued.
func (s *Agents) observeSignal(ctx context.Context, sig retake.Signal, waited bool) (retake.Reaction, error) {
	if err := validateSignal(&sig); err != nil {
		return retake.Reaction{}, err
	}
	ws, known, err := s.workspaceOfSignal(ctx, sig)
	if err != nil || !known {
		return retake.Reaction{}, err
	}
	habits := s.workspaces.HabitsOf(ws.ID)
	if habits.Paused {
		return retake.Reaction{Workspace: ws.ID}, nil
	}
	judged := runFileReader{s}.judgeWithFiles(&sig, habits.Risk)
	turnSpreader{s}.spreadSignal(ctx, ws, sig)
	h := s.StateOf(ws.ID)
	if sig.Kind == retake.SignalPrompt {
		s.insight.StopChecks(ws.ID) // the files are about to change
	}
	if sig.Kind == retake.SignalPrompt || sig.Kind == retake.SignalSessionStart {
		h.endDeadTurns(ws, habits)
	}
	if sig.Kind == retake.SignalSessionEnd {
		h.endTurnOfSession(ctx, ws, sig, habits)
	}
	who, _ := retake.ActorOf(ctx)
	out, err := s.awaitReaction(ctx, h.handleSignal(ws, sig, habits, arrival{waited, who, judged}))
	if out.Note != "" && (err != nil || waited) { // it is not delivered
		h.updateState(func(st *session.State) { st.TakeBackNote(sig.Agent+" "+sig.Session, sig.ID) })
	}
	return out, err
}

// workspaceOfSignal finds the workspace of a signal: the one that the session works in,
// else by its directory. An undecided copy of a workspace is not protected.
func (s *Agents) workspaceOfSignal(ctx context.Context, sig retake.Signal) (retake.Workspace, bool, error) {
	if sig.Kind != retake.SignalPrompt && sig.Kind != retake.SignalSessionStart && !sig.Joined {
		if h := s.stateOfWorkingSession(sig.Agent + " " + sig.Session); h != nil {
			if ws, err := s.workspaces.LoadWorkspace(ctx, h.workspace); err == nil && ws.Ended == nil {
				return ws, true, nil
			}
		}
	}
	ws, err := workspace.Find(ctx, s.workspaces, sig.Dir)
	if errors.Is(err, workspace.ErrOtherInstallation) { // somebody should know that nothing is saved here
		return ws, false, err
	}
	if retake.IsKind(err, retake.NotFound) || retake.IsKind(err, retake.Exists) {
		return ws, false, nil
	}
	return ws, err == nil, err
}

// stateOfWorkingSession returns the agent state in which a session began its turn, or nil.
func (s *Agents) stateOfWorkingSession(key string) *State {
	for _, h := range s.allAgentStates() {
		if _, joined, ok := h.workingTurn(key); ok && !joined {
			return h
		}
	}
	return nil
}

// awaitReaction returns the reaction to a signal and waits for its checkpoint if the agent
// does.
func (s *Agents) awaitReaction(ctx context.Context, j *signalJob) (retake.Reaction, error) {
	ws := j.ws
	out := retake.Reaction{Workspace: ws.ID, Effects: j.act.Effects, Note: j.act.Note, Stop: j.act.Stop, Warnings: repeatWarnings(j.act.Repeats)}
	if j.sig.Kind == retake.SignalPrompt && s.StallWarnings != nil {
		out.Warnings = append(out.Warnings, s.StallWarnings(ws.ID)...)
	}
	if j.act.Save == nil {
		return out, nil
	}
	if out.Later = !j.act.Save.Wait; out.Later {
		return out, nil
	}
	select {
	case <-ctx.Done():
		return out, ctx.Err() // the checkpoint is still taken, once
	case <-j.done:
	}
	out.Checkpoint, out.Warnings = j.checkpoint, append(out.Warnings, j.warnings...)
	if j.stop != nil {
		out.Stop = j.stop
	}
	return out, workspace.WrapSaveError(j.err)
}

// Bounds of names that agents send.
const (
	maxAgentName   = 64
	maxSessionName = 128
)

// validateSignal refuses signals that no adapter of ours sends. Everything in a signal is
// untrusted input.
func validateSignal(sig *retake.Signal) error {
	refuse := func(what string) error {
		return &retake.Error{Kind: retake.Invalid, What: "not a valid event: " + what, Safe: workspace.Unchanged}
	}
	switch {
	case queue.CheckID(sig.ID) != nil:
		return refuse("its id")
	case !slices.Contains(retake.SignalKinds, sig.Kind):
		return refuse(fmt.Sprintf("the kind %.40q", sig.Kind))
	case sig.Agent == "" || len(sig.Agent) > maxAgentName || strings.Trim(sig.Agent, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return refuse(fmt.Sprintf("the agent %.40q", sig.Agent))
	case !isSessionName(sig.Session):
		return refuse("its session")
	case !filepath.IsAbs(sig.Dir):
		return refuse("its directory")
	}
	if sig.Transcript != "" && (!filepath.IsAbs(sig.Transcript) || filepath.Clean(sig.Transcript) != sig.Transcript) {
		sig.Transcript = ""
	}
	return nil
}

func isSessionName(s string) bool {
	return s != "" && len(s) <= maxSessionName && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._:-", r)
	}) < 0
}

// relativeDir returns a directory relative to a root above it, or "" if it is the root or
// outside it.
func relativeDir(root, dir string) string {
	real, err := workspace.RealPath(dir)
	if err != nil {
		real = dir
	}
	rel, err := filepath.Rel(root, real)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// relativePaths returns those of the paths that are below a root, relative to it. Relative
// paths start at dir.
func relativePaths(root, dir string, paths []string) []string {
	var out []string
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		name := filepath.Base(p) // not resolved: it may be a link itself, or gone
		if in := relativeDir(root, filepath.Dir(p)); in != "" {
			out = append(out, in+"/"+name)
		} else if at, err := workspace.RealPath(filepath.Dir(p)); err == nil && at == root {
			out = append(out, name)
		}
	}
	return out
}

// signalDelay returns how long after a signal its files are read, or 0 if the delay does
// not matter.
func (s *Agents) signalDelay(sig retake.Signal) time.Duration {
	if d := s.workspaces.Clock.Now().Sub(sig.Time); d > lateThreshold {
		return d.Round(time.Second)
	}
	return 0
}

const lateThreshold = 5 * time.Second

// checkpointIDOf returns the ID of the checkpoint that a signal makes, so that a repeated
// signal makes the same one.
func checkpointIDOf(id retake.SignalID) retake.CheckpointID {
	return retake.CheckpointID(retake.CheckpointPrefix + strings.TrimPrefix(string(id), retake.SignalPrefix))
}

// saveForSignal takes the checkpoint that a signal asks for.
func (s *Agents) saveForSignal(ctx context.Context, h *State, j *signalJob) error {
	if s.workspaces.MayAdd != nil {
		if err := s.workspaces.MayAdd(ctx, j.ws.ID, j.who); err != nil {
			return err
		}
	}
	ws, root, err := s.workspaces.OpenRoot(ctx, j.ws.ID)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	save := j.act.Save
	turn := save.Turn
	if j.sig.Kind == retake.SignalTurnEnd {
		turn.Words = abridgeMessage(j.sig.Message)
	}
	req := retake.SaveRequest{
		Workspace: ws.ID, ID: checkpointIDOf(j.sig.ID), Intent: save.Intent, Trigger: save.Trigger, IfChanged: save.IfChanged, Budget: hookBudget,
	}
	if turn.Late = s.signalDelay(j.sig); turn.Late > 0 && save.MustComeFirst() {
		req.IfChanged = true // it is too late to be the state before the call
	}
	files := h.filesFor(save, j.act.Session)
	rescued := s.prepareRescue(ctx, ws, j, turn.Late)
	a := checkpoint.Options{State: files, Rescue: rescued, Describe: func(cp *retake.Checkpoint) { cp.Turn, cp.Key = &turn, j.who.Key }}
	l := s.workspaces.CacheFor(ws.ID)
	l.LockAndCancelCheck()
	defer l.Mu.Unlock()
	l.LastUsed = s.workspaces.Clock.Now()
	l.IsSaving.Store(true)
	defer l.IsSaving.Store(false)
	res, err := s.checkpoints.SaveIfChanged(ctx, l, ws, root, req, a)
	if err != nil {
		return err
	}
	if res.Recorded {
		h.noteConversationHolder(j.act.Session, files, res.Checkpoint.Number)
	}
	if res.Recorded && turn.Words != "" {
		s.workspaces.Work.Go(func() {
			s.workspaces.RunTask(workspace.TaskClaims, func() error { return s.insight.RecordClaim(s.workspaces.Lifetime, res.Checkpoint) })
		})
	}
	cp := res.Checkpoint
	lost := notSavedWarning(cp.Rescues)
	j.checkpoint, j.recorded, j.warnings = &cp, res.Recorded, append(res.Warnings, lost...)
	if len(lost) > 0 {
		j.stop = h.stopUnsaved(j, lost[0].Text)
	}
	return nil
}

// maxMessageRunes is how much of an agent's last message a card keeps; the conversation has
// all of it.
const maxMessageRunes = 600

// abridgeMessage returns the beginning and the end of an agent's last message, with likely
// secrets masked. What was done is usually said first, and how it went at the end.
func abridgeMessage(message string) string {
	text, _ := secrets.Mask(strings.ToValidUTF8(message, "\uFFFD"))
	if r := []rune(strings.TrimSpace(text)); len(r) > maxMessageRunes {
		return string(r[:maxMessageRunes/2]) + " … " + string(r[len(r)-maxMessageRunes/2:])
	}
	return strings.TrimSpace(text)
}

// hookBudget is how long a capture may take before it seals what it has.
const hookBudget = 2 * time.Second

// shouldRetrySignal reports whether an error leaves a signal in the queue.
func shouldRetrySignal(err error) bool {
	return err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, workspace.ErrOverLimit) && !retake.IsKind(err, retake.Invalid) && !retake.IsKind(err, retake.Exists)
}

// Tasks returns the newest task list.
func (s *Agents) Tasks(ctx context.Context, ws retake.WorkspaceID) ([]retake.Task, error) {
	if _, err := s.workspaces.LoadWorkspace(ctx, ws); err != nil {
		return nil, workspace.WrapError("no such workspace", workspace.Unchanged, err)
	}
	return s.StateOf(ws).latestTasks(), nil
}

// manualAgent is the agent and session name for changes that came from no hook.
const manualAgent = "by-hand"

// SetTasks replaces the task list of the most recent session.
func (s *Agents) SetTasks(ctx context.Context, id retake.WorkspaceID, tasks []retake.Task) (retake.Reaction, error) {
	ws, err := s.workspaces.LoadWorkspace(ctx, id)
	if err != nil {
		return retake.Reaction{}, workspace.WrapError("no such workspace", workspace.Unchanged, err)
	}
	for _, t := range tasks {
		if !slices.Contains(retake.TaskStatuses, t.Status) || strings.TrimSpace(t.Title) == "" {
			return retake.Reaction{}, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("the task %.40q is %.40q", t.Title, t.Status), Safe: workspace.Unchanged, Hint: "it is pending, in-progress, completed, failed or skipped"}
		}
	}
	if s.workspaces.HabitsOf(id).Paused {
		return retake.Reaction{}, &retake.Error{Kind: retake.Denied, What: "this workspace is paused", Safe: workspace.Unchanged, Hint: "continue: retake unpause"}
	}
	h := s.StateOf(id)
	h.replacing.Lock() // of two that replace the same version, one is refused
	defer h.replacing.Unlock()
	if err := retake.CheckVersion(ctx, "the to-do list", retake.TasksVersion(h.latestTasks())); err != nil {
		return retake.Reaction{}, err
	}
	sig := retake.Signal{ID: queue.NewID(), Kind: retake.SignalTasks, Time: s.workspaces.Clock.Now(), Agent: manualAgent, Session: manualAgent, Dir: ws.Root, Tasks: tasks}
	h.updateState(func(st *session.State) {
		if x := st.Newest(); x != nil {
			sig.Agent, sig.Session = x.Agent, x.ID
		}
	})
	return s.Observe(ctx, sig)
}
