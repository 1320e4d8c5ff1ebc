package cli

import (
	"github.com/spf13/cobra"
)

// newCompletionCommand prints what a shell needs to complete our commands and flags.
func newCompletionCommand(f *commandLine) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion SHELL", Short: "Generate shell completion for bash, zsh, fish or powershell", Args: argsBetween(1, 1), ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return outputError(root.GenBashCompletionV2(f.Out, true))
			case "zsh":
				return outputError(root.GenZshCompletion(f.Out))
			case "fish":
				return outputError(root.GenFishCompletion(f.Out, true))
			case "powershell":
				return outputError(root.GenPowerShellCompletionWithDesc(f.Out))
			}
			return usageError("there are: bash, zsh, fish, powershell", "There is no completion for %s.", args[0])
		},
	}
}
