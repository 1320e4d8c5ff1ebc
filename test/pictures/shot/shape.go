package shot

import (
	"fmt"
	"strings"
)

// arms are the lines of a box character, from the middle of its cell: up, down, left, right.
// They are drawn, because a font leaves gaps between rows.
var arms = map[rune]string{
	'│': "ud", '─': "lr", '┴': "ulr", '┬': "dlr", '├': "udr", '┤': "udl", '┼': "udlr", '┊': "ud",
	'╮': "ld", '╯': "lu", '╭': "rd", '╰': "ru", '┌': "rd", '┐': "ld", '└': "ru", '┘': "lu",
}

const (
	curve = 4.0 // of a rounded corner
	node  = 3.6 // half the width of a checkpoint

	nodes = "●○◇→" // what a line of the graph runs through
)

func isDrawn(r rune) bool {
	return arms[r] != "" || strings.ContainsRune("●○◇━", r)
}

// shape draws a sign in the cell at x, y; nothing for a letter.
func shape(r rune, i ink, x, y float64) string {
	if !isDrawn(r) {
		return ""
	}
	class, cx, cy := i.class(), x+cellW/2, y+cellH/2
	switch r {
	case '●':
		return fmt.Sprintf(`<circle class="f %s" cx="%s" cy="%s" r="%s"/>`, class, num(cx), num(cy), num(node))
	case '○':
		return fmt.Sprintf(`<circle class="%s" cx="%s" cy="%s" r="%s"/>`, class, num(cx), num(cy), num(node))
	case '◇':
		return fmt.Sprintf(`<path class="%s" d="M%s %sl4.4 4.4-4.4 4.4-4.4-4.4z"/>`, class, num(cx), num(cy-4.4))
	case '┊':
		return fmt.Sprintf(`<path class="%s" stroke-dasharray="2.5 4.17" d="M%s %sv%s"/>`, class, num(cx), num(y+1), num(cellH-1))
	case '╮', '╯', '╭', '╰':
		return fmt.Sprintf(`<path class="%s" d="%s"/>`, class, corner(arms[r], cx, cy))
	}
	var d strings.Builder
	for _, arm := range arms[r] {
		fmt.Fprintf(&d, "M%s %s", num(cx), num(cy))
		switch arm {
		case 'u':
			fmt.Fprintf(&d, "v-%s", num(cellH/2))
		case 'd':
			fmt.Fprintf(&d, "v%s", num(cellH/2))
		case 'l':
			fmt.Fprintf(&d, "h-%s", num(cellW/2))
		case 'r':
			fmt.Fprintf(&d, "h%s", num(cellW/2))
		}
	}
	return fmt.Sprintf(`<path class="%s" d="%s"/>`, class, d.String())
}

// bar draws the part of a bar that has one ink, without seams.
func bar(r run, y float64) string {
	return fmt.Sprintf(`<path class="%s" style="stroke-width:5" d="M%s %sh%s"/>`,
		r.ink.class(), num(padX+float64(r.col)*cellW), num(y+cellH/2), num(float64(r.cols)*cellW))
}

// at is the cell in a place; a blank where nothing is.
func (s *Screen) at(row, col int) cell {
	if row < 0 || row >= len(s.rows) || col < 0 || col >= len(s.rows[row]) {
		return cell{r: ' '}
	}
	return s.rows[row][col]
}

// joints draw a line on to the checkpoint that it leads to, from the edge of its cell, where it
// would end in a font.
func (s *Screen) joints(row, col int) string {
	own := s.at(row, col)
	if !strings.ContainsRune(nodes, own.r) {
		return ""
	}
	cx, cy := padX+(float64(col)+.5)*cellW, padY+(float64(row)+.5)*cellH
	gap := node + map[rune]float64{'◇': .8, '→': 1.9}[own.r]
	var b strings.Builder
	for _, j := range []struct {
		row, col int
		arm      string // of the neighbour, towards us
		path     string
	}{
		{row - 1, col, "d", fmt.Sprintf("M%s %sV%s", num(cx), num(cy-cellH/2), num(cy-gap))},
		{row + 1, col, "u", fmt.Sprintf("M%s %sV%s", num(cx), num(cy+cellH/2), num(cy+gap))},
		{row, col + 1, "l", fmt.Sprintf("M%s %sH%s", num(cx+cellW/2), num(cy), num(cx+gap))},
		{row, col - 1, "r", fmt.Sprintf("M%s %sH%s", num(cx-cellW/2), num(cy), num(cx-gap))},
	} {
		next := s.at(j.row, j.col)
		ink := next.ink
		if j.col == col && strings.ContainsRune(nodes, next.r) {
			ink.color, ink.dim = 0, own.ink.dim || next.ink.dim
		} else if next.r == '┊' || !strings.Contains(arms[next.r], j.arm) {
			continue
		}
		fmt.Fprintf(&b, `<path class="%s" d="%s"/>`, ink.class(), j.path)
	}
	return b.String()
}

// corner is a line from one side to the top or the bottom of a cell, with a round bend.
func corner(arms string, cx, cy float64) string {
	side, end := cellW/2, cellH/2
	if arms[0] == 'l' {
		side = -side
	}
	bend := curve
	if arms[1] == 'u' {
		end, bend = -end, -curve
	}
	return fmt.Sprintf("M%s %sQ%s %s %s %sV%s", num(cx+side), num(cy), num(cx), num(cy), num(cx), num(cy+bend), num(cy+end))
}
