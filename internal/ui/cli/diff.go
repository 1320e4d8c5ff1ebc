package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

type diffCmd struct {
	*face
	stat, nameOnly, lines, env bool
	paths                      []string
	q                          retake.DiffQuery
	logged                     []string           // databases that differ in their log alone
	ends                       [2][]retake.Answer // about the two checkpoints
	goals                      term.Goals         // for their titles
}

type diffAnswer struct {
	V int `json:"v"`
	retake.Comparison
	Rows []rowsAnswer `json:"rows,omitempty"` // of databases that were asked for by path
}

type factsAnswer struct {
	V      int                `json:"v"`
	From   *retake.Checkpoint `json:"from,omitempty"`
	To     *retake.Checkpoint `json:"to,omitempty"`
	Facts  []retake.Fact      `json:"facts"`
	Unread []retake.Unread    `json:"unread"`
}

func (f *face) diffCommand() *cobra.Command {
	c := &diffCmd{face: f}
	cmd := &cobra.Command{
		Use: "diff [A [B]] [-- PATH…]", Short: "Show what changed since or between checkpoints",
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args = args[:at]
			}
			return between(0, 2)(cmd, args)
		},
		RunE: f.asPath("", c.run),
	}
	cmd.Flags().BoolVar(&c.stat, "stat", false, "show counts instead of lines")
	cmd.Flags().BoolVar(&c.env, "env", false, "summarize changes to packages, settings, databases, services and ports")
	cmd.Flags().BoolVar(&c.nameOnly, "name-only", false, "only the paths, one on each line")
	cmd.Flags().BoolVar(&c.lines, "lines", false, "the lines of text files (this is the default)")
	return cmd
}

func (c *diffCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	if c.forms() > 1 {
		return usage(helpHint(cmd), "It is --stat, --env, --name-only or --lines, one of them.")
	}
	s, ws, err := c.here(ctx)
	if err != nil {
		return err
	}
	q, err := c.query(cmd, ws, args)
	if err != nil {
		return err
	}
	c.q = q
	if c.env {
		return c.meaning(ctx, s, ws, q)
	}
	d, err := s.Diff(ctx, q)
	if err != nil {
		return err
	}
	if d.Changes == nil {
		d.Changes = []retake.Change{}
	}
	if c.json {
		return c.writeJSON(diffAnswer{1, d, rowsJSON(ctx, s, q, d.Changes)})
	}
	c.goals = endNames(ctx, s, ws, d.From, d.To)
	var st *retake.Story
	if c.stat {
		c.ends = [2][]retake.Answer{term.AnswersAt(ctx, s, d.From), term.AnswersAt(ctx, s, d.To)}
		if told, err := s.Story(ctx, q); err == nil { // the counts stand without it
			st = &told
		}
	}
	return c.write(ctx, term.Content{Service: s, Workspace: ws.ID, Now: d.To == nil}, d, st)
}

// query reads the refs and the paths behind the dashes.
func (c *diffCmd) query(cmd *cobra.Command, ws retake.Workspace, args []string) (retake.DiffQuery, error) {
	refs, q := args, retake.DiffQuery{Workspace: ws.ID}
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		refs, c.paths = args[:at], args[at:]
	}
	switch len(refs) {
	case 1:
		q.To = nowIsEmpty(refs[0])
	case 2:
		q.From, q.To = refs[0], nowIsEmpty(refs[1])
	}
	var err error
	q.Paths, err = c.insideAll(ws, c.paths)
	return q, err
}

// forms counts the forms that were asked for.
func (c *diffCmd) forms() int {
	n := 0
	for _, asked := range []bool{c.stat, c.env, c.nameOnly, c.lines} {
		if asked {
			n++
		}
	}
	return n
}

// meaning tells the facts only.
func (c *diffCmd) meaning(ctx context.Context, s retake.Service, ws retake.Workspace, q retake.DiffQuery) error {
	st, err := s.Story(ctx, q)
	if err != nil {
		return err
	}
	st = term.FilledStory(st)
	return c.emitTitled(endNames(ctx, s, ws, st.From, st.To), factsAnswer{1, st.From, st.To, st.Facts, st.Unread}, func(l term.Look) string {
		return term.RenderEnds(l, retake.Comparison{From: st.From, To: st.To}, c.ends) + term.RenderFacts(l, st)
	})
}

// endNames are the names that the titles of two checkpoints need.
func endNames(ctx context.Context, s retake.Service, ws retake.Workspace, ends ...*retake.Checkpoint) term.Goals {
	var cs []retake.Checkpoint
	for _, c := range ends {
		if c != nil {
			cs = append(cs, *c)
		}
	}
	return term.GoalsOf(ctx, s, ws, cs)
}

// nowIsEmpty turns the word people use into the query's form.
func nowIsEmpty(ref string) string {
	if ref == "now" {
		return ""
	}
	return ref
}
