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

func (f *commandLine) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version", Args: argsBetween(0, 0),
		RunE: func(*cobra.Command, []string) error { return f.showVersion() },
	}
}

func (f *commandLine) showVersion() error {
	return f.printAnswer(versionAnswer{1, f.Version}, func(term.Style) string { return fmt.Sprintf("retake %s\n", f.Version) })
}
