package agentstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Names in the state of a checkpoint.
const (
	tasksFile        = "tasks.json"
	callsFile        = "calls.json"
	conversationFile = "conversation.json"
	conversationDir  = "conversation"
)

func conversationOf(x *session.Session, turn string) retake.Conversation {
	return retake.Conversation{
		Agent: x.Agent, Version: x.Version, Session: x.ID, Turn: turn, Path: x.Talk.Path,
		Bytes: x.Talk.Bytes, Segments: x.Talk.Segments,
	}
}

// segmentEntries returns the segments of a conversation as entries, so that a checkpoint
// references them.
func segmentEntries(segments []retake.Segment) []retake.Entry {
	var out []retake.Entry
	for i, g := range segments {
		out = append(out, retake.Entry{Name: fmt.Sprintf("%06d", i), Kind: retake.KindFile, Mode: 0o600, Size: g.Bytes, Object: g.Object})
	}
	return out
}

// State returns what the agent held at a checkpoint.
func (s *Agents) State(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.State, error) {
	cp, err := s.history.Find(ctx, ws, ref)
	if err != nil {
		return retake.State{}, err
	}
	out, err := s.LoadAgentState(ctx, cp)
	return out, workspace.WrapError("the agent's conversation can't be read", workspace.Unchanged, err)
}

// LoadAgentState reads the agent's documents from the state of a checkpoint.
func (s *Agents) LoadAgentState(ctx context.Context, cp retake.Checkpoint) (retake.State, error) {
	out := retake.State{Checkpoint: cp, Tasks: []retake.Task{}, Calls: []retake.Call{}}
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return out, err
	}
	leaf, err := st.Record(ctx, cp.Workspace, cp.Number)
	if err != nil {
		return out, err
	}
	for _, e := range leaf.State {
		switch e.Name {
		case tasksFile:
			err = workspace.ReadStateDoc(ctx, st, e, &out.Tasks)
		case callsFile:
			err = workspace.ReadStateDoc(ctx, st, e, &out.Calls)
		case conversationFile:
			err = workspace.ReadStateDoc(ctx, st, e, &out.Conversation)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// Conversation returns the bytes of a conversation, all segments in order.
func (s *Agents) Conversation(ctx context.Context, ws retake.WorkspaceID, ref string) (io.ReadCloser, retake.Conversation, error) {
	state, err := s.State(ctx, ws, ref)
	if err != nil {
		return nil, retake.Conversation{}, err
	}
	if state.Conversation == nil {
		return nil, retake.Conversation{}, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("no conversation is kept with checkpoint %d", state.Checkpoint.Number), Safe: workspace.Unchanged, Hint: "find one of an agent: retake log"}
	}
	b, err := s.readConversation(ctx, *state.Conversation)
	if err != nil {
		return nil, *state.Conversation, workspace.WrapError("the conversation cannot be read", workspace.Unchanged, err)
	}
	return io.NopCloser(bytes.NewReader(b)), *state.Conversation, nil
}

// MaxConversation bounds the bytes of a conversation that are read.
const MaxConversation = 256 << 20

// readConversation reads all segments of a conversation, up to maxConversation bytes.
func (s *Agents) readConversation(ctx context.Context, c retake.Conversation) ([]byte, error) {
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	for _, g := range c.Segments {
		r, err := st.File(ctx, g.Object)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(&all, io.LimitReader(r, MaxConversation-int64(all.Len())))
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
	}
	return all.Bytes(), nil
}
