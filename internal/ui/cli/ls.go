package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type lsAnswer struct {
	V       int            `json:"v"`
	Dir     string         `json:"dir"`
	Entries []retake.Entry `json:"entries"`
}

func newLsCommand(f *commandLine) *cobra.Command {
	var long bool
	ref := ""
	cmd := &cobra.Command{
		Use: "ls REF [DIR]", Short: "List a directory as it was at a checkpoint", Args: argsWithRef(&ref, 1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, ws, err := f.currentWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			args = prependRef(ref, args)
			typed := "."
			if len(args) == 2 {
				typed = args[1]
			}
			dir, err := f.workspacePath(ws, typed)
			if err != nil {
				return err
			}
			entries, err := s.List(cmd.Context(), ws.ID, args[0], dir)
			if err != nil {
				return err
			}
			if entries == nil {
				entries = []retake.Entry{}
			}
			return f.printAnswer(lsAnswer{1, dir, entries}, func(l term.Style) string { return renderEntries(l, entries, long) })
		},
	}
	cmd.Flags().StringVar(&ref, "at", "", "as it was at `REF`; then only DIR is named")
	cmd.Flags().BoolVarP(&long, "long", "l", false, "with mode, owner, size and time")
	return cmd
}

func renderEntries(l term.Style, entries []retake.Entry, long bool) string {
	var b strings.Builder
	owner, size := 0, 0
	for _, e := range entries {
		owner = max(owner, len(ownerText(e)))
		size = max(size, termtext.Width(sizeText(l, e)))
	}
	for _, e := range entries {
		name := termtext.Escape(e.Name) + kindSuffix(e.Kind)
		if !long {
			fmt.Fprintln(&b, name)
			continue
		}
		when := l.ShortTime(time.Unix(0, e.ModTime))
		fmt.Fprintf(&b, "%s  %s  %s  %s  %s\n", modeText(e), termtext.Pad(ownerText(e), owner), termtext.PadLeft(sizeText(l, e), size), l.Dim(termtext.Pad(when, 11)), name)
	}
	return b.String()
}

// kindSuffix returns the sign of a kind, which follows the name.
func kindSuffix(k retake.Kind) string {
	switch k {
	case retake.KindDir:
		return "/"
	case retake.KindSymlink:
		return "@"
	case retake.KindFIFO:
		return "|"
	case retake.KindSocket:
		return "="
	case retake.KindFile:
	}
	return ""
}

func ownerText(e retake.Entry) string { return fmt.Sprintf("%d:%d", e.UID, e.GID) }

func sizeText(l term.Style, e retake.Entry) string {
	switch e.Kind {
	case retake.KindFile, retake.KindSymlink:
		return termtext.Bytes(e.Size)
	case retake.KindDir:
		return term.CountFiles(e.Sum.Files)
	default:
		return l.Glyphs.Dash
	}
}

// modeText is the kind and the mode in octal.
func modeText(e retake.Entry) string { return fmt.Sprintf("%-7s %04o", e.Kind, e.Mode) }
