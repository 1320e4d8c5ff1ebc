package plot

import (
	"fmt"
	"math"
	"strconv"
)

// Bars compares values of very different size on a logarithmic axis: for every
// name one bar of each group, with its value above it. A value of zero or less was
// not measured and has no bar.
type Bars struct {
	Title  string
	Y      string
	Groups []string
	Bars   []Bar
}

// Bar is one name with a value of each group.
type Bar struct {
	Name   string
	Values []float64
}

// SVG draws it.
func (b Bars) SVG() string {
	var c canvas
	c.begin(b.Title)
	c.legend(b.Groups)
	low, high := b.decades()
	y := func(v float64) float64 { return bottom - (math.Log10(v)-low)/(high-low)*(bottom-top) }
	var decades []float64
	for d := low; d <= high; d++ {
		decades = append(decades, math.Pow(10, d))
	}
	c.rising(b.Y, decades, y)
	slot := float64(right-left) / float64(max(len(b.Bars), 1))
	wide := slot * 0.8 / float64(max(len(b.Groups), 1))
	for i, bar := range b.Bars {
		from := left + float64(i)*slot + slot*0.1
		for g, v := range bar.Values {
			if v > 0 {
				c.bar(colors[g%len(colors)], from+float64(g)*wide, wide-2, y(v), v)
			}
		}
		c.text("ink", "middle", left+(float64(i)+0.5)*slot, bottom+20, bar.Name)
	}
	return c.end()
}

func (c *canvas) bar(color string, x, wide, y, v float64) {
	fmt.Fprintf(c, `<rect fill="%s" x="%s" y="%s" width="%s" height="%s"/>`+"\n", color, num(x), num(y), num(wide), num(bottom-y))
	digits := 0
	if v < 10 {
		digits = 1
	}
	c.text("ink", "middle", x+wide/2, y-5, strconv.FormatFloat(v, 'f', digits, 64))
}

// decades are the powers of ten around all values.
func (b Bars) decades() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, bar := range b.Bars {
		for _, v := range bar.Values {
			if v > 0 {
				low, high = min(low, math.Floor(math.Log10(v))), max(high, math.Ceil(math.Log10(v)))
			}
		}
	}
	if low > high {
		return 0, 1
	}
	return low, max(high, low+1)
}
