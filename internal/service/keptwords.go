package service

import (
	"context"
	"encoding/json"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
)

// keptTalk is a conversation whose segments are stored. They are reached by the
// checkpoint with that number: when it was forgotten, they may be gone.
type keptTalk struct {
	doc    retake.Conversation
	number int64
	lost   bool
}

// asks is what the agent holds at a save: small things as bytes, and the conversation as
// far as it is kept, by reference.
func (h *hearing) asks(save *session.Save, key string) asking {
	a := asking{state: map[string][]byte{}}
	put := func(name string, v any, n int) {
		if b, err := json.Marshal(v); err == nil && n > 0 { // context: what cannot be written is left out
			a.state[name] = append(b, '\n')
		}
	}
	put(tasksFile, save.Tasks, len(save.Tasks))
	put(callsFile, save.Calls, len(save.Calls))
	h.mu.Lock()
	defer h.mu.Unlock()
	if x := h.state.Find(key); x != nil && len(x.Talk.Segments) > 0 {
		a.talk = &keptTalk{doc: conversation(x, save.Turn.ID), number: x.Talk.Number}
		a.talk.doc.Missing = "only what was said up to the end of the turn before is kept"
	}
	return a
}

// references makes a checkpoint reach the conversation. It is context: without it the
// checkpoint is as whole. The line is ours here, so that nothing can be swept meanwhile.
func (t *taking) references(ctx context.Context) []retake.Entry {
	if t.talk == nil {
		return nil
	}
	if t.talk.lost = !t.s.onTimeline(ctx, t.ws.ID, t.talk.number); t.talk.lost {
		return nil
	}
	b, err := json.Marshal(t.talk.doc)
	if err == nil {
		var dir retake.Entry
		if dir, err = talkEntry(ctx, t.w, segmentEntries(t.talk.doc.Segments)); err == nil {
			t.state[talkFile] = append(b, '\n')
			return []retake.Entry{dir}
		}
	}
	t.warn = append(t.warn, retake.Warning{Code: "state", Text: "the conversation is not kept with this checkpoint: " + err.Error()})
	return nil
}

// onTimeline reports whether a checkpoint is on the timeline.
func (s *Service) onTimeline(ctx context.Context, ws retake.WorkspaceID, number int64) bool {
	_, err := s.p.Catalog.ByNumber(ctx, ws, number)
	return err == nil
}

// reached notes which checkpoint holds the segments now, or that they are lost: then all
// is read anew.
func (h *hearing) reached(key string, k *keptTalk, number int64) {
	if k == nil {
		return
	}
	h.speak(func(st *session.State) {
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
