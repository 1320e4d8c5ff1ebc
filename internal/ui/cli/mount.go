package cli

import (
	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type mountAnswer struct {
	V   int    `json:"v"`
	Dir string `json:"dir"`
}

func newMountCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "mount DIR", Short: "Mount all checkpoints as read-only directories", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return mountCheckpoints(f, cmd, args[0]) },
	}
}

func mountCheckpoints(f *commandLine, cmd *cobra.Command, typed string) error {
	if f.Mount == nil {
		return &retake.Error{Kind: retake.Invalid, What: "checkpoints cannot be mounted on this system", Safe: nothingChanged}
	}
	s, ws, err := f.currentWorkspace(cmd.Context())
	if err != nil {
		return err
	}
	dir := f.fromWorkingDir(typed)
	var shown error
	err = f.Mount(cmd.Context(), dir, ws, s, func() {
		shown = f.printAnswer(mountAnswer{1, dir}, func(l term.Style) string {
			return l.Green(l.Glyphs.Yes) + " The checkpoints of " + l.Bold(termtext.Escape(ws.Name)) + " are in " + l.DisplayPath(dir) + ", to read only.\n" +
				"  " + l.HintLine([]string{"end it", "ctrl-c, or fusermount3 -u " + l.ShellPath(dir)}) + "\n"
		})
	})
	if err != nil {
		return err
	}
	return shown
}
