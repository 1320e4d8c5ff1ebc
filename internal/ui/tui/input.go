package tui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// inputLine is a line being typed.
type inputLine struct {
	prompt   string // escaped, without color
	paint    func(string) string
	runes    []rune
	noPaste  bool // nothing can be pasted: it answers a question
	onEnter  func(text string) tea.Cmd
	onEscape func() tea.Cmd // after esc
}

// maxInputLength bounds a line.
const maxInputLength = 1000

func (in *inputLine) text() string { return string(in.runes) }

func (in *inputLine) handleKey(k, text string) {
	switch k {
	case "backspace", "ctrl+h":
		in.runes = in.runes[:max(len(in.runes)-1, 0)]
	case "ctrl+u":
		in.runes = nil
	case "ctrl+w":
		s := strings.TrimRight(in.text(), " /")
		in.runes = []rune(s[:strings.LastIndexAny(s, " /")+1])
	default:
		in.insert(text)
	}
}

func (in *inputLine) insert(text string) {
	for _, r := range text {
		if unicode.IsPrint(r) && len(in.runes) < maxInputLength {
			in.runes = append(in.runes, r)
		}
	}
}

// paste inserts the first line of the pasted text.
func (in *inputLine) paste(text string) {
	if in.noPaste {
		return
	}
	first, _, _ := strings.Cut(text, "\n")
	in.insert(first)
}

// visibleText returns the end of the text that fits.
func (in *inputLine) visibleText(room int) string {
	rs := in.runes
	for len(rs) > 0 && termtext.Width(termtext.Escape(string(rs))) > room {
		rs = rs[1:]
	}
	return termtext.Escape(string(rs))
}

func (in *inputLine) draw(l term.Style, width int) string {
	prompt := l.Glyphs.Cut(in.prompt, width*3/4)
	text := prompt
	if in.paint != nil {
		text = in.paint(prompt)
	}
	return text + " " + in.visibleText(width-termtext.Width(prompt)-2)
}

func (in *inputLine) cursorColumn(l term.Style) int {
	prompt := termtext.Width(l.Glyphs.Cut(in.prompt, l.Width*3/4))
	return prompt + 1 + termtext.Width(in.visibleText(l.Width-prompt-2))
}
