package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// paged are the commands whose answer may be longer than the terminal and is only read.
// None of them asks anything.
var pagedCommands = map[string]bool{
	"log": true, "show": true, "diff": true, "blame": true, "why": true, "find": true, "ls": true, "effects": true, "help": true, "audit": true, "config": true,
}

// setPageable remembers whether the command's answer goes through a pager.
func (f *commandLine) setPageable(cmd *cobra.Command) {
	name := strings.TrimPrefix(cmd.CommandPath(), "retake ")
	f.pageable = pagedCommands[name] || !cmd.HasParent()
}

func (f *commandLine) usesPager() bool { return f.pageable && f.OutTTY && !f.noPager && f.Pager != nil }

// printText writes an answer, as git does: on a terminal that it does not fit into by way of a
// pager. Where the pager does not start it is written as it is.
func (f *commandLine) printText(text string) error {
	if f.usesPager() && strings.Count(text, "\n") >= f.Height && f.Pager(text) == nil {
		return nil
	}
	_, err := io.WriteString(f.Out, text)
	return outputError(err)
}
