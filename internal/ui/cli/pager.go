package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// pagedCommands lists the commands whose answer may be longer than the terminal. None of them
// asks questions.
var pagedCommands = map[string]bool{
	"log": true, "show": true, "diff": true, "blame": true, "why": true, "find": true, "ls": true, "effects": true, "help": true, "audit": true, "config": true,
}

// setPageable remembers whether the command's answer goes through a pager.
func (f *commandLine) setPageable(cmd *cobra.Command) {
	name := strings.TrimPrefix(cmd.CommandPath(), "retake ")
	f.pageable = pagedCommands[name] || !cmd.HasParent()
}

func (f *commandLine) usesPager() bool { return f.pageable && f.OutTTY && !f.noPager && f.Pager != nil }

// printText prints an answer, through a pager if it does not fit the terminal. If the pager
// does not start, the text is printed directly.
func (f *commandLine) printText(text string) error {
	if f.usesPager() && strings.Count(text, "\n") >= f.Height && f.Pager(text) == nil {
		return nil
	}
	_, err := io.WriteString(f.Out, text)
	return outputError(err)
}
