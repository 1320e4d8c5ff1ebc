package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/cli"
)

// looksFor is a program that wants a word in a.txt, tells what it found, and takes a while.
func (p *person) looksFor(word string) {
	p.program = func(c cli.Command) (int, error) {
		b, err := os.ReadFile(filepath.Join(c.Dir, "a.txt"))
		if err != nil {
			return 0, err
		}
		p.clock.Advance(38 * time.Second)
		fmt.Fprintf(c.Output, "a.txt is %s", strings.TrimSpace(string(b)))
		if !strings.Contains(string(b), word) {
			return 1, nil
		}
		return 0, nil
	}
}

func decode[T any](t *testing.T, s said) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(s.out), &v); err != nil {
		t.Fatalf("%v in %s", err, s.out)
	}
	return v
}

type answers struct {
	Checkpoint    retake.Checkpoint
	Verifications []retake.Verification
	Warnings      []retake.Warning
}

func TestSaveVerifiesAndIsKeptWhateverItSays(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.looksFor("hello")
	p.types("", "save", "one", "--verify", "npm test", "--no-color").want(t, 0, "✔ 2  11:42  one\n", "a.txt is hello\n")
	if c := p.ran[0]; !slices.Equal(c.Args, []string{"sh", "-c", "npm test"}) || c.Dir != p.dir || c.BindOver != "" {
		t.Fatalf("ran %+v", c)
	}
	p.write("a.txt", "broken\n")
	s := p.types("", "save", "two", "--verify", "npm test", "--verify", "make lint, then", "--no-color")
	s.want(t, 0, "\n✘ test  exit 1 · 38 s\n", "")
	if got := len(p.ran); got != 3 {
		t.Fatalf("%d ran: a comma is no end of a command", got)
	}
	s = p.types("", "save", "three", "--verify", "npm test", "--json")
	s.want(t, 0, `"verifications":[{`, "")
	a := decode[answers](t, s)
	if s.err != "" || len(a.Verifications) != 1 || len(a.Warnings) != 0 {
		t.Fatalf("%+v, %q", a, s.err)
	}
	v := a.Verifications[0]
	if v.Verdict != retake.Failed || v.Exit != 1 || v.Name != "test" || v.Where != retake.OnLive || v.Took != 38*time.Second || v.Checkpoint != a.Checkpoint.ID || v.Output != "a.txt is broken" {
		t.Fatalf("%+v", v)
	}
	if s := p.types("", "save", "--json"); strings.Contains(s.out, "verifications") {
		t.Fatalf("nobody asked: %s", s.out)
	}
	p.types("", "save", "--verify", " ").want(t, 2, "", "Which command shall --verify run?")
	p.types("", "save", "--verify", "x", "--verify-limit", "-1s").want(t, 2, "", "The limit is a duration of time")
}

func TestSaveTellsWhatCouldNotRun(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.program = func(cli.Command) (int, error) { return 127, nil }
	p.types("", "save", "--verify", "nope", "--no-color").want(t, 0, "? nope  could not run", "")
	p.program = func(cli.Command) (int, error) { return 0, errors.New("no \x1b shell") }
	p.types("", "save", "--verify", "nope", "--no-color").want(t, 0, `? nope  could not run: no \x1b shell`, "")
	ctx, stop := context.WithCancel(t.Context())
	p.program = func(cli.Command) (int, error) { stop(); return 130, ctx.Err() }
	p.run(ctx, "", "save", "four", "--verify", "npm test", "--verify", "b", "--no-color").want(t, 130, "✔ 4  11:42  four",
		"✘ Stopped.\n  Checkpoint 4 is kept; 2 commands are without an answer.\n  Run it again:  retake verify 4 -- npm test\n")
}

