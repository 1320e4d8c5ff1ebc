package mcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
)

const (
	maxNoteBytes    = 2000
	resumeTaskBytes = 3000
)

var resumeTool = toolSpec{
	name:        "resume",
	description: "Show how a person continues the conversation from a checkpoint: the command, open tasks, and external actions that can't be undone. Changes nothing.",
	input: objectSchema(nil, schemaFields{
		"ref": map[string]any{"type": "string", "description": refDescription, "maxLength": maxRef, "default": "latest"},
	}),
	hints: toolHints{readOnly: true, idempotent: true},
}

type resumeIn struct {
	Ref string `json:"ref"`
}

type resumeOut struct {
	Number  int64      `json:"number"`
	Agent   string     `json:"agent,omitempty"`
	Session string     `json:"session,omitempty"`
	Dir     string     `json:"dir,omitempty"`
	Command []string   `json:"command,omitempty" jsonschema:"for a person"`
	Exact   bool       `json:"exact" jsonschema:"it goes on at that turn; else with everything that was said"`
	Why     string     `json:"why,omitempty" jsonschema:"it is not exact, or there is no command"`
	Next    string     `json:"next,omitempty" jsonschema:"the first task that is not done"`
	Tasks   []taskRow  `json:"tasks"`
	More    int        `json:"more,omitempty" jsonschema:"tasks that are not listed"`
	Effects effectList `json:"effects"`
	Told    string     `json:"told,omitempty" jsonschema:"what the agent is told"`
	answerNote
}

// handleResume describes how a conversation continues from a checkpoint. It changes
// nothing.
func (f *toolServer) handleResume(ctx context.Context, ws retake.Workspace, in resumeIn) (resumeOut, error) {
	r, err := f.Resume(ctx, retake.ResumeRequest{Workspace: ws.ID, Ref: in.Ref, Look: true})
	if err != nil {
		return resumeOut{}, err
	}
	out := resumeOut{
		Number: r.Checkpoint.Number, Agent: safeWord(r.Agent, maxTitle), Session: safeWord(r.Session, maxTitle), Dir: safeWord(r.Dir, maxName),
		Exact: r.Exact, Why: safeWord(r.Why, maxTitle), Effects: newEffectList(r.Effects), Told: truncate(safeBlock(limitRaw(r.Note)), maxNoteBytes),
	}
	if len(r.Command) > 0 && !f.opts.isRemote() {
		// The agent's own command needs a session that does not exist yet; retake resume creates it.
		out.Command = []string{"retake", "resume", strconv.FormatInt(r.Checkpoint.Number, 10)}
	}
	if r.Next != nil {
		out.Next = safeWord(r.Next.Title, maxTitle)
	}
	out.Tasks, out.More = newTaskRows(&byteBudget{resumeTaskBytes}, r.Tasks)
	return out, nil
}

func (o resumeOut) text(*toolServer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "from checkpoint %d", o.Number)
	if o.Agent != "" {
		fmt.Fprintf(&b, " with %s, session %s", quoteWord(o.Agent), quoteWord(o.Session))
	}
	b.WriteByte('\n')
	if len(o.Command) > 0 {
		fmt.Fprintf(&b, "a person runs: %s\n", strings.Join(o.Command, " "))
	}
	if o.Why != "" {
		fmt.Fprintf(&b, "but: %s\n", quoteWord(o.Why))
	}
	writeTasks(&b, o.Tasks, o.More)
	o.Effects.write(&b)
	b.WriteString(barLines(o.Told))
	return b.String()
}
