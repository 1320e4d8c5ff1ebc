package verify

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/retake-dev/retake/internal/pure/pattern"
)

// testCount is what a test runner reports; skipped tests do not count.
type testCount struct{ passed, failed int64 }

func (c testCount) add(o testCount) testCount {
	return testCount{c.passed + o.passed, c.failed + o.failed}
}

// Summary returns in a few words what the end of an output reports: "14 of 212 failed", or
// "212 passed". It knows jest, vitest, pytest, unittest, go test, cargo test, mocha, rspec
// and TAP. It returns "" if it is not sure: no runner is recognized, two of them disagree,
// or some counts may be lost.
func Summary(output string) string {
	text := strings.ReplaceAll(colorCodes().ReplaceAllString(output, ""), "\r", "")
	found := ""
	for _, read := range []func(text string, whole bool) string{jestSummary, vitestSummary, pytestSummary, unittestSummary, goSummary, cargoSummary, mochaSummary, rspecSummary, tapSummary} {
		said := read(text, len(output) < keptOutput-maskMargin)
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

var colorCodes = pattern.Lazy(`\x1b\[[0-9;?]*[A-Za-z]`)

func (c testCount) text(what string) string {
	switch {
	case c.passed+c.failed <= 0:
		return ""
	case c.failed == 0:
		return fmt.Sprintf("%d%s passed", c.passed, what)
	}
	return fmt.Sprintf("%d of %d%s failed", c.failed, c.passed+c.failed, what)
}

// sumLines adds up the summary lines of a runner. If there are several and some may be
// lost, it returns "".
func sumLines(lines []string, whole bool, read func(line string) testCount) string {
	if len(lines) == 0 || len(lines) > 1 && !whole {
		return ""
	}
	var c testCount
	for _, l := range lines {
		c = c.add(read(l))
	}
	return c.text("")
}

// countBefore returns the number in "14 failed" and the like, or 0.
func countBefore(line, pattern string) int64 {
	m := regexp.MustCompile(`(\d+)\s+` + pattern).FindStringSubmatch(line)
	if m == nil {
		return 0
	}
	return parseCount(m[1])
}

// parseCount parses a number. An absurd one makes any sum negative, so that nothing is
// reported.
func parseCount(s string) int64 {
	const absurd = -1 << 40
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return absurd
	}
	return n
}

var (
	jestLine     = pattern.Lazy(`(?m)^Tests:[ \t]+.*\b\d+ total\b.*$`)
	vitestLine   = pattern.Lazy(`(?m)^[ \t]*Tests[ \t]+.*\b\d+ (?:passed|failed)\b.*\(\d+\)[ \t]*$`)
	pytestLine   = pattern.Lazy(`(?m)^=*[ \t]*(?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed)(?:, )?)+ in \d[\d.:]*s.*$`)
	unittestLine = pattern.Lazy(`(?m)^Ran (\d+) tests? in [\d.]+s\n\n?(OK|FAILED)(.*)$`)
	goLine       = pattern.Lazy(`(?m)^(ok  |FAIL)[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\)|\[build failed\]|\[setup failed\]).*$`)
	goVerbose    = pattern.Lazy(`(?m)^--- (PASS|FAIL): \S+ \([\d.]+s\)$`)
	cargoLine    = pattern.Lazy(`(?m)^test result: (?:ok|FAILED)\. .*$`)
	mochaLine    = pattern.Lazy(`(?m)^[ \t]+\d+ passing(?: \([^)\n]*\))?[ \t]*$(?:\n[ \t]+\d+ pending[ \t]*$)?(?:\n[ \t]+\d+ failing[ \t]*$)?`)
	rspecLine    = pattern.Lazy(`(?m)^\d+ examples?, \d+ failures?.*$`)
	tapCounts    = pattern.Lazy(`(?m)^(?:#|ℹ) (tests|pass|fail)[ \t]+(\d+)[ \t]*$`)
	tapPlan      = pattern.Lazy(`(?m)^1\.\.(\d+)[ \t]*$`)
	tapPoint     = pattern.Lazy(`(?m)^(not )?ok \d+\b.*$`)
)

func passedFailed(line string) testCount {
	return testCount{countBefore(line, `passed\b`), countBefore(line, `failed\b`)}
}

func jestSummary(text string, whole bool) string {
	return sumLines(jestLine().FindAllString(text, -1), whole, passedFailed)
}

func vitestSummary(text string, whole bool) string {
	return sumLines(vitestLine().FindAllString(text, -1), whole, passedFailed)
}

func pytestSummary(text string, whole bool) string {
	return sumLines(pytestLine().FindAllString(text, -1), whole, func(l string) testCount {
		return testCount{countBefore(l, `passed\b`) + countBefore(l, `xfailed\b`), countBefore(l, `failed\b`) + countBefore(l, `errors?\b`)}
	})
}

func unittestSummary(text string, whole bool) string {
	return sumLines(unittestLine().FindAllString(text, -1), whole, func(l string) testCount {
		m := unittestLine().FindStringSubmatch(l)
		ran := parseCount(m[1])
		failed := countOfKey(m[3], "failures") + countOfKey(m[3], "errors")
		return testCount{ran - failed - countOfKey(m[3], "skipped"), failed}
	})
}

func countOfKey(text, key string) int64 {
	m := regexp.MustCompile(`\b` + key + `=(\d+)`).FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	return parseCount(m[1])
}

// goSummary counts tests if they are listed, else packages.
func goSummary(text string, whole bool) string {
	packages := goLine().FindAllStringSubmatch(text, -1)
	if len(packages) == 0 || !whole {
		return ""
	}
	var p, t testCount
	for _, m := range packages {
		p = p.add(oneTest(m[1] != "FAIL"))
	}
	for _, m := range goVerbose().FindAllStringSubmatch(text, -1) {
		t = t.add(oneTest(m[1] == "PASS"))
	}
	if t.passed > 0 {
		return t.text("")
	}
	if p.passed+p.failed == 1 {
		return "" // "1 of 1" says nothing
	}
	return p.text(" packages")
}

func oneTest(passed bool) testCount {
	if passed {
		return testCount{passed: 1}
	}
	return testCount{failed: 1}
}

func cargoSummary(text string, whole bool) string {
	lines := cargoLine().FindAllString(text, -1)
	if !whole {
		return "" // each test program has its own line
	}
	return sumLines(lines, whole, passedFailed)
}

func mochaSummary(text string, whole bool) string {
	return sumLines(mochaLine().FindAllString(text, -1), whole, func(l string) testCount {
		return testCount{countBefore(l, `passing\b`), countBefore(l, `failing\b`)}
	})
}

func rspecSummary(text string, whole bool) string {
	return sumLines(rspecLine().FindAllString(text, -1), whole, func(l string) testCount {
		failed := countBefore(l, `failures?\b`)
		return testCount{countBefore(l, `examples?\b`) - failed - countBefore(l, `pending\b`), failed}
	})
}

// tapSummary uses the counts at the end, or a plan with all of its points.
func tapSummary(text string, whole bool) string {
	said := map[string]int64{}
	for _, m := range tapCounts().FindAllStringSubmatch(text, -1) {
		if _, again := said[m[1]]; again {
			return "" // several runs
		}
		said[m[1]] = parseCount(m[2])
	}
	if _, ok := said["pass"]; ok {
		return testCount{said["pass"], said["fail"]}.text("")
	}
	plan, points := tapPlan().FindAllStringSubmatch(text, -1), tapPoint().FindAllStringSubmatch(text, -1)
	if len(plan) != 1 || !whole || plan[0][1] != strconv.Itoa(len(points)) {
		return ""
	}
	var c testCount
	for _, m := range points {
		c = c.add(oneTest(m[1] == ""))
	}
	return c.text("")
}
