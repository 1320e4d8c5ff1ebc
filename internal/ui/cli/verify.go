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
	*commandLine
	name  string
	limit time.Duration
}

type verifyAnswer struct {
	V             int                   `json:"v"`
	Checkpoint    retake.Checkpoint     `json:"checkpoint"`
	Verifications []retake.Verification `json:"verifications"`
}

func newVerifyCommand(f *commandLine) *cobra.Command {
	c := &verifyCmd{commandLine: f}
	cmd := &cobra.Command{
		Use: "verify [REF] [-- CMD…]", Short: "Run checks on a checkpoint and record their results",
		Args: func(cmd *cobra.Command, args []string) error {
			refs, _ := splitAtDash(cmd, args)
			return argsBetween(0, 1)(cmd, refs)
		},
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.name, "name", "", "record the check as `NAME`; without CMD, run only that configured check")
	cmd.Flags().DurationVar(&c.limit, "verify-limit", 0, "stop it after `DURATION` (default: the setting verify-limit)")
	return cmd
}

func (c *verifyCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	refs, program := splitAtDash(cmd, args)
	if c.limit < 0 {
		return usageError(helpHint(cmd), "The limit is a duration of time, not %s.", c.limit)
	}
	if c.Run == nil {
		return errNoPrograms
	}
	s, ws, err := c.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	qs, err := c.parseChecks(ctx, s, ws, program)
	if err != nil {
		return err
	}
	cp, live, err := c.checkpointToVerify(ctx, s, ws, refs)
	if err != nil {
		return err
	}
	a := verifyAnswer{V: 1, Checkpoint: cp, Verifications: []retake.Verification{}}
	for _, q := range qs {
		v, err := c.verifyOne(ctx, s, ws, cp, live, q)
		if err != nil {
			return c.interruptedError(err, q, a)
		}
		a.Verifications = append(a.Verifications, v)
		if !c.json {
			fmt.Fprint(c.Out, renderVerification(c.stdoutStyle(), v))
		}
	}
	if c.json {
		if err := c.writeJSON(a); err != nil {
			return err
		}
	}
	return c.printVerified(a)
}

// parseChecks are the command that was typed, else those that stand.
func (c *verifyCmd) parseChecks(ctx context.Context, s retake.Service, ws retake.Workspace, program []string) ([]checkCommand, error) {
	limit := timeLimit(c.commandLine, c.limit, ws.ID)
	if len(program) > 0 {
		return []checkCommand{typedCheck(c.name, program, limit)}, nil
	}
	all, err := s.Standing(ctx, ws.ID)
	if err != nil {
		return nil, err
	}
	var out []checkCommand
	for _, st := range all {
		if c.name == "" || c.name == st.Name {
			out = append(out, shellCheck(st.Name, st.Command, limit))
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

// checkpointToVerify finds the checkpoint, and whether the live files are its files. Without a ref all
// that there is becomes one first.
func (c *verifyCmd) checkpointToVerify(ctx context.Context, s retake.Service, ws retake.Workspace, refs []string) (cp retake.Checkpoint, live bool, err error) {
	if len(refs) == 0 {
		p := c.newProgressLine("capture")
		res, err := s.Save(ctx, retake.SaveRequest{Workspace: ws.ID, Trigger: retake.TriggerManual, IfChanged: true, Progress: p.callback()})
		p.clear()
		if err != nil {
			return cp, false, continuedByDaemon(c.commandLine, err)
		}
		c.printWarnings(res.Warnings)
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

// verifyOne runs one check on the live files or in a fork, and records the result.
func (c *verifyCmd) verifyOne(ctx context.Context, s retake.Service, ws retake.Workspace, cp retake.Checkpoint, live bool, q checkCommand) (v retake.Verification, err error) {
	var a retake.Attestation
	if live {
		a, err = runCheck(ctx, c.commandLine, q, Command{Dir: c.workingDir()}, retake.OnLive, !c.json)
	} else {
		err = newThrowawayFork(c.commandLine, s, ws).useAt(ctx, string(cp.ID), func(cmd Command) error {
			var err error
			a, err = runCheck(ctx, c.commandLine, q, cmd, retake.InFork, !c.json)
			return err
		})
	}
	if err != nil {
		return v, err
	}
	return recordAttestation(ctx, s, cp, a)
}

// interruptedError says what an end before the last answer left.
func (c *verifyCmd) interruptedError(err error, q checkCommand, a verifyAnswer) error {
	e := *retake.AsError(err)
	if e.Kind != retake.Canceled {
		return err
	}
	e.Safe = fmt.Sprintf("`%s` has no answer, and nothing is recorded of it.", q.shellLine)
	if len(a.Verifications) > 0 {
		e.Safe += " The answers before it are."
	}
	return &e
}

// printVerified makes the exit code of the gravest answer.
func (c *verifyCmd) printVerified(a verifyAnswer) error {
	var not, other *retake.Verification
	for i, v := range a.Verifications {
		switch v.Verdict {
		case retake.Failed:
			c.printHints("since when", "retake bisect -- "+shellCommandText(c.stderrStyle(), v.Command), "the checkpoint", fmt.Sprintf("retake show %d", a.Checkpoint.Number))
			return exitError{code: failedCheckExit}
		case retake.Passed:
		case retake.RanOnOther:
			other = &a.Verifications[i]
		default:
			not = &a.Verifications[i]
		}
	}
	switch {
	case not != nil:
		return reportedError{&retake.Error{
			Kind: retake.Internal, What: fmt.Sprintf("`%s` could not be run", not.Command), Err: errors.New(term.TextOr(noVerdictReason(*not), "nobody knows why")),
			Safe: fmt.Sprintf("That is recorded, and says nothing about %d.", a.Checkpoint.Number), Hint: "try it by hand: " + not.Command,
		}}
	case other != nil:
		return reportedError{&retake.Error{
			Kind: retake.Moved, What: fmt.Sprintf("the files changed while `%s` ran", other.Command),
			Safe: fmt.Sprintf("That is recorded, and says nothing about %d.", a.Checkpoint.Number),
			Hint: fmt.Sprintf("check %d in a fork: retake verify %d -- %s\ncheck your files: retake verify -- %s",
				a.Checkpoint.Number, a.Checkpoint.Number, shellCommandText(c.stderrStyle(), other.Command), shellCommandText(c.stderrStyle(), other.Command)),
		}}
	}
	return nil
}
