package verify

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/retake-dev/retake/internal/pure/pattern"
)

// count is what a runner says of its tests; those that were skipped do not count.
type count struct{ passed, failed int64 }

func (c count) add(o count) count { return count{c.passed + o.passed, c.failed + o.failed} }

// Summary says in a few words what the end of an output says: "14 of 212 failed", or
// "212 passed". It knows jest, vitest, pytest, unittest, go test, cargo test, mocha,
// rspec and TAP. It says nothing when it is not sure: no runner is known, two of them
// are, or a part of the counts may be lost.
func Summary(output string) string {
	text := strings.ReplaceAll(colours().ReplaceAllString(output, ""), "\r", "")
	found := ""
	for _, read := range []func(text string, whole bool) string{jest, vitest, pytest, unittest, goTest, cargo, mocha, rspec, tap} {
		said := read(text, len(output) < keep-margin)
		if said == "" {
			continue
		}
		if found != "" && found != said {
			return ""
		}
		found = said
	}
	return found
}

var colours = pattern.Late(`\x1b\[[0-9;?]*[A-Za-z]`)

func (c count) tell(what string) string {
	switch {
	case c.passed+c.failed <= 0:
		return ""
	case c.failed == 0:
		return fmt.Sprintf("%d%s passed", c.passed, what)
	}
	return fmt.Sprintf("%d of %d%s failed", c.failed, c.passed+c.failed, what)
}

// sum adds up the lines of a runner; when it ran several times and some of that may be
// lost, nothing is sure.
func sum(lines []string, whole bool, read func(line string) count) string {
	if len(lines) == 0 || len(lines) > 1 && !whole {
		return ""
	}
	var c count
	for _, l := range lines {
		c = c.add(read(l))
	}
	return c.tell("")
}

// number finds "14 failed" and the like; without it there are none.
func number(line, pattern string) int64 {
	m := regexp.MustCompile(`(\d+)\s+` + pattern).FindStringSubmatch(line)
	if m == nil {
		return 0
	}
	return digits(m[1])
}

// digits reads a number; one that nobody can have counted makes any sum unsure.
func digits(s string) int64 {
	const absurd = -1 << 40
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return absurd
	}
	return n
}

var (
	jestLine     = pattern.Late(`(?m)^Tests:[ \t]+.*\b\d+ total\b.*$`)
	vitestLine   = pattern.Late(`(?m)^[ \t]*Tests[ \t]+.*\b\d+ (?:passed|failed)\b.*\(\d+\)[ \t]*$`)
	pytestLine   = pattern.Late(`(?m)^=*[ \t]*(?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed)(?:, )?)+ in \d[\d.:]*s.*$`)
	unittestLine = pattern.Late(`(?m)^Ran (\d+) tests? in [\d.]+s\n\n?(OK|FAILED)(.*)$`)
	goLine       = pattern.Late(`(?m)^(ok  |FAIL)[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\)|\[build failed\]|\[setup failed\]).*$`)
	goVerbose    = pattern.Late(`(?m)^--- (PASS|FAIL): \S+ \([\d.]+s\)$`)
	cargoLine    = pattern.Late(`(?m)^test result: (?:ok|FAILED)\. .*$`)
	mochaLine    = pattern.Late(`(?m)^[ \t]+\d+ passing(?: \([^)\n]*\))?[ \t]*$(?:\n[ \t]+\d+ pending[ \t]*$)?(?:\n[ \t]+\d+ failing[ \t]*$)?`)
	rspecLine    = pattern.Late(`(?m)^\d+ examples?, \d+ failures?.*$`)
	tapCounts    = pattern.Late(`(?m)^(?:#|ℹ) (tests|pass|fail)[ \t]+(\d+)[ \t]*$`)
	tapPlan      = pattern.Late(`(?m)^1\.\.(\d+)[ \t]*$`)
	tapPoint     = pattern.Late(`(?m)^(not )?ok \d+\b.*$`)
)

func passedFailed(line string) count {
	return count{number(line, `passed\b`), number(line, `failed\b`)}
}

func jest(text string, whole bool) string {
	return sum(jestLine().FindAllString(text, -1), whole, passedFailed)
}

func vitest(text string, whole bool) string {
	return sum(vitestLine().FindAllString(text, -1), whole, passedFailed)
}

func pytest(text string, whole bool) string {
	return sum(pytestLine().FindAllString(text, -1), whole, func(l string) count {
		return count{number(l, `passed\b`) + number(l, `xfailed\b`), number(l, `failed\b`) + number(l, `errors?\b`)}
	})
}

func unittest(text string, whole bool) string {
	return sum(unittestLine().FindAllString(text, -1), whole, func(l string) count {
		m := unittestLine().FindStringSubmatch(l)
		ran := digits(m[1])
		failed := equals(m[3], "failures") + equals(m[3], "errors")
		return count{ran - failed - equals(m[3], "skipped"), failed}
	})
}

func equals(text, key string) int64 {
	m := regexp.MustCompile(`\b` + key + `=(\d+)`).FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	return digits(m[1])
}

// goTest counts tests when all are named, and packages otherwise.
func goTest(text string, whole bool) string {
	packages := goLine().FindAllStringSubmatch(text, -1)
	if len(packages) == 0 || !whole {
		return ""
	}
	var p, t count
	for _, m := range packages {
		p = p.add(one(m[1] != "FAIL"))
	}
	for _, m := range goVerbose().FindAllStringSubmatch(text, -1) {
		t = t.add(one(m[1] == "PASS"))
	}
	if t.passed > 0 {
		return t.tell("")
	}
	if p.passed+p.failed == 1 {
		return "" // "1 of 1" says nothing
	}
	return p.tell(" packages")
}

func one(passed bool) count {
	if passed {
		return count{passed: 1}
	}
	return count{failed: 1}
}

func cargo(text string, whole bool) string {
	lines := cargoLine().FindAllString(text, -1)
	if !whole {
		return "" // each test program has its own line
	}
	return sum(lines, whole, passedFailed)
}

func mocha(text string, whole bool) string {
	return sum(mochaLine().FindAllString(text, -1), whole, func(l string) count {
		return count{number(l, `passing\b`), number(l, `failing\b`)}
	})
}

func rspec(text string, whole bool) string {
	return sum(rspecLine().FindAllString(text, -1), whole, func(l string) count {
		failed := number(l, `failures?\b`)
		return count{number(l, `examples?\b`) - failed - number(l, `pending\b`), failed}
	})
}

// tap goes by the counts at the end, or by a plan with all of its points.
func tap(text string, whole bool) string {
	said := map[string]int64{}
	for _, m := range tapCounts().FindAllStringSubmatch(text, -1) {
		if _, again := said[m[1]]; again {
			return "" // several runs
		}
		said[m[1]] = digits(m[2])
	}
	if _, ok := said["pass"]; ok {
		return count{said["pass"], said["fail"]}.tell("")
	}
	plan, points := tapPlan().FindAllStringSubmatch(text, -1), tapPoint().FindAllStringSubmatch(text, -1)
	if len(plan) != 1 || !whole || plan[0][1] != strconv.Itoa(len(points)) {
		return ""
	}
	var c count
	for _, m := range points {
		c = c.add(one(m[1] == ""))
	}
	return c.tell("")
}
