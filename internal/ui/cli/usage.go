package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type usageAnswer struct {
	V int `json:"v"`
	retake.Usage
}

func newUsageCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "usage", Short: "Show a namespace's usage and limits", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.openServer()
			if err != nil {
				return err
			}
			u, err := s.Usage(cmd.Context())
			if err != nil {
				return err
			}
			return f.printAnswer(usageAnswer{1, u}, func(l term.Style) string { return renderUsage(l, u) })
		},
	}
}

func renderUsage(l term.Style, u retake.Usage) string {
	var b strings.Builder
	say := func(name, text string) { fmt.Fprintf(&b, "  %s%s\n", l.Dim(termtext.Pad(name, 16)), text) }
	lim := u.Limits
	fmt.Fprintf(&b, "%s\n\n", l.Bold(termtext.Escape(string(u.Namespace))))
	say("store", shareBar(l, u.Bytes, lim.Store, termtext.Bytes))
	say("workspaces", shareBar(l, u.Workspaces, lim.Workspaces, termtext.Count))
	say("checkpoints", l.JoinFacts(termtext.Count(u.Checkpoints), "kept "+retentionText(lim)))
	fmt.Fprintf(&b, "\n")
	say("one checkpoint", "at most "+limitText(lim.Checkpoint, termtext.Bytes))
	say("requests", limitText(lim.PerSecond, termtext.Count)+" a second with one key")
	say("restores", limitText(lim.RestoreHour, termtext.Count)+" an hour with an agent's key")
	say("deletions", "wait "+daysText(lim.Grace)+", and can be cancelled until then")
	say("shares", fmt.Sprintf("%s of the store for one workspace, %s for one agent key", percentText(lim.WorkspaceShare), percentText(lim.KeyShare)))
	renderLargest(&b, l, u)
	return b.String()
}

// renderLargest lists who added most, with what is nearly full.
func renderLargest(b *strings.Builder, l term.Style, u retake.Usage) {
	full := map[string]string{}
	for _, f := range u.NearlyFull {
		full[string(f.Workspace)+string(f.Key)] = fmt.Sprintf("%d %% of its share of %s", f.Percent, termtext.Bytes(f.Limit))
	}
	var rows []tableRow
	add := func(what, name, id string, n int64) {
		rows = append(rows, tableRow{cells: []string{what, termtext.Escape(name), termtext.PadLeft(termtext.Bytes(n), 8), full[id]}})
	}
	for _, w := range u.Largest {
		add("workspace", w.Name, string(w.Workspace), w.Bytes)
	}
	for _, k := range u.Keys {
		add("API key", cmp.Or(k.Name, string(k.Key)), string(k.Key), k.Bytes)
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n%s", drawTable(l, []string{"largest", "", "   added", ""}, 1, rows))
	}
}

func percentText(n int64) string {
	if n <= 0 || n >= 100 {
		return "all"
	}
	return fmt.Sprintf("%d %%", n)
}

func retentionText(lim retake.Limits) string {
	if lim.Within <= 0 {
		return "for ever"
	}
	text := "for at least " + daysText(lim.Within)
	if lim.GoneAfter > 0 {
		text += ", gone after " + daysText(lim.GoneAfter)
	}
	return text
}

func limitText(n int64, text func(int64) string) string {
	if n <= 0 {
		return "as much as there is"
	}
	return text(n)
}

// shareBar draws how much of a limit is taken.
func shareBar(l term.Style, n, limit int64, text func(int64) string) string {
	if limit <= 0 {
		return text(n) + ", without a limit"
	}
	part := min(float64(n)/float64(limit), 1)
	full := int(part * term.BarColumns)
	color := l.Green
	if part > 0.9 {
		color = l.Red
	}
	bar := color(strings.Repeat(l.Glyphs.Fill, full)) + l.Dim(strings.Repeat(l.BarRest(), term.BarColumns-full))
	return fmt.Sprintf("%s  %s of %s", bar, text(n), text(limit))
}
