package reel

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake/test/pictures/shot"
)

// The sizes of a picture, in pixels.
const (
	width, height = 1200, 640
	edge          = 32.0 // left and right of the panes
	top, bottom   = 24.0, 540.0
	gap           = 20.0 // between two panes
	header        = 40.0 // of a pane
	inside        = 18.0 // around what a pane holds
	captionTop    = 564.0
	largest       = 28 / shot.FontSize // text is not larger, however few lines there are
)

// smallest is how large text is at least (R4).
const smallest = 17.0

// mostRows is how many lines of the smallest text a pane has room for.
var mostRows = int(math.Floor((bottom - top - header - 2*inside) * shot.FontSize / smallest / shot.CellH))

// pane is a window with a title.
type pane struct {
	x, w  float64
	title string
}

func wholePane(title string) pane { return pane{edge, width - 2*edge, title} }

// twoPanes are one for a terminal, in which its text is as small as it may be, and the rest.
func twoPanes(left, right string) (pane, pane) {
	w := math.Ceil(2*inside + Beside*shot.CellW*(smallest+.2)/shot.FontSize)
	return pane{edge, w, left}, pane{edge + w + gap, width - 2*edge - w - gap, right}
}

func (p pane) svg() string {
	frame := fmt.Sprintf(`<rect class="w" x="%s" y="%s" width="%s" height="%s" rx="12"/>`, num(p.x), num(top), num(p.w), num(bottom-top))
	line := fmt.Sprintf(`<path class="line" d="M%s %sh%s"/>`, num(p.x+.5), num(top+header), num(p.w-1))
	name := fmt.Sprintf(`<text class="name d" x="%s" y="%s">%s</text>`, num(p.x+inside), num(top+header/2+6), escape(p.title))
	return frame + line + name + "\n"
}

// terminal is a pane with lines.
type terminal struct {
	pane    pane
	rows    []shot.Row
	columns int
	marks   []mark
	come    map[int]float64 // when a row appears; the others are there from the start
}

// mark is a tint behind rows that follow each other, from some time on.
type mark struct {
	row, rows int
	class     string
	at        float64
}

// mark tints the rows of which one of the conditions is true.
func (t *terminal) mark(class string, at float64, conditions ...func(string) bool) {
	for i, row := range t.rows {
		if !slices.ContainsFunc(conditions, func(is func(string) bool) bool { return is(row.Text) }) {
			continue
		}
		if n := len(t.marks) - 1; n >= 0 && t.marks[n].class == class && t.marks[n].row+t.marks[n].rows == i {
			t.marks[n].rows++
			continue
		}
		t.marks = append(t.marks, mark{i, 1, class, at})
	}
}

// scale makes the text as large as the pane allows.
func (t terminal) scale() float64 {
	wide, high := t.pane.w-2*inside, bottom-top-header-2*inside
	return min(wide/(float64(t.columns)*shot.CellW), high/(float64(len(t.rows))*shot.CellH), largest)
}

func (t terminal) svg() string {
	var b strings.Builder
	b.WriteString(t.pane.svg())
	fmt.Fprintf(&b, `<g transform="translate(%s %s) scale(%.4f)">`+"\n", num(t.pane.x+inside), num(top+header+inside), t.scale())
	for _, m := range t.marks {
		fmt.Fprintf(&b, `<rect class="%s in" style="%s" x="-6" y="%s" width="%s" height="%s"/>`+"\n", m.class, delay(m.at),
			num(float64(m.row)*shot.CellH), num(float64(t.columns)*shot.CellW+12), num(float64(m.rows)*shot.CellH))
	}
	for i, row := range t.rows {
		if row.SVG == "" {
			continue
		}
		step := ""
		if at, ok := t.come[i]; ok {
			step = fmt.Sprintf(` class="in" style="%s"`, delay(at))
		}
		fmt.Fprintf(&b, `<g%s transform="translate(0 %s)">%s</g>`+"\n", step, num(float64(i)*shot.CellH), row.SVG)
	}
	b.WriteString("</g>\n")
	return b.String()
}

// gallery is a pane with a box for each photo, and how many are there.
type gallery struct {
	pane   pane
	photos []Photo
	here   int // of them, at the end
	begin  float64
	leave  bool // they go; otherwise they come
}

const across = 5 // boxes in a row

func (g gallery) svg() string {
	const between, below = 9.0, 64.0
	down := (len(g.photos) + across - 1) / across
	w := (g.pane.w - 2*inside - (across-1)*between) / across
	h := min(w*1.2, (bottom-top-header-2*inside-below-float64(down-1)*between)/float64(down))
	class, box := "in", "empty"
	if g.leave {
		class, box = "out", "gone"
	}
	var b strings.Builder
	b.WriteString(g.pane.svg())
	for i, p := range g.photos {
		x, y := g.pane.x+inside+float64(i%across)*(w+between), top+header+inside+float64(i/across)*(h+between)
		fmt.Fprintf(&b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="7"/>`, box, num(x), num(y), num(w), num(h))
		if g.leave {
			fmt.Fprintf(&b, `<path class="r" d="M%s %sl14 14m0-14l-14 14"/>`, num(x+w/2-7), num(y+h/2-7))
		}
		fmt.Fprintf(&b, `<g class="%s" style="%s"><title>%s</title><rect class="photo" style="fill:%s" x="%s" y="%s" width="%s" height="%s" rx="7"/>`+
			`<circle style="fill:%s;stroke:none" cx="%s" cy="%s" r="%s"/></g>`+"\n",
			class, delay(g.begin+float64(i)/float64(len(g.photos))), escape(p.Name), p.Ground, num(x), num(y), num(w), num(h),
			p.Ink, num(x+w/2), num(y+h/2), num(w*.32))
	}
	ink := "g"
	if g.here < len(g.photos) {
		ink = "r"
	}
	fmt.Fprintf(&b, `<text class="count in %s" style="%s" x="%s" y="%s">%d of %d photos</text>`+"\n", ink, delay(g.begin+1), num(g.pane.x+g.pane.w/2), num(bottom-inside-14), g.here, len(g.photos))
	return b.String()
}

// ground is what a frame hides the one before with.
func ground() string {
	return fmt.Sprintf(`<rect class="page" x=".5" y=".5" width="%d" height="%d" rx="14"/>`+"\n", width-1, height-1)
}

// svg draws the caption, and how far the picture is.
func (c caption) svg(at, of int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<path class="bar" d="M.5 %sh1199v61.5a14 14 0 0 1-14 14h-1171a14 14 0 0 1-14-14z"/>`, num(captionTop))
	fmt.Fprintf(&b, `<text class="caption" x="%s" y="612"><tspan class="t">%s</tspan><tspan class="%s">%s</tspan></text>`, num(edge), escape(c.plain), c.class, escape(c.strong))
	for i := range of {
		class := "todo"
		if i < at {
			class = "done"
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="600" width="36" height="6" rx="3"/>`, class, width-int(edge)-44*of+8+44*i)
	}
	b.WriteString("\n")
	return b.String()
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// num writes a length with one decimal at most.
func num(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }
