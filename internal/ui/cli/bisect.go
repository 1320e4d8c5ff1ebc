package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/bisect"
	"github.com/retake-dev/retake/internal/ui/term"
)

type bisectCmd struct {
	*commandLine
	from, to string
	name     string
	limit    time.Duration
}

func newBisectCommand(f *commandLine) *cobra.Command {
	c := &bisectCmd{commandLine: f}
	cmd := &cobra.Command{
		Use: "bisect -- CMD…", Short: "Find the first checkpoint where a command fails",
		Args: programArgs(0, 0), RunE: c.run,
	}
	cmd.Flags().StringVar(&c.from, "from", "", "start at `REF` (default: the first checkpoint)")
	cmd.Flags().StringVar(&c.to, "to", "", "end at `REF` (default: the newest checkpoint)")
	cmd.Flags().StringVar(&c.name, "name", "", "record the results as `NAME`")
	cmd.Flags().DurationVar(&c.limit, "verify-limit", 0, "stop each run after `DURATION` (default: the setting verify-limit)")
	return cmd
}

func (c *bisectCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	if c.limit < 0 {
		return usageError(helpHint(cmd), "The limit is a duration of time, not %s.", c.limit)
	}
	if c.Run == nil || c.NewScratchDir == nil {
		return errNoPrograms
	}
	s, ws, err := c.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	_, program := splitAtDash(cmd, args)
	b := &bisection{V: 1, check: typedCheck(c.name, program, timeLimit(c.commandLine, c.limit, ws.ID))}
	b.Command = b.check.shellLine
	if b.candidates, err = c.readCandidates(ctx, s, ws); err != nil {
		return err
	}
	if err := b.loadPoints(ctx, s, ws.ID); err != nil {
		return err
	}
	w := bisectRunner{bisectCmd: c, b: b, display: newLiveDisplay(c.commandLine, b)}
	w.display.start(b)
	err = w.search(ctx, s, ws)
	w.display.clear()
	if err != nil {
		return c.interruptedError(err, b)
	}
	b.finish(ctx, s, ws)
	return c.printResult(b)
}

// readCandidates finds the checkpoints to search, oldest first: the way that leads to the newest one.
// What a restore left behind is not on it, and neither is what ran out of time: the
// complete one follows.
func (c *bisectCmd) readCandidates(ctx context.Context, s retake.Service, ws retake.Workspace) ([]retake.Checkpoint, error) {
	to := c.to
	if to == "" {
		to = "latest"
	}
	last, err := s.Find(ctx, ws.ID, to)
	if err != nil {
		return nil, err
	}
	first := retake.Checkpoint{}
	if c.from != "" {
		if first, err = s.Find(ctx, ws.ID, c.from); err != nil {
			return nil, err
		}
	}
	t, err := readPages(ctx, s, retake.LogQuery{Workspace: ws.ID, Before: last.Number}, 0)
	if err != nil {
		return nil, err
	}
	line := ancestorsBetween(last, t.Checkpoints)
	if c.from == "" {
		return line, nil
	}
	for i, cp := range line {
		if cp.ID == first.ID {
			return line[i:], nil
		}
	}
	return nil, usageError("the line: retake log", "Checkpoint %d is not on the line that leads to %d.", first.Number, last.Number)
}

// ancestorsBetween follows the parents from last down through older checkpoints, which come newest
// first, and returns them oldest first. A parent that was forgotten is skipped:
// ids grow with time, so the newest checkpoint with a smaller id takes its place.
func ancestorsBetween(last retake.Checkpoint, older []retake.Checkpoint) []retake.Checkpoint {
	there := map[retake.CheckpointID]bool{}
	for _, cp := range older {
		there[cp.ID] = true
	}
	way, at := []retake.Checkpoint{last}, last
	for _, cp := range older {
		if at.Parent == "" || at.Trigger == retake.TriggerFork {
			break
		}
		if cp.ID != at.Parent && (there[at.Parent] || cp.ID > at.Parent) {
			continue
		}
		at = cp
		if !captureRanOut(cp) {
			way = append(way, cp)
		}
	}
	slices.Reverse(way)
	return way
}

func captureRanOut(cp retake.Checkpoint) bool {
	for _, g := range cp.Coverage.Gaps {
		if g.Reason == retake.ReasonBudget {
			return true
		}
	}
	return false
}

// bisection is one search and all that it found: text and JSON come from it.
type bisection struct {
	V       int                   `json:"v"`
	Command string                `json:"command"`
	Name    string                `json:"name,omitempty"`
	Found   bool                  `json:"found"`
	Why     string                `json:"why,omitempty"` // it was not found
	Good    *retake.Checkpoint    `json:"good,omitempty"`
	Bad     *retake.Checkpoint    `json:"bad,omitempty"`
	Points  []bisectPoint         `json:"points"` // oldest first
	Runs    []retake.Verification `json:"runs"`
	Story   *retake.Story         `json:"story,omitempty"` // from good to bad
	Output  string                `json:"output,omitempty"`

	check      checkCommand
	candidates []retake.Checkpoint
	search     *bisect.Search
	stored     map[retake.ContentID]retake.Verification
	running    int // place of the point that is being asked; -1: none
	began      time.Time
	border     [2]int            // places of good and bad; -1: none
	titles     term.TargetTitles // for titles
	warnings   []retake.Warning
}

