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

// A home directory may have millions of files. It is refused by its path, and the service is not
// even opened.
func TestInitInAHomeCountsNothing(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		at      func(p *person) (home, dir string)
		answers string
		args    []string
		says    string
	}{
		"nobody is there":    {homeItself, "", []string{"--no-input"}, "is a whole home directory. Nothing was changed. Preview: retake estimate"},
		"yes alone":          {homeItself, "", []string{"--yes"}, "--accept home"},
		"no":                 {homeItself, "n\n", nil, "is a whole home directory. Protect it all the same?"},
		"above it":           {homeBelow, "", []string{"--no-input"}, "is a whole home directory"},
		"it is named a link": {homeLinked, "", []string{"--no-input"}, "is a whole home directory"},
		"the machine":        {homeItself, "", []string{"/", "--no-input", "--accept", "system"}, "/ is a whole home directory"},
		"of the machine":     {homeItself, "", []string{"/usr", "--no-input"}, "/usr belongs to the machine, not to a project"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			p.home, p.dir = x.at(p)
			got := p.types(x.answers, append([]string{"init"}, x.args...)...)
			if got.code != 6 || !strings.Contains(flat(got.err), x.says) || p.opens > 0 {
				t.Errorf("code %d, opened %d times\n%s%s", got.code, p.opens, got.out, got.err)
			}
		})
	}
}

func homeItself(p *person) (home, dir string) { return p.dir, p.dir }
func homeBelow(p *person) (home, dir string)  { return filepath.Join(p.dir, "users", "me"), p.dir }

func homeLinked(p *person) (home, dir string) {
	link := filepath.Join(p.t.TempDir(), "home")
	if err := os.Symlink(p.dir, link); err != nil {
		p.t.Skip(err)
	}
	return link, p.dir
}

// Who says yes once is not asked again after the files are counted.
func TestInitInAHomeAsksOnce(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.home = p.dir
	got := p.types("y\n", "init")
	if got.code != 0 || strings.Count(got.err, "Protect it all the same?") != 1 || !strings.Contains(got.out, "looked") {
		t.Errorf("code %d\n%s%s", got.code, got.out, got.err)
	}
}
