// Package replay plays scripted agent runs on real trees and tells the truth about them:
// which paths changed, by a plain walk before and after each turn, and which facts, by
// the word of the scripts themselves.
//
// It touches the directory that it is given, a directory of its own beside the temporary
// files for downloads, and one more for the time of a play. It never reads the store, and
// it knows nothing of the readers that are held against it.
//
//	R1  Truth about paths comes from the walk alone.
//	R2  A script sees a fixed environment: nothing of the caller's but the clock.
//	R3  What a run keeps for itself lies outside the tree.
package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/retake-dev/retake"
)

// Run is one scripted agent run.
type Run struct {
	Name      string // of its file, without the ending
	Title     string
	Complaint string // what a person says later
	Check     string // a shell command for the root: 0 in good checkpoints
	Answer    int    // the turn after which the world was last right
	Needs     []string
	HeldOut   bool
	Turns     []Turn

	setup string
}

// Turn is one step of a run. Number 0 is the tree before the first one.
type Turn struct {
	Number int
	Person bool   // a person did it, no agent
	Agent  string // "" when there is only one
	Prompt string
	Intent string // of a save by hand
	Says   string // the agent's last words
	Lie    string // why words and facts disagree; "" when they do not

	Facts []retake.Fact // known after the turn was played
	Paths Paths         // likewise

	script string
}

// Load reads the runs of a directory, by name.
func Load(dir string) ([]Run, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	slices.Sort(names)
	var runs []Run
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read run: %w", err)
		}
		r, err := parse(strings.TrimSuffix(filepath.Base(name), ".txtar"), text)
		if err != nil {
			return nil, fmt.Errorf("parse run %s: %w", filepath.Base(name), err)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func parse(name string, text []byte) (Run, error) {
	a := txtar.Parse(text)
	r := Run{Name: name, HeldOut: strings.HasPrefix(name, "h")}
	if err := r.header(string(a.Comment)); err != nil {
		return r, err
	}
	for i, f := range a.Files {
		if i == 0 {
			if f.Name != "setup.sh" {
				return r, fmt.Errorf("the first file is %s, not setup.sh", f.Name)
			}
			r.setup = string(f.Data)
			continue
		}
		if want := fmt.Sprintf("%02d.sh", i); f.Name != want {
			return r, fmt.Errorf("file %s stands where %s should", f.Name, want)
		}
		t, err := parseTurn(i, string(f.Data))
		if err != nil {
			return r, fmt.Errorf("%s: %w", f.Name, err)
		}
		r.Turns = append(r.Turns, t)
	}
	return r, r.valid()
}

func (r *Run) header(comment string) error {
	for _, line := range strings.Split(comment, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case "title":
			r.Title = value
		case "complaint":
			r.Complaint = value
		case "check":
			r.Check = value
		case "needs":
			r.Needs = strings.Fields(value)
		case "answer":
			n, err := strconv.Atoi(value)
			if err != nil {
				return fmt.Errorf("parse answer: %w", err)
			}
			r.Answer = n
		default:
			return fmt.Errorf("unknown line %q", line)
		}
	}
	return nil
}

func (r *Run) valid() error {
	switch {
	case r.Title == "" || r.Complaint == "" || r.Check == "":
		return errors.New("no title, complaint or check")
	case r.setup == "":
		return errors.New("no setup")
	case r.Answer < 1 || r.Answer >= len(r.Turns):
		return fmt.Errorf("answer %d of %d turns", r.Answer, len(r.Turns))
	}
	for _, n := range r.Needs {
		if tools[n] == nil {
			return fmt.Errorf("unknown need %q", n)
		}
	}
	return nil
}

// parseTurn reads the comments at the head of a script.
func parseTurn(number int, script string) (Turn, error) {
	t := Turn{Number: number, script: script}
	for _, line := range strings.Split(script, "\n") {
		text, ok := strings.CutPrefix(line, "# ")
		if !ok {
			break
		}
		key, value, _ := strings.Cut(text, ": ")
		switch key {
		case "by":
			if value != "person" {
				return t, fmt.Errorf("by %q: only a person is named", value)
			}
			t.Person = true
		case "agent":
			t.Agent = value
		case "prompt":
			t.Prompt = value
		case "intent":
			t.Intent = value
		case "says":
			t.Says = value
		case "lie":
			t.Lie = value
		default:
			return t, fmt.Errorf("unknown line %q", line)
		}
	}
	if t.Person && t.Prompt != "" || !t.Person && t.Intent != "" {
		return t, errors.New("a person has intents, an agent has prompts")
	}
	return t, nil
}
