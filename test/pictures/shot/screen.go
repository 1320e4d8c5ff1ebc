// Package shot makes a picture of what a program writes to a terminal: SVG, with text that
// can be copied.
//
// It reads bytes and answers bytes, and touches nothing else.
//
//	P1  Every character stands in its own column, whatever font the viewer has.
//	P2  A picture holds no script and names nothing outside of itself.
//	P3  All text of the screen is in the picture as text, signs and lines too.
package shot

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/retake-dev/retake/internal/pure/termtext"
)

// ink is how a character looks: a color of SGR (31 to 36, 0 is the default), bold and dim.
type ink struct {
	color     int
	bold, dim bool
}

// cell is one column of a row. The second column of a wide character has no rune.
type cell struct {
	r   rune
	ink ink
}

// Screen is a terminal of a fixed width that grows downwards and never scrolls.
type Screen struct {
	width    int
	rows     [][]cell
	row, col int
	ink      ink
}

// Read plays what was written to a terminal of this width.
func Read(text string, width int) *Screen {
	s := &Screen{width: width}
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			text = s.control(rest)
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		s.put(r)
	}
	for len(s.rows) > 0 && len(s.rows[len(s.rows)-1]) == 0 {
		s.rows = s.rows[:len(s.rows)-1]
	}
	return s
}

func (s *Screen) put(r rune) {
	switch {
	case r == '\n':
		s.row++
	case r == '\r':
		s.col = 0
	case r == '\b':
		s.col = max(s.col-1, 0)
	case r == '\t':
		s.col = min((s.col/8+1)*8, s.width)
	case r >= ' ':
		wide := termtext.Width(string(r))
		if s.col+wide > s.width {
			s.row, s.col = s.row+1, 0
		}
		s.set(cell{r, s.ink})
		for range wide - 1 {
			s.set(cell{0, s.ink})
		}
	}
}

func (s *Screen) set(c cell) {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
	row := s.rows[s.row]
	for len(row) <= s.col {
		row = append(row, cell{r: ' '})
	}
	row[s.col] = c
	s.rows[s.row] = row
	s.col++
}

// control does one sequence, of which the introducer is gone, and answers what follows it.
func (s *Screen) control(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return r >= '@' && r <= '~' })
	if end < 0 {
		return ""
	}
	var numbers []int
	for word := range strings.SplitSeq(text[:end], ";") {
		n, _ := strconv.Atoi(word) // an empty one is 0, as terminals have it
		numbers = append(numbers, n)
	}
	step := max(numbers[0], 1)
	switch text[end] {
	case 'm':
		for _, n := range numbers {
			s.ink = s.ink.sgr(n)
		}
	case 'A':
		s.row = max(s.row-step, 0)
	case 'B':
		s.row += step
	case 'C':
		s.col = min(s.col+step, s.width)
	case 'D':
		s.col = max(s.col-step, 0)
	case 'G':
		s.col = min(step-1, s.width)
	case 'K':
		s.wipe(numbers[0])
	case 'J':
		s.wipe(numbers[0])
		s.rows = s.rows[:min(len(s.rows), s.row+1)]
	}
	return text[end+1:]
}

// wipe clears the row from here on, or all of it.
func (s *Screen) wipe(how int) {
	if s.row >= len(s.rows) {
		return
	}
	from := s.col
	if how == 2 {
		from = 0
	}
	s.rows[s.row] = s.rows[s.row][:min(from, len(s.rows[s.row]))]
}

func (i ink) sgr(n int) ink {
	switch {
	case n == 0:
		return ink{}
	case n == 1:
		i.bold = true
	case n == 2:
		i.dim = true
	case n == 22:
		i.bold, i.dim = false, false
	case n >= 31 && n <= 36:
		i.color = n
	case n == 39:
		i.color = 0
	}
	return i
}
