package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// newParentCommand is a command that only has others below it.
func newParentCommand(f *commandLine, use, short string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usageError(helpHint(cmd), "Unknown command: %s %s", use, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			printCommandHelp(f, cmd)
			return nil
		},
	}
	cmd.AddCommand(subs...)
	return cmd
}

// tableRow is one thing in a list.
type tableRow struct {
	sign  string
	cells []string
	notes []string // below it
	over  bool     // it is over
}

const (
	tableGap  = 2 // stands between columns
	leastFlex = 8 // what is left of the column that gives way
)

// drawTable draws rows below each other. The flex column holds plain text and is cut if there
// is no room; columns that are empty in all rows are left out.
func drawTable(l term.Style, head []string, flex int, rows []tableRow) string {
	widths, used := make([]int, len(head)), make([]bool, len(head))
	lead := 0
	if slices.ContainsFunc(rows, func(r tableRow) bool { return r.sign != "" }) {
		lead = termtext.Width(l.Glyphs.Yes) + tableGap
	}
	total := lead
	for i, h := range head {
		widths[i] = termtext.Width(h)
		for _, r := range rows {
			widths[i] = max(widths[i], l.ShownWidth(r.cells[i]))
			used[i] = used[i] || r.cells[i] != ""
		}
		if used[i] {
			total += widths[i] + tableGap
		}
	}
	widths[flex] = max(widths[flex]-max(total-tableGap-l.Width, 0), min(widths[flex], leastFlex))
	draw := func(sign string, cells []string) string {
		line := sign + strings.Repeat(" ", max(lead-l.ShownWidth(sign), 0))
		for i, c := range cells {
			if !used[i] {
				continue
			}
			switch {
			case i == flex && strings.Contains(c, "/"): // both ends of an address say something
				c = l.CutPath(c, widths[i], true)
			case i == flex:
				c = l.Glyphs.Cut(c, widths[i])
			}
			line += c + strings.Repeat(" ", max(widths[i]-l.ShownWidth(c), 0)+tableGap)
		}
		return strings.TrimRight(line, " ")
	}
	var b strings.Builder
	fmt.Fprintln(&b, l.Dim(draw("", head)))
	for _, r := range rows {
		line := draw(r.sign, r.cells)
		if r.over {
			line = l.Dim(line)
		}
		fmt.Fprintln(&b, line)
		for _, n := range r.notes {
			fmt.Fprintln(&b, strings.Repeat(" ", lead)+l.Dim(l.Glyphs.Cut(n, l.Width-lead)))
		}
	}
	return b.String()
}

// wholeIDsFrom is from how many columns on an id is shown whole.
const wholeIDsFrom = 112

// idSuffixLength is how much of an id is enough to tell it from others.
const idSuffixLength = 8

// shortID shows an id, or how it ends: its beginning is a time, and alike in many.
func shortID(l term.Style, id string) string {
	id = termtext.Escape(id)
	if l.Width >= wholeIDsFrom || len(id) <= idSuffixLength {
		return id
	}
	return id[len(id)-idSuffixLength:]
}

// subjectText is an id whose kind matters too: where there is no room its middle goes.
func subjectText(l term.Style, id string) string {
	prefix, rest, ok := strings.Cut(id, "_")
	if end := shortID(l, id); ok && len(rest) > len(end) {
		return termtext.Escape(prefix) + "_" + l.Glyphs.More + end
	}
	return termtext.Escape(id)
}

// timeAheadText is how long something is ahead.
func timeAheadText(l term.Style, t time.Time) string {
	const day = 24 * time.Hour
	switch d := t.Sub(l.Now).Round(time.Minute); {
	case t.Before(l.Now):
		return "now"
	case d < 2*time.Minute:
		return "in a minute"
	case d < time.Hour:
		return fmt.Sprintf("in %d min", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("in %d h", d/time.Hour)
	default:
		return "in " + termtext.Count(int64(d/day)) + " d"
	}
}

// minIDSuffix is how much of the end of an id has to be typed.
const minIDSuffix = 4

// findByID finds a thing by its id or by the end of its id, which must be unique and at least
// minIDSuffix long.
func findByID[T any](all []T, id func(T) string, what, typed, list string) (T, error) {
	var found []T
	for _, x := range all {
		if id(x) == typed {
			return x, nil
		}
		if len(typed) >= minIDSuffix && strings.HasSuffix(id(x), typed) {
			found = append(found, x)
		}
	}
	var none T
	switch len(found) {
	case 0:
		return none, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no %s %s", what, typed), Safe: nothingChanged, Hint: "list them: " + list}
	case 1:
		return found[0], nil
	}
	return none, usageError("use more of it, or the full ID: "+list, "The ids of %s end with %s.", term.CountNoun(int64(len(found)), what, what+"s"), typed)
}

// joinLines is foreign text in a question of several lines.
func joinLines(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// nonNil returns list, or an empty one for nil, so that JSON has no null where a list is
// documented.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
