package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
	"github.com/retake-dev/retake/internal/secret"
	"github.com/retake-dev/retake/internal/talk"
)

type conversationAnswer struct {
	V            int                 `json:"v"`
	Checkpoint   retake.Checkpoint   `json:"checkpoint"`
	Conversation retake.Conversation `json:"conversation"`
	Lines        []spokenLine        `json:"lines"`
}

// spokenLine is one thing that was said. Likely secrets are masked, also for programs.
type spokenLine struct {
	Who  string `json:"who"`
	Tool string `json:"tool,omitempty"`
	Text string `json:"text"`
}

const maxConversation = 512 << 20

// conversation shows what was said up to a moment.
func (f *face) conversation(cmd *cobra.Command, ref string) error {
	ctx := cmd.Context()
	s, ws, err := f.here(ctx)
	if err != nil {
		return err
	}
	cp, err := s.Find(ctx, ws.ID, ref)
	if err != nil {
		return err
	}
	r, c, err := s.Conversation(ctx, ws.ID, string(cp.ID))
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(r, maxConversation))
	if err != nil {
		return err
	}
	a := conversationAnswer{V: 1, Checkpoint: cp, Conversation: c, Lines: []spokenLine{}}
	for _, line := range talk.Read(c.Agent, b) {
		text, _ := secret.Mask(line.Text)
		a.Lines = append(a.Lines, spokenLine{Who: line.Who, Tool: line.Tool, Text: text})
	}
	return f.emit(a, func(l look) string { return renderConversation(l, a) })
}

// maxSpoken bounds what one line of a tool takes on a screen; JSON has all of it.
const maxSpoken = 12

func renderConversation(l look, a conversationAnswer) string {
	var b strings.Builder
	c := a.Conversation
	fmt.Fprintf(&b, "%s  %s\n", l.bold(screen.Escape(c.Agent)), l.dim(l.facts("session "+screen.Escape(c.Session), "up to moment "+fmt.Sprint(a.Checkpoint.Number))))
	if !c.Complete && c.Missing != "" {
		fmt.Fprintf(&b, "%s  %s\n", l.cyan("not complete"), screen.Escape(c.Missing))
	}
	if len(c.Secrets) > 0 {
		fmt.Fprintf(&b, "%s  %s\n", l.yellow("likely secrets"), screen.Escape(strings.Join(c.Secrets, ", ")))
	}
	for _, s := range a.Lines {
		who := s.Who
		if s.Tool != "" {
			who = s.Tool
		}
		fmt.Fprintf(&b, "\n%s\n", speaker(l, s.Who, screen.Escape(who)))
		lines := strings.Split(strings.TrimRight(s.Text, "\n"), "\n")
		shown := lines
		if s.Who == "tool" && len(lines) > maxSpoken {
			shown = lines[:maxSpoken]
		}
		for _, line := range shown {
			for _, part := range wrapped(screen.Escape(line), max(l.width-2, 40)) {
				fmt.Fprintf(&b, "  %s\n", part)
			}
		}
		if more := len(lines) - len(shown); more > 0 {
			fmt.Fprintf(&b, "  %s\n", l.dim("+"+screen.Count(int64(more))+" more lines, --json"))
		}
	}
	return b.String()
}

// wrapped keeps a line that fits as it is, with its spaces.
func wrapped(line string, width int) []string {
	if screen.Width(line) <= width {
		return []string{line}
	}
	return wrap(line, width)
}

func speaker(l look, who, name string) string {
	switch who {
	case "you":
		return l.bold(name)
	case "tool", "note":
		return l.dim(name)
	}
	return name
}
