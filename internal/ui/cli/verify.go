package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

type verifyCmd struct {
	*face
	name  string
	limit time.Duration
}

type verifyAnswer struct {
	V             int                   `json:"v"`
	Checkpoint    retake.Checkpoint     `json:"checkpoint"`
	Verifications []retake.Verification `json:"verifications"`
}

func (f *face) verifyCommand() *cobra.Command {
	c := &verifyCmd{face: f}
	cmd := &cobra.Command{
		Use: "verify [REF] [-- CMD…]", Short: "Run checks on a checkpoint and record their results",
		Args: func(cmd *cobra.Command, args []string) error {
			refs, _ := splitDash(cmd, args)
			return between(0, 1)(cmd, refs)
		},
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.name, "name", "", "record the check as `NAME`; without CMD, run only that configured check")
	cmd.Flags().DurationVar(&c.limit, "verify-limit", 0, "stop it after `DURATION` (default: the setting verify-limit)")
	return cmd
}

func (c *verifyCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	refs, program := splitDash(cmd, args)
	if c.limit < 0 {
		return usage(helpHint(cmd), "The limit is a duration of time, not %s.", c.limit)
	}
	if c.Run == nil {
		return noPrograms
	}
	s, ws, err := c.here(ctx)
	if err != nil {
		return err
	}
	qs, err := c.inquiries(ctx, s, ws, program)
	if err != nil {
		return err
	}
	cp, live, err := c.stand(ctx, s, ws, refs)
	if err != nil {
		return err
	}
	a := verifyAnswer{V: 1, Checkpoint: cp, Verifications: []retake.Verification{}}
	for _, q := range qs {
		v, err := c.inquire(ctx, s, ws, cp, live, q)
		if err != nil {
			return c.stopped(err, q, a)
		}
		a.Verifications = append(a.Verifications, v)
		if !c.json {
			fmt.Fprint(c.Out, renderAttested(c.out(), v))
		}
	}
	if c.json {
		if err := c.writeJSON(a); err != nil {
			return err
		}
	}
	return c.ended(a)
}

// inquiries are the command that was typed, else those that stand.
func (c *verifyCmd) inquiries(ctx context.Context, s retake.Service, ws retake.Workspace, program []string) ([]inquiry, error) {
	limit := c.limitOf(c.limit, ws.ID)
	if len(program) > 0 {
		return []inquiry{typedInquiry(c.name, program, limit)}, nil
	}
	all, err := s.Standing(ctx, ws.ID)
	if err != nil {
		return nil, err
	}
	var out []inquiry
	for _, st := range all {
		if c.name == "" || c.name == st.Name {
			out = append(out, shellInquiry(st.Name, st.Command, limit))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	what := "no check is configured for " + ws.Name
	if c.name != "" {
		what = fmt.Sprintf("no check %s is configured for %s", c.name, ws.Name)
	}
	return nil, &retake.Error{
		Kind: retake.NotFound, What: what, Safe: nothingChanged,
		Hint: "run one now: retake verify -- npm test\nrun it after every turn: retake config verify.test 'npm test'",
	}
}

// stand finds the checkpoint, and whether the live files are its files. Without a ref all
// that there is becomes one first.
func (c *verifyCmd) stand(ctx context.Context, s retake.Service, ws retake.Workspace, refs []string) (cp retake.Checkpoint, live bool, err error) {
	if len(refs) == 0 {
		p := c.progress("capture")
		res, err := s.Save(ctx, retake.SaveRequest{Workspace: ws.ID, Trigger: retake.TriggerManual, IfChanged: true, Progress: p.tell()})
		p.done()
		if err != nil {
			return cp, false, c.carriedOn(err)
		}
		c.warn(res.Warnings)
		return res.Checkpoint, true, nil
	}
	if cp, err = s.Find(ctx, ws.ID, refs[0]); err != nil {
		return cp, false, err
	}
	t, err := s.Log(ctx, retake.LogQuery{Workspace: ws.ID, Limit: 1})
	if err != nil || len(t.Checkpoints) == 0 || t.Checkpoints[0].ID != cp.ID {
		return cp, false, err
	}
	st, err := s.Status(ctx, ws.ID)
	if err != nil {
		return cp, false, err
	}
	return cp, !st.Saving && st.Latest != nil && st.Latest.ID == cp.ID && st.Now.Total() == 0, nil
}

// inquire runs one command on the live files or in a fork, and records what it answers.
func (c *verifyCmd) inquire(ctx context.Context, s retake.Service, ws retake.Workspace, cp retake.Checkpoint, live bool, q inquiry) (v retake.Verification, err error) {
	var a retake.Attestation
	if live {
		a, err = c.put(ctx, q, Command{Dir: c.workdir()}, retake.OnLive, !c.json)
	} else {
		err = c.throwaway(s, ws).at(ctx, string(cp.ID), func(cmd Command) error {
			var err error
			a, err = c.put(ctx, q, cmd, retake.InFork, !c.json)
			return err
		})
	}
	if err != nil {
		return v, err
	}
	return c.attest(ctx, s, cp, a)
}

// stopped says what an end before the last answer left.
func (c *verifyCmd) stopped(err error, q inquiry, a verifyAnswer) error {
	e := *retake.AsError(err)
	if e.Kind != retake.Canceled {
		return err
	}
	e.Safe = fmt.Sprintf("`%s` has no answer, and nothing is recorded of it.", q.line)
	if len(a.Verifications) > 0 {
		e.Safe += " The answers before it are."
	}
	return &e
}

// ended makes the exit code of the gravest answer.
func (c *verifyCmd) ended(a verifyAnswer) error {
	var not, other *retake.Verification
	for i, v := range a.Verifications {
		switch v.Verdict {
		case retake.Failed:
			c.hint("since when", "retake bisect -- "+commandText(c.talk(), v.Command), "the checkpoint", fmt.Sprintf("retake show %d", a.Checkpoint.Number))
			return exitError{code: failedExit}
		case retake.Passed:
		case retake.RanOnOther:
			other = &a.Verifications[i]
		default:
			not = &a.Verifications[i]
		}
	}
	switch {
	case not != nil:
		return told{&retake.Error{
			Kind: retake.Internal, What: fmt.Sprintf("`%s` could not be run", not.Command), Err: errors.New(term.OrWord(whyNot(*not), "nobody knows why")),
			Safe: fmt.Sprintf("That is recorded, and says nothing about %d.", a.Checkpoint.Number), Hint: "try it by hand: " + not.Command,
		}}
	case other != nil:
		return told{&retake.Error{
			Kind: retake.Moved, What: fmt.Sprintf("the files changed while `%s` ran", other.Command),
			Safe: fmt.Sprintf("That is recorded, and says nothing about %d.", a.Checkpoint.Number),
			Hint: fmt.Sprintf("check %d in a fork: retake verify %d -- %s\ncheck your files: retake verify -- %s",
				a.Checkpoint.Number, a.Checkpoint.Number, commandText(c.talk(), other.Command), commandText(c.talk(), other.Command)),
		}}
	}
	return nil
}
