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

// watched is a search that somebody may look at.
type watched struct {
	*bisectCmd
	b      *bisection
	screen *live
}

// search asks one point after the other until the border is known.
func (w watched) search(ctx context.Context, s retake.Service, ws retake.Workspace) error {
	fork := w.throwaway(s, ws)
	fork.bar = nil // the screen is drawn by ourselves
	fork.warn = func(list []retake.Warning) { w.b.warnings = append(w.b.warnings, list...) }
	for {
		i, more := w.b.search.Next()
		if !more {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		w.screen.change(func() { w.b.running, w.b.began = i, w.Clock.Now() })
		v, err := w.one(ctx, fork, i)
		if err != nil {
			return err
		}
		w.screen.change(func() { w.b.hear(i, v) })
		w.screen.ran(w.b)
	}
}

// one asks the oldest checkpoint of a point.
func (w watched) one(ctx context.Context, fork throwaway, i int) (retake.Verification, error) {
	cp := w.b.checkpoint(w.b.Points[i].Numbers[0])
	var said retake.Attestation
	err := fork.at(ctx, string(cp.ID), func(c Command) error {
		var err error
		said, err = w.put(ctx, w.b.q, c, retake.InFork, false)
		return err
	})
	if err != nil {
		return retake.Verification{}, err
	}
	said.Bisect = true
	return w.attest(ctx, fork.s, *cp, said)
}

// cutShort says that the answers so far are not lost.
func (c *bisectCmd) cutShort(err error, b *bisection) error {
	c.warn(b.warnings)
	e := *retake.AsError(err)
	kept := "No result was recorded yet."
	if n := len(b.Runs); n > 0 {
		kept = term.Number(int64(n), "answer stays", "answers stay") + " stored."
	}
	if e.Kind == retake.Canceled {
		e.What, e.Safe = "stopped", ""
		e.Hint = "continue: " + c.typed(b)
	}
	e.Safe = strings.TrimSpace(e.Safe + " " + kept + " Your files were not touched.")
	return &e
}

// typed is the command that begins the same search again.
func (c *bisectCmd) typed(b *bisection) string {
	words := "retake bisect"
	if c.from != "" {
		words += " --from " + shellLine([]string{c.from})
	}
	if c.to != "" {
		words += " --to " + shellLine([]string{c.to})
	}
	return words + " -- " + commandText(c.talk(), b.Command)
}

// What a search without a border ends with.
var (
	noBorder     = exitError{code: (&retake.Error{Kind: retake.NotFound}).Exit()}
	hiddenBorder = exitError{code: (&retake.Error{Kind: retake.Partly}).Exit()}
)

// told shows what was found, and makes the exit code of it.
func (c *bisectCmd) told(b *bisection) error {
	c.warn(b.warnings)
	if err := c.emit(b, func(l term.Look) string { return renderBisected(l, b) }); err != nil {
		return err
	}
	c.hintLines(bisectHints(c.talk(), b))
	switch newest := len(b.Points) - 1; {
	case b.Found:
		return nil
	case newest >= 0 && (b.Points[newest].Verdict == retake.Passed || b.Points[0].Verdict == retake.Failed):
		return noBorder
	}
	return hiddenBorder
}

// live draws a search again and again in the same place of a terminal; where there is
// none it tells each run when it is over.
type live struct {
	f     *face
	draw  func(l term.Look) string
	moves bool // the place can be drawn again
	mute  bool
	mu    sync.Mutex
	rows  int // guarded by mu; what stands there now
	stop  func()
}

const liveEvery = time.Second

func (f *face) newLive(b *bisection) *live {
	return &live{f: f, moves: f.ErrTTY && !f.json, mute: f.json, draw: func(l term.Look) string { return renderBisecting(l, b) }}
}

func (v *live) begin(b *bisection) {
	switch {
	case v.mute:
	case !v.moves:
		fmt.Fprint(v.f.Err, bisectHead(v.f.talk(), b))
	default:
		v.show()
		v.stop = v.tick()
	}
}

// tick draws every second: a run takes long, and the time it took is part of it.
func (v *live) tick() (stop func()) {
	t, done, gone := time.NewTicker(liveEvery), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-t.C:
				v.show()
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

// change changes what is drawn.
func (v *live) change(do func()) {
	v.mu.Lock()
	do()
	v.mu.Unlock()
	v.show()
}

func (v *live) show() {
	if !v.moves {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	l := v.f.talk()
	text := v.draw(l)
	fmt.Fprint(v.f.Err, v.wiped(), text)
	v.rows = rowsOn(l, text)
}

// rowsOn counts the rows of a terminal that lines take: one that is too long takes several.
func rowsOn(l term.Look, text string) int {
	n := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		n += max((l.ShownWidth(line)+l.Width-1)/l.Width, 1)
	}
	return n
}

// wiped goes back to where the drawing begins, over rows that it empties one by one: some
// terminals keep what is cleared with the rest of the screen. The caller holds mu.
func (v *live) wiped() string {
	if v.rows == 0 {
		return ""
	}
	up := fmt.Sprintf("\x1b[%dA\r", v.rows)
	return up + strings.Repeat("\x1b[2K\n", v.rows) + up
}

// ran tells a run that is over to who cannot be drawn for.
func (v *live) ran(b *bisection) {
	if v.moves || v.mute {
		return
	}
	rows := bisectRuns(v.f.talk(), b)
	fmt.Fprint(v.f.Err, rows[len(rows)-1])
}

// end leaves the place empty: what was found is told there.
func (v *live) end() {
	if v.stop != nil {
		v.stop()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	fmt.Fprint(v.f.Err, v.wiped())
	v.rows = 0
}
