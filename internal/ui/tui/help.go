package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// helpPage is the page of the keys.
type helpPage struct {
	pageBase
	scrollView
}

var helpTexts = [][2]string{
	{"j k ↓ ↑", "down, up; also space, page keys, ctrl-d, ctrl-u"},
	{"g G", "the newest checkpoint, and start"},
	{"n N", "next, previous good checkpoint; in a text, the next place found"},
	{"enter", "open"},
	{"esc", "one step back; it never changes anything"},
	{"/", "find checkpoints by words; in a text, find in it"},
	{"d D", "diff with the checkpoint before, with now"},
	{"c", "mark a checkpoint; c on another one compares them"},
	{"r", "the plan to restore the chosen checkpoint"},
	{"u", "the plan to undo the newest turn or change"},
	{"[ ]", "in a diff, the hunk before and the next; u undoes the chosen one"},
	{"f", "create a fork from the chosen checkpoint; asks for a directory"},
	{"v", "show only good checkpoints, or all"},
	{"h", "show or hide lines that restores replaced"},
	{"1 2 3 4", "of a checkpoint: summary, files, conversation, checks"},
	{"← →", "the rest of long lines"},
	{"?", "this page"},
	{"q", "quit; nothing that runs is stopped"},
}

func newHelpPage(m *model) *helpPage {
	l := m.style()
	var b strings.Builder
	b.WriteString(l.Bold("Keys") + "\n\n")
	for _, t := range helpTexts {
		key := t[0]
		if l.ASCII {
			key = asciiKeys.Replace(key)
		}
		for i, line := range term.Wrap(t[1], max(l.Width-16, 20)) {
			if i > 0 {
				key = ""
			}
			b.WriteString("  " + l.Bold(termtext.Pad(key, 12)) + "  " + line + "\n")
		}
	}
	b.WriteString("\nNo key applies anything: keys open plans, and a plan asks before it is done.\n")
	return &helpPage{pageBase: m.newBase(), scrollView: newScrollView(b.String())}
}

func (p *helpPage) handleKey(m *model, k string) tea.Cmd {
	if k == "esc" || k == "?" || k == "enter" {
		m.closePage()
		return nil
	}
	cmd, _ := p.handleScrollKey(m, &p.pageBase, k)
	return cmd
}

func (p *helpPage) draw(_ *model, l term.Style, height int) []string {
	return p.scrollView.draw(l, height)
}

func (p *helpPage) statusLine(_ *model, l term.Style) string { return l.Dim(p.positionText()) }

func (p *helpPage) keyHelp() []string { return []string{"j k", "scroll", "esc", "back"} }
