//go:build unix

// Package seeds plays the wishes that Retake began with, as their users would: the program,
// its daemon and an agent's hooks, nothing else.
package seeds_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake/test/fakeagent"
)

var program string // the built binary

func TestMain(m *testing.M) {
	if handled, exit := fakeagent.Inner(os.Args[1:]); handled {
		os.Exit(exit)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "retake-seeds")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "retake")
	if out, err := exec.Command("go", "build", "-tags", "testing", "-ldflags", "-s -w", "-o", dir+"/", "github.com/retake-dev/retake/cmd/retake", "github.com/retake-dev/retake/cmd/retaked").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// person is somebody at a keyboard, in a directory.
type person struct {
	*testing.T
	fakeagent.Places
}

// newPerson has a home and a project of their own, and a daemon that ends with the test.
func newPerson(t *testing.T) *person {
	t.Helper()
	top := t.TempDir()
	p := &person{T: t}
	p.Home, p.Dir = filepath.Join(top, "user"), filepath.Join(top, "shop")
	data := filepath.Join(top, "data")
	for _, d := range []string{p.Home, p.Dir, data} {
		must(t, os.MkdirAll(d, 0o700))
	}
	must(t, os.WriteFile(filepath.Join(data, "config.json"), []byte(`{"floor":"1KB"}`), 0o600))
	p.Env = []string{
		"HOME=" + p.Home, "RETAKE_HOME=" + data, "TZ=UTC", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
		"PATH=" + filepath.Dir(program) + string(filepath.ListSeparator) + os.Getenv("PATH"),
	}
	t.Cleanup(func() { p.retake("daemon", "stop") })
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// types runs a command and gives what it prints.
func (p *person) types(name string, args ...string) string {
	p.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		p.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out, complaint.Bytes())
	}
	return string(out)
}

func (p *person) retake(args ...string) string {
	p.Helper()
	return p.types(program, args...)
}

// asks runs retake with --json.
func (p *person) asks(into any, args ...string) {
	p.Helper()
	must(p.T, json.Unmarshal([]byte(p.retake(append(args, "--json")...)), into))
}

func (p *person) write(path, text string) {
	p.Helper()
	path = filepath.Join(p.Dir, path)
	must(p.T, os.MkdirAll(filepath.Dir(path), 0o755))
	must(p.T, os.WriteFile(path, []byte(text), 0o644))
}

// read gives the text of a file, or "absent".
func (p *person) read(path string) string {
	p.Helper()
	b, err := os.ReadFile(filepath.Join(p.Dir, path))
	if os.IsNotExist(err) {
		return "absent"
	}
	must(p.T, err)
	return string(b)
}

// files are all files of the project by their path, without what git keeps.
func (p *person) files() map[string]string {
	p.Helper()
	out := map[string]string{}
	must(p.T, filepath.WalkDir(p.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		rel, err := filepath.Rel(p.Dir, path)
		out[rel] = p.read(rel)
		return err
	}))
	return out
}

// agent lets an agent work by its hooks.
func (p *person) agent(name, play string) {
	p.Helper()
	var out bytes.Buffer
	if err := fakeagent.Run(p.Context(), name, p.Places, play, &out); err != nil {
		p.Fatalf("%v\n%s", err, out.String())
	}
}
