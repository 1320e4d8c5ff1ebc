package cli

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

type diffCmd struct {
	*face
	stat, nameOnly, lines bool
	paths                 []string
}

type diffAnswer struct {
	V int `json:"v"`
	retake.Comparison
}

func (f *face) diffCommand() *cobra.Command {
	c := &diffCmd{face: f}
	cmd := &cobra.Command{
		Use: "diff [A [B]] [-- PATH…]", Short: "what differs: latest to now, A in itself, or A to B",
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args = args[:at]
			}
			return between(0, 2)(cmd, args)
		},
		RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.stat, "stat", false, "counts instead of lines")
	cmd.Flags().BoolVar(&c.nameOnly, "name-only", false, "only the paths, one on each line")
	cmd.Flags().BoolVar(&c.lines, "lines", false, "the lines of text files (this is the default)")
	return cmd
}

func (c *diffCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	if c.stat && c.nameOnly || c.lines && (c.stat || c.nameOnly) {
		return usage(helpHint(cmd), "It is --stat, --name-only or --lines, one of them.")
	}
	refs := args
	var typed []string
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		refs, typed = args[:at], args[at:]
	}
	s, ws, err := c.here(ctx)
	if err != nil {
		return err
	}
	q := retake.DiffQuery{Workspace: ws.ID}
	switch len(refs) {
	case 1:
		q.To = nowIsEmpty(refs[0])
	case 2:
		q.From, q.To = refs[0], nowIsEmpty(refs[1])
	}
	if q.Paths, err = c.insideAll(ws, typed); err != nil {
		return err
	}
	c.paths = typed
	d, err := s.Diff(ctx, q)
	if err != nil {
		return err
	}
	if d.Changes == nil {
		d.Changes = []retake.Change{}
	}
	if c.json {
		return c.writeJSON(diffAnswer{1, d})
	}
	return c.write(ctx, content{s: s, ws: ws.ID, now: d.To == nil}, d)
}

// nowIsEmpty turns the word people use into the query's form.
func nowIsEmpty(ref string) string {
	if ref == "now" {
		return ""
	}
	return ref
}

func (c *diffCmd) write(ctx context.Context, r content, d retake.Comparison) error {
	w := bufio.NewWriter(c.Out)
	l := c.out()
	if c.nameOnly {
		for _, ch := range d.Changes {
			if ch.What != retake.Timed {
				fmt.Fprintln(w, screen.Escape(ch.Path))
			}
		}
		return flush(w)
	}
	fmt.Fprint(w, renderEnds(l, d))
	gs := groups(d.Changes)
	draw := c.drawLines
	if c.stat {
		draw = c.drawStat
	}
	if err := draw(ctx, w, r, gs); err != nil {
		return err
	}
	if len(d.Gaps) > 0 {
		fmt.Fprintf(w, "\n%s  now could not be read as a whole\n%s", l.cyan(string(retake.Partial)), gapLines(l, d.Gaps, "  "))
	}
	fmt.Fprintf(w, "\n%s\n", renderTotals(l, gs))
	return flush(w)
}

func flush(w *bufio.Writer) error {
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

func (c *diffCmd) drawStat(ctx context.Context, w *bufio.Writer, r content, gs []group) error {
	counts, err := r.measure(ctx, gs)
	if err == nil {
		fmt.Fprint(w, renderStat(c.out(), gs, counts))
	}
	return err
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
