package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

type catAnswer struct {
	V     int          `json:"v"`
	Entry retake.Entry `json:"entry"`
	Bytes []byte       `json:"bytes"`
}

func newCatCommand(f *commandLine) *cobra.Command {
	ref := ""
	cmd := &cobra.Command{
		Use: "cat REF PATH", Short: "Print a file as it was at a checkpoint", Args: parseCatArgs(f, &ref),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, ws, err := f.currentWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			args = prependRef(ref, args)
			path, err := f.workspacePath(ws, args[1])
			if err != nil {
				return err
			}
			in, e, err := s.Open(cmd.Context(), ws.ID, args[0], path)
			if err != nil {
				return err
			}
			err = copyContent(f, in, e)
			if shut := in.Close(); err == nil {
				err = shut
			}
			return err
		},
	}
	cmd.Flags().StringVar(&ref, "at", "", "as it was at `REF`; then only PATH is named")
	return cmd
}

// parseCatArgs accepts a checkpoint and a path. If only a file is given, the error shows how
// to name the checkpoint.
func parseCatArgs(f *commandLine, ref *string) cobra.PositionalArgs {
	checkpoint := func(word string) bool {
		r, err := retake.ParseRef(word, f.Clock.Now())
		return err == nil && r.Form != retake.RefName
	}
	return func(cmd *cobra.Command, args []string) error {
		if *ref != "" || len(args) != 1 || checkpoint(args[0]) {
			return argsWithRef(ref, 2, 2)(cmd, args)
		}
		at, path, _ := strings.Cut(args[0], ":")
		if path == "" || !checkpoint(at) {
			at, path = "latest", args[0]
		}
		typed := quoteShellLine([]string{path})
		return usageError(fmt.Sprintf("read it at %s: retake cat %s\nlist its checkpoints: retake log --path %s", at, quoteShellLine([]string{at, path}), typed),
			"As it was at which checkpoint? Usage: %s.", usageLine(cmd))
	}
}

// argsWithRef takes from low to high words, the first of which is a ref; a flag may name
// that instead.
func argsWithRef(ref *string, low, high int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if *ref != "" {
			return argsBetween(low-1, high-1)(cmd, args)
		}
		return argsBetween(low, high)(cmd, args)
	}
}

// prependRef puts the ref of the flag in its place.
func prependRef(ref string, args []string) []string {
	if ref == "" {
		return args
	}
	return append([]string{ref}, args...)
}

// copyContent gives the bytes as they are, except to a terminal, which would obey them.
func copyContent(f *commandLine, in io.Reader, e retake.Entry) error {
	switch {
	case f.json:
		all, err := io.ReadAll(in)
		if err != nil {
			return fmt.Errorf("read file: %w", err)
		}
		return f.writeJSON(catAnswer{1, e, all})
	case f.OutTTY:
		return writeEscaped(f.Out, in)
	}
	if _, err := io.Copy(f.Out, in); err != nil {
		return fmt.Errorf("copy file: %w", err)
	}
	return nil
}

// writeEscaped writes text with everything escaped but newlines and tabs.
func writeEscaped(out io.Writer, in io.Reader) error {
	const chunk = 64 << 10
	r, w := bufio.NewReaderSize(in, chunk), bufio.NewWriter(out)
	carry := ""
	for {
		part, err := r.ReadSlice('\n')
		text := carry + string(part)
		carry = ""
		if errors.Is(err, bufio.ErrBufferFull) {
			text, carry = cutPartialRune(text)
		}
		line, whole := strings.CutSuffix(text, "\n")
		fmt.Fprint(w, term.EscapeLine(line))
		if whole {
			fmt.Fprintln(w)
		}
		if errors.Is(err, io.EOF) {
			return outputError(w.Flush())
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("read file: %w", err)
		}
	}
}

// cutPartialRune keeps back the bytes of a character that is not complete yet.
func cutPartialRune(s string) (head, rest string) {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if utf8.FullRuneInString(s[i:]) {
				return s, ""
			}
			return s[:i], s[i:]
		}
	}
	return s, ""
}
