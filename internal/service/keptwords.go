package service

import (
	"context"
	"encoding/json"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
)

// storedConversation is a conversation whose segments are stored. They are reached by the
// checkpoint with that number: when it was forgotten, they may be gone.
type storedConversation struct {
	doc    retake.Conversation
	number int64
	lost   bool
}

// saveOptionsFor is what the agent holds at a save: small things as bytes, and the conversation as
// far as it is kept, by reference.
func (h *agentState) saveOptionsFor(save *session.Save, key string) saveOptions {
	a := saveOptions{stateFiles: map[string][]byte{}}
	put := func(name string, v any, n int) {
		if b, err := json.Marshal(v); err == nil && n > 0 { // context: what cannot be written is left out
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

// conversationEntries makes a checkpoint reach the conversation. It is context: without it the
// checkpoint is as whole. The line is ours here, so that nothing can be swept meanwhile.
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

// isOnTimeline reports whether a checkpoint is on the timeline.
func (s *Service) isOnTimeline(ctx context.Context, ws retake.WorkspaceID, number int64) bool {
	_, err := s.parts.Catalog.ByNumber(ctx, ws, number)
	return err == nil
}

// noteConversationHolder notes which checkpoint holds the segments now, or that they are lost: then all
// is read anew.
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
