package shot_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/test/pictures/shot"
)

// piece is one run of a picture: the row and the column it is put in.
type piece struct {
	row, col    int
	class, text string
}

// read takes a picture apart, and answers its rows as somebody copies them.
func read(t *testing.T, svg []byte) (rows []string, pieces []piece) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	depth := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return rows, pieces
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			depth = e.Name.Local
			switch depth {
			case "script", "image", "use", "a", "foreignObject":
				t.Errorf("a picture has %s", depth)
			case "text":
				rows = append(rows, "")
			case "tspan":
				x, err := strconv.ParseFloat(attr(e, "x"), 64)
				if err != nil {
					t.Fatal(err)
				}
				pieces = append(pieces, piece{row: len(rows) - 1, col: int(math.Round((x - 26) / 8.4)), class: attr(e, "class")})
			}
		case xml.EndElement:
			if depth = ""; e.Name.Local == "tspan" {
				depth = "text"
			}
		case xml.CharData:
			if depth == "tspan" {
				pieces[len(pieces)-1].text += string(e)
			}
			if depth == "tspan" || depth == "text" {
				rows[len(rows)-1] += string(e)
			}
		}
	}
}

func attr(e xml.StartElement, name string) string {
	i := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
	if i < 0 {
		return ""
	}
	return e.Attr[i].Value
}

func TestTextStaysTextInItsColumn(t *testing.T) {
	t.Parallel()
	lines := []string{
		`○─╮    17  11:24  adopted <sweep> & "co"          ✔ test       2  sweep.ts`,
		`│ ◇    15  日本語 in a row, then  more → and on`,
		`  src/auth.ts   +7 −16   ━━━━`,
	}
	rows, pieces := read(t, shot.Read(strings.Join(lines, "\r\n"), 80).SVG("a & b"))
	if !slices.Equal(rows, lines) {
		t.Errorf("copied: %q\nwant:   %q", rows, lines)
	}
	for _, p := range pieces {
		before, _, ok := strings.Cut(lines[p.row], p.text)
		for ok && termtext.Width(before) < p.col {
			rest, _, again := strings.Cut(lines[p.row][len(before)+len(p.text):], p.text)
			before, ok = before+p.text+rest, again
		}
		if !ok || termtext.Width(before) != p.col {
			t.Errorf("%q of row %d stands in column %d", p.text, p.row, p.col)
		}
	}
}

func TestColorsAndLinesDrawnAnew(t *testing.T) {
	t.Parallel()
	written := "\x1b[1mtitle\x1b[0m\r\nrun 1 of many\r\x1b[Krun 2\r\n\x1b[31m✘\x1b[0m \x1b[2mtest\x1b[0m\r\n\x1b[1A\x1b[2K\x1b[32;1m✔\x1b[0m test\r\n"
	rows, pieces := read(t, shot.Read(written, 20).SVG("progress"))
	if want := []string{"title", "run 2", "✔ test"}; !slices.Equal(rows, want) {
		t.Errorf("rows: %q, want %q", rows, want)
	}
	want := []piece{{0, 0, "t b", "title"}, {1, 0, "t", "run 2"}, {2, 0, "g b", "✔"}, {2, 2, "t", "test"}}
	if !slices.Equal(pieces, want) {
		t.Errorf("pieces: %v, want %v", pieces, want)
	}
}

func TestLongLinesGoOnBelow(t *testing.T) {
	t.Parallel()
	rows, _ := read(t, shot.Read("0123456789abc日", 10).SVG("long"))
	if want := []string{"0123456789", "abc日"}; !slices.Equal(rows, want) {
		t.Errorf("rows: %q, want %q", rows, want)
	}
}
