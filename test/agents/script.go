package main

import "strings"

// Who said something in a request.
const (
	byUser  = "user"
	byModel = "model"
	byTool  = "tool"
)

// said is one thing that a request holds, whatever the dialect.
type said struct {
	Who  string `json:"who"`
	Text string `json:"text,omitempty"`
	Tool string `json:"tool,omitempty"` // that the model called
}

// step is one answer of the model: words, or a call of a tool.
type step struct {
	Text string
	Tool string
	Args map[string]any
	Raw  string // the text that a tool without JSON takes
	Hang bool   // the answer never comes
}

// job is what the model does after a prompt, one step an answer.
type job struct {
	Prompt string
	Steps  []step
}

// script is a model without a mind. It keeps no state: the request says how far
// the work is, as it does for a real one.
type script []job

// next answers the step that follows what was said, and the number of its job.
func (s script) next(talk []said) (step, int) {
	for i := len(talk) - 1; i >= 0; i-- {
		if talk[i].Who != byUser {
			continue
		}
		for j := len(s) - 1; j >= 0; j-- {
			if !strings.Contains(talk[i].Text, s[j].Prompt) {
				continue
			}
			if done := calls(talk[i+1:]); done < len(s[j].Steps) {
				return s[j].Steps[done], j
			}
			return step{Text: "Nothing is left to do."}, j
		}
	}
	return step{Text: "Fine."}, -1
}

func calls(talk []said) int {
	n := 0
	for _, t := range talk {
		if t.Who == byModel && t.Tool != "" {
			n++
		}
	}
	return n
}

// holds reports whether somebody said it.
func holds(talk []said, text string) bool {
	for _, t := range talk {
		if strings.Contains(t.Text, text) {
			return true
		}
	}
	return false
}
