package record

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// grid is a table of text whose first line is the head.
type grid [][]string

// order is how tools stand side by side.
var order = []string{Retake, Process, Scan, Solo, Engine, Git, Kopia, Restic, Btrfs, Copy, Clone, Cat, Bare}

// columns are the tools that have a sample in one of the rows.
func columns(rows []*Row) []string {
	var out []string
	for _, t := range order {
		if slices.ContainsFunc(rows, func(w *Row) bool { return len(w.Samples[t]) > 0 }) {
			out = append(out, t)
		}
	}
	return out
}

func (r *Record) rowsOf(l Letter) []*Row {
	var out []*Row
	for _, w := range r.Rows {
		if w.Scenario == l {
			out = append(out, w)
		}
	}
	return out
}

// gridOf has a column for every tool of the scenario: the median, and the spread
// behind it.
func (r *Record) gridOf(l Letter) grid {
	rows := r.rowsOf(l)
	cols := columns(rows)
	g := grid{append([]string{""}, cols...)}
	for _, w := range rows {
		line := []string{w.label()}
		for _, t := range cols {
			line = append(line, w.cell(t))
		}
		g = append(g, line)
	}
	return g
}

func (w *Row) label() string {
	if v, ok := Median(w.Base); ok {
		return fmt.Sprintf("%s (%s: %s)", w.Title, w.BaseName, show(v, w.Unit))
	}
	return w.Title
}

// cell is the median with the smallest and the largest sample.
func (w *Row) cell(tool string) string {
	s := w.Samples[tool]
	v, ok := Median(s)
	if !ok {
		return "-"
	}
	low, high := slices.Min(s), slices.Max(s)
	if low == high {
		return show(v, w.Unit)
	}
	return fmt.Sprintf("%s (%s – %s)", show(v, w.Unit), bare(low, w.Unit), bare(high, w.Unit))
}

func bare(v float64, u Unit) string { return strings.TrimSuffix(show(v, u), " ms") }

func show(v float64, u Unit) string {
	switch u {
	case Millis:
		return significant(v) + " ms"
	case Bytes:
		return size(v)
	case Percent:
		return significant(v) + " %"
	default:
		return significant(v)
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
	fmt.Fprintln(w, "medians (smallest – largest)")
	for _, s := range r.Scenarios {
		fmt.Fprintf(w, "\n%s  %s\n", s.Letter, s.Title)
		if len(r.rowsOf(s.Letter)) > 0 {
			r.gridOf(s.Letter).plain(w)
		}
		for _, f := range s.Facts {
			fmt.Fprintln(w, "   "+f)
		}
		for _, m := range s.Missing {
			fmt.Fprintf(w, "   not there: %s: %s\n", m.Name, m.Why)
		}
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
