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

func (f *face) workspacesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "workspaces", Short: "List workspaces, most recently used first", Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			all, err := s.Workspaces(cmd.Context())
			if err != nil {
				return err
			}
			return f.listWorkspaces(cmd.Context(), s, all, func(l term.Look) string {
				if len(all) == 0 {
					return firstRun(l)
				}
				return renderWorkspaces(l, all)
			})
		},
	}
}

func (f *face) listWorkspaces(ctx context.Context, s retake.Service, all []retake.WorkspaceState, draw func(term.Look) string) error {
	if all == nil {
		all = []retake.WorkspaceState{}
	}
	if err := f.emitTitled(newestNames(ctx, s, all), workspacesAnswer{1, all}, draw); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(w retake.WorkspaceState) bool { return w.Gone && w.Ended == nil }) {
		return nil // the way back to what is gone comes first
	}
	for _, w := range all {
		if w.Ended == nil {
			f.hint("go there", "cd "+f.talk().Word(w.Root)+" && retake", "protect this one", "retake init")
			return nil
		}
	}
	return nil
}

// newestNames are the names that the titles of the newest checkpoints need.
func newestNames(ctx context.Context, s retake.Service, all []retake.WorkspaceState) term.Goals {
	out := term.Goals{}
	for _, w := range all {
		if w.Ended == nil && !w.Gone && w.Latest != nil && w.Latest.Return != nil {
			maps.Copy(out, endNames(ctx, s, w.Workspace, w.Latest))
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

func fitWorkspaces(l term.Look, all []retake.WorkspaceState) workspaceColumns {
	least := len(lostPlace)
	c := workspaceColumns{name: len("workspace"), num: 3}
	for _, w := range all {
		c.name, c.place = max(c.name, termtext.Width(termtext.Escape(w.Name))), max(c.place, termtext.Width(l.Path(w.Root)))
		c.words = max(c.words, termtext.Width(lastWords(l, w)))
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

// bringBackText says what a restore of a deleted directory gives back.
func bringBackText(l term.Look, w retake.WorkspaceState) string {
	if w.Latest == nil {
		return "Bring " + l.Path(w.Root) + " back:"
	}
	return fmt.Sprintf("Bring %s back, as in checkpoint %d: %s.", l.Path(w.Root), w.Latest.Number, term.Files(w.Latest.Files))
}

// renderWorkspaces lists those that are protected first, then those that ended.
func renderWorkspaces(l term.Look, all []retake.WorkspaceState) string {
	c := fitWorkspaces(l, all)
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
				b.WriteString(c.row(l, w))
			}
			if over && w.Ended != nil {
				ended++
			}
		}
	}
	var notes []string
	if i := slices.IndexFunc(all, func(w retake.WorkspaceState) bool { return w.Gone && w.Ended == nil }); i >= 0 {
		notes = append(notes, bringBackText(l, all[i])+"\n  retake restore latest --workspace "+all[i].NameAmong(all))
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

func (c workspaceColumns) row(l term.Look, w retake.WorkspaceState) string {
	number, when := l.Glyphs.Dash, ""
	if w.Latest != nil {
		number, when = fmt.Sprint(w.Latest.Number), l.Ago(w.Latest.Time)
	}
	line := termtext.Pad(l.Glyphs.Cut(termtext.Escape(w.Name), c.name), c.name) + "  " + termtext.PadLeft(number, c.num) + "  " +
		termtext.Pad(when, c.ago) + "  " + termtext.Pad(l.Glyphs.Cut(lastWords(l, w), c.words), c.words)
	gap := "  "
	if c.below {
		line, gap = strings.TrimRight(line, " "), "\n   "
	}
	line += gap + l.PathCut(l.Path(w.Root), c.place, false)
	if w.Gone || w.Ended != nil {
		return l.Dim(l.Glyphs.Ring+"  "+line) + "\n"
	}
	return l.Green(l.Glyphs.Point) + "  " + line + "\n"
}

const lostPlace = "its directory is gone"

// lastWords is the newest intent, unless something about the workspace itself
// matters more.
func lastWords(l term.Look, w retake.WorkspaceState) string {
	switch {
	case w.Ended != nil:
		return "ended " + l.Ago(*w.Ended)
	case w.Gone:
		return lostPlace
	case w.Latest == nil:
		return "no checkpoint yet"
	}
	text, _ := l.Titled(*w.Latest, l.Goals)
	return text
}
