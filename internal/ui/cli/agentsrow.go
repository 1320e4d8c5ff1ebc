package cli

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/install"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// agentsRow returns the row of the status that says whether the agents of this machine have
// our hooks.
func agentsRow(f *commandLine, l term.Style, ws retake.Workspace) string {
	if f.Places == nil {
		return ""
	}
	room := termtext.Width(l.Glyphs.Yes)
	row := func(sign, text string) string {
		return l.HangingIndent(fmt.Sprintf("  %s %s%s", sign, termtext.Pad("agents", 12), text), 15+termtext.Width(l.Glyphs.Yes)) + "\n"
	}
	if since := pausedSince(f, ws.ID); since != "" {
		return row(l.Yellow(termtext.Pad("!", room)), "paused since "+since+": retake unpause")
	}
	heard, deaf := agentsByHook(f, ws)
	switch {
	case len(heard)+len(deaf) == 0:
		return ""
	case len(deaf) > 0:
		text := strings.Join(deaf, ", ") + " without hooks: retake agents install"
		if len(heard) > 0 {
			text = l.JoinFacts(strings.Join(heard, ", ")+" heard", text)
		}
		return row(l.Yellow(termtext.Pad("!", room)), text)
	}
	return row(l.Green(l.Glyphs.Yes), strings.Join(heard, ", ")+" heard, every turn")
}

// agentsByHook returns the agents of this machine with our hooks and those without.
func agentsByHook(f *commandLine, ws retake.Workspace) (heard, deaf []string) {
	p := f.Places(ws.Root)
	for _, a := range install.All() {
		switch {
		case a.Status(install.User, p).Condition == install.Current, a.Status(install.Project, p).Condition == install.Current:
			heard = append(heard, a.Name)
		case a.Installed(p):
			deaf = append(deaf, a.Name)
		}
	}
	return heard, deaf
}
