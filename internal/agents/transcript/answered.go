package transcript

import (
	"time"
)

// TurnEnded reports whether the newest turn of a transcript ended, and what the agent said
// last. Only records after since count: older ones belong to earlier turns. When in doubt
// the turn did not end.
func TurnEnded(agent string, tail []byte, since time.Time) (last string, ended bool) {
	switch agent {
	case claudeCode:
		return turnEndedClaude(tail, since)
	case codex:
		return turnEndedCodex(tail, since)
	case gemini:
		return turnEndedGemini(tail, since)
	case opencode:
		return turnEndedOpencode(tail, since)
	}
	return turnEndedOwn(tail, since)
}

// turnEndedClaude checks the last message: the model says why it stopped.
func turnEndedClaude(tail []byte, since time.Time) (last string, ended bool) {
	for raw := range jsonRecords(tail) {
		r := decode[claudeRecord](raw)
		if r.Sidechain || r.Meta || r.Type != "user" && r.Type != "assistant" {
			continue
		}
		last, ended = "", false
		if r.Type == "assistant" && parseTime(r.Timestamp).After(since) {
			ended = r.Message.Stop == "end_turn" || r.Message.Stop == "stop_sequence"
			last = joinTexts(r.Message.Content)
		}
	}
	return last, ended
}

// turnEndedCodex looks for the event that closes a turn.
func turnEndedCodex(tail []byte, since time.Time) (last string, ended bool) {
	for raw := range jsonRecords(tail) {
		r := decode[codexRecord](raw)
		if r.Type != "event_msg" {
			continue
		}
		e := decode[struct {
			Type string `json:"type"`
			Last string `json:"last_agent_message"`
		}](r.Payload)
		switch e.Type {
		case "task_started", "turn_started":
			last, ended = "", false
		case "task_complete", "turn_complete":
			last, ended = e.Last, parseTime(r.Timestamp).After(since)
		}
	}
	return last, ended
}

// turnEndedGemini checks the last message: one that calls no tool ends the turn.
func turnEndedGemini(tail []byte, since time.Time) (string, bool) {
	t := geminiSession{index: map[string]int{}}
	for raw := range jsonRecords(tail) {
		t.applyRecord(raw)
	}
	if len(t.messages) == 0 {
		return "", false
	}
	r := t.messages[len(t.messages)-1]
	last := joinTexts(r.Content)
	return last, r.Type == "gemini" && len(r.Calls) == 0 && last != "" && parseTime(r.Timestamp).After(since)
}

// turnEndedOpencode checks the last message: one that ends with text ends the turn.
func turnEndedOpencode(tail []byte, since time.Time) (last string, ended bool) {
	for raw := range jsonRecords(tail) {
		r := decode[opencodeRecord](raw)
		m := decode[opencodeInfo](r.Info)
		last, ended = "", false
		if m.Role != "assistant" || !time.UnixMilli(m.Time.Created).After(since) {
			continue
		}
		for _, raw := range r.Parts {
			switch p := decode[opencodePart](raw); p.Type {
			case "text":
				last, ended = p.Text, p.Text != ""
			case "tool":
				last, ended = "", false
			}
		}
	}
	return last, ended
}
