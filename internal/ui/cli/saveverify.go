package cli

import (
	"context"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

// verifyAndPrint runs the checks of a save. The checkpoint is kept whatever their result, so
// none of them is an error.
func (c *saveCmd) verifyAndPrint(ctx context.Context, s retake.Service, res retake.SaveResult) error {
	if res.Warnings == nil {
		res.Warnings = []retake.Warning{}
	}
	a := saveAnswer{V: 1, SaveResult: res, Verifications: []retake.Verification{}}
	if !c.json {
		if err := printSaved(c.commandLine, res); err != nil {
			return err
		}
	}
	stop := c.verifyAll(ctx, s, &a)
	if c.json {
		if err := c.writeJSON(a); err != nil {
			return err
		}
	}
	if stop != nil {
		return reportedError{stop}
	}
	return nil
}

// verifyAll runs one check after the other. It returns an error only if ctx ended.
func (c *saveCmd) verifyAll(ctx context.Context, s retake.Service, a *saveAnswer) error {
	cp := a.Checkpoint
	for i, line := range c.verify {
		q := shellCheck("", line, timeLimit(c.commandLine, c.limit, cp.Workspace))
		said, err := runCheck(ctx, c.commandLine, q, Command{Dir: c.workingDir()}, retake.OnLive, !c.json)
		if err != nil {
			return &retake.Error{
				Kind: retake.Canceled, What: "stopped",
				Safe: fmt.Sprintf("Checkpoint %d is kept; %s without an answer.", cp.Number, term.CountNoun(int64(len(c.verify)-i), "command is", "commands are")),
				Hint: fmt.Sprintf("run it again: retake verify %d -- %s", cp.Number, shellCommandText(c.stderrStyle(), line)),
			}
		}
		v, err := recordAttestation(ctx, s, cp, said)
		if err != nil {
			w := []retake.Warning{{Code: "verify", Text: err.Error() + "; " + retake.AsError(err).Safe}}
			c.printWarnings(w)
			a.Warnings = append(a.Warnings, w...)
			continue
		}
		a.Verifications = append(a.Verifications, v)
		if !c.json {
			fmt.Fprint(c.Out, renderVerification(c.stdoutStyle(), v))
		}
	}
	return nil
}
