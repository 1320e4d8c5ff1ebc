package tui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// input is a line that is being typed.
type input struct {
	prompt string // escaped, without color
	paint  func(string) string
	runes  []rune
	strict bool // nothing can be pasted: it answers a question
	done   func(text string) tea.Cmd
	left   func() tea.Cmd // after esc
}

// mostTyped bounds a line.
const mostTyped = 1000

func (in *input) text() string { return string(in.runes) }

func (in *input) key(k, text string) {
	switch k {
	case "backspace", "ctrl+h":
		in.runes = in.runes[:max(len(in.runes)-1, 0)]
	case "ctrl+u":
		in.runes = nil
	case "ctrl+w":
		s := strings.TrimRight(in.text(), " /")
		in.runes = []rune(s[:strings.LastIndexAny(s, " /")+1])
	default:
		in.add(text)
	}
}

func (in *input) add(text string) {
	for _, r := range text {
		if unicode.IsPrint(r) && len(in.runes) < mostTyped {
			in.runes = append(in.runes, r)
		}
	}
}

// paste takes the first line of what is pasted.
func (in *input) paste(text string) {
	if in.strict {
		return
	}
	first, _, _ := strings.Cut(text, "\n")
	in.add(first)
}

// shown is the end of the text that has room.
func (in *input) shown(room int) string {
	rs := in.runes
	for len(rs) > 0 && termtext.Width(termtext.Escape(string(rs))) > room {
		rs = rs[1:]
	}
	return termtext.Escape(string(rs))
}

func (in *input) draw(l term.Look, width int) string {
	prompt := l.Glyphs.Cut(in.prompt, width*3/4)
	text := prompt
	if in.paint != nil {
		text = in.paint(prompt)
	}
	return text + " " + in.shown(width-termtext.Width(prompt)-2)
}

func (in *input) column(l term.Look) int {
	prompt := termtext.Width(l.Glyphs.Cut(in.prompt, l.Width*3/4))
	return prompt + 1 + termtext.Width(in.shown(l.Width-prompt-2))
}
