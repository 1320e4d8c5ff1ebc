package plot

import (
	"fmt"
	"slices"
	"strings"
)

// Lines is one or more values over a common axis; both axes begin at zero.
type Lines struct {
	Title  string
	X, Y   string // what the axes count
	Series []Series
}

// Series is one line.
type Series struct {
	Name string
	X, Y []float64
}

// SVG draws it.
func (l Lines) SVG() string {
	var c canvas
	c.begin(l.Title)
	var names []string
	highX, highY := 0.0, 0.0
	for _, s := range l.Series {
		names = append(names, s.Name)
		if n := min(len(s.X), len(s.Y)); n > 0 {
			highX, highY = max(highX, slices.Max(s.X[:n])), max(highY, slices.Max(s.Y[:n]))
		}
	}
	xs, ys := ticks(highX), ticks(highY)
	x := func(v float64) float64 { return left + v/xs[len(xs)-1]*(right-left) }
	y := func(v float64) float64 { return bottom - v/ys[len(ys)-1]*(bottom-top) }
	c.legend(names)
	c.rising(l.Y, ys, y)
	for _, v := range xs {
		c.text("dim", "middle", x(v), bottom+20, label(v))
	}
	c.text("dim", "end", right, bottom+42, l.X)
	for i, s := range l.Series {
		c.path(colors[i%len(colors)], s, x, y)
	}
	return c.end()
}

func (c *canvas) path(color string, s Series, x, y func(float64) float64) {
	var points []string
	for i := range min(len(s.X), len(s.Y)) {
		points = append(points, num(x(s.X[i]))+","+num(y(s.Y[i])))
	}
	fmt.Fprintf(c, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", color, strings.Join(points, " "))
}
