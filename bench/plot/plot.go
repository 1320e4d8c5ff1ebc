// Package plot draws lines and bars as SVG: axes with units, a legend, colors that
// can be read on light and on dark, and no font from elsewhere.
//
// It only turns values into text.
//
//	P1  The same values make the same bytes, so that a plot under version control
//	    changes only when its figures do.
//	P2  Text from outside is escaped.
package plot

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// The picture, and the frame of the values in it.
const (
	width, height = 760, 380
	left, right   = 72, 740
	top, bottom   = 76, 324
)

// Colors differ in lightness too, so that they can be told apart without color.
var colors = []string{"#2f6fdf", "#d9730d", "#2a9d63", "#a04fd0", "#c2364f", "#5f7b8c"}

const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">
<style>
.bg{fill:#ffffff}.ink{fill:#24292f}.dim{fill:#57606a}.grid{stroke:#d0d7de}.axis{stroke:#57606a}
text{font-family:sans-serif;font-size:12px}.title{font-size:15px;font-weight:bold}
@media (prefers-color-scheme: dark){.bg{fill:#0d1117}.ink{fill:#e6edf3}.dim{fill:#9198a1}.grid{stroke:#30363d}.axis{stroke:#9198a1}}
</style>
<rect class="bg" width="%d" height="%d"/>
<text class="ink title" x="%d" y="28">%s</text>
`

type canvas struct{ strings.Builder }

func (c *canvas) begin(title string) {
	t := html.EscapeString(title)
	fmt.Fprintf(c, head, width, height, width, height, t, width, height, left, t)
}

func (c *canvas) end() string {
	c.WriteString("</svg>\n")
	return c.String()
}

func (c *canvas) text(class, anchor string, x, y float64, text string) {
	fmt.Fprintf(c, `<text class="%s" text-anchor="%s" x="%s" y="%s">%s</text>`+"\n", class, anchor, num(x), num(y), html.EscapeString(text))
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(c, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`+"\n", class, num(x1), num(y1), num(x2), num(y2))
}

// legend stands below the title, one entry beside the other.
func (c *canvas) legend(names []string) {
	x := float64(left)
	for i, n := range names {
		fmt.Fprintf(c, `<rect fill="%s" x="%s" y="44" width="12" height="12"/>`+"\n", colors[i%len(colors)], num(x))
		c.text("ink", "start", x+18, 54, n)
		x += 18 + 7*float64(len([]rune(n))) + 22
	}
}

// rising draws the horizontal lines of the frame with their values.
func (c *canvas) rising(unit string, ticks []float64, at func(float64) float64) {
	for _, v := range ticks {
		c.line("grid", left, at(v), right, at(v))
		c.text("dim", "end", left-8, at(v)+4, label(v))
	}
	c.text("dim", "start", 8, top-8, unit)
	c.line("axis", left, bottom, right, bottom)
	c.line("axis", left, top, left, bottom)
}

func num(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

func label(v float64) string {
	if v >= 10000 {
		return strconv.FormatFloat(v/1000, 'f', -1, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// ticks are round numbers from zero to at least high, about five of them.
func ticks(high float64) []float64 {
	if high <= 0 || math.IsNaN(high) || math.IsInf(high, 0) {
		high = 1
	}
	step := math.Pow(10, math.Floor(math.Log10(high/4)))
	for _, f := range []float64{1, 2, 2.5, 5, 10} {
		if high/(step*f) <= 5 {
			step *= f
			break
		}
	}
	var out []float64
	for i := 0; ; i++ {
		v := math.Round(float64(i)*step*1e6) / 1e6
		out = append(out, v)
		if v >= high {
			return out
		}
	}
}
