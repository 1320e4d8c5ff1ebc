package shot

import (
	"fmt"
	"strings"
)

// The sizes of a picture, in pixels. Most fixed fonts are 0.6 em wide.
const (
	fontSize = 14.0
	cellW    = 8.4
	cellH    = 20.0
	baseline = 14.5
	padX     = 26.0
	padY     = 22.0
	radius   = 12.0
)

// The parts of a style. Every color is at least 4.5 to 1 on its ground.
const (
	face = `text{font:14px "JetBrains Mono",ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;` +
		`font-variant-ligatures:none;white-space:pre;fill:currentColor}` +
		`path,circle{fill:none;stroke:currentColor;stroke-width:1.3}.f{fill:currentColor}.u{fill-opacity:0}.b{font-weight:700}`
	light = `.w{fill:#FAF9F6;stroke:#D6D2C8}.t{color:#1E1D1A}.d{color:#6C685F}.g{color:#1A7341}.r{color:#B4291F}.y{color:#885400}.m{color:#9B2A78}.c{color:#0B6876}`
	dark  = `.w{fill:#131312;stroke:#3B3934}.t{color:#ECEAE3}.d{color:#949087}.g{color:#74C690}.r{color:#F48D83}.y{color:#E2B462}.m{color:#E09ACB}.c{color:#74C4CF}`

	// style has both grounds; which one is shown is the viewer's choice.
	style = face + light + `@media (prefers-color-scheme:dark){` + dark + `}`
)

// Style is that of a picture with one ground, for who chooses between two files.
func Style(onDark bool) string {
	if onDark {
		return face + dark
	}
	return face + light
}

// class of an ink. Blue is not among the colors of the command line.
func (i ink) class() string {
	name := map[int]string{31: "r", 32: "g", 33: "y", 35: "m", 36: "c"}[i.color]
	switch {
	case name != "":
	case i.dim:
		name = "d"
	default:
		name = "t"
	}
	return name
}

// SVG draws the screen. The title is what is read aloud.
func (s *Screen) SVG(title string) []byte {
	width, height := 2*padX+float64(s.width)*cellW, 2*padY+float64(len(s.rows))*cellH
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img">`+"\n", num(width), num(height))
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n", escape(title), style)
	fmt.Fprintf(&b, `<rect class="w" x=".5" y=".5" width="%s" height="%s" rx="%s"/>`+"\n", num(width-1), num(height-1), num(radius))
	for y, row := range s.rows {
		s.drawRow(&b, row, y)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// The size of a cell and of its letters in what Rows draws.
const (
	CellW, CellH = cellW, cellH
	FontSize     = fontSize
)

// Row is one line of a screen, alone: what it says, and its drawing from 0, 0 on.
type Row struct{ Text, SVG string }

// Rows are all lines of the screen, for a picture that has more than a screen in it.
func (s *Screen) Rows() []Row {
	out := make([]Row, len(s.rows))
	for y, row := range s.rows {
		var text, b strings.Builder
		for _, c := range row {
			if c.r != 0 {
				text.WriteRune(c.r)
			}
		}
		s.drawRow(&b, row, y)
		out[y].Text = strings.TrimRight(text.String(), " ")
		if b.Len() > 0 {
			out[y].SVG = fmt.Sprintf(`<g transform="translate(%s %s)">%s</g>`, num(-padX), num(-padY-float64(y)*cellH), strings.TrimSuffix(b.String(), "\n"))
		}
	}
	return out
}

func (s *Screen) drawRow(b *strings.Builder, row []cell, y int) {
	runs, top := split(row), padY+float64(y)*cellH
	if len(runs) == 0 {
		return
	}
	for _, r := range runs {
		if r.text[0] == '━' {
			b.WriteString(bar(r, top))
			continue
		}
		for i, c := range r.text {
			b.WriteString(s.joints(y, r.col+i))
			b.WriteString(shape(c, r.ink, padX+float64(r.col+i)*cellW, top))
		}
	}
	fmt.Fprintf(b, `<text xml:space="preserve" y="%s">`, num(top+baseline))
	col := 0
	for _, r := range runs {
		b.WriteString(strings.Repeat(" ", r.col-col)) // for who copies
		col = r.col + r.cols
		class := r.ink.class()
		if r.ink.bold {
			class += " b"
		}
		if r.drawn {
			class += " u"
		}
		fmt.Fprintf(b, `<tspan class="%s" x="%s" textLength="%s" lengthAdjust="spacingAndGlyphs">%s</tspan>`,
			class, num(padX+float64(r.col)*cellW), num(float64(r.cols)*cellW), escape(string(r.text)))
	}
	b.WriteString("</text>\n")
}

// run is text that one font most likely has, in one ink, with no gap in it.
type run struct {
	col, cols int
	text      []rune
	ink       ink
	drawn     bool // its characters are shapes; the text is there to be copied
}

// split cuts a row into runs. Each is put in its place by itself, so that a glyph of another
// width moves nothing after it (P1). One space stays inside of a run; more begin a new one.
func split(row []cell) []run {
	var out []run
	for col := 0; col < len(row); {
		c := row[col]
		if c.r == ' ' {
			col++
			continue
		}
		r := run{col: col, ink: c.ink, drawn: isDrawn(c.r)}
		alone := isSign(c.r) && !r.drawn
		for col < len(row) && !stops(row, col, r) {
			if row[col].r != 0 {
				r.text = append(r.text, row[col].r)
			}
			col++
			if alone && (col >= len(row) || row[col].r != 0) {
				break
			}
		}
		r.cols = col - r.col
		out = append(out, r)
	}
	return out
}

// stops reports whether a run ends before a column.
func stops(row []cell, col int, r run) bool {
	c := row[col]
	switch {
	case col == r.col:
		return false
	case c.r == 0:
		return false
	case c.r == ' ':
		return col+1 >= len(row) || row[col+1].r == ' ' || row[col+1].ink != r.ink || isSign(row[col+1].r) || r.drawn
	}
	return c.ink != r.ink || isDrawn(c.r) != r.drawn || isSign(c.r) && !r.drawn
}

// isSign reports whether a character may come from another font than letters do.
func isSign(r rune) bool { return r >= 0x2100 }

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// num writes a length with one decimal at most, and none that says nothing.
func num(f float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0")
}