// bisectPoint is a run of checkpoints with equal content.
type bisectPoint struct {
	Numbers []int64          `json:"numbers"`
	Content retake.ContentID `json:"content"`
	Verdict retake.Verdict   `json:"verdict,omitempty"`
	Stored  bool             `json:"stored,omitempty"` // the answer was known before
}

// loadPoints builds the points and looks up the recorded verdicts for them.
func (b *bisection) loadPoints(ctx context.Context, s retake.Service, ws retake.WorkspaceID) error {
	all, err := s.Verifications(ctx, retake.VerificationQuery{Workspace: ws, Command: b.check.shellLine})
	if err == nil {
		b.buildPoints(all)
	}
	return err
}

// buildPoints builds the points with the recorded verdicts in all, newest first. Claims of
// agents and runs at another path do not count.
func (b *bisection) buildPoints(all []retake.Verification) {
	b.running, b.border, b.Runs = -1, [2]int{-1, -1}, []retake.Verification{}
	b.stored = map[retake.ContentID]retake.Verification{}
	known := map[retake.ContentID]retake.Verdict{}
	for _, v := range all {
		answers := !v.Claim && v.Where != retake.Elsewhere && (v.Verdict == retake.Passed || v.Verdict == retake.Failed)
		if _, has := known[v.Content]; answers && !has {
			known[v.Content], b.stored[v.Content] = v.Verdict, v
		}
	}
	points := bisect.Points(b.candidates)
	b.search = bisect.New(points, known)
	for _, p := range points {
		b.Points = append(b.Points, bisectPoint{Numbers: p.Numbers, Content: p.Content, Verdict: known[p.Content], Stored: known[p.Content] != ""})
	}
}

// recordVerdict stores the verdict of point i, which holds for all points with equal content.
func (b *bisection) recordVerdict(i int, v retake.Verification) {
	b.search.SetVerdict(i, v.Verdict)
	b.Runs = append(b.Runs, v)
	for j := range b.Points {
		if b.Points[j].Content == b.Points[i].Content {
			b.Points[j].Verdict = v.Verdict
		}
	}
	b.running = -1
}

// checkpointByNumber returns the candidate with that number, or nil.
func (b *bisection) checkpointByNumber(number int64) *retake.Checkpoint {
	for i := range b.candidates {
		if b.candidates[i].Number == number {
			return &b.candidates[i]
		}
	}
	return nil
}

// setResult copies the result of the search into the answer.
func (b *bisection) setResult() {
	r := b.search.Result()
	b.border = [2]int{r.Good, r.Bad}
	b.Why, b.Found = r.Why, r.Why == "" && r.Good >= 0 && r.Bad >= 0
	if r.Good >= 0 {
		n := b.Points[r.Good].Numbers
		b.Good = b.checkpointByNumber(n[len(n)-1])
	}
	if r.Bad >= 0 {
		b.Bad = b.checkpointByNumber(b.Points[r.Bad].Numbers[0])
		b.Output = b.verificationOf(b.Points[r.Bad].Content).Output
	}
	b.Name = b.verificationName()
}

// finish sets the result and reads what changed between the good and the bad checkpoint. What
// cannot be read becomes a warning.
func (b *bisection) finish(ctx context.Context, s retake.Service, ws retake.Workspace) {
	b.setResult()
	var named []retake.Checkpoint
	for _, cp := range []*retake.Checkpoint{b.Good, b.Bad} {
		if cp != nil {
			named = append(named, *cp)
		}
	}
	b.titles = term.ReadTargetTitles(ctx, s, ws, named)
	if b.Bad != nil && b.Output == "" { // lists leave it out
		q := retake.VerificationQuery{Workspace: ws.ID, Ref: string(b.Bad.ID), Command: b.Command}
		all, _ := s.Verifications(ctx, q) // without it the rest is still true
		for _, v := range all {
			if v.ID == b.stored[b.Bad.Content].ID {
				b.Output = v.Output
			}
		}
	}
	if len(named) < 2 {
		return
	}
	st, err := s.Story(ctx, retake.DiffQuery{Workspace: ws.ID, From: string(b.Good.ID), To: string(b.Bad.ID)})
	if err != nil {
		b.warnings = append(b.warnings, retake.Warning{Code: "story", Text: fmt.Sprintf("can't tell what changed from %d to %d: %v", b.Good.Number, b.Bad.Number, err)})
		return
	}
	b.Story = &st
}

// verificationOf returns the verification of a content: of this search, else a stored one.
func (b *bisection) verificationOf(content retake.ContentID) retake.Verification {
	for _, v := range b.Runs {
		if v.Content == content {
			return v
		}
	}
	return b.stored[content]
}

func (b *bisection) verificationName() string {
	for _, v := range b.Runs {
		return v.Name
	}
	for _, v := range b.stored {
		return v.Name
	}
	return b.check.name
}
