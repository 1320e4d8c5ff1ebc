package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake/internal/ui/term"
)

// RecoveryKeys makes recovery keys and uses them.
type RecoveryKeys interface {
	Make() ([]byte, error)
	// Restore reports whether keys were put back: a store that opens needs none.
	Restore(ctx context.Context, key []byte) (bool, error)
	// Copies returns the key of the copies at remotes, in groups that a person can copy.
	Copies() (string, error)
	// Confirm notes that somebody has it elsewhere.
	Confirm() error
}

// maxRecoveryKey is more than any key has.
const maxRecoveryKey = 1 << 20

type recoveryKeyCmd struct {
	*commandLine
	restore string
}

type recoveryKeyAnswer struct {
	V        int    `json:"v"`
	File     string `json:"file,omitempty"`     // where the key was written
	Key      string `json:"key,omitempty"`      // the key, if it was written nowhere
	Restored bool   `json:"restored,omitempty"` // lost keys were put back
}

func newRecoveryKeyCommand(f *commandLine) *cobra.Command {
	c := &recoveryKeyCmd{commandLine: f}
	cmd := &cobra.Command{
		Use: "recovery-key [FILE]", Short: "Print the key that opens the store, to keep elsewhere", Args: argsBetween(0, 1), RunE: c.run,
	}
	cmd.Flags().StringVar(&c.restore, "restore", "", "put lost keys of the store back from `FILE`; - is the input")
	return cmd
}

func (c *recoveryKeyCmd) run(cmd *cobra.Command, args []string) error {
	if c.isRemote() {
		return usageError("without a server: retake recovery-key", "A server keeps its keys itself.")
	}
	if c.restore != "" {
		if len(args) > 0 {
			return usageError(helpHint(cmd), "A recovery key is made or restored, not both.")
		}
		return c.restoreKeys(cmd.Context())
	}
	key, err := c.RecoveryKeys.Make()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return c.printAnswer(recoveryKeyAnswer{V: 1, Key: string(key)}, func(term.Style) string { return string(key) })
	}
	path := c.fromWorkingDir(args[0])
	f, err := c.Archives.Create(path, false)
	if err != nil {
		return err
	}
	defer f.Drop()
	if _, err := f.Write(key); err != nil {
		return fmt.Errorf("write recovery key: %w", err)
	}
	if err := f.Keep(); err != nil {
		return err
	}
	return c.printAnswer(recoveryKeyAnswer{V: 1, File: path}, func(l term.Style) string {
		return fmt.Sprintf("%s %s\n  %s\n", l.Green(l.Glyphs.Yes), l.DisplayPath(path), l.Dim("Keep it on another disk. Who has it and the store can read all checkpoints."))
	})
}

// restoreKeys puts the keys back from a file or from the input.
func (c *recoveryKeyCmd) restoreKeys(ctx context.Context) error {
	in := io.NopCloser(c.In)
	if c.restore != "-" {
		f, _, err := c.Archives.Open(c.fromWorkingDir(c.restore))
		if err != nil {
			return err
		}
		in = f
	}
	defer in.Close() //nolint:errcheck // nothing was written
	key, err := io.ReadAll(io.LimitReader(in, maxRecoveryKey))
	if err != nil {
		return fmt.Errorf("read recovery key: %w", err)
	}
	restored, err := c.RecoveryKeys.Restore(ctx, key)
	if err != nil {
		return err
	}
	return c.printAnswer(recoveryKeyAnswer{V: 1, Restored: restored}, func(l term.Style) string {
		text := "The store opens again."
		if !restored {
			text = "Nothing to restore: the store opens with the keys that it has."
		}
		return fmt.Sprintf("%s %s\n", l.Green(l.Glyphs.Yes), text)
	})
}
