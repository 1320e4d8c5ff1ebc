package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// checkCommand is a verification command whose result is recorded.
type checkCommand struct {
	name      string // empty: made of the command
	shellLine string // as it is recorded, for a shell
	args      []string
	limit     time.Duration
}

// shellCheck returns a check that runs a line in a shell.
func shellCheck(name, line string, limit time.Duration) checkCommand {
	return checkCommand{name: name, shellLine: line, args: []string{"sh", "-c", line}, limit: limit}
}

// typedCheck returns the check for the words after "--": a single word with spaces is a line
// for a shell, anything else a program and its arguments.
func typedCheck(name string, words []string, limit time.Duration) checkCommand {
	if len(words) == 1 && strings.ContainsAny(words[0], " \t\n") {
		return shellCheck(name, words[0], limit)
	}
	return checkCommand{name: name, shellLine: quoteShellLine(words), args: words, limit: limit}
}

// retypedCommand returns the command as typed with more flags, so that a hint leads to exactly
// what was asked for.
func (f *commandLine) retypedCommand(flags ...string) string {
	words := append([]string{"retake"}, argsBeforeDashes(f.args)...)
	words = append(words, flags...)
	return quoteShellLine(append(words, f.args[len(argsBeforeDashes(f.args)):]...))
}

// quoteShellLine joins words to a line that a shell splits into the same words.
func quoteShellLine(words []string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@%="
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" || strings.Trim(w, plain) != "" || i == 0 && strings.Contains(w, "=") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// shellCommandText returns a recorded command to put after "--": unquoted if a shell splits it
// into the same words, else as one quoted word.
func shellCommandText(l term.Style, command string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@% '"
	if strings.Trim(command, plain) == "" && strings.Count(command, "'")%2 == 0 {
		return command
	}
	return "'" + strings.ReplaceAll(termtext.Escape(command), "'", `'\''`) + "'"
}

const defaultVerifyLimit = 10 * time.Minute

// timeLimit returns how long a check may run: as typed, else as configured for the workspace.
func timeLimit(f *commandLine, typed time.Duration, ws retake.WorkspaceID) time.Duration {
	if typed > 0 || f.Settings == nil {
		return max(typed, 0)
	}
	v, err := f.Settings.Value(string(ws) + ".verify-limit")
	if d, bad := time.ParseDuration(v); err == nil && bad == nil && d > 0 {
		return d
	}
	return defaultVerifyLimit
}

// maxKeptOutput is how many bytes of the end of an output are recorded.
const maxKeptOutput = 64 << 10

// tailBuffer is a writer that keeps the last maxKeptOutput bytes.
type tailBuffer struct {
	kept      []byte
	truncated bool
}

func (e *tailBuffer) Write(p []byte) (int, error) {
	e.kept = append(e.kept, p...)
	if len(e.kept) > 2*maxKeptOutput {
		e.trim()
	}
	return len(p), nil
}

func (e *tailBuffer) trim() {
	if over := len(e.kept) - maxKeptOutput; over > 0 {
		e.kept, e.truncated = append(e.kept[:0], e.kept[over:]...), true
	}
}

// String returns the kept bytes, from the start of a line if some were dropped.
func (e *tailBuffer) String() string {
	e.trim()
	if i := bytes.IndexByte(e.kept, '\n'); e.truncated && i >= 0 {
		return string(e.kept[i+1:])
	}
	return string(e.kept)
}

// lossyWriter ignores write errors, so that a program goes on if nobody reads its output.
type lossyWriter struct{ io.Writer }

func (h lossyWriter) Write(p []byte) (int, error) {
	_, _ = h.Writer.Write(p)
	return len(p), nil
}

// runCheck runs a check and returns its result. It returns an error only if ctx ended; a check
// that could not run is a result too.
func runCheck(ctx context.Context, f *commandLine, q checkCommand, c Command, where retake.Where, aloud bool) (retake.Attestation, error) {
	limit := q.limit
	if limit <= 0 {
		limit = defaultVerifyLimit
	}
	end, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	kept := &tailBuffer{}
	c.Args, c.Output = q.args, kept
	if aloud {
		c.Output = io.MultiWriter(kept, lossyWriter{f.Err})
	}
	a := retake.Attestation{Name: q.name, Command: q.shellLine, Where: where, Started: f.Clock.Now()}
	exit, err := f.Run(end, c)
	a.Took = f.Clock.Now().Sub(a.Started)
	a.Exit, a.Output = exit, kept.String()
	if aloud && a.Output != "" && !strings.HasSuffix(a.Output, "\n") {
		fmt.Fprintln(f.Err)
	}
	switch {
	case ctx.Err() != nil:
		return a, ctx.Err()
	case errors.Is(err, ErrOtherPath):
		a.Where = retake.Elsewhere
	case err != nil && end.Err() != nil:
		a.Verdict, a.Why = retake.CouldNotRun, "ended after "+termtext.Duration(limit)
	case err != nil:
		a.Verdict, a.Why = retake.CouldNotRun, err.Error()
	}
	return a, nil
}

// recordAttestation records the result of a check, even if ctx has ended meanwhile: the check
// did run.
func recordAttestation(ctx context.Context, s retake.Service, cp retake.Checkpoint, a retake.Attestation) (retake.Verification, error) {
	a.Workspace, a.Ref = cp.Workspace, string(cp.ID)
	v, err := s.Attest(context.WithoutCancel(ctx), a)
	if err == nil {
		return v, nil
	}
	e := *retake.AsError(err)
	e.Safe = fmt.Sprintf("`%s` ran and exited with %d; the result was not recorded.", a.Command, a.Exit)
	return v, &e
}

// verdictMark returns the glyph and color of a verdict, which may be empty.
func verdictMark(l term.Style, v retake.Verdict) (sign string, color func(string) string) {
	if v == "" {
		return unknownMark(l), l.Dim
	}
	return l.VerdictMark(v, false)
}

// unknownMark returns the glyph for a verdict that is not known.
func unknownMark(l term.Style) string {
	if l.ASCII {
		return "."
	}
	return "·"
}

// renderVerification renders one result in a line, with a second line for paths that the check
// left behind.
func renderVerification(l term.Style, v retake.Verification) string {
	sign, color := verdictMark(l, v.Verdict)
	text := ""
	switch v.Verdict {
	case retake.Passed:
		text = l.Dim(l.JoinFacts(termtext.Escape(v.Score), termtext.Duration(v.Took)))
	case retake.Failed:
		text = l.JoinFacts(termtext.Escape(v.Score), fmt.Sprintf("exit %d", v.Exit), termtext.Duration(v.Took))
	case retake.RanOnOther:
		text = term.TextOr(termtext.Escape(v.Why), "the files changed while it ran")
	case retake.CouldNotRun, retake.Running:
		text = "could not run" + colonText(noVerdictReason(v))
	}
	line := color(sign+" "+termtext.Escape(v.Name)) + "  " + text
	if v.Where == retake.Elsewhere {
		line += l.Separator() + l.Cyan("ran at another path") + l.Dim(", so it makes no checkpoint good")
	}
	line += "\n"
	if n := len(v.Wrote); n > 0 {
		line += "  " + l.Dim("it left "+term.CountNoun(int64(n), "path", "paths")+": "+l.Glyphs.Cut(firstPathsText(v.Wrote), max(l.Width-24, 20))) + "\n"
	}
	return line
}

// noVerdictReason returns why there is no verdict.
func noVerdictReason(v retake.Verification) string {
	if v.Why == "" && v.Exit != 0 {
		return fmt.Sprintf("exit %d", v.Exit)
	}
	return v.Why
}

func colonText(why string) string {
	if why == "" {
		return ""
	}
	return ": " + termtext.Escape(why)
}

// firstPathsText names the first paths and counts the rest.
func firstPathsText(paths []string) string {
	var names []string
	for _, p := range paths[:min(term.MaxNamedPaths, len(paths))] {
		names = append(names, termtext.Escape(p))
	}
	text := strings.Join(names, ", ")
	if more := len(paths) - len(names); more > 0 {
		text += fmt.Sprintf(", %s more", termtext.Count(int64(more)))
	}
	return text
}
