package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/session"
	"github.com/retake-dev/retake/internal/talk"
)

// Resume makes a fork of the conversation as it was at a checkpoint: new files beside
// those of the agent, never a change of one that is there.
func (s *Service) Resume(ctx context.Context, req retake.ResumeRequest) (retake.Resumption, error) {
	ws, err := s.row(ctx, req.Workspace)
	if err != nil {
		return retake.Resumption{}, fault("no such workspace", unchanged, err)
	}
	if !req.Look {
		s.settle(ctx, ws)
	}
	cp, err := s.lastSaid(ctx, ws, req.Ref)
	if err != nil {
		return retake.Resumption{}, err
	}
	state, err := s.stateOf(ctx, cp)
	if err != nil {
		return retake.Resumption{}, fault("what the agent held cannot be read", unchanged, err)
	}
	out := retake.Resumption{Checkpoint: cp, Dir: req.Dir, Tasks: state.Tasks, Command: []string{}}
	if out.Dir == "" {
		out.Dir = filepath.Join(ws.Root, filepath.FromSlash(cp.Turn.Dir))
	}
	if out.Effects, err = s.effectsAfter(ctx, ws.ID, cp.Number, 0); err != nil {
		return out, fault("the effects cannot be listed", unchanged, err)
	}
	if i := slices.IndexFunc(state.Tasks, retake.Task.Open); i >= 0 {
		out.Next = &state.Tasks[i]
	}
	out.Agent, out.Session = cp.Turn.Agent, cp.Turn.Session
	out.Note = resumeNote(out)
	err = s.branch(ctx, req, state, &out)
	return out, fault("the conversation cannot go on", unchanged, err)
}

// lastSaid is the moment that is named, or the newest one of an agent before it.
func (s *Service) lastSaid(ctx context.Context, ws retake.Workspace, ref string) (retake.Checkpoint, error) {
	if ref == "" {
		ref = "latest"
	}
	cp, err := s.Find(ctx, ws.ID, ref)
	if err != nil {
		return cp, err
	}
	named := cp.Number
	for n := 0; ; n++ {
		if cp = s.wentTo(ctx, cp); spoke(cp) {
			return cp, nil
		}
		page, err := s.p.Catalog.Page(ctx, retake.LogQuery{Workspace: ws.ID, Before: cp.Number, Limit: 1})
		if err != nil {
			return cp, fault("the timeline cannot be read", unchanged, err)
		}
		if len(page) == 0 || n > maxSteps {
			return cp, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("no agent worked here up to moment %d", named), Safe: unchanged, Hint: "hooks for agents: retake agents install"}
		}
		cp = page[0]
		if undone, err := s.wasUndone(ctx, ws.ID, cp, named); err == nil && undone {
			cp.Turn = nil // it was taken back: the conversation goes on before it
		}
	}
}

const maxSteps = 1000

// wentTo is the moment that a restore went to: the files are as they were there.
func (s *Service) wentTo(ctx context.Context, cp retake.Checkpoint) retake.Checkpoint {
	if cp.Return == nil || cp.Return.Course != retake.CourseRestore || len(cp.Return.Paths) > 0 {
		return cp
	}
	there, err := s.p.Catalog.Checkpoint(ctx, cp.Return.Target)
	if err != nil {
		return cp // it was forgotten: what came before the restore is the next best
	}
	return there
}

// spoke reports whether an agent's work led to a moment.
func spoke(cp retake.Checkpoint) bool {
	return cp.Turn != nil && cp.Turn.Session != "" && cp.Turn.Agent != byHand && cp.Trigger != retake.TriggerPrompt
}

// wasUndone reports whether a turn was taken back between it and a later moment.
func (s *Service) wasUndone(ctx context.Context, ws retake.WorkspaceID, cp retake.Checkpoint, upTo int64) (bool, error) {
	if cp.Turn == nil {
		return false, nil
	}
	w := &walkBack{s: s, undone: map[retake.CheckpointID]bool{}, half: map[int64]retake.CheckpointID{}}
	out := false
	err := s.backwards(ctx, ws, func(c, _ retake.Checkpoint) (bool, error) {
		if c.Number <= upTo {
			w.note(c)
			out = out || w.undone[c.ID] && (c.ID == cp.ID || c.Turn != nil && c.Turn.ID == cp.Turn.ID && c.Turn.Session == cp.Turn.Session)
		}
		return c.Number > cp.Number, nil
	})
	return out, err
}

// branch makes the fork of a conversation and the command that goes on with it.
func (s *Service) branch(ctx context.Context, req retake.ResumeRequest, state retake.State, out *retake.Resumption) error {
	c := state.Conversation
	if c == nil {
		c = &retake.Conversation{Agent: out.Agent, Session: out.Session}
	}
	data, err := s.said(ctx, *c)
	if err != nil {
		return err
	}
	u, err := uuid.NewRandom()
	if err != nil {
		return err
	}
	b, err := talk.Fork(talk.ForkRequest{
		Agent: out.Agent, Session: out.Session, Turn: agentTurn(state.Checkpoint.Turn.ID), Path: c.Path, Data: data,
		New: u.String(), Dir: out.Dir, Home: s.p.Home, Now: s.p.Clock.Now(),
	})
	if err != nil {
		out.Why = err.Error()
		return nil
	}
	out.Session, out.Command, out.Exact, out.Why = b.Session, append([]string{}, b.Command...), b.Exact, b.Why
	if !b.Exact && out.Why == "" && state.Conversation == nil {
		out.Why = "its conversation is not kept"
	}
	if req.Look {
		return nil
	}
	for _, f := range b.Files {
		if err := writeNew(f.Path, f.Data); err != nil {
			return fmt.Errorf("write conversation: %w", err)
		}
	}
	s.expect(req, *out)
	return nil
}

// agentTurn is the name that the agent gave a turn; ours means nothing to it.
func agentTurn(id string) string {
	if strings.HasPrefix(id, retake.SignalPrefix) {
		return ""
	}
	return id
}

// writeNew makes a file that was not there, and directories for it.
func writeNew(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: %w", path, err)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// expect makes the forked session hear where it stands at its first prompt. In a
// directory of another workspace that one's agents are told.
func (s *Service) expect(req retake.ResumeRequest, r retake.Resumption) {
	ws := req.Workspace
	if req.Dir != "" {
		if other, err := s.Locate(context.Background(), req.Dir); err == nil {
			ws = other.ID
		}
	}
	h, err := s.hearingOf(ws)
	if err != nil {
		return // context
	}
	now := s.p.Clock.Now()
	h.speak(func(st *session.State) {
		x := st.Find(r.Agent + " " + r.Session)
		if x == nil {
			st.Sessions = append(st.Sessions, session.Session{Agent: r.Agent, ID: r.Session, Phase: session.Away, Since: now, Last: now, Tasks: r.Tasks})
			x = st.Newest()
		}
		x.Note = r.Note
	})
}
