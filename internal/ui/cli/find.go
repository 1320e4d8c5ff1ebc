package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

const findLimit = 20

type findAnswer struct {
	V    int          `json:"v"`
	Text string       `json:"text"`
	Hits []retake.Hit `json:"hits"`
}

func newFindCommand(f *commandLine) *cobra.Command {
	limit := findLimit
	cmd := &cobra.Command{
		Use: "find TEXT…", Short: "Search messages, prompts, paths and changes", Args: argsBetween(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.Join(strings.Fields(strings.Join(args, " ")), " ")
			switch {
			case text == "":
				return usageError(helpHint(cmd), "Which words?")
			case limit < 1:
				return usageError(helpHint(cmd), "The limit is at least 1, not %d.", limit)
			}
			return printHits(f, cmd, text, limit)
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", limit, "show at most `N` checkpoints")
	return cmd
}

func printHits(f *commandLine, cmd *cobra.Command, text string, limit int) error {
	ctx := cmd.Context()
	s, ws, err := f.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	hits, err := s.Search(ctx, retake.SearchQuery{Workspace: ws.ID, Text: text, Limit: limit})
	if err != nil {
		return err
	}
	a := findAnswer{V: 1, Text: text, Hits: hits}
	if len(hits) == 0 {
		if a.Hits = []retake.Hit{}; f.json {
			if err := f.writeJSON(a); err != nil {
				return err
			}
		}
		return reportedError{noHitsError(ws, text)}
	}
	var cps []retake.Checkpoint
	for _, h := range hits {
		cps = append(cps, h.Checkpoint)
	}
	g := term.ReadTargetTitles(ctx, s, ws, cps)
	err = f.printAnswer(a, func(l term.Style) string {
		l.Titles = g
		return term.RenderHits(l, hits, strings.Fields(text)) + moreHitsText(l, len(hits), limit)
	})
	f.printHints("look", fmt.Sprintf("retake show %d", hits[0].Checkpoint.Number), "go back", fmt.Sprintf("retake restore %d", hits[0].Checkpoint.Number))
	return err
}

func noHitsError(ws retake.Workspace, text string) error {
	return &retake.Error{
		Kind: retake.NotFound, What: fmt.Sprintf("no checkpoint of %s has %s", ws.Name, text),
		Safe: "Searched messages, prompts, replies, file names and change summaries.",
		Hint: "list checkpoints: retake log\nsearch the lines of a file: retake help blame",
	}
}

// moreHitsText says that there may be others: nobody counted them.
func moreHitsText(l term.Style, n, limit int) string {
	if n < limit {
		return ""
	}
	return l.Dim(fmt.Sprintf("the newest %s; more with --limit", termtext.Count(int64(n)))) + "\n"
}
