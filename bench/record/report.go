package record

import (
	"fmt"
	"io"

	"github.com/retake-dev/retake/bench/plot"
)

// PlotDir is where the page finds its plots, beside itself.
const PlotDir = "plots"

// Report writes the page of the documentation. source is the file of the record,
// as a path of the repository.
func (r *Record) Report(w io.Writer, source string) {
	fmt.Fprintf(w, "# Performance\n\nMade from `%s` by `go run ./bench -report`; do not edit.\n\n", source)
	r.verdictTable(w)
	r.facts(w)
	r.tools(w)
	plots := r.Plots()
	for _, s := range r.Scenarios {
		r.chapter(w, s, plots)
	}
	r.config(w)
	fmt.Fprint(w, again)
}

func (r *Record) verdictTable(w io.Writer) {
	fmt.Fprint(w, "## Numbers to hold\n\nRatios are of medians of one run. A number that is not reached says so here.\n\n")
	g := grid{{"what", "bar", "measured", "ratio", "reached"}}
	for _, v := range r.Verdicts() {
		g = append(g, []string{string(v.Letter) + ". " + v.What, v.Bar, v.Measured, v.Ratio, v.word()})
	}
	g.markdown(w)
	fmt.Fprintln(w)
	for _, v := range r.Verdicts() {
		if why := reasons[v.What]; why != "" && v.There && !v.Reached {
			fmt.Fprintf(w, "- *%s*: %s\n", v.What, why)
		}
	}
	fmt.Fprintln(w)
}

// reasons say why a number is not reached, where that is known.
var reasons = map[string]string{
	"the store grows, shared directories, to the changed bytes compressed": "the bare engine grows by as much (see its column below). In the stock format a directory is one" +
		" object, so one changed entry writes the whole listing again, and some of these directories are large.",
	"the store grows, random places, to the changed bytes compressed": "the bare engine grows by as much, for the same reason.",
	"the same after maintenance (retake space --free)":                "the rest above the changed bytes is directory listings and metadata, which every checkpoint has.",
	"ten times the files, random places, to its own figure": "ten random files lie in up to ten listings of 2,500 packages in the larger tree, and in one in the" +
		" smaller; these listings are written as a whole. In shared directories the number of files does not matter.",
}

func (r *Record) facts(w io.Writer) {
	m := r.Machine
	fmt.Fprint(w, "## How it was measured\n\n")
	fmt.Fprintf(w, "- Machine: %s, kernel %s, %d cores, %s of memory, file system %s, %s.\n",
		m.System, m.Kernel, m.Cores, size(float64(m.Memory)), m.FileSystem, m.Go)
	fmt.Fprint(w, "- Workspaces have the shape of a project with its dependencies: files in a tenth as many directories, most below\n"+
		"  node_modules, 95 % of the files text. Each tool has a copy of its own and gets the same edits.\n"+
		"- Tools take turns round by round, and begin in turn. Before an edit everything is written back to the disk, outside\n"+
		"  the clock; what the edit makes dirty is inside. Warm cache. Figures are medians, with the smallest and the largest.\n"+
		"- All figures come from one configuration, the default one; it is printed below.\n\n")
}

func (r *Record) tools(w io.Writer) {
	fmt.Fprint(w, "| name | version | is |\n|---|---|---|\n")
	for _, t := range r.Tools {
		fmt.Fprintf(w, "| %s | %s | %s |\n", t.Name, t.Version, t.How)
	}
	fmt.Fprintln(w)
}

func (r *Record) chapter(w io.Writer, s *Scenario, plots []Plot) {
	fmt.Fprintf(w, "## %s. %s\n\nMeasured on %s in %.0f s.\n", s.Letter, s.Title, s.Date, s.Seconds)
	for _, f := range s.Facts {
		fmt.Fprintf(w, "%s\n", f)
	}
	fmt.Fprintln(w)
	if len(r.rowsOf(s.Letter)) > 0 {
		r.gridOf(s.Letter).markdown(w)
		fmt.Fprintln(w)
	}
	for _, m := range s.Missing {
		fmt.Fprintf(w, "Not there: %s (%s).\n\n", m.Name, m.Why)
	}
	for _, p := range plots {
		if p.Letter == s.Letter {
			fmt.Fprintf(w, "![%s](%s/%s)\n\n", p.Alt, PlotDir, p.File)
		}
	}
}

func (r *Record) config(w io.Writer) {
	fmt.Fprint(w, "## The configuration\n\n| key | value |\n|---|---|\n")
	for _, c := range r.Config {
		v := c.Value
		if v == "" {
			v = "(not set)"
		}
		fmt.Fprintf(w, "| %s | %s |\n", c.Key, v)
	}
	fmt.Fprintln(w)
}

const again = "## Again\n\n```\ngo run ./bench -o FILE.json\ngo run ./bench -only a,c -o FILE.json\ngo run ./bench -report FILE.json\n```\n\n" +
	"A scenario that runs again replaces its own rows. `go run ./bench -quick` is small and holds ratios with slack: twice the\n" +
	"bar beside the engine and over time, more beside git, which has a tenth of the work then, and none for counts.\n"

// Plot is one picture of the page.
type Plot struct {
	Letter Letter
	File   string
	Alt    string
	SVG    string
}

// Plots draws what was measured.
func (r *Record) Plots() []Plot {
	var out []Plot
	if p, ok := r.barPlot(); ok {
		out = append(out, p)
	}
	for _, c := range []struct {
		file, title, unit string
		by                float64
		keys              []Key
	}{
		{"line-save.svg", "Save latency over the checkpoints of one line", "ms", 1, []Key{LineSave, LineTail}},
		{"line-store.svg", "Size of the store over the checkpoints of one line", "MB", 1e6, []Key{LineStore, LinePaid}},
		{"line-files.svg", "Files of the store over the checkpoints of one line", "files", 1, []Key{LineFiles}},
		{"line-open.svg", "Time to open the store in a new process", "ms", 1, []Key{LineOpen}},
		{"line-memory.svg", "Memory of the process that saves", "MB", 1e6, []Key{LineMemory}},
	} {
		chart := plot.Lines{Title: c.title, X: "checkpoints", Y: c.unit}
		for _, k := range c.keys {
			if v := r.FindCurve(k); v != nil {
				chart.Series = append(chart.Series, plot.Series{Name: v.Title, X: v.X, Y: scaled(v.Y, c.by)})
			}
		}
		if len(chart.Series) > 0 {
			out = append(out, Plot{Letter: "e", File: c.file, Alt: c.title, SVG: chart.SVG()})
		}
	}
	return out
}

func scaled(v []float64, by float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = v[i] / by
	}
	return out
}

func (r *Record) barPlot() (Plot, bool) {
	chart := plot.Bars{Title: "Save of ten changed files, by tool", Y: "ms, log scale", Groups: []string{"shared directories", "random places"}}
	shared, random := r.Find(Shared), r.Find(Random)
	if shared == nil || random == nil {
		return Plot{}, false
	}
	for _, t := range columns([]*Row{shared, random}) {
		a, _ := shared.Median(t)
		b, _ := random.Median(t)
		chart.Bars = append(chart.Bars, plot.Bar{Name: t, Values: []float64{a, b}})
	}
	return Plot{Letter: "a", File: "saves.svg", Alt: chart.Title, SVG: chart.SVG()}, true
}
