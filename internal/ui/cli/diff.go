package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

type diffCmd struct {
	*commandLine
	stat, nameOnly, lines, env bool
	paths                      []string
	query                      retake.DiffQuery
	changedInWAL               []string           // databases that differ in their log alone
	endAnswers                 [2][]retake.Answer // about the two checkpoints
	titles                     term.TargetTitles  // for their titles
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

func newDiffCommand(f *commandLine) *cobra.Command {
	c := &diffCmd{commandLine: f}
	cmd := &cobra.Command{
		Use: "diff [A [B]] [-- PATH…]", Short: "Show what changed since or between checkpoints",
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args = args[:at]
			}
			return argsBetween(0, 2)(cmd, args)
		},
		RunE: withPathHint(f, "", c.run),
	}
	cmd.Flags().BoolVar(&c.stat, "stat", false, "show counts instead of lines")
	cmd.Flags().BoolVar(&c.env, "env", false, "summarize changes to packages, settings, databases, services and ports")
	cmd.Flags().BoolVar(&c.nameOnly, "name-only", false, "only the paths, one on each line")
	cmd.Flags().BoolVar(&c.lines, "lines", false, "the lines of text files (this is the default)")
	return cmd
}

func (c *diffCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	if c.countForms() > 1 {
		return usageError(helpHint(cmd), "It is --stat, --env, --name-only or --lines, one of them.")
	}
	s, ws, err := c.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	q, err := c.parseQuery(cmd, ws, args)
	if err != nil {
		return err
	}
	c.query = q
	if c.env {
		return c.printFacts(ctx, s, ws, q)
	}
	d, err := s.Diff(ctx, q)
	if err != nil {
		return err
	}
	if d.Changes == nil {
		d.Changes = []retake.Change{}
	}
	if c.json {
		return c.writeJSON(diffAnswer{1, d, rowsAnswers(ctx, s, q, d.Changes)})
	}
	c.titles = endTitles(ctx, s, ws, d.From, d.To)
	var st *retake.Story
	if c.stat {
		c.endAnswers = [2][]retake.Answer{term.ReadAnswers(ctx, s, d.From), term.ReadAnswers(ctx, s, d.To)}
		if told, err := s.Story(ctx, q); err == nil { // the counts stand without it
			st = &told
		}
	}
	return c.writeDiff(ctx, term.ContentReader{Service: s, Workspace: ws.ID, Now: d.To == nil}, d, st)
}

// parseQuery reads the refs and the paths behind the dashes.
func (c *diffCmd) parseQuery(cmd *cobra.Command, ws retake.Workspace, args []string) (retake.DiffQuery, error) {
	refs, q := args, retake.DiffQuery{Workspace: ws.ID}
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		refs, c.paths = args[:at], args[at:]
	}
	switch len(refs) {
	case 1:
		q.To = refOrNow(refs[0])
	case 2:
		q.From, q.To = refs[0], refOrNow(refs[1])
	}
	var err error
	q.Paths, err = c.workspacePaths(ws, c.paths)
	return q, err
}

// countForms counts the forms that were asked for.
func (c *diffCmd) countForms() int {
	n := 0
	for _, asked := range []bool{c.stat, c.env, c.nameOnly, c.lines} {
		if asked {
			n++
		}
	}
	return n
}

// printFacts prints only the facts.
func (c *diffCmd) printFacts(ctx context.Context, s retake.Service, ws retake.Workspace, q retake.DiffQuery) error {
	st, err := s.Story(ctx, q)
	if err != nil {
		return err
	}
	st = term.NonNilStory(st)
	return c.printTitledAnswer(endTitles(ctx, s, ws, st.From, st.To), factsAnswer{1, st.From, st.To, st.Facts, st.Unread}, func(l term.Style) string {
		return term.RenderEnds(l, retake.Comparison{From: st.From, To: st.To}, c.endAnswers) + term.RenderFacts(l, st)
	})
}

// endTitles are the names that the titles of two checkpoints need.
func endTitles(ctx context.Context, s retake.Service, ws retake.Workspace, ends ...*retake.Checkpoint) term.TargetTitles {
	var cs []retake.Checkpoint
	for _, c := range ends {
		if c != nil {
			cs = append(cs, *c)
		}
	}
	return term.ReadTargetTitles(ctx, s, ws, cs)
}

// refOrNow turns the word people use into the query's form.
func refOrNow(ref string) string {
	if ref == "now" {
		return ""
	}
	return ref
}
