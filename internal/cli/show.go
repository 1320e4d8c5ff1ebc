package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// card is a checkpoint with what really changed since its parent, and what is known of it.
type card struct {
	V             int                   `json:"v"`
	Checkpoint    retake.Checkpoint     `json:"checkpoint"`
	Parent        *retake.Checkpoint    `json:"parent,omitempty"`
	Pins          []retake.Pin          `json:"pins"`
	Changes       []retake.Change       `json:"changes"`
	Story         retake.Story          `json:"story"`
	Verifications []retake.Verification `json:"verifications"`

	goals   goals // for the title
	finding retake.Finding
	others  []retake.Verification // of other moments, for what was before and after
	state   *retake.State
}

type outputAnswer struct {
	V            int                 `json:"v"`
	Checkpoint   retake.Checkpoint   `json:"checkpoint"`
	Verification retake.Verification `json:"verification"`
}

func (f *face) showCommand() *cobra.Command {
	var talked bool
	var output string
	cmd := &cobra.Command{
		Use: "show [REF]", Short: "one moment, and what really changed in it", Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref := "latest"
			if len(args) == 1 {
				ref = args[0]
			}
			switch {
			case talked && output != "":
				return usage(helpHint(cmd), "It is --conversation or --output, one of them.")
			case talked:
				return f.conversation(cmd, ref)
			case output != "":
				return f.output(cmd.Context(), ref, output)
			}
			return f.show(cmd.Context(), ref)
		},
	}
	cmd.Flags().BoolVar(&talked, "conversation", false, "what was said up to that moment, likely secrets masked")
	cmd.Flags().StringVar(&output, "output", "", "what the verification `NAME` printed, as far as it is kept")
	return cmd
}

func (f *face) show(ctx context.Context, ref string) error {
	s, ws, err := f.here(ctx)
	if err != nil {
		return err
	}
	if nowIsEmpty(ref) == "" {
		return usage("what changed since the newest moment: retake diff", "Now is not a moment yet.")
	}
	cp, err := s.Find(ctx, ws.ID, ref)
	if err != nil {
		return err
	}
	c := card{V: 1, Checkpoint: cp, Pins: []retake.Pin{}, Changes: []retake.Change{}, Verifications: []retake.Verification{}}
	if err := c.read(ctx, s, ws, f.json); err != nil {
		return err
	}
	if !f.json {
		c.goals = goalsOf(ctx, s, ws, []retake.Checkpoint{cp})
	}
	err = f.emit(c, func(l look) string { return renderCard(l, c) })
	f.hintLine(c.hints())
	return err
}

// read asks for all that a card tells. Only what really changed must be there; the rest is
// told when it is known.
func (c *card) read(ctx context.Context, s retake.Service, ws retake.Workspace, whole bool) error {
	q := retake.DiffQuery{Workspace: ws.ID, To: string(c.Checkpoint.ID)}
	st, err := s.Story(ctx, q)
	if err != nil {
		return err
	}
	c.Story, c.Parent = filledStory(st), st.From
	if whole {
		d, err := s.Diff(ctx, q)
		if err != nil {
			return err
		}
		if d.Changes != nil {
			c.Changes = d.Changes
		}
	}
	t, err := s.Log(ctx, retake.LogQuery{Workspace: ws.ID, Before: c.Checkpoint.Number + 1, Limit: 1})
	if err != nil {
		return err
	}
	c.finding = t.Findings[c.Checkpoint.ID]
	for _, p := range t.Pins {
		if p.Checkpoint == c.Checkpoint.ID {
			c.Pins = append(c.Pins, p)
		}
	}
	c.readMore(ctx, s, ws, !whole)
	return nil
}

// readMore asks for what a card can do without: the answers, and for text also those about
// other moments and what the agent held.
func (c *card) readMore(ctx context.Context, s retake.Service, ws retake.Workspace, text bool) {
	if vs, err := s.Verifications(ctx, retake.VerificationQuery{Workspace: ws.ID, Ref: string(c.Checkpoint.ID)}); err == nil && vs != nil {
		c.Verifications = vs
	}
	if text && len(c.Verifications) > 0 {
		c.others, _ = s.Verifications(ctx, retake.VerificationQuery{Workspace: ws.ID, Limit: othersRead}) // best effort
	}
	if text && c.Checkpoint.Turn != nil {
		if held, err := s.State(ctx, ws.ID, string(c.Checkpoint.ID)); err == nil {
			c.state = &held
		}
	}
}

// othersRead is how many answers about other moments are looked through.
const othersRead = 500

func filledStory(st retake.Story) retake.Story {
	if st.Groups == nil {
		st.Groups = []retake.Group{}
	}
	if st.Facts == nil {
		st.Facts = []retake.Fact{}
	}
	if st.Unread == nil {
		st.Unread = []retake.Unread{}
	}
	if st.Flags == nil {
		st.Flags = []retake.Flag{}
	}
	return st
}

// answers are what stands for each name here.
func (c card) answers() []retake.Answer {
	if len(c.finding.Answers) > 0 {
		return c.finding.Answers
	}
	return answersOf(c.Verifications, c.Checkpoint.Number)
}

func (c card) hints() []string {
	n := c.Checkpoint.Number
	pairs := []string{"lines", fmt.Sprintf("retake diff %d", n)}
	if failing(c.answers()) && c.Parent != nil {
		return append(pairs, "go back to just before it", fmt.Sprintf("retake restore %d", c.Parent.Number))
	}
	return append(pairs, "go back", fmt.Sprintf("retake restore %d", n))
}

// output shows what a verification printed.
func (f *face) output(ctx context.Context, ref, name string) error {
	s, ws, err := f.here(ctx)
	if err != nil {
		return err
	}
	cp, err := s.Find(ctx, ws.ID, ref)
	if err != nil {
		return err
	}
	vs, err := s.Verifications(ctx, retake.VerificationQuery{Workspace: ws.ID, Ref: string(cp.ID), Name: name})
	if err != nil {
		return err
	}
	if len(vs) == 0 {
		return &retake.Error{
			Kind: retake.NotFound, What: fmt.Sprintf("moment %d has no verification %s", cp.Number, name),
			Safe: nothingChanged, Hint: fmt.Sprintf("those it has: retake show %d", cp.Number),
		}
	}
	return f.emit(outputAnswer{1, cp, vs[0]}, func(l look) string {
		if vs[0].Output == "" {
			return l.dim("It printed nothing.") + "\n"
		}
		out := ""
		for _, line := range splitLines(vs[0].Output) {
			out += lineText(trimNewline(line)) + "\n"
		}
		return out
	})
}

func trimNewline(s string) string {
	if n := len(s); n > 0 && s[n-1] == '\n' {
		return s[:n-1]
	}
	return s
}

// promptLine is the first line of what was asked, and how many more there are.
func promptLine(l look, prompt string, room int) string {
	lines := splitLines(prompt)
	if len(lines) == 0 {
		return ""
	}
	text := l.g.Quote(l.g.Cut(screen.Escape(trimNewline(lines[0])), room))
	if more := len(lines) - 1; more > 0 {
		text += l.dim(fmt.Sprintf("  +%s", number(int64(more), "line", "lines")))
	}
	return text
}
