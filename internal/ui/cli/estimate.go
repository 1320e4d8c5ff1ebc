package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type estimateAnswer struct {
	V int `json:"v"`
	retake.Estimate
}

// MarshalJSON puts the number before the fields: an estimate writes itself, and
// would leave it out.
func (a estimateAnswer) MarshalJSON() ([]byte, error) {
	return marshalVersioned(a.V, a.Estimate)
}

// marshalVersioned writes an object that has fields, with the number first.
func marshalVersioned(v int, object any) ([]byte, error) {
	b, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return append(fmt.Appendf(nil, `{"v":%d,`, v), b[1:]...), nil
}

func newEstimateCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "estimate [DIR]", Short: "Preview what 'init' would save, without changing anything", Args: argsBetween(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.openService(cmd.Context())
			if err != nil {
				return err
			}
			dir := f.workingDir()
			if len(args) == 1 {
				dir = f.fromWorkingDir(args[0])
			}
			e, err := s.Estimate(cmd.Context(), dir)
			if err != nil {
				return err
			}
			if e.Danger == nil {
				e.Danger = []retake.Danger{}
			}
			if e.Gaps == nil {
				e.Gaps = []retake.Gap{}
			}
			return f.printAnswer(estimateAnswer{1, e}, func(l term.Style) string { return renderEstimate(l, e) + renderDangers(l, e.Danger) })
		},
	}
}

// renderEstimate renders what protecting a directory would mean.
func renderEstimate(l term.Style, e retake.Estimate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", l.Bold(l.DisplayPath(e.Root)))
	heavy := ""
	if e.Heaviest != "" && e.Share > 0 {
		heavy = fmt.Sprintf("%s is %.0f %% of them", termtext.Escape(e.Heaviest), e.Share*100)
	}
	found := l.JoinFacts(term.CountFiles(e.Files)+", "+termtext.Bytes(e.Bytes), heavy)
	column := 15 + termtext.Width(l.Glyphs.Yes) + 1
	fmt.Fprintf(&b, "%s\n", l.HangingIndent("  "+l.Green(l.Glyphs.Yes)+" "+termtext.Pad("looked", 13)+found, column))
	indent := strings.Repeat(" ", column)
	if len(e.Gaps) == 0 {
		fmt.Fprintf(&b, "%s\n", l.HangingIndent(indent+l.Dim("no other mounts, nothing unreadable"), column))
	}
	b.WriteString(term.GapLines(l, e.Gaps, indent))
	room := fmt.Sprintf("at most %s now%s%s free, %s must stay free", termtext.Bytes(e.Bytes), l.Separator(), termtext.Bytes(e.Free), termtext.Bytes(e.Floor))
	fmt.Fprintf(&b, "%s\n", l.HangingIndent("  "+l.Green(l.Glyphs.Yes)+" "+termtext.Pad("estimate", 13)+room, column))
	return b.String()
}

func renderDangers(l term.Style, dangers []retake.Danger) string {
	var b strings.Builder
	for _, d := range dangers {
		fmt.Fprintf(&b, "  %s %s%s\n", l.Yellow("!"), termtext.Pad(termtext.Escape(d.Class), 12+termtext.Width(l.Glyphs.Yes)), term.AsSentence(termtext.Escape(d.Text)))
	}
	return b.String()
}
