package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// row is the result of one target.
type row struct {
	Package     string  `json:"package"`
	Name        string  `json:"name"`
	Executions  int64   `json:"executions"`
	Interesting int64   `json:"new_interesting"` // inputs that reached more code than those before
	Seconds     float64 `json:"seconds"`         // with building
	CPU         float64 `json:"cpu_seconds"`     // user and system, of all processes
	Failed      bool    `json:"failed"`
	Output      string  `json:"output,omitempty"` // of a failure
}

func (r row) String() string {
	end := "ok"
	switch {
	case r.Failed:
		end = "FAILED\n" + r.Output
	case r.Executions == 0:
		end = "ok, and no time was left after its seeds"
	}
	return fmt.Sprintf("%-62s %9d executions %5d new inputs %6.0f s cpu  %s", r.Package+"."+r.Name, r.Executions, r.Interesting, r.CPU, end)
}

// results are what -o writes.
type results struct {
	Go       string  `json:"go"`
	Each     string  `json:"each"`
	CPU      float64 `json:"cpu_seconds"`
	Failures int     `json:"failures"`
	Targets  []row   `json:"targets"`
}

func (r *results) add(one row) {
	r.Targets = append(r.Targets, one)
	r.CPU += one.CPU
	if one.Failed {
		r.Failures++
	}
}

func (r *results) write(path string) error {
	if path == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// runTarget fuzzes one target.
func runTarget(ctx context.Context, root string, t target, each time.Duration, tags string) row {
	cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-tags", tags, "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", each.String(), "./"+filepath.ToSlash(t.dir))
	cmd.Dir = root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // go waits for its children
	cmd.WaitDelay = 10 * time.Second
	start := time.Now()
	err := cmd.Run()
	r := row{Package: filepath.ToSlash(t.dir), Name: t.name, Seconds: seconds(time.Since(start))}
	if s := cmd.ProcessState; s != nil {
		r.CPU = seconds(s.UserTime() + s.SystemTime())
	}
	text := out.String()
	r.Executions, r.Interesting = readCounts(text)
	if err != nil && !onlyTimedOut(text) || strings.Contains(text, "no fuzz tests to fuzz") {
		r.Failed, r.Output = true, lastBytes(text, 4000)
		if r.Output == "" {
			r.Output = err.Error()
		}
	}
	return r
}

func seconds(d time.Duration) float64 { return d.Round(10 * time.Millisecond).Seconds() }

var counts = regexp.MustCompile(`execs: (\d+) .*new interesting: (\d+)`)

// readCounts returns the counts of the last progress line.
func readCounts(text string) (executions, interesting int64) {
	for _, m := range counts.FindAllStringSubmatch(text, -1) {
		executions, _ = strconv.ParseInt(m[1], 10, 64)
		interesting, _ = strconv.ParseInt(m[2], 10, 64)
	}
	return executions, interesting
}

// onlyTimedOut reports whether the only failure is that the time was over in the middle of an
// execution, which Go sometimes reports as one.
func onlyTimedOut(text string) bool {
	return strings.Contains(text, "context deadline exceeded") && !strings.Contains(text, "Failing input written") && !strings.Contains(text, "panic:")
}

func lastBytes(text string, n int) string {
	text = strings.TrimSpace(text)
	return text[max(0, len(text)-n):]
}
