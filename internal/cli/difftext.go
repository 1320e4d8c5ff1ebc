package cli

import (
	"bufio"
	"context"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

func (c *diffCmd) write(ctx context.Context, r content, d retake.Comparison, st *retake.Story) error {
	w := bufio.NewWriter(c.Out)
	l := c.out()
	if c.nameOnly {
		for _, ch := range d.Changes {
			if ch.What != retake.Timed {
				fmt.Fprintln(w, screen.Escape(ch.Path))
			}
		}
		return answered(w.Flush())
	}
	fmt.Fprint(w, renderEnds(l, d, c.ends))
	gs := groups(d.Changes)
	draw := c.drawLines
	if c.stat {
		draw = func(ctx context.Context, w *bufio.Writer, r content, gs []group) error {
			return c.drawStat(ctx, w, r, gs, st)
		}
	}
	if err := draw(ctx, w, r, gs); err != nil {
		return err
	}
	if len(d.Gaps) > 0 {
		fmt.Fprint(w, renderNowGaps(l, d.Gaps))
	}
	fmt.Fprintf(w, "\n%s%s\n", renderTotals(l, gs), toRead(l, st))
	return answered(w.Flush())
}

func (c *diffCmd) drawStat(ctx context.Context, w *bufio.Writer, r content, gs []group, st *retake.Story) error {
	counts, err := r.measure(ctx, gs)
	if err == nil {
		fmt.Fprint(w, renderStatNoted(c.out(), gs, counts, notesOf(c.out(), st)))
	}
	return err
}

// toRead is how many lines of source came and went: what a person would read.
func toRead(l look, st *retake.Story) string {
	if st == nil || st.Counts.Plus+st.Counts.Minus == 0 {
		return ""
	}
	return l.dim("  "+l.sep()+"  ") + l.linesOf(lineCount{plus: st.Counts.Plus, minus: st.Counts.Minus}) + l.dim(" lines to read")
}

// drawLines lists what came and went, then shows the lines of what was edited.
// Paths that were asked for show their lines in any case.
func (c *diffCmd) drawLines(ctx context.Context, w *bufio.Writer, r content, gs []group) error {
	l := c.out()
	for _, g := range gs {
		if g.what != retake.Edited && (len(c.paths) == 0 || g.what != retake.Added && g.what != retake.Deleted) {
			fmt.Fprint(w, renderStat(l, []group{g}, nil))
			continue
		}
		for _, ch := range g.changes {
			if isDir(&ch) {
				continue
			}
			s, err := r.read(ctx, ch)
			if err != nil {
				return err
			}
			fmt.Fprint(w, renderLines(l, ch, s))
		}
	}
	return nil
}
