package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shown is one command as a person sees it.
type shown struct {
	args []string
	out  string
}

// show remembers what a person would read; what programs read is not for a page.
func (b *bed) show(args []string, out []byte) {
	if !slices.Contains(args, "--json") && args[0] != "daemon" {
		b.seen = append(b.seen, shown{args, string(out)})
	}
}

// page writes the first two minutes with an agent, from what was printed in the run.
func (b *bed) page(dir, version string) error {
	var t strings.Builder
	a := b.agent
	fmt.Fprintf(&t, "# %s in two minutes\n\nEverything below was printed in a run with %s %s (`make agents`); only the prompts were typed by a script.\n", a.title, a.title, version)
	b.section(&t, "Protect the directory", "init", "The first capture is the only one that reads everything. Nothing leaves the machine, and your files stay as they are.")
	b.section(&t, "Let every turn become a checkpoint", "agents", "The hooks go into the settings of "+a.title+", and `retake agents remove "+a.name+"` takes them out again, byte for byte. Look first with `--plan`.")
	fmt.Fprintf(&t, "\n## Work as usual\n\nStart `%s` and ask for what you want. In this run that was:\n\n", a.bin)
	for _, p := range []string{promptWrite, promptInstall, promptClean} {
		fmt.Fprintf(&t, "> %s\n>\n", p)
	}
	b.section(&t, "See what happened", "log", "Each row shows your prompt and how many files changed. The checkpoint marked ◇ was taken before the agent ran a command that deletes.")
	b.section(&t, "Take the last turn back", "undo", "The files are back, what you did yourself stays, and the agent is told at its next prompt. The command continues the conversation as it was before that turn.")
	t.WriteString("\nMore: [how it works](agents.md) · [going back](../use/going-back.md) · [tools for the agent itself](../use/mcp.md)\n")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, a.name+".md"), []byte(t.String()), 0o644)
}

// section shows the last command of a kind.
func (b *bed) section(t *strings.Builder, title, verb, text string) {
	for _, s := range slices.Backward(b.seen) {
		if s.args[0] == verb {
			fmt.Fprintf(t, "\n## %s\n\n```\n$ retake %s\n%s```\n\n%s\n", title, strings.Join(s.args, " "), strings.TrimLeft(s.out, "\n"), text)
			return
		}
	}
}
