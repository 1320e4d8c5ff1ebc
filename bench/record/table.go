package record

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// grid is a table of text whose first line is the head.
type grid [][]string

// compared holds the rows in which a peer took part, alone the others.
func (r *Record) split() (compared, alone []*Row) {
	for _, w := range r.Rows {
		n := 0
		for _, p := range r.Peers() {
			n += len(w.Samples[p])
		}
		if n > 0 {
			compared = append(compared, w)
		} else {
			alone = append(alone, w)
		}
	}
	return compared, alone
}

func (r *Record) comparedGrid(rows []*Row) grid {
	head := []string{"", Subject}
	for _, p := range r.Peers() {
		head = append(head, p, Subject+"/"+p)
	}
	g := grid{head}
	for _, w := range rows {
		line := []string{w.label(), w.cell(Subject)}
		for _, p := range r.Peers() {
			ratio := "-"
			if v, ok := w.Ratio(p); ok {
				ratio = significant(v) + "×"
			}
			line = append(line, w.cell(p), ratio)
		}
		g = append(g, line)
	}
	return g
}

func (r *Record) aloneGrid(rows []*Row) grid {
	g := grid{{"", Subject, "samples"}}
	for _, w := range rows {
		g = append(g, []string{w.label(), w.cell(Subject), strconv.Itoa(len(w.Samples[Subject]))})
	}
	return g
}

func (w *Row) label() string {
	if v, ok := Median(w.Base); ok {
		return fmt.Sprintf("%s (%s: %s)", w.Title, w.BaseName, show(v, w.Unit))
	}
	return w.Title
}

func (w *Row) cell(tool string) string {
	v, ok := w.Median(tool)
	if !ok {
		return "-"
	}
	return show(v, w.Unit)
}

func show(v float64, u Unit) string {
	switch u {
	case Millis:
		return significant(v) + " ms"
	case Bytes:
		return size(v)
	case Count:
		return significant(v)
	default:
		return significant(v) + " " + string(u)
	}
}

// significant keeps three figures: more would pretend.
func significant(v float64) string {
	switch {
	case v >= 100 || v <= -100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10 || v <= -10 || v == float64(int64(v)):
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

func size(v float64) string {
	for _, u := range []struct {
		name string
		of   float64
	}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if v >= u.of || v <= -u.of {
			return significant(v/u.of) + " " + u.name
		}
	}
	return significant(v) + " B"
}

// Table writes the record for a terminal.
func (r *Record) Table(w io.Writer) {
	compared, alone := r.split()
	if len(compared) > 0 {
		fmt.Fprintln(w, "medians; the ratio is retake's median to that of the peer, below 1 retake is less")
		r.comparedGrid(compared).plain(w)
		fmt.Fprintln(w)
	}
	if len(alone) > 0 {
		r.aloneGrid(alone).plain(w)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(w, "not there: %s: %s\n", m.Name, m.Why)
	}
}

func (g grid) plain(w io.Writer) {
	wide := make([]int, len(g[0]))
	for _, line := range g {
		for i, c := range line {
			wide[i] = max(wide[i], utf8.RuneCountInString(c))
		}
	}
	for _, line := range g {
		var b strings.Builder
		for i, c := range line {
			pad := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(c))
			if i == 0 {
				b.WriteString(c + pad)
			} else {
				b.WriteString("  " + pad + c)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

func (g grid) markdown(w io.Writer) {
	for i, line := range g {
		fmt.Fprintf(w, "| %s |\n", strings.Join(line, " | "))
		if i == 0 {
			fmt.Fprintf(w, "|---%s\n", strings.Repeat("|---:", len(line)-1)+"|")
		}
	}
}
