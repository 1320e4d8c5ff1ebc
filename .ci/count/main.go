// Command count reads what `go test -json` writes, shows one line per package
// and the output of everything that failed, and ends with the sums.
//
// With -sums it writes the sums only. It counts tests and subtests as the go
// command reports them; a package that fails without a failed test (it does not
// build, it panics, it never ends) counts as one failure.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	sums := flag.Bool("sums", false, "write the sums only")
	flag.Parse()
	show, before := io.Writer(os.Stdout), "this run: "
	if *sums {
		show, before = io.Discard, "" // the plain line stands alone
	}
	t, err := read(os.Stdin, show)
	if err != nil {
		fmt.Fprintln(os.Stderr, "read test events:", err)
		os.Exit(2)
	}
	fmt.Println(before + t.String())
	if t.failed > 0 {
		os.Exit(1)
	}
}

type tally struct{ passed, failed, skipped int }

func (t tally) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
}

type event struct {
	Action      string
	Package     string
	ImportPath  string // of build output
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

type reader struct {
	tally
	show   io.Writer
	output map[string]*strings.Builder // by package and test, until it ends
	bad    map[string]bool             // packages with a failed test
	open   map[string]bool             // packages that have not ended
}

// read counts events to the end of r.
func read(r io.Reader, show io.Writer) (tally, error) {
	c := &reader{show: show, output: map[string]*strings.Builder{}, bad: map[string]bool{}, open: map[string]bool{}}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			c.line(line)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return c.tally, err
		}
	}
	for pkg := range c.open {
		c.failed++
		fmt.Fprintf(show, "FAIL  %s never ended\n%s", pkg, c.take(pkg, ""))
		c.unended(pkg)
	}
	return c.tally, nil
}

func (c *reader) line(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		fmt.Fprint(c.show, line) // the go command speaks plainly now and then
		return
	}
	switch e.Action {
	case "start":
		c.open[e.Package] = true
	case "output":
		c.keep(e.Package, e.Test, e.Output)
	case "build-output":
		c.keep(e.ImportPath, "", e.Output)
	case "pass", "fail", "skip":
		if e.Test != "" {
			c.test(e)
		} else {
			c.pkg(e)
		}
	}
}

func (c *reader) test(e event) {
	out := c.take(e.Package, e.Test)
	if _, panics, found := strings.Cut(out, "\npanic: "); found && e.Action != "fail" { // the go command takes it for the words of whoever spoke last
		fmt.Fprintf(c.show, "panic: %s", beginning(panics))
	}
	switch e.Action {
	case "pass":
		c.passed++
	case "skip":
		c.skipped++
	case "fail":
		c.failed++
		c.bad[e.Package] = true
		fmt.Fprintf(c.show, "FAIL  %s %s\n%s", e.Package, e.Test, ending(out))
	}
}

// endLines is how much of a failed test is shown: why it failed stands at its end.
const endLines = 80

func ending(out string) string {
	lines := strings.SplitAfter(out, "\n")
	if n := len(lines) - 1 - endLines; n > 0 {
		return fmt.Sprintf("… %d lines before\n%s", n, strings.Join(lines[n:], ""))
	}
	return out
}

func (c *reader) pkg(e event) {
	delete(c.open, e.Package)
	out := c.take(e.Package, "")
	switch {
	case e.Action == "pass":
		fmt.Fprintf(c.show, "ok    %s  %.1fs\n", e.Package, e.Elapsed)
	case e.Action == "fail" && !c.bad[e.Package]:
		c.failed++
		fmt.Fprintf(c.show, "FAIL  %s\n%s%s", e.Package, c.take(e.FailedBuild, ""), out)
		c.unended(e.Package)
	}
	delete(c.bad, e.Package)
}

// startLines is how much of a test that did not end is shown: a panic, and a time that is
// over, name what ran before they dump its stacks.
const startLines = 60

// unended shows what the tests of a package said that neither passed nor failed.
func (c *reader) unended(pkg string) {
	for _, key := range slices.Sorted(maps.Keys(c.output)) {
		test, of := strings.CutPrefix(key, pkg+" ")
		if !of || test == "" {
			continue
		}
		fmt.Fprintf(c.show, "      %s did not end\n%s", test, beginning(c.take(pkg, test)))
	}
}

func beginning(out string) string {
	lines := strings.SplitAfter(out, "\n")
	return strings.Join(lines[:min(startLines, len(lines))], "")
}

func (c *reader) keep(pkg, test, text string) {
	key := pkg + " " + test
	if c.output[key] == nil {
		c.output[key] = &strings.Builder{}
	}
	c.output[key].WriteString(text)
}

func (c *reader) take(pkg, test string) string {
	key := pkg + " " + test
	b := c.output[key]
	if b == nil {
		return ""
	}
	delete(c.output, key)
	return b.String()
}
