package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake/internal/ui/term"
)

type versionAnswer struct {
	V       int    `json:"v"`
	Version string `json:"version"`
}

func newVersionCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version", Args: argsBetween(0, 0),
		RunE: func(*cobra.Command, []string) error { return showVersion(f) },
	}
}

func showVersion(f *commandLine) error {
	return f.printAnswer(versionAnswer{1, f.Version}, func(term.Style) string { return fmt.Sprintf("retake %s\n", f.Version) })
}
