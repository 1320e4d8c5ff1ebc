package agentstate

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// joinWait is how long a call waits until another workspace that it works in is saved.
const joinWait = time.Second

// turnSpreader makes turns known in the other workspaces that they work in.
type turnSpreader struct{ *Agents }

// spreadSignal lets the other workspaces that a turn works in know of it: the turn begins there before
// the first call that names them, and ends there when it ends. What fails there does not change what
// is done here.
func (s turnSpreader) spreadSignal(ctx context.Context, ws retake.Workspace, sig retake.Signal) {
	if !s.localAgents || sig.Joined || !s.workspaces.Exclusive {
		return
	}
	switch sig.Kind {
	case retake.SignalCall, retake.SignalCalled, retake.SignalSubagentStart:
		if sig.Call != nil && sig.Call.Kind == retake.CallRead {
			return // it changes nothing
		}
		for _, other := range s.otherWorkspacesOf(ctx, ws, sig) {
			s.joinTurn(ctx, ws, other, sig)
		}
	case retake.SignalTurnEnd, retake.SignalSessionEnd:
		s.endJoinedTurns(ctx, ws, sig)
	default:
	}
}

// otherWorkspacesOf returns the workspaces beside ws that a signal works in, as its directory and the
// text of its call tell. One that contains the other is not beside it.
func (s turnSpreader) otherWorkspacesOf(ctx context.Context, ws retake.Workspace, sig retake.Signal) []retake.Workspace {
	all, err := s.workspaces.Catalog.Workspaces(ctx) // roots are not looked at: one may hang
	s.workspaces.Diag.Note(workspace.TaskEvents, err)
	if err != nil || len(all) < 2 {
		return nil
	}
	named := s.placesOf(sig)
	var out []retake.Workspace
	for _, w := range all {
		if w.Ended != nil || w.ID == ws.ID || isWithin(w.Root, ws.Root) || isWithin(ws.Root, w.Root) {
			continue
		}
		for _, at := range named {
			if isWithin(w.Root, at) {
				out = append(out, w.Workspace)
				break
			}
		}
	}
	return out
}

// maxPlaces is how many paths of a call are looked at.
const maxPlaces = 200

// placesOf returns the absolute paths that a signal names, as far as its text tells.
func (s turnSpreader) placesOf(sig retake.Signal) []string {
	out := callBaseDirs(sig)
	if sig.Call == nil {
		return out
	}
	add := func(p string) {
		if len(out) < maxPlaces && !strings.ContainsRune(p, 0) {
			out = append(out, s.absolutePaths(sig, filepath.Clean(p))...)
		}
	}
	for _, p := range sig.Call.Paths {
		add(p)
	}
	words := strings.FieldsFunc(sig.Call.Command, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;|&<>()=,", r) })
	for _, w := range words {
		w = strings.Replace(strings.Replace(w, "${HOME}", "~", 1), "$HOME", "~", 1)
		if strings.Contains(w, "/") || w == ".." || w == "~" {
			add(w)
		}
	}
	return out
}

// joinTurn begins a turn in another workspace, too, or tells it of a call there.
func (s turnSpreader) joinTurn(ctx context.Context, ws, other retake.Workspace, sig retake.Signal) {
	key := sig.Agent + " " + sig.Session
	turn, _, ok := s.StateOf(ws.ID).workingTurn(key)
	habits := s.workspaces.HabitsOf(other.ID)
	if !ok || habits.Paused {
		return
	}
	there := s.StateOf(other.ID)
	who, _ := retake.ActorOf(ctx)
	if now, _, ok := there.workingTurn(key); ok && now.ID == turn.ID {
		if sig.Kind == retake.SignalCalled && sig.Call != nil && sig.Call.Kind == retake.CallWrite {
			sig.ID, sig.Joined, sig.Turn = queue.NewID(), true, turn.ID
			there.handleSignal(other, sig, habits, arrival{who: who})
		}
		return
	}
	j := there.handleSignal(other, retake.Signal{
		ID: queue.NewID(), Kind: retake.SignalPrompt, Time: sig.Time, Agent: sig.Agent, Version: sig.Version, Session: sig.Session, PID: sig.PID,
		Turn: turn.ID, Dir: other.Root, Prompt: turn.Prompt, Machine: turn.Machine, Joined: true,
	}, habits, arrival{who: who})
	if j.act.Save == nil || sig.Kind != retake.SignalCall {
		return
	}
	select { // the call may change files there
	case <-j.done: // a failure is one of the background, which the status shows
	case <-ctx.Done():
	case <-time.After(joinWait):
	}
}

// endJoinedTurns ends a turn in the other workspaces that it worked in.
func (s turnSpreader) endJoinedTurns(ctx context.Context, ws retake.Workspace, sig retake.Signal) {
	key := sig.Agent + " " + sig.Session
	who, _ := retake.ActorOf(ctx)
	for _, h := range s.allAgentStates() {
		turn, joined, ok := h.workingTurn(key)
		if !ok || !joined || h.workspace == ws.ID {
			continue
		}
		other, err := s.workspaces.LoadWorkspace(ctx, h.workspace)
		s.workspaces.Diag.Note(workspace.TaskEvents, err)
		if err != nil || other.Ended != nil {
			continue
		}
		end := sig
		end.ID, end.Joined, end.Turn, end.Dir, end.Transcript, end.Kind = queue.NewID(), true, turn.ID, other.Root, "", retake.SignalTurnEnd
		h.handleSignal(other, end, s.workspaces.HabitsOf(other.ID), arrival{who: who})
	}
}
