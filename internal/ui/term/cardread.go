package term

import (
	"context"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/view"
)

// Card is a checkpoint with what really changed since its parent, and what is known of it.
type Card struct {
	V             int                   `json:"v"`
	Checkpoint    retake.Checkpoint     `json:"checkpoint"`
	Parent        *retake.Checkpoint    `json:"parent,omitempty"`
	Pins          []retake.Pin          `json:"pins"`
	Changes       []retake.Change       `json:"changes"`
	Story         retake.Story          `json:"story"`
	Verifications []retake.Verification `json:"verifications"`

	Newest  bool                  `json:"-"` // the files stand here: there is no going back to it
	Titles  TargetTitles          `json:"-"` // for the title
	Finding retake.Finding        `json:"-"`
	Others  []retake.Verification `json:"-"` // of other checkpoints, for what was before and after
	State   *retake.State         `json:"-"`
	Work    []int64               `json:"-"` // checkpoints that hold what a turn did which ended with nothing more
	Machine bool                  `json:"-"` // what other programs did is told too
	Effects []retake.Effect       `json:"-"` // of the checkpoints before it in the same turn
}

// Read reads everything a card shows. Only the changes are required; the rest is shown if it
// can be read.
func (c *Card) Read(ctx context.Context, s retake.Service, ws retake.Workspace, whole bool) error {
	q := retake.DiffQuery{Workspace: ws.ID, To: string(c.Checkpoint.ID), Machine: c.Machine}
	st, err := s.Story(ctx, q)
	if err != nil {
		return err
	}
	c.Story, c.Parent = NonNilStory(st), st.From
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
	c.Finding = t.Findings[c.Checkpoint.ID]
	for _, p := range t.Pins {
		if p.Checkpoint == c.Checkpoint.ID {
			c.Pins = append(c.Pins, p)
		}
	}
	c.readOptional(ctx, s, ws, !whole)
	return nil
}

// readOptional reads what a card can do without: the answers, and for text also those about
// other checkpoints and the state of the agent.
func (c *Card) readOptional(ctx context.Context, s retake.Service, ws retake.Workspace, text bool) {
	if vs, err := s.Verifications(ctx, retake.VerificationQuery{Workspace: ws.ID, Ref: string(c.Checkpoint.ID)}); err == nil && vs != nil {
		c.Verifications = vs
	}
	if text && len(c.Verifications) > 0 {
		c.Others, _ = s.Verifications(ctx, retake.VerificationQuery{Workspace: ws.ID, Limit: maxOtherVerifications}) // best effort
	}
	if view.IsIdleTurn(&c.Checkpoint) {
		c.Work, _ = view.TurnWork(&c.Checkpoint, lookupFromService(ctx, s, ws.ID)) // best effort
	}
	if c.Checkpoint.Turn != nil && c.Checkpoint.Trigger == retake.TriggerTurn {
		c.Effects = view.TurnEffects(&c.Checkpoint, lookupFromService(ctx, s, ws.ID)) // best effort
	}
	if text && c.Checkpoint.Turn != nil {
		if held, err := s.State(ctx, ws.ID, string(c.Checkpoint.ID)); err == nil {
			c.State = &held
		}
	}
}

// maxOtherVerifications is how many answers about other checkpoints are looked through.
const maxOtherVerifications = 500

// NonNilStory returns st with empty lists instead of nil ones, so that JSON has no null where
// a list is documented.
func NonNilStory(st retake.Story) retake.Story {
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
func (c Card) answers() []retake.Answer {
	if len(c.Finding.Answers) > 0 {
		return c.Finding.Answers
	}
	return newestAnswers(c.Verifications, c.Checkpoint.Number)
}

// Hints returns what to do next, as pairs of a label and a command.
func (c Card) Hints() []string {
	n := c.Checkpoint.Number
	pairs := []string{"lines", fmt.Sprintf("retake diff %d", n)}
	switch {
	case (c.Newest || hasFailing(c.answers())) && c.Parent != nil:
		return append(pairs, "go back to just before it", fmt.Sprintf("retake restore %d", c.Parent.Number))
	case c.Newest:
		return append(pairs, "since then", "retake diff")
	}
	return append(pairs, "go back (asks first)", fmt.Sprintf("retake restore %d", n))
}

// TrimNewline takes one end of a line away.
func TrimNewline(s string) string {
	if n := len(s); n > 0 && s[n-1] == '\n' {
		return s[:n-1]
	}
	return s
}

// promptLine is the first line of what was asked, and how many more there are.
func promptLine(l Style, prompt string, room int) string {
	lines := SplitLines(prompt)
	if len(lines) == 0 {
		return ""
	}
	text := l.Glyphs.Quote(l.Glyphs.Cut(termtext.Escape(TrimNewline(lines[0])), room))
	if more := len(lines) - 1; more > 0 {
		text += l.Dim(fmt.Sprintf("  +%s", CountNoun(int64(more), "line", "lines")))
	}
	return text
}
