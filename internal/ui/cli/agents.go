package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/install"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type agentsCmd struct {
	*commandLine
	project  bool
	all      bool
	plan     bool
	worktree bool
}

type agentsAnswer struct {
	V      int              `json:"v"`
	Agents []install.Status `json:"agents"`
}

func newAgentsCommand(f *commandLine) *cobra.Command {
	c := &agentsCmd{commandLine: f}
	cmd := &cobra.Command{Use: "agents", Short: "Install or remove the hooks in your agents", Args: argsBetween(0, 0), RunE: c.runStatus}
	status := &cobra.Command{Use: "status", Short: "List installed agents and the state of their hooks", Args: argsBetween(0, 0), RunE: c.runStatus}
	install := &cobra.Command{Use: "install [AGENT…]", Short: "Install Retake's hooks in your agents", Args: argsBetween(0, -1), RunE: c.runInstall}
	remove := &cobra.Command{Use: "remove [AGENT…]", Short: "Remove Retake's hooks from your agents", Args: argsBetween(0, -1), RunE: c.runRemove}
	for _, sub := range []*cobra.Command{status, install, remove} {
		sub.Flags().BoolVar(&c.project, "project", false, "use this project's agent settings instead of yours")
		cmd.AddCommand(sub)
	}
	status.Flags().BoolVar(&c.all, "all", false, "include agents that are not installed")
	for _, sub := range []*cobra.Command{install, remove} {
		sub.Flags().BoolVar(&c.plan, "plan", false, "show the exact changes; change nothing")
	}
	install.Flags().BoolVar(&c.worktree, "worktree", false, "with --project: let Claude Code use Retake forks as worktrees")
	return cmd
}

func (c *agentsCmd) scope() install.Scope {
	if c.project {
		return install.Project
	}
	return install.User
}

func (c *agentsCmd) installPlaces() install.Places { return c.Places(c.workingDir()) }

func (c *agentsCmd) runStatus(*cobra.Command, []string) error {
	p := c.installPlaces()
	a := agentsAnswer{V: 1, Agents: []install.Status{}}
	for _, ag := range install.All() {
		here := ag.Installed(p)
		for _, s := range []install.Scope{install.User, install.Project} {
			st := ag.Status(s, p)
			if c.all || st.Condition != install.Absent || here && s == install.User {
				a.Agents = append(a.Agents, st)
			}
		}
	}
	err := c.printAnswer(a, func(l term.Style) string { return renderAgents(l, a.Agents) })
	if len(a.Agents) == 0 { // without a name there is nothing to put hooks into
		c.printHints("put hooks in", "retake agents install claude-code")
		return err
	}
	c.printHints("put hooks in", "retake agents install", "take them out", "retake agents remove")
	return err
}

func renderAgents(l term.Style, list []install.Status) string {
	if len(list) == 0 {
		return "No agent that we know is here. All: retake agents status --all\n"
	}
	name, file := 0, 0
	for _, s := range list {
		name, file = max(name, len(s.Agent)), max(file, termtext.Width(l.DisplayPath(s.File)))
	}
	file = min(file, max(l.Width-name-28, 20))
	var b strings.Builder
	for _, s := range list {
		sign, word := conditionMark(l, s.Condition)
		fmt.Fprintf(&b, "%s %s  %s  %s", sign, termtext.Pad(s.Agent, name), termtext.Pad(l.Glyphs.Cut(l.DisplayPath(s.File), file), file), word)
		if s.Scope == install.Project {
			b.WriteString(l.Dim("  project"))
		}
		b.WriteString("\n")
		if s.Detail != "" {
			for _, line := range term.Wrap(termtext.Escape(s.Detail), max(l.Width-name-5, 30)) {
				fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", termtext.Width(l.Glyphs.Yes)+3+name), l.Dim(line))
			}
		}
	}
	return b.String()
}

func conditionMark(l term.Style, c install.Condition) (sign, word string) {
	room := termtext.Width(l.Glyphs.Yes)
	switch c {
	case install.Current:
		return l.Green(l.Glyphs.Yes), "hooks current"
	case install.Outdated:
		return l.Yellow(termtext.Pad("!", room)), "hooks outdated: retake agents install"
	case install.Unknown:
		return l.Yellow(termtext.Pad("!", room)), "not understood"
	case install.Absent:
	}
	return l.Dim(termtext.Pad(l.Glyphs.Dash, room)), "no hooks"
}

// selectAgents returns the named agents, or those for which here is true if none is named.
func (c *agentsCmd) selectAgents(names []string, here func(install.Agent) bool) ([]install.Agent, error) {
	var out []install.Agent
	for _, n := range names {
		a, ok := install.ByName(n)
		if !ok {
			return nil, unknownAgent(n)
		}
		out = append(out, a)
	}
	if len(names) > 0 {
		return out, nil
	}
	return slices.DeleteFunc(install.All(), func(a install.Agent) bool { return !here(a) }), nil
}

func unknownAgent(name string) error {
	var all []string
	for _, a := range install.All() {
		all = append(all, a.Name)
	}
	return &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no agent %s", name), Safe: nothingChanged, Hint: "there are: " + strings.Join(all, ", ")}
}

func (c *agentsCmd) runInstall(cmd *cobra.Command, args []string) error {
	p := c.installPlaces()
	list, err := c.selectAgents(args, func(a install.Agent) bool { return a.Installed(p) })
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return &retake.Error{Kind: retake.NotFound, What: "no agent that we know is here", Safe: nothingChanged, Hint: "name one: retake agents install claude-code"}
	}
	err = c.applyChanges(cmd.Context(), list, func(a install.Agent) (install.Change, error) {
		o := install.Options{Worktree: c.worktree && a.Name == "claude-code"}
		return a.PlanInstall(c.scope(), p, o)
	}, "Put them in?")
	if protect, _ := c.Settings.Value("protect"); err == nil && !c.plan && protect != "auto" { // the key exists
		c.printHints("protect every project that an agent works in", "retake config protect auto")
	}
	return err
}

