package term

import (
	"context"
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/transcript"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Conversation is what was said up to a checkpoint.
type Conversation struct {
	V            int                 `json:"v"`
	Checkpoint   retake.Checkpoint   `json:"checkpoint"`
	Conversation retake.Conversation `json:"conversation"`
	Lines        []retake.SpokenLine `json:"lines"` // masked, also for programs
}

// ReadConversation asks for what was said up to a checkpoint.
func ReadConversation(ctx context.Context, s retake.Service, ws retake.WorkspaceID, cp retake.Checkpoint) (Conversation, error) {
	a := Conversation{V: 1, Checkpoint: cp, Lines: []retake.SpokenLine{}}
	r, c, err := s.Conversation(ctx, ws, string(cp.ID))
	if err != nil {
		return a, err
	}
	defer r.Close() //nolint:errcheck // only read
	a.Conversation = c
	a.Lines, err = transcript.ReadMasked(c.Agent, r)
	return a, err
}

// maxToolLines bounds what one line of a tool takes on a screen; JSON has all of it.
const maxToolLines = 12

// RenderConversation renders who said what.
func RenderConversation(l Style, a Conversation) string {
	var b strings.Builder
	c := a.Conversation
	fmt.Fprintf(&b, "%s  %s\n", l.Bold(termtext.Escape(c.Agent)), l.Dim(l.JoinFacts("session "+termtext.Escape(c.Session), "up to checkpoint "+fmt.Sprint(a.Checkpoint.Number))))
	if !c.Complete && c.Missing != "" {
		fmt.Fprintf(&b, "%s  %s\n", l.Cyan("not complete"), termtext.Escape(c.Missing))
	}
	if len(c.Secrets) > 0 {
		fmt.Fprintf(&b, "%s  %s\n", l.Yellow("likely secrets"), termtext.Escape(strings.Join(c.Secrets, ", ")))
	}
	for _, s := range a.Lines {
		who := s.Who
		if s.Tool != "" {
			who = s.Tool
		}
		fmt.Fprintf(&b, "\n%s\n", speakerText(l, s.Who, termtext.Escape(who)))
		lines := strings.Split(strings.TrimRight(s.Text, "\n"), "\n")
		shown := lines
		if s.Who == "tool" && len(lines) > maxToolLines {
			shown = lines[:maxToolLines]
		}
		for _, line := range shown {
			for _, part := range WrapLine(termtext.Escape(line), max(l.Width-2, 40)) {
				fmt.Fprintf(&b, "  %s\n", part)
			}
		}
		if more := len(lines) - len(shown); more > 0 {
			fmt.Fprintf(&b, "  %s\n", l.Dim("+"+termtext.Count(int64(more))+" more lines, --json"))
		}
	}
	return b.String()
}

// WrapLine keeps a line that fits as it is, with its spaces.
func WrapLine(line string, width int) []string {
	if termtext.Width(line) <= width {
		return []string{line}
	}
	return Wrap(line, width)
}

func speakerText(l Style, who, name string) string {
	switch who {
	case "you":
		return l.Bold(name)
	case "tool", "note":
		return l.Dim(name)
	}
	return name
}
