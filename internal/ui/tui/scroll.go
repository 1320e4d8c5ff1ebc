package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// scrollView is text that may be longer or wider than the screen.
type scrollView struct {
	lines       []string // painted
	top, left   int
	height      int // as it was drawn last
	searchWords string
	foundLine   int // the line that was found last; -1: none
}

func newScrollView(text string) scrollView {
	s := scrollView{foundLine: -1}
	s.setText(text)
	return s
}

// setText replaces the text and keeps the position.
func (s *scrollView) setText(text string) {
	text = strings.ReplaceAll(strings.Trim(text, "\n"), "\t", "    ")
	s.lines = strings.Split(text, "\n")
	s.clamp()
}

func (s *scrollView) clamp() { s.top = max(min(s.top, len(s.lines)-max(s.height, 1)), 0) }

// moveByKey reports whether the key moved the text.
func (s *scrollView) moveByKey(k string) bool {
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

func (s *scrollView) draw(l term.Style, height int) []string {
	s.height = height
	s.clamp()
	end := min(s.top+height, len(s.lines))
	out := make([]string, 0, height)
	for i, line := range s.lines[s.top:end] {
		if s.searchWords != "" {
			line = highlightWords(line, s.searchWords, s.top+i == s.foundLine)
		}
		out = append(out, l.ClipColumns(line, s.left, l.Width))
	}
	return out
}

// positionText returns how far the text is scrolled.
func (s *scrollView) positionText() string {
	if len(s.lines) <= s.height {
		return ""
	}
	return fmt.Sprintf("%s of %s lines", termtext.Count(int64(min(s.top+s.height, len(s.lines)))), termtext.Count(int64(len(s.lines))))
}

// highlightWords inverts the words in a line; the line loses its other colors there.
func highlightWords(line, words string, here bool) string {
	bare := term.StripANSI(line)
	at := indexFold(bare, words)
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

// indexFold returns the index of words in text, ignoring case, or -1.
func indexFold(text, words string) int {
	for i := range text {
		if end := i + len(words); end <= len(text) && strings.EqualFold(text[i:end], words) {
			return i
		}
	}
	return -1
}

// startSearch begins a search in the text.
func (s *scrollView) startSearch(m *model, b *pageBase) tea.Cmd {
	b.input = &inputLine{prompt: "find:", onEnter: func(text string) tea.Cmd {
		s.searchWords, s.foundLine = termtext.Escape(text), -1
		return s.findNext(m, 1)
	}}
	return nil
}

// findNext goes to the next or previous line with the words.
func (s *scrollView) findNext(m *model, step int) tea.Cmd {
	if s.searchWords == "" {
		return nil
	}
	from := s.foundLine
	if from < 0 {
		from = s.top - step
	}
	for i, n := from+step, 0; n < len(s.lines); i, n = i+step, n+1 {
		at := ((i % len(s.lines)) + len(s.lines)) % len(s.lines)
		if indexFold(term.StripANSI(s.lines[at]), s.searchWords) >= 0 {
			s.foundLine = at
			if at < s.top || at >= s.top+s.height {
				s.top = at - s.height/3
			}
			s.clamp()
			return nil
		}
	}
	m.notice = "nothing here has " + m.style().Glyphs.Quote(s.searchWords)
	return nil
}

// handleScrollKey handles the keys that move and search; it reports whether the key was one of
// them.
func (s *scrollView) handleScrollKey(m *model, b *pageBase, k string) (tea.Cmd, bool) {
	switch k {
	case "/":
		return s.startSearch(m, b), true
	case "n":
		return s.findNext(m, 1), true
	case "N":
		return s.findNext(m, -1), true
	}
	return nil, s.moveByKey(k)
}
