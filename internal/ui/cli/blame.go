package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type blameCmd struct {
	*commandLine
	at    string
	pack  string
	limit int
}

type blameAnswer struct {
	V int `json:"v"`
	retake.Blame
}

// MarshalJSON is needed because a blame writes itself.
func (a blameAnswer) MarshalJSON() ([]byte, error) { return marshalVersioned(a.V, a.Blame) }

func newBlameCommand(f *commandLine) *cobra.Command {
	c := &blameCmd{commandLine: f, limit: findLimit}
	cmd := &cobra.Command{
		Use: "blame PATH", Short: "Show which checkpoint wrote each line of a file", Args: argsBetween(0, 1), RunE: c.run,
	}
	cmd.Flags().StringVar(&c.at, "at", "", "the file as it was at `REF`")
	cmd.Flags().StringVar(&c.pack, "package", "", "list checkpoints that added, removed or updated the package `NAME`")
	cmd.Flags().IntVarP(&c.limit, "limit", "n", c.limit, "show at most `N` checkpoints of a package")
	return cmd
}

func (c *blameCmd) run(cmd *cobra.Command, args []string) error {
	switch {
	case c.pack != "" && (len(args) > 0 || c.at != ""):
		return usageError(helpHint(cmd), "It is a file or --package NAME, not both.")
	case c.limit < 1:
		return usageError(helpHint(cmd), "The limit is at least 1, not %d.", c.limit)
	case c.pack != "":
		return c.printPackageHistory(cmd.Context())
	case len(args) == 0:
		return argsBetween(1, 1)(cmd, args)
	}
	ctx := cmd.Context()
	s, ws, err := c.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	b, err := readBlame(ctx, c.commandLine, s, ws, args[0], c.at)
	if err != nil {
		return err
	}
	g := term.ReadTargetTitles(ctx, s, ws, b.Checkpoints)
	err = c.printAnswer(blameAnswer{1, b}, func(l term.Style) string {
		l.Titles = g
		return renderBlame(l, b, !c.OutTTY)
	})
	if len(b.Checkpoints) > 0 {
		c.printHints("one line", "retake why "+c.stderrStyle().ShellPath(args[0])+":1", "one checkpoint", fmt.Sprintf("retake show %d", b.Checkpoints[0].Number))
	}
	return err
}

// readBlame asks who wrote the lines of a file, as it was typed.
func readBlame(ctx context.Context, f *commandLine, s retake.Service, ws retake.Workspace, typed, ref string) (retake.Blame, error) {
	path, err := f.workspacePath(ws, typed)
	if err != nil {
		return retake.Blame{}, err
	}
	b, err := s.Blame(ctx, retake.BlameQuery{Workspace: ws.ID, Ref: ref, Path: path})
	if b.Lines == nil {
		b.Lines = []retake.BlameLine{}
	}
	if b.Checkpoints == nil {
		b.Checkpoints = []retake.Checkpoint{}
	}
	return b, err
}

// blameColumns are the widths of the left part; the text takes what they leave.
type blameColumns struct{ number, when, who, title, line int }

func fitBlameColumns(l term.Style, b retake.Blame) blameColumns {
	c := blameColumns{number: 2, when: 5, title: 20, line: len(term.CheckpointNumber(int64(len(b.Lines))))}
	for _, m := range b.Checkpoints {
		c.number, c.when = max(c.number, len(term.CheckpointNumber(m.Number))), max(c.when, termtext.Width(l.ShortTime(m.Time)))
		if l.Width >= term.WideFrom {
			c.who = min(max(c.who, termtext.Width(authorOf(m))), 16)
		}
	}
	if l.Width >= term.WideFrom {
		c.title = min(l.Width/4, 48)
	}
	return c
}

// authorOf is who worked when a checkpoint came to be.
func authorOf(cp retake.Checkpoint) string {
	if cp.Turn == nil || cp.Trigger == retake.TriggerPrompt { // what stands before a turn is not of it
		return ""
	}
	return termtext.Escape(cp.Turn.Agent)
}

// renderBlame names a checkpoint once for all adjacent lines that it wrote. If whole, as for a
// pipe, lines are not cut.
func renderBlame(l term.Style, b retake.Blame, whole bool) string {
	var s strings.Builder
	head := termtext.Escape(b.Path)
	fmt.Fprintf(&s, "%s  %s\n", l.Bold(head), l.Dim(fmt.Sprintf("as of %d, %s", b.Checkpoint.Number, l.ShortTime(b.Checkpoint.Time))))
	if b.Why != "" {
		return s.String() + "  no lines: " + termtext.Escape(b.Why) + "\n"
	}
	if len(b.Lines) == 0 {
		return s.String() + "  no lines: the file is empty\n"
	}
	s.WriteString("\n")
	by := map[int64]retake.Checkpoint{}
	for _, m := range b.Checkpoints {
		by[m.Number] = m
	}
	c := fitBlameColumns(l, b)
	for i, line := range b.Lines {
		left := strings.Repeat(" ", c.width())
		if i == 0 || b.Lines[i-1].Number != line.Number {
			left = blamePrefix(l, c, by[line.Number], line.Number)
		}
		text := termtext.Escape(strings.ReplaceAll(strings.TrimRight(line.Text, "\r\n"), "\t", "    "))
		if !whole {
			text = l.Glyphs.Cut(text, max(l.Width-c.width()-2-c.line-2, 16))
		}
		fmt.Fprintln(&s, strings.TrimRight(left+"  "+l.Dim(termtext.PadLeft(term.CheckpointNumber(int64(i+1)), c.line))+"  "+text, " "))
	}
	return s.String()
}

func (c blameColumns) width() int {
	n := c.number + 2 + c.when + 2 + c.title
	if c.who > 0 {
		n += c.who + 2
	}
	return n
}

func blamePrefix(l term.Style, c blameColumns, cp retake.Checkpoint, n int64) string {
	when, text := "", ""
	if cp.ID != "" || cp.Number != 0 {
		when = l.ShortTime(cp.Time)
		text, _ = l.CheckpointTitle(cp, l.Titles)
	}
	left := l.Bold(termtext.PadLeft(term.CheckpointNumber(n), c.number)) + "  " + l.Dim(termtext.Pad(when, c.when)) + "  "
	if c.who > 0 {
		left += termtext.Pad(l.Glyphs.Cut(authorOf(cp), c.who), c.who) + "  "
	}
	return left + termtext.Pad(l.Glyphs.Cut(text, c.title), c.title)
}
