package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newManCommand writes the manual pages. Packages run it; nobody has to know it.
func newManCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write a manual page for every command", Hidden: true, Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := f.fromWorkingDir(args[0])
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("make directory: %w", err)
			}
			for name, text := range manPages(cmd.Root(), f.Version) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					return fmt.Errorf("write page: %w", err)
				}
			}
			return nil
		},
	}
}

// manPages are all pages by the names of their files.
func manPages(root *cobra.Command, version string) map[string]string {
	out := map[string]string{"retake.1": manPage(root, version)}
	for _, cmd := range visibleCommands(root) {
		out[manName(cmd)+".1"] = manPage(cmd, version)
		for _, sub := range visibleCommands(cmd) {
			out[manName(sub)+".1"] = manPage(sub, version)
		}
	}
	return out
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is one page in the language of man(7). The library that comes with the parser of
// commands goes by way of Markdown and needs three more modules for the same text.
func manPage(cmd *cobra.Command, version string) string {
	var b strings.Builder
	name := manName(cmd)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"retake %s\" \"Retake manual\"\n", strings.ToUpper(name), escapeRoff(version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n", escapeRoff(name), escapeRoff(cmd.Short), escapeRoff(usageLine(cmd)))
	if cmd.Long != "" {
		b.WriteString(".SH DESCRIPTION\n" + manText(cmd.Long))
	}
	if subs := visibleCommands(cmd); len(subs) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range subs {
			fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", escapeRoff(manName(sub)), escapeRoff(sub.Short))
		}
	}
	flags := cmd.LocalNonPersistentFlags()
	if !cmd.HasParent() {
		flags = cmd.LocalFlags()
	}
	if text := manFlags(flags); text != "" {
		b.WriteString(".SH OPTIONS\n" + text)
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", escapeRoff(cmd.Example))
	}
	if cmd.HasParent() {
		b.WriteString(".SH SEE ALSO\n.BR retake (1)\n")
		return b.String()
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", e.Code, escapeRoff(e.Means))
	}
	return b.String()
}

// manText is a description: paragraphs are filled, indented lines stay as they are.
func manText(long string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(long, "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(paragraph, " ") {
			fmt.Fprintf(&b, ".nf\n%s\n.fi\n", escapeRoff(paragraph))
		} else {
			b.WriteString(escapeRoff(paragraph) + "\n")
		}
	}
	return b.String()
}

func manFlags(set *pflag.FlagSet) string {
	var b strings.Builder
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, does := pflag.UnquoteUsage(f)
		short := ""
		if f.Shorthand != "" {
			short = "-" + f.Shorthand + ", "
		}
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", escapeRoff(strings.TrimSpace(short+"--"+f.Name+" "+value)), escapeRoff(does))
	})
	return b.String()
}

// escapeRoff writes text so that nothing in it is a request or an escape of the formatter.
func escapeRoff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
