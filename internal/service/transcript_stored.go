package service

import (
	"context"
	"encoding/json"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
)

// storedConversation is a conversation whose segments are in the store. Only the checkpoint
// with that number references them: once it is forgotten they may be gone.
type storedConversation struct {
	doc    retake.Conversation
	number int64
	lost   bool
}

// saveOptionsFor returns what a save stores of the agent: small documents as bytes, and the
// conversation stored so far by reference.
func (h *agentState) saveOptionsFor(save *session.Save, key string) saveOptions {
	a := saveOptions{stateFiles: map[string][]byte{}}
	put := func(name string, v any, n int) {
		if b, err := json.Marshal(v); err == nil && n > 0 { // context only: what cannot be encoded is left out
			a.stateFiles[name] = append(b, '\n')
		}
	}
	put(tasksFile, save.Tasks, len(save.Tasks))
	put(callsFile, save.Calls, len(save.Calls))
	h.mu.Lock()
	defer h.mu.Unlock()
	if x := h.state.Find(key); x != nil && len(x.Talk.Segments) > 0 {
		a.conversation = &storedConversation{doc: conversationOf(x, save.Turn.ID), number: x.Talk.Number}
		a.conversation.doc.Missing = "only what was said up to the end of the turn before is kept"
	}
	return a
}

// conversationEntries returns the state entries that make the checkpoint reference the
// stored conversation. Without them the checkpoint is still complete. The caller owns the
// writer, so nothing is swept meanwhile.
func (t *checkpointWriter) conversationEntries(ctx context.Context) []retake.Entry {
	if t.conversation == nil {
		return nil
	}
	if t.conversation.lost = !t.svc.isOnTimeline(ctx, t.ws.ID, t.conversation.number); t.conversation.lost {
		return nil
	}
	b, err := json.Marshal(t.conversation.doc)
	if err == nil {
		var dir retake.Entry
		if dir, err = writeSegmentDir(ctx, t.writer, segmentEntries(t.conversation.doc.Segments)); err == nil {
			t.stateFiles[conversationFile] = append(b, '\n')
			return []retake.Entry{dir}
		}
	}
	t.warnings = append(t.warnings, retake.Warning{Code: "state", Text: "the conversation is not kept with this checkpoint: " + err.Error()})
	return nil
}

// isOnTimeline reports whether a checkpoint with that number exists.
func (s *Service) isOnTimeline(ctx context.Context, ws retake.WorkspaceID, number int64) bool {
	_, err := s.parts.Catalog.ByNumber(ctx, ws, number)
	return err == nil
}

// noteConversationHolder records which checkpoint references the segments now. If they are
// lost, the conversation is read again from the start.
func (h *agentState) noteConversationHolder(key string, k *storedConversation, number int64) {
	if k == nil {
		return
	}
	h.updateState(func(st *session.State) {
		x := st.Find(key)
		if x == nil || len(x.Talk.Segments) < len(k.doc.Segments) {
			return
		}
		if k.lost && x.Talk.Number == k.number {
			x.Talk = session.Talk{}
		} else if !k.lost && len(x.Talk.Segments) == len(k.doc.Segments) {
			x.Talk.Number = number
		}
	})
}
