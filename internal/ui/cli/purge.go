package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type purgeAnswer struct {
	V int `json:"v"`
	retake.PurgeReport
}

type purgePlanAnswer struct {
	V int `json:"v"`
	retake.PurgePlan
}

type purgeCmd struct {
	*commandLine
	content, lines, plan bool
}

func newPurgeCommand(f *commandLine) *cobra.Command {
	c := &purgeCmd{commandLine: f}
	cmd := &cobra.Command{
		Use: "purge [--content [FILE]] [-- PATH…]", Short: "Remove a file or a secret from the whole history", Args: argsBetween(0, -1), RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.content, "content", false, "read the secret from FILE or standard input; a trailing newline is ignored")
	cmd.Flags().BoolVar(&c.lines, "lines", false, "with --content: treat each line as a separate secret")
	cmd.Flags().BoolVar(&c.plan, "plan", false, "show what would be removed; change nothing")
	return cmd
}

func (c *purgeCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	s, ws, err := c.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	req := retake.PurgeRequest{Workspace: ws.ID}
	if c.content {
		req.Contents, err = c.readSecrets(cmd, args)
	} else {
		req.Paths, err = c.workspacePathsOf(cmd, ws, args)
	}
	if err != nil {
		return err
	}
	p := c.newProgressLine("search")
	req.Progress = p.callback()
	plan, err := s.PlanPurge(ctx, req)
	p.clear()
	if err != nil {
		return err
	}
	if c.plan || plan.Checkpoints == 0 {
		return c.printAnswer(purgePlanAnswer{1, plan}, func(l term.Style) string { return renderPurgePlan(l, plan) })
	}
	if err := c.confirmPurge(ctx, plan); err != nil {
		return err
	}
	p = c.newProgressLine("purge")
	req.Progress = p.callback()
	rep, err := s.Purge(ctx, req)
	p.clear()
	if err != nil {
		return err
	}
	return c.printAnswer(purgeAnswer{1, rep}, func(l term.Style) string { return renderPurge(l, rep) })
}

// maxSecret bounds what is searched for.
const maxSecret = 1 << 20

// readSecrets reads what is searched for. It is never an argument: arguments are seen by
// other programs and kept by shells.
func (c *purgeCmd) readSecrets(cmd *cobra.Command, args []string) ([][]byte, error) {
	var r io.Reader = c.In
	switch {
	case len(args) > 1:
		return nil, usageError(helpHint(cmd), "--content takes one file.")
	case len(args) == 1 && args[0] != "-":
		f, err := os.Open(c.fromStartDir(args[0]))
		if err != nil {
			return nil, &retake.Error{Kind: retake.NotFound, What: "the file with the secret cannot be read", Safe: nothingChanged, Hint: "name a file, or write it to standard input: retake purge --content < FILE", Err: err}
		}
		defer f.Close() //nolint:errcheck // only read
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, maxSecret+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxSecret {
		return nil, usageError(helpHint(cmd), "The secret has at most %s.", termtext.Bytes(maxSecret))
	}
	all := [][]byte{bytes.TrimRight(b, "\r\n")}
	if c.lines {
		all = slices.DeleteFunc(bytes.FieldsFunc(b, func(r rune) bool { return r == '\n' || r == '\r' }), func(l []byte) bool { return len(l) == 0 })
	}
	if i := slices.IndexFunc(all, func(l []byte) bool { return len(l) < retake.MinPurgeContent }); i >= 0 || len(all) == 0 {
		return nil, usageError(helpHint(cmd), "A secret has at least %d bytes.", retake.MinPurgeContent)
	}
	return all, nil
}

func (c *purgeCmd) workspacePathsOf(cmd *cobra.Command, ws retake.Workspace, args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, usageError(helpHint(cmd), "Name a path, or use --content.")
	}
	var out []string
	for _, a := range args {
		p, err := c.workspacePath(ws, a)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func (c *purgeCmd) confirmPurge(ctx context.Context, plan retake.PurgePlan) error {
	if c.yes {
		return nil
	}
	if !c.canAsk() {
		return &retake.Error{Kind: retake.Denied, What: "a purge cannot be undone and needs your confirmation", Safe: nothingChanged, Hint: "preview: " + c.retypedCommand("--plan") + "\ngo ahead: " + c.retypedCommand("--yes")}
	}
	fmt.Fprint(c.Err, renderPurgePlan(c.stderrStyle(), plan))
	ok, err := c.askYesNo(ctx, fmt.Sprintf("Purge this from %s? This cannot be undone.", term.CountCheckpoints(plan.Checkpoints)))
	if err == nil && !ok {
		err = errCancelled
	}
	return err
}

func renderPurgePlan(l term.Style, p retake.PurgePlan) string {
	if p.Checkpoints == 0 {
		return "Nothing to purge: no checkpoint contains it.\n" + purgeNotes(l, p)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Found in %s: %s, %s.\n", l.Bold(term.CountCheckpoints(p.Checkpoints)), term.CountNoun(p.Versions, "stored file", "stored files"), termtext.Bytes(p.Bytes))
	for _, w := range p.Workspaces {
		if w.Checkpoints > 0 {
			fmt.Fprintf(&b, "  %s  %s\n", termtext.Escape(w.Name), term.CountCheckpoints(w.Checkpoints))
		}
	}
	for _, g := range p.Gaps {
		fmt.Fprintf(&b, "  %s\n", termtext.Escape(g.Path))
	}
	if p.More > 0 {
		fmt.Fprintf(&b, "  and %s more paths\n", termtext.Count(p.More))
	}
	if p.Records > 0 {
		fmt.Fprintf(&b, "  masked in %s: messages, prompts, conversations, check output\n", term.CountNoun(p.Records, "record", "records"))
	}
	return b.String() + purgeNotes(l, p)
}

// purgeNotes is what a purge does not reach.
func purgeNotes(l term.Style, p retake.PurgePlan) string {
	var b strings.Builder
	for _, name := range p.Live {
		fmt.Fprintf(&b, "%s %s still exists, so the next save records it again.\n", l.Yellow("!"), termtext.Escape(name))
	}
	for _, text := range p.Beyond {
		fmt.Fprintf(&b, "%s Not removed: %s\n", l.Yellow("!"), termtext.Escape(text))
	}
	return b.String()
}

func renderPurge(l term.Style, r retake.PurgeReport) string {
	var b strings.Builder
	if len(r.Left) == 0 {
		fmt.Fprintf(&b, "%s Purged from %s. Searched %s of everything that is kept: no copy is left.\n", l.Green(l.Glyphs.Yes), term.CountCheckpoints(r.Plan.Checkpoints), termtext.Bytes(r.Bytes))
	} else {
		fmt.Fprintf(&b, "%s Purged from %s, but copies are left:\n", l.Yellow("!"), term.CountCheckpoints(r.Plan.Checkpoints))
		for _, text := range r.Left {
			fmt.Fprintf(&b, "  %s\n", termtext.Escape(text))
		}
	}
	return b.String() + purgeNotes(l, r.Plan)
}
