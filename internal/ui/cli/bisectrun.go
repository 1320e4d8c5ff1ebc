package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

// bisectRunner is a running search with its display.
type bisectRunner struct {
	*bisectCmd
	b       *bisection
	display *liveDisplay
}

// search verifies one point after the other until the border between good and bad is known.
func (w bisectRunner) search(ctx context.Context, s retake.Service, ws retake.Workspace) error {
	fork := newThrowawayFork(w.bisectCmd.commandLine, s, ws)
	fork.bar = nil // the screen is drawn by ourselves
	fork.onWarnings = func(list []retake.Warning) { w.b.warnings = append(w.b.warnings, list...) }
	for {
		i, more := w.b.search.Next()
		if !more {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		w.display.update(func() { w.b.running, w.b.began = i, w.Clock.Now() })
		v, err := w.verifyPoint(ctx, fork, i)
		if err != nil {
			return err
		}
		w.display.update(func() { w.b.recordVerdict(i, v) })
		w.display.printRun(w.b)
	}
}

// verifyPoint runs the check on the oldest checkpoint of a point.
func (w bisectRunner) verifyPoint(ctx context.Context, fork throwawayFork, i int) (retake.Verification, error) {
	cp := w.b.checkpointByNumber(w.b.Points[i].Numbers[0])
	var said retake.Attestation
	err := fork.useAt(ctx, string(cp.ID), func(c Command) error {
		var err error
		said, err = runCheck(ctx, w.bisectCmd.commandLine, w.b.check, c, retake.InFork, false)
		return err
	})
	if err != nil {
		return retake.Verification{}, err
	}
	said.Bisect = true
	return recordAttestation(ctx, fork.s, *cp, said)
}

// interruptedError returns the error of an interrupted search, which says that results so far
// are kept.
func (c *bisectCmd) interruptedError(err error, b *bisection) error {
	c.printWarnings(b.warnings)
	e := *retake.AsError(err)
	kept := "No result was recorded yet."
	if n := len(b.Runs); n > 0 {
		kept = term.CountNoun(int64(n), "answer stays", "answers stay") + " stored."
	}
	if e.Kind == retake.Canceled {
		e.What, e.Safe = "stopped", ""
		e.Hint = "continue: " + c.retryCommand(b)
	}
	e.Safe = strings.TrimSpace(e.Safe + " " + kept + " Your files were not touched.")
	return &e
}

// retryCommand returns the command that starts the same search again.
func (c *bisectCmd) retryCommand(b *bisection) string {
	words := "retake bisect"
	if c.from != "" {
		words += " --from " + quoteShellLine([]string{c.from})
	}
	if c.to != "" {
		words += " --to " + quoteShellLine([]string{c.to})
	}
	return words + " -- " + shellCommandText(c.stderrStyle(), b.Command)
}

// What a search without a border ends with.
var (
	noBorder     = exitError{code: (&retake.Error{Kind: retake.NotFound}).Exit()}
	hiddenBorder = exitError{code: (&retake.Error{Kind: retake.Partly}).Exit()}
)

// printResult prints what was found and returns the matching exit error.
func (c *bisectCmd) printResult(b *bisection) error {
	c.printWarnings(b.warnings)
	if err := c.printAnswer(b, func(l term.Style) string { return renderBisected(l, b) }); err != nil {
		return err
	}
	c.printHintLines(bisectHints(c.stderrStyle(), b))
	switch newest := len(b.Points) - 1; {
	case b.Found:
		return nil
	case newest >= 0 && (b.Points[newest].Verdict == retake.Passed || b.Points[0].Verdict == retake.Failed):
		return noBorder
	}
	return hiddenBorder
}

// liveDisplay redraws a running search in place on a terminal. Elsewhere it prints each run
// when it ends.
type liveDisplay struct {
	f          *commandLine
	draw       func(l term.Style) string
	redrawable bool // the place can be drawn again
	silent     bool
	mu         sync.Mutex
	rows       int // guarded by mu; what stands there now
	stop       func()
}

const liveInterval = time.Second

func newLiveDisplay(f *commandLine, b *bisection) *liveDisplay {
	return &liveDisplay{f: f, redrawable: f.ErrTTY && !f.json, silent: f.json, draw: func(l term.Style) string { return renderBisecting(l, b) }}
}

func (v *liveDisplay) start(b *bisection) {
	switch {
	case v.silent:
	case !v.redrawable:
		fmt.Fprint(v.f.Err, bisectHead(v.f.stderrStyle(), b))
	default:
		v.redraw()
		v.stop = v.startTicker()
	}
}

// startTicker redraws every second until stop is called, because the display shows elapsed
// time.
func (v *liveDisplay) startTicker() (stop func()) {
	t, done, gone := time.NewTicker(liveInterval), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-t.C:
				v.redraw()
			case <-done:
				return
			}
		}
	}()
	return func() {
		t.Stop()
		close(done)
		<-gone
	}
}

// update calls do, which changes what is drawn, under the lock and redraws.
func (v *liveDisplay) update(do func()) {
	v.mu.Lock()
	do()
	v.mu.Unlock()
	v.redraw()
}

func (v *liveDisplay) redraw() {
	if !v.redrawable {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	l := v.f.stderrStyle()
	text := v.draw(l)
	fmt.Fprint(v.f.Err, v.eraseSequence(), text)
	v.rows = terminalRows(l, text)
}

// terminalRows returns how many rows of the terminal text takes; a line that is too long takes
// several.
func terminalRows(l term.Style, text string) int {
	n := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		n += max((l.ShownWidth(line)+l.Width-1)/l.Width, 1)
	}
	return n
}

// eraseSequence returns the sequence that moves to the start of the drawing and erases it row
// by row: some terminals keep what is cleared with the rest of the screen in their scrollback.
// The caller holds mu.
func (v *liveDisplay) eraseSequence() string {
	if v.rows == 0 {
		return ""
	}
	up := fmt.Sprintf("\x1b[%dA\r", v.rows)
	return up + strings.Repeat("\x1b[2K\n", v.rows) + up
}

// printRun prints a finished run where nothing can be redrawn.
func (v *liveDisplay) printRun(b *bisection) {
	if v.redrawable || v.silent {
		return
	}
	rows := bisectRuns(v.f.stderrStyle(), b)
	fmt.Fprint(v.f.Err, rows[len(rows)-1])
}

// clear erases the drawing; the result is printed in its place.
func (v *liveDisplay) clear() {
	if v.stop != nil {
		v.stop()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	fmt.Fprint(v.f.Err, v.eraseSequence())
	v.rows = 0
}
