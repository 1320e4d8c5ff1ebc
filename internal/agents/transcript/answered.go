package transcript

import (
	"time"
)

// Answered reports whether the newest turn of a transcript came to its end, and what the
// agent said last. It counts only what is dated after since: what is older belongs to
// earlier turns. In doubt the turn did not end.
func Answered(agent string, tail []byte, since time.Time) (last string, ended bool) {
	switch agent {
	case claudeCode:
		return answeredClaude(tail, since)
	case codex:
		return answeredCodex(tail, since)
	case gemini:
		return answeredGemini(tail, since)
	case opencode:
		return answeredOpencode(tail, since)
	}
	return answeredOwn(tail, since)
}

// answeredClaude looks at the last message: the model says why it stopped.
func answeredClaude(tail []byte, since time.Time) (last string, ended bool) {
	for raw := range records(tail) {
		r := into[claudeRecord](raw)
		if r.Sidechain || r.Meta || r.Type != "user" && r.Type != "assistant" {
			continue
		}
		last, ended = "", false
		if r.Type == "assistant" && when(r.Timestamp).After(since) {
			ended = r.Message.Stop == "end_turn" || r.Message.Stop == "stop_sequence"
			last = prose(r.Message.Content)
		}
	}
	return last, ended
}

// answeredCodex looks for the event that closes a turn.
func answeredCodex(tail []byte, since time.Time) (last string, ended bool) {
	for raw := range records(tail) {
		r := into[codexRecord](raw)
		if r.Type != "event_msg" {
			continue
		}
		e := into[struct {
			Type string `json:"type"`
			Last string `json:"last_agent_message"`
		}](r.Payload)
		switch e.Type {
		case "task_started", "turn_started":
			last, ended = "", false
		case "task_complete", "turn_complete":
			last, ended = e.Last, when(r.Timestamp).After(since)
		}
	}
	return last, ended
}

// answeredGemini looks at the last message: one that calls no tool is the answer.
func answeredGemini(tail []byte, since time.Time) (string, bool) {
	t := geminiTalk{at: map[string]int{}}
	for raw := range records(tail) {
		t.hear(raw)
	}
	if len(t.list) == 0 {
		return "", false
	}
	r := t.list[len(t.list)-1]
	last := prose(r.Content)
	return last, r.Type == "gemini" && len(r.Calls) == 0 && last != "" && when(r.Timestamp).After(since)
}

// answeredOpencode looks at the last message: one that ends with words is the answer.
func answeredOpencode(tail []byte, since time.Time) (last string, ended bool) {
	for raw := range records(tail) {
		r := into[opencodeRecord](raw)
		m := into[opencodeInfo](r.Info)
		last, ended = "", false
		if m.Role != "assistant" || !time.UnixMilli(m.Time.Created).After(since) {
			continue
		}
		for _, raw := range r.Parts {
			switch p := into[opencodePart](raw); p.Type {
			case "text":
				last, ended = p.Text, p.Text != ""
			case "tool":
				last, ended = "", false
			}
		}
	}
	return last, ended
}
