package cli

import "github.com/spf13/cobra"

// newHookCommand is what agents run. The program answers it before it makes anything
// else ready; it stands here for the help.
func newHookCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "hook AGENT", Short: "Receive one agent event on standard input", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Hook(cmd.Context(), args[0])
			return nil
		},
	}
}

func newMCPCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Serve the MCP tools for agents over stdio", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.openService(cmd.Context())
			if err != nil {
				return err
			}
			return f.MCP(cmd.Context(), s, f.workingDir())
		},
	}
}
