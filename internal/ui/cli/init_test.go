package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// machine is a service that is asked for the whole machine: it tells its size without
// reading it, and counts whether somebody captures it.
type machine struct {
	retake.Service
	captured *[]string
}

func (machine) Estimate(context.Context, string) (retake.Estimate, error) {
	return retake.Estimate{Root: "/", Files: 812_345, Bytes: 48 << 30, Danger: []retake.Danger{{Class: retake.DangerHome, Text: "/ is a whole home directory"}}}, nil
}

func (m machine) Init(_ context.Context, req retake.InitRequest) (retake.SaveResult, error) {
	*m.captured = append(*m.captured, req.Dir+" "+strings.Join(req.Accept, ","))
	return retake.SaveResult{Checkpoint: retake.Checkpoint{Number: 1}}, nil
}

// flat is what was said without colors, in one line.
func flat(s string) string { return strings.Join(strings.Fields(uncolored(s)), " ") }

func TestX7_TheWholeMachineNeedsAWord(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		answers  string
		args     []string
		code     int
		says     string
		captures bool
	}{
		"nobody is there":   {"", []string{"init", "--system", "--no-input"}, 6, "812,345 files, 52 GB", false},
		"yes alone":         {"system\n", []string{"init", "--system", "--yes"}, 6, "retake init --system --accept system", false},
		"a y out of habit":  {"y\n", []string{"init", "--system"}, 6, "Cancelled.", false},
		"the word":          {"system\n", []string{"init", "--system"}, 0, "812,345 files, 52 GB", true},
		"the word, as flag": {"", []string{"init", "--system", "--accept", "system", "--no-input"}, 0, "", true},
		"another word":      {"", []string{"init", "--system", "--accept", "home,giant", "--no-input"}, 6, "captures the whole machine", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			var captured []string
			p.wrap = func(s retake.Service) retake.Service { return machine{s, &captured} }
			got := p.types(x.answers, x.args...)
			if got.code != x.code || !strings.Contains(flat(got.err), x.says) || (len(captured) > 0) != x.captures {
				t.Errorf("code %d, captured %v\n%s%s", got.code, captured, got.out, got.err)
			}
		})
	}
}

func TestX7_InitInsideAWorkspaceAsks(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	if err := os.MkdirAll(filepath.Join(p.dir, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := p.types("", "init", "--name", "shop"); got.code != 0 {
		t.Fatal(got.err)
	}
	got := p.types("", "init", "src", "--no-input")
	if got.code != 6 || !strings.Contains(flat(got.err), "inside the protected workspace shop") || !strings.Contains(flat(got.err), "retake init src --accept nested") {
		t.Errorf("nobody to ask: %d %s", got.code, got.err)
	}
	if got := p.types("n\n", "init", "src"); got.code != 6 || !strings.Contains(flat(got.err), "protected workspace shop") {
		t.Errorf("no: %d %s", got.code, got.err)
	}
	if got := p.types("y\n", "init", "src"); got.code != 0 {
		t.Errorf("yes: %d %s", got.code, got.err)
	}
}
