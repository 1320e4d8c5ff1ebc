package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Names in the state of a checkpoint.
const (
	tasksFile        = "tasks.json"
	callsFile        = "calls.json"
	conversationFile = "conversation.json"
	conversationDir  = "conversation"
)

const maxStateDoc = 64 << 20

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
func (s *Service) State(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.State, error) {
	cp, err := s.Find(ctx, ws, ref)
	if err != nil {
		return retake.State{}, err
	}
	out, err := s.loadAgentState(ctx, cp)
	return out, wrapError("the agent's conversation can't be read", unchanged, err)
}

// loadAgentState reads the agent's documents from the state of a checkpoint.
func (s *Service) loadAgentState(ctx context.Context, cp retake.Checkpoint) (retake.State, error) {
	out := retake.State{Checkpoint: cp, Tasks: []retake.Task{}, Calls: []retake.Call{}}
	st, err := s.store(ctx)
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
			err = readStateDoc(ctx, st, e, &out.Tasks)
		case callsFile:
			err = readStateDoc(ctx, st, e, &out.Calls)
		case conversationFile:
			err = readStateDoc(ctx, st, e, &out.Conversation)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// readStateDoc reads a JSON document from the state of a checkpoint.
func readStateDoc(ctx context.Context, st store.Trees, e retake.Entry, v any) error {
	r, err := st.File(ctx, e.Object)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(r, maxStateDoc))
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// Conversation returns the bytes of a conversation, all segments in order.
func (s *Service) Conversation(ctx context.Context, ws retake.WorkspaceID, ref string) (io.ReadCloser, retake.Conversation, error) {
	state, err := s.State(ctx, ws, ref)
	if err != nil {
		return nil, retake.Conversation{}, err
	}
	if state.Conversation == nil {
		return nil, retake.Conversation{}, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("no conversation is kept with checkpoint %d", state.Checkpoint.Number), Safe: unchanged, Hint: "find one of an agent: retake log"}
	}
	b, err := s.readConversation(ctx, *state.Conversation)
	if err != nil {
		return nil, *state.Conversation, wrapError("the conversation cannot be read", unchanged, err)
	}
	return io.NopCloser(bytes.NewReader(b)), *state.Conversation, nil
}

// maxConversation bounds the bytes of a conversation that are read.
const maxConversation = 256 << 20

// readConversation reads all segments of a conversation, up to maxConversation bytes.
func (s *Service) readConversation(ctx context.Context, c retake.Conversation) ([]byte, error) {
	st, err := s.store(ctx)
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	for _, g := range c.Segments {
		r, err := st.File(ctx, g.Object)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(&all, io.LimitReader(r, maxConversation-int64(all.Len())))
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
	}
	return all.Bytes(), nil
}

// replaceFile atomically replaces a small file of ours. It is not synced: the content is
// context only.
func replaceFile(d fsx.Dir, name string, b []byte) error {
	tmp := name + ".new"
	if err := d.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := d.Create(tmp, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.Rename(tmp, d, name)
}
