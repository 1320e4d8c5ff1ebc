package session

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// maxListedSubagents bounds the subagents that a turn lists.
const maxListedSubagents = 50

// StartedSubagent is a subagent of a turn. Two signals may report the same one: the call
// that starts it has the task, its own start has the id.
type StartedSubagent struct {
	ID   string `json:"id,omitempty"` // as the agent names it; empty until it began
	Name string `json:"name,omitempty"`
	Task string `json:"task,omitempty"`
}

// noteDelegation records a call that starts a subagent.
func (x *Session) noteDelegation(c *retake.Call) {
	switch strings.ToLower(c.Tool) {
	case "task", "agent", "transfer_task", "delegate_to_agent", "spawn_agent", "new_task":
	default:
		return
	}
	var in struct {
		Description string `json:"description"`
		Task        string `json:"task"`
		Message     string `json:"message"`
		Prompt      string `json:"prompt"`
		Type        string `json:"subagent_type"`
		Agent       string `json:"agent"`
		AgentName   string `json:"agent_name"`
	}
	if json.Unmarshal(c.Input, &in) != nil {
		return
	}
	task := firstLine(maskAndTruncate(cmp.Or(in.Description, in.Task, in.Message, in.Prompt), maxTitle))
	if task != "" {
		x.addSubagent(StartedSubagent{Name: truncate(cmp.Or(in.Type, in.Agent, in.AgentName), maxTitle), Task: task})
	}
}

// noteSubagent records a subagent that reported itself, and matches it with a call that
// started one of its kind.
func (x *Session) noteSubagent(sig *retake.Signal) {
	if slices.ContainsFunc(x.Started, func(s StartedSubagent) bool { return s.ID == sig.Subagent }) {
		return
	}
	name := ""
	if sig.Kind == retake.SignalSubagentStart {
		name = truncate(sig.Reason, maxTitle)
	}
	all := slices.Clone(x.Started)
	for _, exact := range []bool{true, false} {
		i := slices.IndexFunc(all, func(s StartedSubagent) bool {
			return s.ID == "" && (s.Name == name || !exact && (s.Name == "" || name == ""))
		})
		if i >= 0 {
			all[i].ID, all[i].Name = sig.Subagent, cmp.Or(all[i].Name, name)
			x.Started = all
			return
		}
	}
	x.addSubagent(StartedSubagent{ID: sig.Subagent, Name: name})
}

func (x *Session) addSubagent(s StartedSubagent) {
	if len(x.Started) < maxListedSubagents {
		x.Started = append(slices.Clone(x.Started), s)
	}
}

// turnSubagents returns the subagents of the turn for its checkpoint.
func (x *Session) turnSubagents() []retake.Subagent {
	var out []retake.Subagent
	for _, s := range x.Started {
		out = append(out, retake.Subagent{Name: s.Name, Task: s.Task})
	}
	return out
}
