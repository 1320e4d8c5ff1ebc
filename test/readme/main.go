// Command readme fills the generated parts of docs/start/tour.md, from a run of the commands in
// test/readme/tour.txt, and of docs/internals/reliability.md, from reliability.json and
// bench/damage/results.json.
//
//	go run ./test/readme          the tables
//	go run ./test/readme -tour    the tour too; needs npm, bash and git
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	tour := flag.Bool("tour", false, "run the tour again")
	flag.Parse()
	if err := fill(*tour); err != nil {
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1)
	}
}

func fill(tour bool) error {
	if tour {
		out, err := runTour()
		if err != nil {
			return err
		}
		if err := fillPage("docs/start/tour.md", "tour", "```console\n"+out+"```\n"); err != nil {
			return err
		}
	}
	table, err := promises()
	if err != nil {
		return err
	}
	if err := fillPage("docs/internals/reliability.md", "promises", table); err != nil {
		return err
	}
	if table, err = damages(); err != nil {
		return err
	}
	return fillPage("docs/internals/reliability.md", "damages", table)
}

// fillPage writes a generated part of a page.
func fillPage(path, name, with string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := replace(string(b), name, with)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// replace puts new text between <!-- NAME --> and <!-- /NAME -->.
func replace(text, name, with string) (string, error) {
	open, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	a, b := strings.Index(text, open), strings.Index(text, end)
	if a < 0 || b < a {
		return "", fmt.Errorf("no place for %s", name)
	}
	return text[:a+len(open)] + with + text[b:], nil
}

// runTour runs tour.txt: lines with "- " are prepared unseen, lines with "$ " are
// shown with what they print.
func runTour() (string, error) {
	dir, err := os.MkdirTemp("", "tour-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "bin")+"/", "./cmd/retake", "./cmd/retaked")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	script, err := os.ReadFile("test/readme/tour.txt")
	if err != nil {
		return "", err
	}
	home := filepath.Join(dir, "home")
	work := filepath.Join(home, "shopfront")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return "", err
	}
	defer command(dir, home, work, "retake daemon stop") //nolint:errcheck // its home is scratch
	var out strings.Builder
	for line := range strings.Lines(string(script)) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) < 3 {
			continue
		}
		text, err := command(dir, home, work, line[2:])
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(line, "$ ") {
			fmt.Fprintf(&out, "%s\n%s", line, text)
			if text != "" {
				out.WriteByte('\n')
			}
		}
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// command runs one line in bash; a command that is expected to fail says so by
// its own words, so its exit code is not ours to judge.
func command(dir, home, work, line string) (string, error) {
	cmd := exec.Command("bash", "-c", "PATH="+filepath.Join(dir, "bin")+":$PATH; "+line)
	cmd.Dir = work
	cmd.Env = append(cmd.Environ(), "HOME="+home, "RETAKE_HOME=", "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "COLUMNS=80", "LANG=C.UTF-8", "LC_ALL=",
		"npm_config_cache="+filepath.Join(os.TempDir(), "tour-npm"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return "", err
	}
	return out.String(), nil
}

type row struct {
	Guarantee string `json:"guarantee"`
	What      string `json:"what"`
	Tried     int64  `json:"tried"`
	Failed    int64  `json:"failed"`
	Control   string `json:"control"`
	Caught    int64  `json:"control_caught"`
}

// promises makes the table. With none of N failed, at most 3/N of all fail, at a
// confidence of 95 %.
func promises() (string, error) {
	b, err := os.ReadFile("reliability.json")
	if err != nil {
		return "", err
	}
	var f struct {
		Rows []row `json:"rows"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString("| | what was done | tried | failed | at most | without the protection it fails |\n|---|---|---:|---:|---:|---|\n")
	for _, r := range f.Rows {
		bound := "–"
		if r.Failed == 0 && r.Tried > 0 {
			bound = fmt.Sprintf("%.2g %%", 300/float64(r.Tried))
		}
		fmt.Fprintf(&out, "| %s | %s | %d | %d | %s | %s: %d |\n", r.Guarantee, r.What, r.Tried, r.Failed, bound, r.Control, r.Caught)
	}
	return out.String(), nil
}
