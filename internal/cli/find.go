package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

const findLimit = 20

type findAnswer struct {
	V    int          `json:"v"`
	Text string       `json:"text"`
	Hits []retake.Hit `json:"hits"`
}

func (f *face) findCommand() *cobra.Command {
	limit := findLimit
	cmd := &cobra.Command{
		Use: "find TEXT…", Short: "moments by words: in intents, prompts, paths and facts", Args: between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.Join(strings.Fields(strings.Join(args, " ")), " ")
			switch {
			case text == "":
				return usage(helpHint(cmd), "Which words?")
			case limit < 1:
				return usage(helpHint(cmd), "The limit is at least 1, not %d.", limit)
			}
			return f.search(cmd, text, limit)
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", limit, "at most `N` moments")
	return cmd
}

func (f *face) search(cmd *cobra.Command, text string, limit int) error {
	ctx := cmd.Context()
	s, ws, err := f.here(ctx)
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
		return told{notFound(ws, text)}
	}
	var cps []retake.Checkpoint
	for _, h := range hits {
		cps = append(cps, h.Checkpoint)
	}
	g := goalsOf(ctx, s, ws, cps)
	err = f.emit(a, func(l look) string {
		l.goals = g
		return renderHits(l, hits, strings.Fields(text)) + moreHits(l, len(hits), limit)
	})
	f.hint("look", fmt.Sprintf("retake show %d", hits[0].Checkpoint.Number), "go back", fmt.Sprintf("retake restore %d", hits[0].Checkpoint.Number))
	return err
}

func notFound(ws retake.Workspace, text string) error {
	return &retake.Error{
		Kind: retake.NotFound, What: fmt.Sprintf("no moment of %s has %s", ws.Name, text),
		Safe: "Searched were intents, prompts, agents' last words, changed paths, facts.",
		Hint: "fewer words may do: retake find WORD     all: retake log     lines: retake blame PATH",
	}
}

// moreHits says that there may be others: nobody counted them.
func moreHits(l look, n, limit int) string {
	if n < limit {
		return ""
	}
	return l.dim(fmt.Sprintf("the newest %s; more with --limit", screen.Count(int64(n)))) + "\n"
}

// renderHits has a row for each moment, and where the words stand in it.
func renderHits(l look, hits []retake.Hit, words []string) string {
	num, when, where := 2, 5, 0
	for _, h := range hits {
		num, when = max(num, len(numeral(h.Checkpoint.Number))), max(when, screen.Width(l.clock(h.Checkpoint.Time)))
		if h.Where != "intent" {
			where = max(where, screen.Width(screen.Escape(h.Where)))
		}
	}
	indent := num + 2 + when + 2
	wide := l.width >= wideFrom
	title := l.width - indent
	if wide {
		title = min((l.width-indent)*2/5, 64)
	}
	var b strings.Builder
	for _, h := range hits {
		text, _ := l.titled(h.Checkpoint, l.goals)
		inTitle := h.Where == "intent" && h.Checkpoint.Intent != ""
		line := l.bold(screen.PadLeft(numeral(h.Checkpoint.Number), num)) + "  " + l.dim(screen.Pad(l.clock(h.Checkpoint.Time), when)) + "  "
		shown := excerpt(l, text, words, title)
		line += marked(l, shown, words)
		if !inTitle && wide {
			line += strings.Repeat(" ", max(title-screen.Width(shown), 0)) + "  " + hitPlace(l, h, words, where, l.width-indent-title-2)
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
		if !inTitle && !wide {
			fmt.Fprintln(&b, strings.TrimRight(strings.Repeat(" ", indent)+hitPlace(l, h, words, where, l.width-indent), " "))
		}
	}
	return b.String()
}

// hitPlace is where the words stand, and what stands around them.
func hitPlace(l look, h retake.Hit, words []string, where, room int) string {
	text := screen.Escape(strings.Join(strings.Fields(h.Text), " "))
	return l.dim(screen.Pad(screen.Escape(h.Where), where)) + "  " + marked(l, excerpt(l, text, words, room-where-2), words)
}

// excerpt is the part of escaped text around the first of the words, with signs where
// it was cut.
func excerpt(l look, text string, words []string, room int) string {
	if screen.Width(text) <= room || room <= 0 {
		return l.g.Cut(text, room)
	}
	at, _ := firstWord(text, words)
	if at < 0 || screen.Width(text[:at]) < room*2/3 {
		return l.g.Cut(text, room)
	}
	lead := room / 3 // what stands before the word says what it is about
	start := at
	for start > 0 && screen.Width(text[start:at]) < lead {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	if i := strings.IndexByte(text[start:at], ' '); i >= 0 { // a whole word
		start += i + 1
	}
	return l.g.More + l.g.Cut(text[start:], room-screen.Width(l.g.More))
}

// marked sets the words in bold.
func marked(l look, text string, words []string) string {
	var b strings.Builder
	for {
		at, n := firstWord(text, words)
		if at < 0 {
			return b.String() + text
		}
		b.WriteString(text[:at] + l.bold(text[at:at+n]))
		text = text[at+n:]
	}
}

// firstWord finds the first place where one of the words stands, in whatever case.
func firstWord(text string, words []string) (at, length int) {
	for i := range text {
		for _, w := range words {
			w = screen.Escape(w)
			if end := i + len(w); w != "" && end <= len(text) && strings.EqualFold(text[i:end], w) {
				return i, len(w)
			}
		}
	}
	return -1, 0
}
