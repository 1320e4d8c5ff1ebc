package plot_test

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/retake-dev/retake/bench/plot"
)

func lines() plot.Lines {
	return plot.Lines{
		Title: "Latency <over> time", X: "checkpoints", Y: "ms",
		Series: []plot.Series{
			{Name: "median", X: []float64{100, 5000, 10000}, Y: []float64{5, 6, 5.5}},
			{Name: "tail & end", X: []float64{100, 10000}, Y: []float64{9, 12}},
		},
	}
}

func bars() plot.Bars {
	return plot.Bars{
		Title: "Saves", Y: "ms", Groups: []string{"shared", "random"},
		Bars: []plot.Bar{{Name: "retake", Values: []float64{6.4, 16}}, {Name: "git", Values: []float64{353, 0}}, {Name: "restic", Values: []float64{6165, 6000}}},
	}
}

// wellFormed parses the picture and answers its texts.
func wellFormed(t *testing.T, svg string) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	var text strings.Builder
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if c, ok := tok.(xml.CharData); ok {
			text.Write(c)
			text.WriteByte('\n')
		}
	}
}

func TestPicturesSayWhatTheyShow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		svg  string
		want []string
	}{
		"lines": {lines().SVG(), []string{"Latency <over> time", "checkpoints", "ms", "median", "tail & end", "10k", "12.5"}},
		"bars":  {bars().SVG(), []string{"Saves", "ms", "shared", "random", "retake", "git", "restic", "6.4", "353", "10k"}},
	} {
		text := wellFormed(t, c.svg)
		for _, want := range c.want {
			if !strings.Contains(text, "\n"+want+"\n") {
				t.Errorf("%s: no text %q in\n%s", name, want, text)
			}
		}
		for _, want := range []string{"prefers-color-scheme: dark", "role=\"img\""} {
			if !strings.Contains(c.svg, want) {
				t.Errorf("%s: no %q", name, want)
			}
		}
	}
}

var firstLines, firstBars = lines().SVG(), bars().SVG()

func TestTheSameValuesMakeTheSameBytes(t *testing.T) {
	t.Parallel()
	for range 5 {
		if l, b := lines().SVG(), bars().SVG(); l != firstLines || b != firstBars {
			t.Error("two pictures of the same values differ")
		}
	}
}

func TestEverythingStaysInTheFrame(t *testing.T) {
	t.Parallel()
	point := regexp.MustCompile(`(-?[\d.]+),(-?[\d.]+)`)
	odd := lines()
	odd.Series = append(odd.Series, plot.Series{Name: "none"}, plot.Series{Name: "zero", X: []float64{0}, Y: []float64{0}})
	for _, m := range point.FindAllStringSubmatch(odd.SVG()[strings.Index(odd.SVG(), "<polyline"):], -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		y, _ := strconv.ParseFloat(m[2], 64)
		if x < 72 || x > 740 || y < 76 || y > 324 {
			t.Errorf("point %s is outside", m[0])
		}
	}
	for name, svg := range map[string]string{"no line": plot.Lines{}.SVG(), "no bar": plot.Bars{}.SVG()} {
		wellFormed(t, svg)
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%s: not a number in\n%s", name, svg)
		}
	}
}

func TestAValueThatWasNotMeasuredHasNoBar(t *testing.T) {
	t.Parallel()
	if got := strings.Count(bars().SVG(), "<rect fill="); got != 2+5 { // the legend, and five values
		t.Errorf("%d rectangles, want 7", got)
	}
}
