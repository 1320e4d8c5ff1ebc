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

// forkRow is a fork with the checkpoint it grew from, unless that was forgotten.
type forkRow struct {
	retake.WorkspaceState
	from *retake.Checkpoint
}

type forksAnswer struct {
	V     int                     `json:"v"`
	Forks []retake.WorkspaceState `json:"forks"`
}

func newForksCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "forks", Short: "List this workspace's forks", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			s, ws, err := f.currentWorkspace(ctx)
			if err != nil {
				return err
			}
			all, err := s.Forks(ctx, ws.ID)
			if err != nil {
				return err
			}
			if all == nil {
				all = []retake.WorkspaceState{}
			}
			if f.json {
				return f.writeJSON(forksAnswer{1, all})
			}
			rows, err := forkRows(ctx, s, ws, all)
			if err != nil {
				return err
			}
			return f.printTitledAnswer(originTitles(ctx, s, ws, rows), nil, func(l term.Style) string { return renderForks(l, ws, rows) })
		},
	}
}

func forkRows(ctx context.Context, s retake.Service, ws retake.Workspace, all []retake.WorkspaceState) ([]forkRow, error) {
	var rows []forkRow
	for _, w := range all {
		r := forkRow{WorkspaceState: w}
		if w.Origin != nil {
			c, err := s.Find(ctx, ws.ID, string(w.Origin.Checkpoint))
			if err != nil && !retake.IsKind(err, retake.NotFound) {
				return nil, err
			}
			if err == nil {
				r.from = &c
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// originTitles are the names that the titles of the origins need.
func originTitles(ctx context.Context, s retake.Service, ws retake.Workspace, rows []forkRow) term.TargetTitles {
	var cs []retake.Checkpoint
	for _, r := range rows {
		if r.from != nil {
			cs = append(cs, *r.from)
		}
	}
	return term.ReadTargetTitles(ctx, s, ws, cs)
}

func renderForks(l term.Style, ws retake.Workspace, rows []forkRow) string {
	if len(rows) == 0 {
		return fmt.Sprintf("%s has no forks. Create one: retake fork latest\n", termtext.Escape(ws.Name))
	}
	name, count := len("fork"), len("checkpoints")
	for _, r := range rows {
		name = max(name, termtext.Width(termtext.Escape(r.Name)))
	}
	name = min(name, 24)
	from, place := forkColumnWidths(l, rows, name+count)
	var b strings.Builder
	fmt.Fprintln(&b, l.Dim("   "+termtext.Pad("fork", name)+"  "+termtext.Pad("checkpoints", count)+"  "+termtext.Pad("forked from", from)+"  where"))
	for _, r := range rows {
		node := l.Green(l.Glyphs.Point)
		if r.Gone || r.Ended != nil {
			node = l.Glyphs.Ring
		}
		line := termtext.Pad(l.Glyphs.Cut(termtext.Escape(r.Name), name), name) + "  " + termtext.PadLeft(termtext.Count(r.Count), count) + "  " +
			termtext.Pad(l.Glyphs.Cut(originText(l, r), from), from) + "  "
		fmt.Fprintf(&b, "%s  %s%s\n", node, line, forkPlace(l, r, place))
	}
	return b.String()
}

// forkColumnWidths are the widths of what forks grew from and of where they are: the place has what it
// needs, as long as the rest can be read.
func forkColumnWidths(l term.Style, rows []forkRow, used int) (from, place int) {
	const least = 20
	for _, r := range rows {
		from, place = max(from, termtext.Width(originText(l, r))), max(place, termtext.Width(forkPlace(l, r, 0)))
	}
	from = max(from, len("forked from"))
	room := l.Width - used - 9
	from = min(from, max(room-place, least))
	return from, max(room-from, least)
}

// forkPlace is where a fork is, or was. A path that does not fit is cut at its beginning;
// without a width nothing is.
func forkPlace(l term.Style, r forkRow, width int) string {
	path, lead, rest := l.DisplayPath(r.Root), "", ""
	switch {
	case r.Gone:
		lead = "gone, was "
	case r.Ended != nil:
		rest = ", no longer protected"
	}
	if width > 0 {
		path = l.CutPath(path, max(width-len(lead)-len(rest), 8), false)
	}
	return lead + path + rest
}

func originText(l term.Style, r forkRow) string {
	if r.Origin == nil {
		return l.Glyphs.Dash
	}
	if r.from == nil {
		return fmt.Sprintf("%d  forgotten", r.Origin.Number)
	}
	text, _ := l.CheckpointTitle(*r.from, l.Titles)
	return fmt.Sprintf("%d  %s", r.Origin.Number, text)
}
