package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

// asPath wraps a command that takes checkpoints, and paths behind "--". Who names a file
// without the dashes is told how it is named, in a line that can be typed. Where none is
// named, checkpoint is the one that is meant.
func (f *face) asPath(checkpoint string, run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		refs, paths := splitDash(cmd, args)
		if err == nil || len(paths) > 0 || f.apart() || !retake.IsKind(err, retake.NotFound) {
			return err
		}
		e := *retake.AsError(err)
		at := slices.IndexFunc(refs, func(r string) bool {
			return strings.Contains(e.What, "no checkpoint "+r) && !missing(filepath.Join(f.workdir(), r))
		})
		if at < 0 {
			return err
		}
		words := append([]string{"retake", cmd.Name()}, slices.Delete(slices.Clone(refs), at, at+1)...)
		if len(refs) == 1 && checkpoint != "" {
			words = append(words, checkpoint)
		}
		e.Hint = "use it as a path: " + shellLine(append(words, "--", refs[at])) + "\n" + e.Hint
		return &e
	}
}
