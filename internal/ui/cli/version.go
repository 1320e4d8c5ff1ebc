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

func (f *face) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version", Args: between(0, 0),
		RunE: func(*cobra.Command, []string) error { return f.showVersion() },
	}
}

func (f *face) showVersion() error {
	return f.emit(versionAnswer{1, f.Version}, func(term.Look) string { return fmt.Sprintf("retake %s\n", f.Version) })
}
