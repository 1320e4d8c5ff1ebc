package cli

import (
	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
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
