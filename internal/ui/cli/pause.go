package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

const pausedKey = ".paused"

type pauseAnswer struct {
	V      int  `json:"v"`
	Paused bool `json:"paused"`
}

func newPauseCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "pause", Short: "Stop taking checkpoints of agent turns, until 'unpause'", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return setPausedSince(f, cmd, f.Clock.Now().UTC().Format(time.RFC3339))
		},
	}
}

func newUnpauseCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "unpause", Short: "Take checkpoints of agent turns again", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return setPausedSince(f, cmd, "") },
	}
}

func setPausedSince(f *commandLine, cmd *cobra.Command, since string) error {
	_, ws, err := f.currentWorkspace(cmd.Context())
	if err != nil {
		return err
	}
	key := string(ws.ID) + pausedKey
	if since == "" {
		err = f.Settings.Unset(key)
	} else {
		err = f.Settings.Set(key, since)
	}
	if err != nil {
		return err
	}
	return f.printAnswer(pauseAnswer{1, since != ""}, func(l term.Style) string {
		if since == "" {
			return l.Green(l.Glyphs.Point) + " Agents' work becomes checkpoints again.\n"
		}
		return l.Glyphs.Diamond + " Paused. Agents' work becomes no checkpoints here; saves by hand and restores do.\n"
	})
}

// pausedSince is when a workspace was paused; empty when it is not.
func pausedSince(f *commandLine, ws retake.WorkspaceID) string {
	if f.Settings == nil {
		return ""
	}
	v, err := f.Settings.Value(string(ws) + pausedKey)
	if err != nil {
		return ""
	}
	t, err := time.Parse(time.RFC3339, v)
	if err != nil {
		return ""
	}
	return f.stdoutStyle().ShortTime(t)
}
