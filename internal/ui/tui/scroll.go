package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// scroll is text that is longer or wider than the screen.
type scroll struct {
	lines     []string // painted
	top, left int
	height    int // as it was drawn last
	words     string
	hit       int // the line that was found last; -1: none
}

func newScroll(text string) scroll {
	s := scroll{hit: -1}
	s.set(text)
	return s
}

// set replaces the text and stays where it is.
func (s *scroll) set(text string) {
	text = strings.ReplaceAll(strings.Trim(text, "\n"), "\t", "    ")
	s.lines = strings.Split(text, "\n")
	s.clamp()
}

func (s *scroll) clamp() { s.top = max(min(s.top, len(s.lines)-max(s.height, 1)), 0) }

// move reports whether a key moved it.
func (s *scroll) move(k string) bool {
	page := max(s.height-1, 1)
	switch k {
	case "j", "down":
		s.top++
	case "k", "up":
		s.top--
	case "g", "home":
		s.top = 0
	case "G", "end":
		s.top = len(s.lines)
	case "pgdown", "space", "ctrl+f":
		s.top += page
	case "pgup", "ctrl+b":
		s.top -= page
	case "ctrl+d":
		s.top += page / 2
	case "ctrl+u":
		s.top -= page / 2
	case "right":
		s.left += 8
	case "left":
		s.left = max(s.left-8, 0)
	default:
		return false
	}
	s.clamp()
	return true
}

func (s *scroll) draw(l term.Look, height int) []string {
	s.height = height
	s.clamp()
	end := min(s.top+height, len(s.lines))
	out := make([]string, 0, height)
	for i, line := range s.lines[s.top:end] {
		if s.words != "" {
			line = marked(line, s.words, s.top+i == s.hit)
		}
		out = append(out, l.Clip(line, s.left, l.Width))
	}
	return out
}

// place tells how far the text is read.
func (s *scroll) place() string {
	if len(s.lines) <= s.height {
		return ""
	}
	return fmt.Sprintf("%s of %s lines", termtext.Count(int64(min(s.top+s.height, len(s.lines)))), termtext.Count(int64(len(s.lines))))
}

// marked turns the words of a line over. Where they stand the line has no other color.
func marked(line, words string, here bool) string {
	bare := term.Strip(line)
	at := fold(bare, words)
	if at < 0 {
		return line
	}
	code := "\x1b[4m"
	if here {
		code = "\x1b[7m"
	}
	end := at + len(words)
	return bare[:at] + code + bare[at:end] + "\x1b[0m" + bare[end:]
}

// fold finds words in whatever case, or answers -1.
func fold(text, words string) int {
	for i := range text {
		if end := i + len(words); end <= len(text) && strings.EqualFold(text[i:end], words) {
			return i
		}
	}
	return -1
}

// search begins a search in the text.
func (s *scroll) search(m *model, b *base) tea.Cmd {
	b.input = &input{prompt: "find:", done: func(text string) tea.Cmd {
		s.words, s.hit = termtext.Escape(text), -1
		return s.next(m, 1)
	}}
	return nil
}

// next goes to the next or the previous line with the words.
func (s *scroll) next(m *model, step int) tea.Cmd {
	if s.words == "" {
		return nil
	}
	from := s.hit
	if from < 0 {
		from = s.top - step
	}
	for i, n := from+step, 0; n < len(s.lines); i, n = i+step, n+1 {
		at := ((i % len(s.lines)) + len(s.lines)) % len(s.lines)
		if fold(term.Strip(s.lines[at]), s.words) >= 0 {
			s.hit = at
			if at < s.top || at >= s.top+s.height {
				s.top = at - s.height/3
			}
			s.clamp()
			return nil
		}
	}
	m.note = "nothing here has " + m.look().Glyphs.Quote(s.words)
	return nil
}

// hear is move, search and next by their keys; it reports whether the key was one of them.
func (s *scroll) hear(m *model, b *base, k string) (tea.Cmd, bool) {
	switch k {
	case "/":
		return s.search(m, b), true
	case "n":
		return s.next(m, 1), true
	case "N":
		return s.next(m, -1), true
	}
	return nil, s.move(k)
}
