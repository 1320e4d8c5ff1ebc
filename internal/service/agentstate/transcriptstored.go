package agentstate

import (
	"context"
	"encoding/json"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/storage/store"
)

// sessionFiles is what a save stores of a session: documents, and the conversation as far as
// it is stored already. Only the checkpoint with that number references its segments: once it
// is forgotten they may be gone.
type sessionFiles struct {
	svc          *Agents
	workspace    retake.WorkspaceID
	documents    map[string][]byte
	conversation *retake.Conversation // nil: none is stored
	number       int64
	lost         bool
}

// filesFor returns what a save stores of a session.
func (h *State) filesFor(save *session.Save, key string) *sessionFiles {
	a := &sessionFiles{svc: h.svc, workspace: h.workspace, documents: map[string][]byte{}}
	put := func(name string, v any, n int) {
		if b, err := json.Marshal(v); err == nil && n > 0 { // context only: what cannot be encoded is left out
			a.documents[name] = append(b, '\n')
		}
	}
	put(tasksFile, save.Tasks, len(save.Tasks))
	put(callsFile, save.Calls, len(save.Calls))
	h.mu.Lock()
	defer h.mu.Unlock()
	if x := h.state.Find(key); x != nil && len(x.Talk.Segments) > 0 {
		doc := conversationOf(x, save.Turn.ID)
		doc.Missing = "only what was said up to the end of the turn before is kept"
		a.conversation, a.number = &doc, x.Talk.Number
	}
	return a
}

// StoredState returns the documents and the entries that make a checkpoint reference the
// stored conversation. The caller owns the writer, so nothing is swept meanwhile.
func (a *sessionFiles) StoredState(ctx context.Context, w store.Writer) (map[string][]byte, []retake.Entry, error) {
	if a.conversation == nil {
		return a.documents, nil, nil
	}
	if a.lost = !a.svc.isOnTimeline(ctx, a.workspace, a.number); a.lost {
		return a.documents, nil, nil
	}
	b, err := json.Marshal(a.conversation)
	if err != nil {
		return a.documents, nil, err
	}
	dir, err := writeSegmentDir(ctx, w, segmentEntries(a.conversation.Segments))
	if err != nil {
		return a.documents, nil, err
	}
	a.documents[conversationFile] = append(b, '\n')
	return a.documents, []retake.Entry{dir}, nil
}

// isOnTimeline reports whether a checkpoint with that number exists.
func (s *Agents) isOnTimeline(ctx context.Context, ws retake.WorkspaceID, number int64) bool {
	_, err := s.workspaces.Catalog.ByNumber(ctx, ws, number)
	return err == nil
}

// noteConversationHolder records which checkpoint references the segments now. If they are
// lost, the conversation is read again from the start.
func (h *State) noteConversationHolder(key string, k *sessionFiles, number int64) {
	if k.conversation == nil {
		return
	}
	h.updateState(func(st *session.State) {
		x := st.Find(key)
		if x == nil || len(x.Talk.Segments) < len(k.conversation.Segments) {
			return
		}
		if k.lost && x.Talk.Number == k.number {
			x.Talk = session.Talk{}
		} else if !k.lost && len(x.Talk.Segments) == len(k.conversation.Segments) {
			x.Talk.Number = number
		}
	})
}
