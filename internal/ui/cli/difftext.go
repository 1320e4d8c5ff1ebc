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

// write draws into the answer as it is read, unless a pager wants all of it.
func (c *diffCmd) write(ctx context.Context, r term.Content, d retake.Comparison, st *retake.Story) error {
	var text strings.Builder
	to := c.Out
	if c.canPage() {
		to = &text
	}
	w := bufio.NewWriter(to)
	if err := c.draw(ctx, w, r, d, st); err != nil {
		return err
	}
	if err := w.Flush(); err != nil || !c.canPage() {
		return answered(err)
	}
	return c.print(text.String())
}

func (c *diffCmd) draw(ctx context.Context, w *bufio.Writer, r term.Content, d retake.Comparison, st *retake.Story) error {
	l := c.out()
	l.Goals = c.goals
	if c.nameOnly {
		for _, ch := range d.Changes {
			if ch.What != retake.Timed {
				fmt.Fprintln(w, termtext.Escape(ch.Path))
			}
		}
		return nil
	}
	fmt.Fprint(w, term.RenderEnds(l, d, c.ends))
	gs := term.Groups(d.Changes)
	draw := c.drawLines
	if c.stat {
		draw = func(ctx context.Context, w *bufio.Writer, r term.Content, gs []term.Group) error {
			return c.drawStat(ctx, w, r, gs, st)
		}
	}
	if err := draw(ctx, w, r, gs); err != nil {
		return err
	}
	if len(d.Gaps) > 0 {
		fmt.Fprint(w, term.RenderNowGaps(l, d.Gaps))
	}
	if len(c.logged) > 0 && len(d.Changes) == 0 {
		fmt.Fprintf(w, "\n%s\n", l.Dim("The differences are in this log: "+termtext.Escape(c.logged[0])+"-wal"))
		return nil
	}
	fmt.Fprintf(w, "\n%s%s\n", term.RenderTotals(l, gs), term.ToRead(l, st))
	return nil
}

func (c *diffCmd) drawStat(ctx context.Context, w *bufio.Writer, r term.Content, gs []term.Group, st *retake.Story) error {
	counts, err := r.Measure(ctx, gs)
	if err == nil {
		fmt.Fprint(w, term.RenderStatNoted(c.out(), gs, counts, term.NotesOf(c.out(), st)))
	}
	return err
}

// drawLines lists what came and went, then shows the lines of what was edited.
// Paths that were asked for show their lines in any case.
func (c *diffCmd) drawLines(ctx context.Context, w *bufio.Writer, r term.Content, gs []term.Group) error {
	l := c.out()
	asked, counted := c.askedRows(ctx, w, r.Service, gs), map[string]bool{}
	for _, g := range gs {
		if g.What != retake.Edited && (len(c.paths) == 0 || g.What != retake.Added && g.What != retake.Deleted) {
			fmt.Fprint(w, term.RenderStat(l, []term.Group{g}, nil))
			continue
		}
		for _, ch := range g.Changes {
			if ch.IsDir() {
				continue
			}
			text := asked[ch.Path]
			if text == "" {
				text = c.countedRows(ctx, r.Service, ch, counted)
			}
			if text != "" {
				fmt.Fprint(w, text)
				continue
			}
			s, err := r.Read(ctx, ch)
			if err != nil {
				return err
			}
			fmt.Fprint(w, term.RenderLines(l, ch, s.Covered()))
		}
	}
	return nil
}
