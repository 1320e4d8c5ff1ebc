package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake/internal/picture"
	"github.com/retake-dev/retake/internal/screen"
)

type helpCmd struct {
	*face
	root       *cobra.Command
	all, agent bool
}

func (f *face) helpCommand(root *cobra.Command) *cobra.Command {
	c := &helpCmd{face: f, root: root}
	cmd := &cobra.Command{Use: "help [COMMAND]", Short: "Show help for a command", Args: between(0, 2), RunE: c.run}
	cmd.Flags().BoolVar(&c.all, "all", false, "every command")
	cmd.Flags().BoolVar(&c.agent, "agent", false, "everything as JSON, for programs")
	return cmd
}

func (c *helpCmd) run(cmd *cobra.Command, args []string) error {
	if c.agent || c.json {
		return c.writeJSON(manual(c.root))
	}
	if len(args) == 1 && args[0] == "flags" {
		return c.emit(nil, func(l picture.Look) string { return flagsOfAll(l, c.root) })
	}
	if len(args) > 0 {
		found, rest, err := c.root.Find(args)
		if err != nil || len(rest) > 0 || found == c.root {
			return noCommand(c.root, args)
		}
		c.commandHelp(found)
		return nil
	}
	return c.emit(nil, func(l picture.Look) string { return c.overview(l) })
}

// overview lists the commands by shelves: a dozen, or all of them.
func (c *helpCmd) overview(l picture.Look) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  Show the timeline of this workspace, or list workspaces outside one\n", l.Bold("retake"))
	for _, s := range c.shelves() {
		commands := s.basic
		if c.all {
			commands = append(commands, s.more...)
		}
		if len(commands) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", l.Dim(s.title))
		for _, cmd := range commands {
			b.WriteString(helpRow(l, cmd))
		}
	}
	if c.all {
		b.WriteString("\n" + flagsOfAll(l, c.root))
		fmt.Fprintf(&b, "\n%s\n", l.Dim("Exit codes"))
		for _, e := range exitCodes {
			fmt.Fprintf(&b, "  %3d  %s\n", e.Code, e.Means)
		}
		return b.String()
	}
	const refs = "REF names a checkpoint: 14, 10:27, 2h, latest, latest~2, start, the name of a pin; good, good:test for the newest that is good " +
		"or passed test; git:abc1234 for a commit."
	fmt.Fprintf(&b, "\n%s\n", strings.Join(picture.Wrap(refs, l.Width), "\n"))
	fmt.Fprintf(&b, "one command: retake help save     every command: retake help --all\n")
	return b.String()
}

// flagsOfAll explains the flags that every command has.
func flagsOfAll(l picture.Look, root *cobra.Command) string {
	return fmt.Sprintf("%s\n%s", l.Dim("Global flags"), root.PersistentFlags().FlagUsagesWrapped(l.Width))
}

// helpColumn is where the explanation of a command begins.
const helpColumn = 28

// helpRow is a command and what it does, in as many lines as that takes.
func helpRow(l picture.Look, cmd *cobra.Command) string {
	out := "  " + screen.Pad(cmd.Use, helpColumn-4) + "  "
	lines := picture.Wrap(cmd.Short, max(l.Width-max(helpColumn, screen.Width(out)), helpColumn))
	return out + strings.Join(lines, "\n"+strings.Repeat(" ", helpColumn)) + "\n"
}

// explained is a long text in lines that fit. Where one does not they are filled again, and
// what ends with a full stop ends a paragraph.
func explained(l picture.Look, long string) string {
	if all := strings.Split(long, "\n"); !slices.ContainsFunc(all, func(s string) bool { return screen.Width(s) > l.Width-2 }) {
		return strings.Join(all, "\n  ")
	}
	var out []string
	part := ""
	for line := range strings.SplitSeq(long, "\n") {
		part = strings.TrimSpace(part + " " + line)
		if line == "" || strings.HasSuffix(line, ".") || strings.HasSuffix(line, ":") {
			out, part = append(out, picture.Wrap(part, l.Width-2)...), ""
		}
	}
	if part != "" {
		out = append(out, picture.Wrap(part, l.Width-2)...)
	}
	return strings.Join(out, "\n  ")
}

// commandHelp explains one command.
func (f *face) commandHelp(cmd *cobra.Command) {
	f.paged = true // a flag asked for it, and no command began
	text := (&helpCmd{face: f, root: cmd.Root()}).overview
	if cmd.HasParent() {
		text = func(l picture.Look) string { return renderHelp(l, cmd) }
	}
	_ = f.print(text(f.out())) // who asked is gone
}

// renderHelp is the page of one command. The flags that every command has are a page of
// their own: repeated here they would hide those of the command.
func renderHelp(l picture.Look, cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %s\n", l.Bold(useLine(cmd)), cmd.Short)
	if cmd.Long != "" {
		fmt.Fprintf(&b, "\n  %s\n", explained(l, cmd.Long))
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&b, "  also: %s\n", strings.Join(cmd.Aliases, ", "))
	}
	for i, sub := range visible(cmd) {
		if i == 0 {
			fmt.Fprintf(&b, "\n%s\n", l.Dim("Commands"))
		}
		b.WriteString(helpRow(l, sub))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\n%s\n%s", l.Dim("Examples"), renderExamples(l, cmd.Example))
	}
	if flags := cmd.LocalNonPersistentFlags().FlagUsagesWrapped(l.Width); flags != "" {
		fmt.Fprintf(&b, "\n%s\n%s", l.Dim("Flags"), flags)
	}
	fmt.Fprintf(&b, "\n%s\n", l.Dim("global flags: retake help flags"))
	return b.String()
}

// visible are the commands below one that people may type.
func visible(cmd *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			out = append(out, sub)
		}
	}
	return out
}