func TestVerifyOnTheLiveFiles(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.looksFor("hello")
	p.types("", "verify", "--no-color", "--", "npm", "test").want(t, 0, "✔ test  38 s\n", "a.txt is")
	if c := p.ran[0]; !slices.Equal(c.Args, []string{"npm", "test"}) || c.Dir != p.dir || c.BindOver != "" {
		t.Fatalf("ran %+v", c)
	}
	p.types("", "log", "--json").want(t, 0, `"total":1`, "") // nothing had changed
	p.write("a.txt", "broken\n")
	p.types("", "verify", "--name", "unit", "--no-color", "--", "npm test && x").want(t, 7, "✘ unit  exit 1 · 38 s\n", "since when: retake bisect -- 'npm test && x'     the checkpoint: retake show 2\n")
	if c := p.ran[1]; !slices.Equal(c.Args, []string{"sh", "-c", "npm test && x"}) {
		t.Fatalf("ran %+v", c)
	}
	a := decode[answers](t, p.types("", "verify", "latest", "--json", "--", "npm", "test"))
	if v := a.Verifications[0]; a.Checkpoint.Number != 2 || v.Where != retake.OnLive || v.Verdict != retake.Failed || v.Command != "npm test" {
		t.Fatalf("%+v", a)
	}
	p.program = func(cli.Command) (int, error) {
		p.write("a.txt", "changed meanwhile\n")
		return 0, nil
	}
	p.types("", "verify", "--no-color", "--", "npm", "test").want(t, 5, "≈ test  changed meanwhile: a.txt\n", "That is recorded, and says nothing about 2.\n")
	p.program = func(cli.Command) (int, error) { return 127, nil }
	p.types("", "verify", "--no-color", "--", "nope").want(t, 1, "? nope  could not run", "✘ `nope` could not be run.\n  because: exit 127\n  That is recorded, and says nothing about 3.\n  Try it by hand:  nope\n")
}

func TestVerifyAnOldCheckpointInAFork(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.write("a.txt", "broken\n")
	p.types("", "save").want(t, 0, "", "")
	p.looksFor("hello")
	p.types("", "verify", "1", "--no-color", "--", "npm", "test").want(t, 0, "✔ test  38 s\n", "")
	if c := p.ran[0]; c.Dir == p.dir || c.BindOver != p.dir {
		t.Fatalf("ran %+v", c)
	}
	p.write("a.txt", "hello again\n") // now is not the newest any more
	p.types("", "verify", "2", "--no-color", "--", "npm", "test").want(t, 7, "✘ test", "")
	p.program = func(cli.Command) (int, error) { return 0, fmt.Errorf("%w: no namespaces", cli.ErrOtherPath) }
	p.types("", "verify", "2", "--no-color", "--", "npm", "test").want(t, 0, " · ran at another path, so it makes no checkpoint good\n", "")
	p.types("", "verify", "9", "--", "true").want(t, 3, "", "There is no checkpoint 9")
	if left, err := filepath.Glob(filepath.Join(p.data, "scratch*")); err != nil || len(left) > 0 {
		t.Fatalf("%v, left %v", err, left)
	}
}

func TestVerifyWhatStands(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.types("", "verify", "--no-color").want(t, 3, "", "✘ No check is configured for ")
	p.types("", "config", "verify.test", "npm test").want(t, 0, "npm test\n", "")
	p.types("", "config", "verify.lint", "make lint").want(t, 0, "make lint\n", "")
	p.types("", "config").want(t, 0, ".verify.lint", "")
	p.looksFor("hello")
	p.types("", "verify", "--no-color").want(t, 0, "✔ lint  38 s\n✔ test  38 s\n", "")
	p.types("", "verify", "--name", "test", "--no-color").want(t, 0, "✔ test  38 s\n", "")
	if len(p.ran) != 3 || !slices.Equal(p.ran[2].Args, []string{"sh", "-c", "npm test"}) {
		t.Fatalf("ran %+v", p.ran)
	}
	p.types("", "verify", "--name", "nope", "--no-color").want(t, 3, "", "✘ No check nope is configured for ")
	p.types("", "config", "--unset", "verify.test").want(t, 0, "", "")
	p.types("", "config", "verify.lint", "").want(t, 0, "\n", "")
	p.types("", "verify").want(t, 3, "", "")
	p.types("", "config", "verify.NO", "x").want(t, 2, "", "is no name for a verification")
	p.types("", "-C", t.TempDir(), "config", "verify.all", "x").want(t, 0, "x\n", "")
	p.types("", "config", "verify.all").want(t, 0, "x\n", "")
}
