package record

import (
	"fmt"
	"io"
	"strings"
)

// Report writes the page of the documentation. source is the file of the record,
// as a path of the repository.
func (r *Record) Report(w io.Writer, source string) {
	fmt.Fprintf(w, "# Performance\n\nMade from `%s` by `go run ./bench -report`; do not edit.\n", source)
	fmt.Fprintf(w, "Measured on %s: one machine, one run, every tool on the same files. Medians.\n\n", r.Date)
	r.facts(w)
	r.tools(w)
	compared, alone := r.split()
	if len(compared) > 0 {
		fmt.Fprint(w, "## Beside others\n\nThe ratio is retake's median to that of the peer: below 1 retake needs less.\n\n")
		r.comparedGrid(compared).markdown(w)
		fmt.Fprintln(w)
	}
	if len(alone) > 0 {
		fmt.Fprint(w, "## Retake alone\n\n")
		r.aloneGrid(alone).markdown(w)
		fmt.Fprintln(w)
	}
	r.limits(w)
	fmt.Fprint(w, "## Again\n\n```\ngo run ./bench -o FILE.json\ngo run ./bench -report FILE.json\n```\n")
}

func (r *Record) facts(w io.Writer) {
	m, s := r.Machine, r.Setup
	fmt.Fprint(w, "## What was measured\n\n")
	fmt.Fprintf(w, "- Machine: %s, kernel %s, %d cores, %s of memory, file system %s, %s.\n",
		m.System, m.Kernel, m.Cores, size(float64(m.Memory)), m.FileSystem, m.Go)
	fmt.Fprintf(w, "- Workspace: %d files in %d directories, %s, most below node_modules; sizes lognormal with a median of 2 KiB,\n"+
		"  95 %% of the files text; seed %d.\n", s.Files, s.Dirs, size(float64(s.Bytes)), s.Seed)
	fmt.Fprintf(w, "- Each tool has a copy of its own and gets the same edits. Tools take turns, and begin in turn. Before an edit\n"+
		"  everything is written back to the disk, outside the clock; what the edit makes dirty is inside.\n"+
		"- Whole processes, from start to exit, with a warm cache. Samples of each tool: %d of first captures, %d of saves,\n"+
		"  at most 3 of saves of the large file.\n", s.Firsts, s.Rounds)
	fmt.Fprint(w, "- Memory is the peak of the process.\n\n")
}

func (r *Record) tools(w io.Writer) {
	fmt.Fprint(w, "| tool | version | set up |\n|---|---|---|\n")
	for _, t := range r.Tools {
		fmt.Fprintf(w, "| %s | %s | %s |\n", t.Name, t.Version, t.How)
	}
	fmt.Fprintln(w)
	for _, m := range r.Missing {
		fmt.Fprintf(w, "Not there: %s (%s).\n\n", m.Name, m.Why)
	}
}

// limits tells where the time goes, as far as this run can show it.
func (r *Record) limits(w io.Writer) {
	var out []string
	say := func(format string, args ...any) { out = append(out, "- "+fmt.Sprintf(format, args...)) }
	same, okSame := r.Find(Same).Median(Subject)
	warm, okWarm := r.Find(WarmSave).Median(Subject)
	start, okStart := r.Find(StartVersion).Median(Subject)
	if okSame && okWarm && okStart && same > warm {
		say("**Opening.** A save with nothing changed takes %s as a process, and %s in a process that has the store open.\n"+
			"  The rest is opening the store, of which %s is the start of the program.", show(same, Millis), show(warm, Millis), show(start, Millis))
	}
	store, okStore := r.Find(StoreWait).Median(Subject)
	tree, okTree := r.Find(TreeWait).Median(Subject)
	count, okCount := r.Find(TracedStore).Median(Subject)
	if okStore && okTree && okCount {
		say("**The disk.** A save of %d files waits %s for the file system of the workspace to be written back, then %s for\n"+
			"  %s fsyncs of the store, some of them side by side. What was answered for is on the disk.",
			r.Setup.Edits, show(tree, Millis), show(store, Millis), show(count, Count))
	}
	if okWarm {
		say("**Looking.** A save asks the file system about every file. With nothing changed and the store open that is most of\n"+
			"  the %s, and it grows with the number of files: here %d.", show(warm, Millis), r.Setup.Files)
	}
	r.limitLarge(say)
	if len(out) == 0 {
		return
	}
	fmt.Fprintf(w, "## What limits us\n\n%s\n\n", strings.Join(out, "\n"))
}

func (r *Record) limitLarge(say func(string, ...any)) {
	large, ok := r.Find(Large).Median(Subject)
	grown, okGrown := r.Find(LargeStore).Median(Subject)
	if ok && okGrown && r.Setup.Large > 0 {
		say("**Large files.** A file that changed is read from its beginning to its end: %s for %s of which one page changed,\n"+
			"  that is %s/s. The store grows by %s: the pieces around the page.",
			show(large, Millis), size(float64(r.Setup.Large)), size(float64(r.Setup.Large)/large*1000), size(grown))
	}
}