func (c *agentsCmd) runRemove(cmd *cobra.Command, args []string) error {
	p := c.installPlaces()
	list, err := c.selectAgents(args, func(a install.Agent) bool {
		st := a.Status(c.scope(), p)
		return st.Condition == install.Current || st.Condition == install.Outdated
	})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return c.printAnswer(agentsAnswer{1, []install.Status{}}, func(term.Style) string { return "No hooks of ours are in the settings of the agents here.\n" })
	}
	return c.applyChanges(cmd.Context(), list, func(a install.Agent) (install.Change, error) { return a.PlanRemove(c.scope(), p) }, "Take them out?")
}

// applyChanges plans all changes, shows them, asks, and applies them.
func (c *agentsCmd) applyChanges(ctx context.Context, list []install.Agent, plan func(install.Agent) (install.Change, error), question string) error {
	changes, err := c.planChanges(list, plan)
	if err != nil {
		return err
	}
	if !c.json {
		fmt.Fprint(c.Out, renderHooks(c.stdoutStyle(), changes, c.plan))
	}
	if c.plan {
		return c.printChanges(changes)
	}
	if !slices.ContainsFunc(changes, func(ch install.Change) bool { return ch.Added+ch.Removed > 0 }) {
		return c.printChanges(changes)
	}
	if !c.yes {
		if !c.canAsk() {
			return &retake.Error{Kind: retake.Denied, What: "this changes settings of your agents, which needs your confirmation", Safe: nothingChanged, Hint: "preview: " + c.retypedCommand("--plan") + "\ngo ahead: " + c.retypedCommand("--yes")}
		}
		ok, err := c.askYesNo(ctx, question)
		if err != nil || !ok {
			return orCancelled(err)
		}
	}
	for _, ch := range changes {
		if err := ch.Apply(); err != nil {
			return err
		}
		if !c.json && ch.Added+ch.Removed > 0 {
			fmt.Fprintf(c.Out, "%s %s  %s\n", c.stdoutStyle().Green(c.stdoutStyle().Glyphs.Yes), ch.Agent, effectText(ch))
		}
	}
	return c.printChanges(changes)
}

func orCancelled(err error) error {
	if err != nil {
		return err
	}
	return errCancelled
}

func effectText(ch install.Change) string {
	if ch.Added == 0 {
		return "its settings are as they were before"
	}
	if ch.Agent == "codex" {
		return "takes effect in its next session, and asks once to trust hooks"
	}
	return "takes effect in its next session"
}

// planChanges plans the change of every agent. One of several that cannot be planned is
// skipped with a warning; it is an error only if none is left.
func (c *agentsCmd) planChanges(list []install.Agent, plan func(install.Agent) (install.Change, error)) ([]install.Change, error) {
	var out []install.Change
	var first error
	for _, a := range list {
		ch, err := plan(a)
		if err != nil {
			if first == nil {
				first = err
			}
			if len(list) > 1 {
				c.printWarnings([]retake.Warning{{Code: "agent", Text: a.Name + ": " + retake.AsError(err).Error()}})
			}
			continue
		}
		out = append(out, ch)
	}
	if len(out) == 0 {
		return nil, first
	}
	return out, nil
}

// printChanges prints how the changed agents are set up now, in JSON only.
func (c *agentsCmd) printChanges(changes []install.Change) error {
	if !c.json {
		return nil
	}
	a := agentsAnswer{V: 1, Agents: []install.Status{}}
	for _, ch := range changes {
		if ag, ok := install.ByName(ch.Agent); ok {
			a.Agents = append(a.Agents, ag.Status(ch.Scope, c.installPlaces()))
		}
	}
	return c.writeJSON(a)
}

func renderHooks(l term.Style, changes []install.Change, exact bool) string {
	var b strings.Builder
	for i, ch := range changes {
		fmt.Fprintf(&b, "  %d  %s  %s  %s\n", i+1, termtext.Pad(ch.Agent, 12), l.DisplayPath(ch.File), l.Dim(changeText(ch)))
		for _, n := range ch.Notes {
			for _, line := range strings.Split(n, "\n") {
				fmt.Fprintf(&b, "     %s\n", l.Dim(termtext.Escape(line)))
			}
		}
		if exact {
			for _, line := range ch.Lines() {
				fmt.Fprintf(&b, "     %s\n", paintLine(l, termtext.Escape(line)))
			}
		}
	}
	return b.String()
}

func paintLine(l term.Style, line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return l.Green(line)
	case strings.HasPrefix(line, "-"), strings.HasPrefix(line, l.Glyphs.Minus):
		return l.Red(line)
	}
	return line
}

func changeText(ch install.Change) string {
	switch {
	case ch.Added == 0 && ch.Removed == 0:
		return "nothing to change"
	case ch.Removed == 0:
		return "+" + term.CountNoun(int64(ch.Added), "hook", "hooks") + ", rest untouched"
	case ch.Added == 0:
		return "−" + term.CountNoun(int64(ch.Removed), "hook", "hooks") + ", rest untouched"
	}
	return fmt.Sprintf("−%d +%s, rest untouched", ch.Removed, term.CountNoun(int64(ch.Added), "hook", "hooks"))
}
