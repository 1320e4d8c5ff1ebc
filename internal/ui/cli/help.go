package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type helpCmd struct {
	*commandLine
	root       *cobra.Command
	all, agent bool
}

func newHelpCommand(f *commandLine, root *cobra.Command) *cobra.Command {
	c := &helpCmd{commandLine: f, root: root}
	cmd := &cobra.Command{Use: "help [COMMAND]", Short: "Show help for a command", Args: argsBetween(0, 2), RunE: c.run}
	cmd.Flags().BoolVar(&c.all, "all", false, "every command")
	cmd.Flags().BoolVar(&c.agent, "agent", false, "everything as JSON, for programs")
	return cmd
}

func (c *helpCmd) run(cmd *cobra.Command, args []string) error {
	if c.agent || c.json {
		return c.writeJSON(buildManual(c.root))
	}
	if len(args) == 1 && args[0] == "flags" {
		return c.printAnswer(nil, func(l term.Style) string { return renderGlobalFlags(l, c.root) })
	}
	if len(args) > 0 {
		found, rest, err := c.root.Find(args)
		if err != nil || len(rest) > 0 || found == c.root {
			return rejectUnknownCommand(c.root, args)
		}
		printCommandHelp(c.commandLine, found)
		return nil
	}
	return c.printAnswer(nil, func(l term.Style) string { return c.renderOverview(l) })
}

// renderOverview lists the commands by group: the basic ones, or all.
func (c *helpCmd) renderOverview(l term.Style) string {
	var b strings.Builder
	b.WriteString("Retake saves your project after every turn of an AI agent. See what changed, and\ngo back without losing anything.\n")
	fmt.Fprintf(&b, "\n%s  retake [COMMAND]   without one: show the timeline\n", l.Dim("Usage:"))
	for _, s := range commandGroups(c.commandLine) {
		commands := s.basic
		if c.all {
			commands = append(commands, s.more...)
		}
		if len(commands) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", l.Dim(s.title))
		for _, cmd := range commands {
			b.WriteString(renderHelpRow(l, cmd))
		}
	}
	if c.all {
		b.WriteString("\n" + renderGlobalFlags(l, c.root))
		fmt.Fprintf(&b, "\n%s\n", l.Dim("Exit codes"))
		for _, e := range exitCodes {
			fmt.Fprintf(&b, "  %3d  %s\n", e.Code, e.Means)
		}
		return b.String()
	}
	const refs = "REF is a checkpoint: its number (14), a time (10:27, or 2h for two hours ago), latest, latest~2, start, a pin's name, " +
		"a commit (git:abc1234), good (the newest whose checks passed) or good:test (the newest that passed test)."
	fmt.Fprintf(&b, "\n%s\n", strings.Join(term.Wrap(refs, l.Width), "\n"))
	fmt.Fprintf(&b, "Help for a command: retake help save     All commands: retake help --all\n")
	return b.String()
}

// renderGlobalFlags explains the flags that every command has.
func renderGlobalFlags(l term.Style, root *cobra.Command) string {
	return fmt.Sprintf("%s\n%s", l.Dim("Global flags"), root.PersistentFlags().FlagUsagesWrapped(l.Width))
}

// helpColumn is where the explanation of a command begins.
const helpColumn = 28

// renderHelpRow is a command and what it does, in as many lines as that takes.
func renderHelpRow(l term.Style, cmd *cobra.Command) string {
	out := "  " + termtext.Pad(cmd.Use, helpColumn-4) + "  "
	lines := term.Wrap(cmd.Short, max(l.Width-max(helpColumn, termtext.Width(out)), helpColumn))
	return out + strings.Join(lines, "\n"+strings.Repeat(" ", helpColumn)) + "\n"
}

// printCommandHelp explains one command.
func printCommandHelp(f *commandLine, cmd *cobra.Command) {
	f.pageable = true // a flag asked for it, and no command began
	text := (&helpCmd{commandLine: f, root: cmd.Root()}).renderOverview
	if cmd.HasParent() {
		text = func(l term.Style) string { return renderHelp(l, cmd) }
	}
	_ = f.printText(text(f.stdoutStyle())) // who asked is gone
}

// renderHelp is the page of one command. The flags that every command has are a page of
// their own: repeated here they would hide those of the command.
func renderHelp(l term.Style, cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", l.Bold(cmd.Short))
	if cmd.Long != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(wrapHelp(cmd.Long, min(l.Width, 100)), "\n"))
	}
	fmt.Fprintf(&b, "\n%s  %s\n", l.Dim("Usage:"), usageLine(cmd))
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&b, "%s  %s\n", l.Dim("Alias:"), strings.Join(cmd.Aliases, ", "))
	}
	for i, sub := range visibleCommands(cmd) {
		if i == 0 {
			fmt.Fprintf(&b, "\n%s\n", l.Dim("Commands:"))
		}
		b.WriteString(renderHelpRow(l, sub))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\n%s\n%s", l.Dim("Examples:"), renderExamples(l, cmd.Example))
	}
	if flags := ownFlags(cmd).FlagUsagesWrapped(l.Width); flags != "" {
		fmt.Fprintf(&b, "\n%s\n%s", l.Dim("Flags:"), flags)
	}
	fmt.Fprintf(&b, "\n%s\n", l.Dim("Global flags: retake help flags"))
	return b.String()
}

// ownFlags are a command's flags, but for --help, which all have.
func ownFlags(cmd *cobra.Command) *pflag.FlagSet {
	out := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			out.AddFlag(f)
		}
	})
	return out
}

// visibleCommands are the commands below one that people may type.
func visibleCommands(cmd *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			out = append(out, sub)
		}
	}
	return out
}
