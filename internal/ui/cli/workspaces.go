package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type workspacesAnswer struct {
	V          int                     `json:"v"`
	Workspaces []retake.WorkspaceState `json:"workspaces"`
}

func newWorkspacesCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "workspaces", Short: "List workspaces, most recently used first", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.openService(cmd.Context())
			if err != nil {
				return err
			}
			all, err := s.Workspaces(cmd.Context())
			if err != nil {
				return err
			}
			return listWorkspaces(cmd.Context(), f, s, all, func(l term.Style) string {
				if len(all) == 0 {
					return renderFirstRun(l)
				}
				return renderWorkspaces(l, all)
			})
		},
	}
}

func listWorkspaces(ctx context.Context, f *commandLine, s retake.Service, all []retake.WorkspaceState, draw func(term.Style) string) error {
	if all == nil {
		all = []retake.WorkspaceState{}
	}
	if err := f.printTitledAnswer(newestTitles(ctx, s, all), workspacesAnswer{1, all}, draw); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(w retake.WorkspaceState) bool { return w.Gone && w.Ended == nil }) {
		return nil // the way back to what is gone comes first
	}
	for _, w := range all {
		if w.Ended == nil {
			f.printHints("go there", "cd "+f.stderrStyle().ShellPath(w.Root)+" && retake", "protect this one", "retake init")
			return nil
		}
	}
	return nil
}

// newestTitles are the names that the titles of the newest checkpoints need.
func newestTitles(ctx context.Context, s retake.Service, all []retake.WorkspaceState) term.TargetTitles {
	out := term.TargetTitles{}
	for _, w := range all {
		if w.Ended == nil && !w.Gone && w.Latest != nil && w.Latest.Return != nil {
			maps.Copy(out, endTitles(ctx, s, w.Workspace, w.Latest))
		}
	}
	return out
}

// workspaceColumns are the widths of the list. The place has what it needs, as long as the
// last words can be read.
type workspaceColumns struct {
	name, num, ago, words, place int
	below                        bool // there is no room for the place: it has a line of its own
}

func fitWorkspaceColumns(l term.Style, all []retake.WorkspaceState) workspaceColumns {
	least := len(lostDirText)
	c := workspaceColumns{name: len("workspace"), num: 3}
	for _, w := range all {
		c.name, c.place = max(c.name, termtext.Width(termtext.Escape(w.Name))), max(c.place, termtext.Width(l.DisplayPath(w.Root)))
		c.words = max(c.words, termtext.Width(lastTitle(l, w)))
		if w.Latest != nil {
			c.num, c.ago = max(c.num, len(fmt.Sprint(w.Latest.Number))), max(c.ago, len(l.Ago(w.Latest.Time)))
		}
	}
	c.name = min(c.name, 24)
	room := l.Width - 3 - c.name - 2 - c.num - 2 - c.ago - 2 - 2
	if c.below = room < least+least; c.below {
		c.words, c.place = max(room, 8), max(l.Width-3, least)
		return c
	}
	c.words = min(c.words, max(room-c.place, least))
	c.place = max(room-c.words, least)
	return c
}

// restoreHint says what a restore of a deleted directory gives back.
func restoreHint(l term.Style, w retake.WorkspaceState) string {
	if w.Latest == nil {
		return "Bring " + l.DisplayPath(w.Root) + " back:"
	}
	return fmt.Sprintf("Bring %s back, as in checkpoint %d: %s.", l.DisplayPath(w.Root), w.Latest.Number, term.CountFiles(w.Latest.Files))
}

// renderWorkspaces lists those that are protected first, then those that ended.
func renderWorkspaces(l term.Style, all []retake.WorkspaceState) string {
	c := fitWorkspaceColumns(l, all)
	var b strings.Builder
	head := "   " + termtext.Pad("workspace", c.name) + "  " + termtext.Pad("last checkpoint", c.num+2+c.ago+2+c.words) + "  where"
	if c.below {
		head = strings.TrimRight(strings.TrimSuffix(head, "where"), " ")
	}
	fmt.Fprintf(&b, "%s\n", l.Dim(head))
	ended := 0
	for _, over := range []bool{false, true} {
		for _, w := range all {
			if (w.Ended != nil) == over {
				b.WriteString(c.renderRow(l, w))
			}
			if over && w.Ended != nil {
				ended++
			}
		}
	}
	var notes []string
	if i := slices.IndexFunc(all, func(w retake.WorkspaceState) bool { return w.Gone && w.Ended == nil }); i >= 0 {
		notes = append(notes, restoreHint(l, all[i])+"\n  retake restore latest --workspace "+all[i].NameAmong(all))
	}
	if ended > 0 {
		text := "Workspaces that are no longer protected keep their checkpoints. Browse them: retake console. Continue one: retake init --continue, in its directory."
		notes = append(notes, strings.Join(term.Wrap(text, l.Width), "\n"))
	}
	for _, text := range notes {
		fmt.Fprintf(&b, "\n%s\n", l.Dim(text))
	}
	return b.String()
}

func (c workspaceColumns) renderRow(l term.Style, w retake.WorkspaceState) string {
	number, when := l.Glyphs.Dash, ""
	if w.Latest != nil {
		number, when = fmt.Sprint(w.Latest.Number), l.Ago(w.Latest.Time)
	}
	line := termtext.Pad(l.Glyphs.Cut(termtext.Escape(w.Name), c.name), c.name) + "  " + termtext.PadLeft(number, c.num) + "  " +
		termtext.Pad(when, c.ago) + "  " + termtext.Pad(l.Glyphs.Cut(lastTitle(l, w), c.words), c.words)
	gap := "  "
	if c.below {
		line, gap = strings.TrimRight(line, " "), "\n   "
	}
	line += gap + l.CutPath(l.DisplayPath(w.Root), c.place, false)
	if w.Gone || w.Ended != nil {
		return l.Dim(l.Glyphs.Ring+"  "+line) + "\n"
	}
	return l.Green(l.Glyphs.Point) + "  " + line + "\n"
}

const lostDirText = "its directory is gone"

// lastTitle is the newest intent, unless something about the workspace itself
// matters more.
func lastTitle(l term.Style, w retake.WorkspaceState) string {
	switch {
	case w.Ended != nil:
		return "ended " + l.Ago(*w.Ended)
	case w.Gone:
		return lostDirText
	case w.Latest == nil:
		return "no checkpoint yet"
	}
	text, _ := l.CheckpointTitle(*w.Latest, l.Titles)
	return text
}
