//go:build linux

package g19

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// arrived are the checkpoints that were told, by messages with a good signature.
func (k *killing) arrived() map[retake.CheckpointID]int {
	out := map[retake.CheckpointID]int{}
	for _, m := range k.sink.All() {
		var b struct {
			Data retake.EventData `json:"data"`
		}
		if m.Status == http.StatusNoContent && json.Unmarshal(m.Body, &b) == nil && webhook.Verify(k.secret, m.Header, m.Body, m.At) == nil {
			out[b.Data.Checkpoint]++
		}
	}
	return out
}

// lost are those that were acknowledged and not told.
func (k *killing) lost() []retake.CheckpointID {
	got := k.arrived()
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []retake.CheckpointID
	for _, id := range k.acked {
		if got[id] == 0 {
			out = append(out, id)
		}
	}
	return out
}

func (k *killing) wait(limit time.Duration) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		if len(k.lost()) == 0 {
			return true
		}
		again := time.NewTimer(50 * time.Millisecond)
		<-again.C
	}
	return len(k.lost()) == 0
}

// wrong tells what is not as it must be with what came, for who has this secret.
func (k *killing) wrong(secret string) []string {
	k.mu.Lock()
	out := slices.Clone(k.stuck)
	k.mu.Unlock()
	for _, id := range k.lost() {
		out = append(out, fmt.Sprintf("%s was acknowledged and is not told", id))
	}
	bodies := map[string][]byte{}
	for _, m := range k.sink.All() {
		if err := webhook.Verify(secret, m.Header, m.Body, m.At); err != nil {
			out = append(out, fmt.Sprintf("message %s: %v", m.Header.Get(webhook.HeaderID), err))
		}
		id := m.Header.Get(webhook.HeaderID)
		if was, ok := bodies[id]; ok && !bytes.Equal(was, m.Body) {
			out = append(out, fmt.Sprintf("message %s has two bodies", id))
		}
		bodies[id] = m.Body
	}
	return append(out, k.twice()...)
}

// twice looks at the list of events: each checkpoint once, numbers rising.
func (k *killing) twice() []string {
	var out []string
	seen := map[retake.CheckpointID]bool{}
	for after := int64(0); ; {
		a := serverbed.AskAt(k.url, serverbed.Asked{Key: k.g.Keys[retake.KeyReader], Method: http.MethodGet, Path: fmt.Sprintf("/v1/events?limit=1000&after=%d", after)})
		var page struct{ Data []retake.Event }
		if err := json.Unmarshal(a.Body, &page); err != nil || !a.Good() {
			return append(out, "events: "+a.Say())
		}
		for _, e := range page.Data {
			var d retake.EventData
			if err := json.Unmarshal(e.Data, &d); err != nil {
				out = append(out, err.Error())
			}
			if e.Type == retake.EventCreated && seen[d.Checkpoint] {
				out = append(out, fmt.Sprintf("%s has two events", d.Checkpoint))
			}
			if e.Seq <= after {
				out = append(out, fmt.Sprintf("event %d stands behind event %d", e.Seq, after))
			}
			seen[d.Checkpoint], after = true, e.Seq
		}
		if len(page.Data) == 0 {
			break
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range k.acked {
		if !seen[id] {
			out = append(out, fmt.Sprintf("%s was acknowledged and has no event", id))
		}
	}
	return out
}
