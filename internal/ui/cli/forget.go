package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

type forgetAnswer struct {
	V         int                `json:"v"`
	Forgotten []retake.Tombstone `json:"forgotten"`
}

func newForgetCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "forget REF…", Short: "Delete checkpoints from the timeline", Args: argsBetween(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, ws, err := f.currentWorkspace(ctx)
			if err != nil {
				return err
			}
			refs, err := confirmForget(ctx, f, s, ws, args)
			if err != nil {
				return err
			}
			gone, err := s.Forget(ctx, ws.ID, refs)
			if err != nil {
				return err
			}
			if gone == nil {
				gone = []retake.Tombstone{}
			}
			err = f.printAnswer(forgetAnswer{1, gone}, func(l term.Style) string {
				return fmt.Sprintf("%s Forgot %s%s\n", l.Green(l.Glyphs.Yes), term.CountCheckpoints(int64(len(gone))), numbersText(gone))
			})
			f.printHints("give the room back", "retake space --free")
			return err
		},
	}
}

// confirmForget resolves the refs, so that what is asked about is what is
// forgotten, and asks.
func confirmForget(ctx context.Context, f *commandLine, s retake.Service, ws retake.Workspace, args []string) ([]string, error) {
	var ids, names []string
	for _, a := range args {
		c, err := s.Find(ctx, ws.ID, a)
		if err != nil {
			return nil, err
		}
		text, _ := f.stderrStyle().CheckpointTitle(c, endTitles(ctx, s, ws, &c))
		ids = append(ids, string(c.ID))
		names = append(names, fmt.Sprintf("  %d  %s  %s", c.Number, f.stderrStyle().ShortTime(c.Time), text))
	}
	if f.yes {
		return ids, nil
	}
	if !f.canAsk() {
		return nil, &retake.Error{
			Kind: retake.Denied, What: "forgetting can't be undone, so it needs your confirmation", Safe: nothingChanged,
			Hint: "go ahead: retake forget " + strings.Join(args, " ") + " --yes",
		}
	}
	fmt.Fprintln(f.Err, strings.Join(names, "\n"))
	ok, err := f.askYesNo(ctx, fmt.Sprintf("Forget %s? This can't be undone.", term.CountCheckpoints(int64(len(ids)))))
	if err == nil && !ok {
		err = errCancelled
	}
	return ids, err
}

func numbersText(gone []retake.Tombstone) string {
	if len(gone) == 0 {
		return "."
	}
	var out []string
	for _, t := range gone {
		out = append(out, fmt.Sprint(t.Number))
	}
	return ": " + strings.Join(out, ", ") + "."
}
