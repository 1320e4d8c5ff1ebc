package verify_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/explain/verify"
)

func TestSummaries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ output, want string }{
		"jest":                 {"Test Suites: 2 failed, 10 passed, 12 total\nTests:       14 failed, 198 passed, 212 total\nSnapshots:   0 total\nTime:        3.2 s\n", "14 of 212 failed"},
		"jest, some skipped":   {"Tests:       1 failed, 3 skipped, 8 passed, 12 total\n", "1 of 9 failed"},
		"jest, all pass":       {"Tests:       212 passed, 212 total\n", "212 passed"},
		"jest, twice":          {"Tests:       2 passed, 2 total\n\n> other\nTests:       1 failed, 1 passed, 2 total\n", "1 of 4 failed"},
		"jest, in colours":     {"\x1b[1mTests:       \x1b[22m\x1b[1m\x1b[31m14 failed\x1b[39m\x1b[22m, \x1b[32m198 passed\x1b[39m, 212 total\n", "14 of 212 failed"},
		"jest, no tests":       {"Tests:       0 total\n", ""},
		"vitest":               {" Test Files  1 failed | 3 passed (4)\n      Tests  14 failed | 198 passed (212)\n   Start at  10:27:00\n   Duration  1.2s\n", "14 of 212 failed"},
		"vitest, all pass":     {" Test Files  4 passed (4)\n      Tests  212 passed | 2 skipped (214)\n", "212 passed"},
		"pytest":               {"FAILED tests/test_a.py::test_b - assert 1 == 2\n============ 14 failed, 198 passed, 2 skipped in 3.21s ============\n", "14 of 212 failed"},
		"pytest, quiet":        {"....F\n1 failed, 4 passed in 0.02s\n", "1 of 5 failed"},
		"pytest, errors":       {"=== 1 failed, 2 passed, 3 errors in 1.00s ===\n", "4 of 6 failed"},
		"pytest, warnings":     {"=== 5 passed, 1 warning in 61.00s (0:01:01) ===\n", "5 passed"},
		"pytest, nothing":      {"=== no tests ran in 0.01s ===\n", ""},
		"unittest":             {"Ran 212 tests in 3.211s\n\nFAILED (failures=13, errors=1)\n", "14 of 212 failed"},
		"unittest, all pass":   {"Ran 5 tests in 0.001s\n\nOK (skipped=1)\n", "4 passed"},
		"go":                   {"ok  \texample.com/a\t0.1s\n--- FAIL: TestX (0.00s)\n    x_test.go:4: no\nFAIL\nFAIL\texample.com/b\t0.2s\nok  \texample.com/c\t(cached)\n?   \texample.com/d\t[no test files]\nFAIL\n", "1 of 3 packages failed"},
		"go, all pass":         {"ok  \texample.com/a\t0.1s\nok  \texample.com/b\t0.1s\n", "2 packages passed"},
		"go, one package":      {"ok  \texample.com/a\t0.1s\n", ""},
		"go, verbose":          {"=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    --- FAIL: TestB/sub (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\texample.com/a\t0.1s\nFAIL\n", "1 of 2 failed"},
		"go, no build":         {"# example.com/a\na.go:1:1: no\nFAIL\texample.com/a [build failed]\nok  \texample.com/b\t0.1s\nFAIL\n", "1 of 2 packages failed"},
		"cargo":                {"test result: ok. 100 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n\ntest result: FAILED. 98 passed; 14 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.10s\n", "14 of 212 failed"},
		"mocha":                {"\n  198 passing (2s)\n  2 pending\n  14 failing\n\n  1) login\n", "14 of 212 failed"},
		"mocha, all pass":      {"\n  212 passing (2s)\n\n", "212 passed"},
		"rspec":                {"Finished in 0.5 seconds\n212 examples, 14 failures\n", "14 of 212 failed"},
		"rspec, pending":       {"10 examples, 1 failure, 2 pending\n", "1 of 8 failed"},
		"tap, counts":          {"ok 1 - a\nnot ok 2 - b\n1..2\n# tests 2\n# pass 1\n# fail 1\n", "1 of 2 failed"},
		"tap, node":            {"ℹ tests 212\nℹ suites 4\nℹ pass 198\nℹ fail 14\nℹ cancelled 0\n", "14 of 212 failed"},
		"tap, plan":            {"TAP version 13\n1..3\nok 1 - a\nnot ok 2 - b\nok 3\n", "1 of 3 failed"},
		"tap, a point missing": {"1..3\nok 1 - a\nnot ok 2 - b\n", ""},
		"two runners":          {"Tests:       1 failed, 1 passed, 2 total\n3 failed, 4 passed in 0.02s\n", ""},
		"two that agree":       {"Tests:       5 passed, 5 total\n5 passed in 0.02s\n", "5 passed"},
		"talk":                 {"I think 3 failed and 4 passed, 12 tests passing\n", ""},
		"nothing":              {"", ""},
		"a lost beginning":     {strings.Repeat("ok  \texample.com/a\t0.1s\n", 4000), ""},
		"jest, a lost start":   {strings.Repeat("noise\n", 20_000) + "Tests:       14 failed, 198 passed, 212 total\n", "14 of 212 failed"},
		"too many to count":    {"Tests:       99999999999999999999 failed, 1 passed, 2 total\n", ""},
		"windows lines":        {"14 failed, 198 passed in 3.21s\r\n", "14 of 212 failed"},
	} {
		if got := verify.Summary(c.output); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
