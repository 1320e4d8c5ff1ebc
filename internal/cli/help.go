package cli

import (
	"fmt"
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
	cmd := &cobra.Command{Use: "help [COMMAND]", Short: "how to use it", Args: between(0, 2), RunE: c.run}
	cmd.Flags().BoolVar(&c.all, "all", false, "every command")
	cmd.Flags().BoolVar(&c.agent, "agent", false, "everything, in a form for programs")
	return cmd
}

func (c *helpCmd) run(cmd *cobra.Command, args []string) error {
	if c.agent || c.json {
		return c.writeJSON(manual(c.root))
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
	fmt.Fprintf(&b, "%s  the timeline of this workspace; outside one, the list of workspaces\n", l.Bold("retake"))
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
			fmt.Fprintf(&b, "  %s  %s\n", screen.Pad(cmd.Use, 24), cmd.Short)
		}
	}
	if c.all {
		fmt.Fprintf(&b, "\n%s\n%s", l.Dim("Flags of every command"), c.root.PersistentFlags().FlagUsages())
		fmt.Fprintf(&b, "\n%s\n", l.Dim("Exit codes"))
		for _, e := range exitCodes {
			fmt.Fprintf(&b, "  %3d  %s\n", e.Code, e.Means)
		}
		return b.String()
	}
	fmt.Fprintf(&b, "\nREF names a moment: 14, 10:27, 2h, latest, latest~2, start, the name of a pin;\n")
	fmt.Fprintf(&b, "good, good:test for the newest that is good or passed test; git:abc1234 for a commit.\n")
	fmt.Fprintf(&b, "one command: retake help save     every command: retake help --all\n")
	return b.String()
}

// commandHelp explains one command.
func (f *face) commandHelp(cmd *cobra.Command) {
	if !cmd.HasParent() {
		fmt.Fprint(f.Out, (&helpCmd{face: f, root: cmd}).overview(f.out()))
		return
	}
	l := f.out()
	fmt.Fprintf(f.Out, "%s\n  %s\n", l.Bold(useLine(cmd)), cmd.Short)
	if cmd.Long != "" {
		fmt.Fprintf(f.Out, "\n  %s\n", strings.ReplaceAll(cmd.Long, "\n", "\n  "))
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(f.Out, "  also: %s\n", strings.Join(cmd.Aliases, ", "))
	}
	for i, sub := range visible(cmd) {
		if i == 0 {
			fmt.Fprintf(f.Out, "\n%s\n", l.Dim("Commands"))
		}
		fmt.Fprintf(f.Out, "  %s  %s\n", screen.Pad(sub.Use, 24), sub.Short)
	}
	if flags := cmd.LocalNonPersistentFlags().FlagUsages(); flags != "" {
		fmt.Fprintf(f.Out, "\n%s\n%s", l.Dim("Flags"), flags)
	}
	fmt.Fprintf(f.Out, "\n%s\n%s", l.Dim("Flags of every command"), cmd.Root().PersistentFlags().FlagUsages())
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
