package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// writeDiff draws into the answer as it is read, unless a pager wants all of it.
func (c *diffCmd) writeDiff(ctx context.Context, r term.ContentReader, d retake.Comparison, st *retake.Story) error {
	var text strings.Builder
	to := c.Out
	if c.usesPager() {
		to = &text
	}
	w := bufio.NewWriter(to)
	if err := c.drawDiff(ctx, w, r, d, st); err != nil {
		return err
	}
	if err := w.Flush(); err != nil || !c.usesPager() {
		return outputError(err)
	}
	return c.printText(text.String())
}

func (c *diffCmd) drawDiff(ctx context.Context, w *bufio.Writer, r term.ContentReader, d retake.Comparison, st *retake.Story) error {
	l := c.stdoutStyle()
	l.Titles = c.titles
	if c.nameOnly {
		for _, ch := range d.Changes {
			if ch.What != retake.Timed {
				fmt.Fprintln(w, termtext.Escape(ch.Path))
			}
		}
		return nil
	}
	fmt.Fprint(w, term.RenderEnds(l, d, c.endAnswers))
	gs := term.GroupChanges(d.Changes)
	draw := c.drawLines
	if c.stat {
		draw = func(ctx context.Context, w *bufio.Writer, r term.ContentReader, gs []term.ChangeGroup) error {
			return c.drawStat(ctx, w, r, gs, st)
		}
	}
	if err := draw(ctx, w, r, gs); err != nil {
		return err
	}
	if len(d.Gaps) > 0 {
		fmt.Fprint(w, term.RenderNowGaps(l, d.Gaps))
	}
	if len(c.changedInWAL) > 0 && len(d.Changes) == 0 {
		fmt.Fprintf(w, "\n%s\n", l.Dim("The differences are in this log: "+termtext.Escape(c.changedInWAL[0])+"-wal"))
		return nil
	}
	fmt.Fprintf(w, "\n%s%s\n", term.RenderTotals(l, gs), term.SourceLinesText(l, st))
	return nil
}

func (c *diffCmd) drawStat(ctx context.Context, w *bufio.Writer, r term.ContentReader, gs []term.ChangeGroup, st *retake.Story) error {
	counts, err := r.CountLines(ctx, gs)
	if err == nil {
		fmt.Fprint(w, term.RenderStatNoted(c.stdoutStyle(), gs, counts, term.NewStatNotes(c.stdoutStyle(), st)))
	}
	return err
}

// drawLines lists what came and went, then shows the lines of what was edited.
// Paths that were asked for show their lines in any case.
func (c *diffCmd) drawLines(ctx context.Context, w *bufio.Writer, r term.ContentReader, gs []term.ChangeGroup) error {
	l := c.stdoutStyle()
	asked, counted := c.drawRequestedRows(ctx, w, r.Service, gs), map[string]bool{}
	for _, g := range gs {
		if g.What != retake.Edited && (len(c.paths) == 0 || g.What != retake.Added && g.What != retake.Deleted) {
			fmt.Fprint(w, term.RenderStat(l, []term.ChangeGroup{g}, nil))
			continue
		}
		for _, ch := range g.Changes {
			if ch.IsDir() {
				continue
			}
			text := asked[ch.Path]
			if text == "" {
				text = c.drawRowCounts(ctx, r.Service, ch, counted)
			}
			if text != "" {
				fmt.Fprint(w, text)
				continue
			}
			s, err := r.Read(ctx, ch)
			if err != nil {
				return err
			}
			fmt.Fprint(w, term.RenderLines(l, ch, s.MaskSecrets()))
		}
	}
	return nil
}
