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

// inquiry is a command whose answer is recorded.
type inquiry struct {
	name  string // empty: made of the command
	line  string // as it is recorded, for a shell
	args  []string
	limit time.Duration
}

func shellInquiry(name, line string, limit time.Duration) inquiry {
	return inquiry{name: name, line: line, args: []string{"sh", "-c", line}, limit: limit}
}

// typedInquiry takes the words behind "--": one that holds spaces is a line for a
// shell, all others are a program and what it is given.
func typedInquiry(name string, words []string, limit time.Duration) inquiry {
	if len(words) == 1 && strings.ContainsAny(words[0], " \t\n") {
		return shellInquiry(name, words[0], limit)
	}
	return inquiry{name: name, line: shellLine(words), args: words, limit: limit}
}

// retyped is the command as it was typed, with more flags: what a hint may lead to is what was
// asked for, and nothing else.
func (f *face) retyped(flags ...string) string {
	words := append([]string{"retake"}, beforeDashes(f.args)...)
	words = append(words, flags...)
	return shellLine(append(words, f.args[len(beforeDashes(f.args)):]...))
}

// shellLine joins words to a line that a shell would take apart again in the same way.
func shellLine(words []string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@%="
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" || strings.Trim(w, plain) != "" || i == 0 && strings.Contains(w, "=") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// commandText is a recorded command as one word behind "--", or as its words when a shell
// would take it apart in no other way.
func commandText(l term.Look, command string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@% '"
	if strings.Trim(command, plain) == "" && strings.Count(command, "'")%2 == 0 {
		return command
	}
	return "'" + strings.ReplaceAll(termtext.Escape(command), "'", `'\''`) + "'"
}

const defaultVerifyLimit = 10 * time.Minute

// limitOf is how long a command may take: as typed, else as the user set it.
func (f *face) limitOf(typed time.Duration, ws retake.WorkspaceID) time.Duration {
	if typed > 0 || f.Settings == nil {
		return max(typed, 0)
	}
	v, err := f.Settings.Value(string(ws) + ".verify-limit")
	if d, bad := time.ParseDuration(v); err == nil && bad == nil && d > 0 {
		return d
	}
	return defaultVerifyLimit
}

// keptOutput is how much of the end of an output is recorded.
const keptOutput = 64 << 10

// ending keeps the end of what is written to it.
type ending struct {
	kept []byte
	lost bool
}

func (e *ending) Write(p []byte) (int, error) {
	e.kept = append(e.kept, p...)
	if len(e.kept) > 2*keptOutput {
		e.cut()
	}
	return len(p), nil
}

func (e *ending) cut() {
	if over := len(e.kept) - keptOutput; over > 0 {
		e.kept, e.lost = append(e.kept[:0], e.kept[over:]...), true
	}
}

// String is the end, from the beginning of a line when there is one.
func (e *ending) String() string {
	e.cut()
	if i := bytes.IndexByte(e.kept, '\n'); e.lost && i >= 0 {
		return string(e.kept[i+1:])
	}
	return string(e.kept)
}

// heedless writes and does not mind when nobody listens: the program goes on.
type heedless struct{ io.Writer }

func (h heedless) Write(p []byte) (int, error) {
	_, _ = h.Writer.Write(p)
	return len(p), nil
}

// put runs a command and tells what it answered. An error means that nobody waits for
// the answer any more; all other trouble is an answer too.
func (f *face) put(ctx context.Context, q inquiry, c Command, where retake.Where, aloud bool) (retake.Attestation, error) {
	limit := q.limit
	if limit <= 0 {
		limit = defaultVerifyLimit
	}
	end, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	kept := &ending{}
	c.Args, c.Watch = q.args, kept
	if aloud {
		c.Watch = io.MultiWriter(kept, heedless{f.Err})
	}
	a := retake.Attestation{Name: q.name, Command: q.line, Where: where, Started: f.Clock.Now()}
	exit, err := f.Run(end, c)
	a.Took = f.Clock.Now().Sub(a.Started)
	a.Exit, a.Output = exit, kept.String()
	if aloud && a.Output != "" && !strings.HasSuffix(a.Output, "\n") {
		fmt.Fprintln(f.Err)
	}
	switch {
	case ctx.Err() != nil:
		return a, ctx.Err()
	case errors.Is(err, ErrElsewhere):
		a.Where = retake.Elsewhere
	case err != nil && end.Err() != nil:
		a.Verdict, a.Why = retake.CouldNotRun, "ended after "+termtext.Duration(limit)
	case err != nil:
		a.Verdict, a.Why = retake.CouldNotRun, err.Error()
	}
	return a, nil
}

// attest records an answer. Who ran a program to its end wants that also when they
// do not wait for it any more.
func (f *face) attest(ctx context.Context, s retake.Service, cp retake.Checkpoint, a retake.Attestation) (retake.Verification, error) {
	a.Workspace, a.Ref = cp.Workspace, string(cp.ID)
	v, err := s.Attest(context.WithoutCancel(ctx), a)
	if err == nil {
		return v, nil
	}
	e := *retake.AsError(err)
	e.Safe = fmt.Sprintf("`%s` ran and exited with %d; the result was not recorded.", a.Command, a.Exit)
	return v, &e
}

// attestedSign is the sign of a verdict, or of none.
func attestedSign(l term.Look, v retake.Verdict) (sign string, color func(string) string) {
	if v == "" {
		return lookedAt(l), l.Dim
	}
	return l.Sign(v, false)
}

// lookedAt stands for what is not known.
func lookedAt(l term.Look) string {
	if l.ASCII {
		return "."
	}
	return "·"
}

// renderAttested is one answer in a line, and what it left behind in another.
func renderAttested(l term.Look, v retake.Verification) string {
	sign, color := attestedSign(l, v.Verdict)
	text := ""
	switch v.Verdict {
	case retake.Passed:
		text = l.Dim(l.Facts(termtext.Escape(v.Score), termtext.Duration(v.Took)))
	case retake.Failed:
		text = l.Facts(termtext.Escape(v.Score), fmt.Sprintf("exit %d", v.Exit), termtext.Duration(v.Took))
	case retake.RanOnOther:
		text = term.OrWord(termtext.Escape(v.Why), "the files changed while it ran")
	case retake.CouldNotRun, retake.Running:
		text = "could not run" + because(whyNot(v))
	}
	line := color(sign+" "+termtext.Escape(v.Name)) + "  " + text
	if v.Where == retake.Elsewhere {
		line += l.Sep() + l.Cyan("ran at another path") + l.Dim(", so it makes no checkpoint good")
	}
	line += "\n"
	if n := len(v.Wrote); n > 0 {
		line += "  " + l.Dim("it left "+term.Number(int64(n), "path", "paths")+": "+l.Glyphs.Cut(firstOf(v.Wrote), max(l.Width-24, 20))) + "\n"
	}
	return line
}

// whyNot says why there is no answer.
func whyNot(v retake.Verification) string {
	if v.Why == "" && v.Exit != 0 {
		return fmt.Sprintf("exit %d", v.Exit)
	}
	return v.Why
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + termtext.Escape(why)
}

// firstOf names the first paths, and counts the rest.
func firstOf(paths []string) string {
	var names []string
	for _, p := range paths[:min(term.FirstPaths, len(paths))] {
		names = append(names, termtext.Escape(p))
	}
	text := strings.Join(names, ", ")
	if more := len(paths) - len(names); more > 0 {
		text += fmt.Sprintf(", %s more", termtext.Count(int64(more)))
	}
	return text
}
