//go:build browser

// Package browser runs the tests of the console, which are written in JavaScript, as
// tests of Go: each of theirs is one of ours, so that they are counted together.
package browser

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// told is a line of the report: ok 3 - name, or not ok 3 - name, indented by its depth.
var told = regexp.MustCompile(`^( *)(not )?ok \d+ - (.*)$`)

func TestConsole(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	program := os.Getenv("RETAKE")
	if program == "" {
		program = filepath.Join(t.TempDir(), "retake")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Dir(program)+"/", "./cmd/retake", "./cmd/retaked")
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "console", "test", "e2e", "*.test.mjs"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	t.Run("unit", func(t *testing.T) { report(t, root, program, "test/unit.mjs") })
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".test.mjs")
		t.Run(name, func(t *testing.T) { report(t, root, program, "--test", "--test-reporter=tap", file) })
	}
}

// report runs tests by node and tells what each of them said.
func report(t *testing.T, root, program string, args ...string) {
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir = filepath.Join(root, "console")
	cmd.Env = append(os.Environ(), "RETAKE="+program)
	out, err := cmd.Output()
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	lines.Buffer(nil, 1<<24)
	passed, failed := 0, 0
	for lines.Scan() {
		m := told.FindStringSubmatch(lines.Text())
		if m == nil || strings.HasSuffix(m[3], ".mjs") {
			continue
		}
		ok := m[2] == ""
		if ok {
			passed++
		} else {
			failed++
		}
		t.Run(m[3], func(t *testing.T) {
			if !ok {
				t.Error("it fails; what it said is below")
			}
		})
	}
	switch {
	case err != nil || failed > 0:
		t.Errorf("%v\n%s", err, out)
	case passed == 0:
		t.Errorf("nothing ran:\n%s", out)
	default:
		t.Log(said(string(out)))
	}
}

// said is what the tests told beside their verdicts: figures.
func said(report string) string {
	var b strings.Builder
	for line := range strings.Lines(report) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "# "); ok && !strings.HasPrefix(text, "Subtest") {
			b.WriteString(text + "\n")
		}
	}
	return b.String()
}
