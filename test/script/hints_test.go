package script_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// hint is a command that an error told the reader to type, and where.
type hint struct {
	line, dir string
	env       []string
}

// hinted is how a command of a hint stands in an error: behind a label, or alone.
var hinted = regexp.MustCompile(`(?m)^  (?:[A-Z][^:\n]*: +)?(retake [a-z].*)$`)

// endless are commands that wait for somebody, or make more than a page needs: some would protect
// the machine that the tests run on.
var endless = regexp.MustCompile(`^retake (console|serve|tui|mount|demo|webhooks listen)\b|^retake init .*--accept .*(home|system|giant)|…`)

// onlyReads are commands that change nothing, so that the page can go on after them.
var onlyReads = regexp.MustCompile(`^retake (help|log|show|ls|diff|status|workspaces|forks|estimate)\b| --plan\b`)

// hintsIn are the commands in what an error printed.
func hintsIn(stderr string) []string {
	var out []string
	for _, m := range hinted.FindAllStringSubmatch(stderr, -1) {
		if !endless.MatchString(m[1]) && !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// hintsRun and hintsDone count what the pages ran, and what of it ended well. At the end of a
// page it is too late to fail it, so that faults fail the whole run.
var (
	hintsRun, hintsDone atomic.Int64
	hintFaults          sync.Map
)

// reportHints says what became of all hints, and whether none had a fault.
func reportHints() bool {
	if n := hintsRun.Load(); n > 0 {
		fmt.Printf("hints of errors: %d run, %d ended well, the others were refused as they should be\n", n, hintsDone.Load())
	}
	fine := true
	hintFaults.Range(func(fault, page any) bool {
		fine = false
		fmt.Printf("%v: %v\n", page, fault)
		return true
	})
	return fine
}

// tryHints runs what an error tells the reader to type. What changes something waits for the
// end of the page, which goes on from here as it is written.
func tryHints(ts *testscript.TestScript) {
	if _, err := exec.LookPath("sh"); err != nil {
		return
	}
	var env []string
	for _, name := range []string{"RETAKE_HOME", "HOME", "TZ", "LANG", "COLUMNS", "TERM", "PATH", "RETAKE_SOLO", "RETAKE_SERVER", "RETAKE_KEY"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	for _, line := range hintsIn(ts.ReadFile("stderr")) {
		h := hint{line: line, dir: ts.MkAbs("."), env: env}
		if onlyReads.MatchString(line) {
			ts.Check(h.run())
			continue
		}
		ts.Defer(func() {
			if err := h.run(); err != nil {
				hintFaults.Store(err.Error(), ts.Name())
			}
		})
	}
}

// run types a hint with nobody there to answer. It may be refused, because the page went on
// since or because it asks; it may not be misunderstood, nor fail.
func (h hint) run() error {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "sh", "-c", h.line)
	cmd.Dir, cmd.Env = h.dir, h.env
	out, err := cmd.CombinedOutput()
	hintsRun.Add(1)
	var exit *exec.ExitError
	switch {
	case err == nil:
		hintsDone.Add(1)
		return nil
	case errors.As(err, &exit) && understood(exit.ExitCode()), strings.Contains(string(out), " workspaces are called "): // since then
		return nil
	}
	return fmt.Errorf("the hint %q: %w\n%s", h.line, err, out)
}

// understood reports whether an exit code is an answer: 1 is a fault of ours, 2 a command that
// is none, 126 and above are of the shell.
func understood(code int) bool { return code > 2 && code < 100 }

func TestHintsAreFoundAndJudged(t *testing.T) {
	t.Parallel()
	got := hintsIn("✘ It is gone.\n  Nothing was changed.\n  Bring it back:  retake restore 2\n  List all:       retake log\n  Try again.\n  Watch:  retake tui\n  Go ahead:  retake init / --accept nested,home\n")
	if want := []string{"retake restore 2", "retake log"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	for line, fails := range map[string]bool{program + " help log": false, program + " no-such-command": true, program + " log --no-such-flag": true, "no-such-program": true} {
		if err := (hint{line: line, dir: t.TempDir()}).run(); (err != nil) != fails {
			t.Errorf("%s: %v", line, err)
		}
	}
}
