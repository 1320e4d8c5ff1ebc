package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type effectsAnswer struct {
	V       int             `json:"v"`
	Effects []retake.Effect `json:"effects"`
}

func newEffectsCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "effects [REF]", Short: "List external actions that a restore can't undo", Args: argsBetween(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, ws, err := f.currentWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			since := ""
			if len(args) == 1 {
				since = args[0]
			}
			list, err := s.Effects(cmd.Context(), ws.ID, since)
			if err != nil {
				return err
			}
			if list == nil {
				list = []retake.Effect{}
			}
			return f.printAnswer(effectsAnswer{1, list}, func(l term.Style) string { return renderEffects(l, list) })
		},
	}
}

// outcomeWidth is the room for how an effect ended.
const outcomeWidth = len("may be done") + 2

func renderEffects(l term.Style, list []retake.Effect) string {
	if len(list) == 0 {
		return "No agent did anything outside that we know of.\n"
	}
	id, when := 2, 5
	for _, e := range list {
		id, when = max(id, termtext.Width(termtext.Escape(e.ID))), max(when, termtext.Width(l.ShortTime(e.Time)))
	}
	var b strings.Builder
	for _, e := range list {
		who := termtext.Escape(e.Agent)
		room := max(l.Width-id-when-termtext.Width(who)-8-outcomeWidth, 20)
		text := termtext.Escape(e.Text)
		if e.Repeats != "" {
			text = "again, as " + termtext.Escape(e.Repeats) + ": " + text
		}
		text = l.Glyphs.Cut(text, room)
		fmt.Fprintf(&b, "%s %s  %s  %s  %s  %s\n", l.Glyphs.Arrow, termtext.Pad(termtext.Escape(e.ID), id), l.Dim(termtext.Pad(l.ShortTime(e.Time), when)), termtext.Pad(text, room), termtext.Pad(e.Word(), outcomeWidth-2), l.Dim(who))
	}
	return b.String()
}
