package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake/internal/agents/install"
)

// offerAgentHooks finds the agents of this machine after a directory was protected, and asks
// whether their turns shall become checkpoints. It is asked on a terminal only.
func (c *initCmd) offerAgentHooks(ctx context.Context) error {
	if c.Places == nil || c.json {
		return nil
	}
	p := c.Places(c.workingDir())
	var changes []install.Change
	for _, a := range install.All() {
		if !a.Installed(p) || a.Status(install.User, p).Condition == install.Current || a.Status(install.Project, p).Condition == install.Current {
			continue
		}
		if ch, err := a.PlanInstall(install.User, p, install.Options{}); err == nil && ch.Added > 0 {
			changes = append(changes, ch)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	if !c.canAsk() || c.yes { // --yes protects; settings of other programs need their own word
		c.printHints("every turn of an agent", "retake agents install")
		return nil
	}
	fmt.Fprintf(c.Err, "\n%s here. Hooks let every turn become a checkpoint.\n\n%s\n", agentsFoundText(len(changes)), renderHooks(c.stderrStyle(), changes, false))
	return c.askEachAgent(ctx, changes)
}

func agentsFoundText(n int) string {
	if n == 1 {
		return "One agent is"
	}
	return fmt.Sprintf("%d agents are", n)
}

func (c *initCmd) askEachAgent(ctx context.Context, changes []install.Change) error {
	for {
		text, err := c.askLine(ctx, "Install? [Y/n "+c.stderrStyle().Glyphs.Dash+" a number "+c.stderrStyle().Glyphs.Dash+" s shows the exact lines] ")
		if err != nil {
			return err
		}
		switch n, nerr := strconv.Atoi(text); {
		case text == "" || isYes(text):
			return c.installHooks(changes)
		case text == "s":
			fmt.Fprint(c.Err, renderHooks(c.stderrStyle(), changes, true))
			continue
		case nerr == nil && n >= 1 && n <= len(changes):
			return c.installHooks(slices.Clone(changes[n-1 : n]))
		default:
			fmt.Fprintln(c.Err, "Skipped. Later: retake agents install")
			return nil
		}
	}
}

func (c *initCmd) installHooks(changes []install.Change) error {
	l := c.stderrStyle()
	for _, ch := range changes {
		if err := ch.Apply(); err != nil {
			return err
		}
		fmt.Fprintf(c.Err, "  %s %s  %s\n", l.Green(l.Glyphs.Yes), strings.TrimSpace(ch.Agent), effectText(ch))
	}
	return nil
}
