package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

// withPathHint wraps a command that takes checkpoints, and paths after "--". If a file is
// named without the dashes, the error shows the line to type; checkpoint is the default one in
// it.
func withPathHint(f *commandLine, checkpoint string, run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		refs, paths := splitAtDash(cmd, args)
		if err == nil || len(paths) > 0 || f.isOtherWorkspace() || !retake.IsKind(err, retake.NotFound) {
			return err
		}
		e := *retake.AsError(err)
		at := slices.IndexFunc(refs, func(r string) bool {
			return strings.Contains(e.What, "no checkpoint "+r) && !isMissingDir(filepath.Join(f.workingDir(), r))
		})
		if at < 0 {
			return err
		}
		words := append([]string{"retake", cmd.Name()}, slices.Delete(slices.Clone(refs), at, at+1)...)
		if len(refs) == 1 && checkpoint != "" {
			words = append(words, checkpoint)
		}
		e.Hint = "use it as a path: " + quoteShellLine(append(words, "--", refs[at])) + "\n" + e.Hint
		return &e
	}
}
