package cli_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/ui/cli"
)

func TestRunStandsBetweenTwoCheckpoints(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.write("a.txt", "edited before\n")
	p.program = func(c cli.Command) (int, error) {
		p.write("a.txt", "edited by it\n")
		return 3, nil
	}
	p.types("", "run", "--no-color", "--", "make", "-j", "--json").want(t, 3, "", "before it 2 · after it 3 · edited 1\n")
	if c := p.ran[0]; !slices.Equal(c.Args, []string{"make", "-j", "--json"}) || c.Dir != p.dir || c.BindOver != "" || c.ToStderr {
		t.Fatalf("ran %+v", c)
	}
	p.types("", "log", "--no-color").want(t, 0, "3  11:42  after `make -j --json`", "")
	p.types("", "log", "--no-color").want(t, 0, "2  11:42  before `make -j --json`", "")
	p.program = func(cli.Command) (int, error) { return 0, nil }
	p.types("", "run", "--", "true").want(t, 0, "", "before it 3 · no file changed\n")
	p.program = func(cli.Command) (int, error) { return 0, errors.New("no such program") }
	p.types("", "run", "--no-color", "--", "nope").want(t, 2, "", "✘ `nope` could not be run: no such program.\n")
}

// Without the checkpoint before it, a program does not run.
func TestRunNeedsTheCheckpointBefore(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.program = func(cli.Command) (int, error) { return 0, nil }
	p.types("", "run", "--", "make").want(t, 3, "", "Protect it:")
	if len(p.ran) > 0 {
		t.Fatal("it ran")
	}
}

func TestAtRunsInAForkThatGoesAway(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.write("a.txt", "later\n")
	p.program = func(c cli.Command) (int, error) {
		b, err := os.ReadFile(filepath.Join(c.Dir, "a.txt"))
		if string(b) != "hello\n" {
			err = errors.Join(err, fmt.Errorf("a.txt is %q", b))
		}
		return 5, err
	}
	p.types("", "at", "1", "--", "cat", "a.txt").want(t, 5, "", "")
	c := p.ran[0]
	if _, err := os.Stat(c.Dir); !errors.Is(err, os.ErrNotExist) || c.BindOver != p.dir || c.Subdir != "" {
		t.Fatalf("%v: ran %+v", err, c)
	}
	p.program = func(c cli.Command) (int, error) { return 0, fmt.Errorf("%w: %s", cli.ErrOtherPath, "/elsewhere") }
	p.types("", "at", "1", "--no-color", "--", "cat").want(t, 0, "", "! ran at another path: /elsewhere\n")
	p.types("", "at", "9", "--", "cat").want(t, 3, "", "There is no checkpoint 9")
	left, err := filepath.Glob(filepath.Join(p.data, "scratch*"))
	if err != nil || len(left) > 0 || p.read("a.txt") != "later\n" {
		t.Fatalf("%v, left %v", err, left)
	}
}

func TestAtBeginsWhereWeAre(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for _, dir := range []string{"old/deep", "new"} {
		if dir == "new" {
			p.types("", "init").want(t, 0, "", "")
		}
		if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.program = func(cli.Command) (int, error) { return 0, nil }
	p.types("", "-C", "old/deep", "at", "1", "--", "ls").want(t, 0, "", "")
	p.types("", "-C", "new", "at", "1", "--", "ls").want(t, 0, "", "")
	if p.ran[0].Subdir != "old/deep" || p.ran[1].Subdir != "" { // new was not there
		t.Fatalf("ran %+v", p.ran)
	}
}

func TestAdoptOnlyIfItPasses(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	dir := filepath.Join(t.TempDir(), "fork")
	p.types("", "fork", "1", dir, "--name", "try \x1bout", "--no-color").want(t, 0, `  fork       try \x1bout`, "bring it home: retake adopt 'try \\x1bout'\n")
	if err := os.WriteFile(filepath.Join(dir, "b.txt"), []byte("b"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.program = func(cli.Command) (int, error) { return 9, nil }
	p.types("", "adopt", dir, "--yes", "--if", "make test", "--no-color").want(t, 7, "", "✘ `make test` ended with 9 in the fork try \\x1bout.\n  Nothing was changed.\n")
	if c := p.ran[0]; !slices.Equal(c.Args, []string{"sh", "-c", "make test"}) || c.Dir != dir || !c.ToStderr {
		t.Fatalf("ran %+v", c)
	}
	s := p.types("", "adopt", dir, "--yes", "--if", "make test", "--json")
	s.want(t, 7, `"kind":"failed"`, "")
	p.types("", "adopt", "nobody", "--no-color").want(t, 3, "", "✘ There is no fork nobody of ")
	p.program = func(cli.Command) (int, error) { return 0, nil }
	p.types("y\n", "adopt", "try \x1bout", "--if", "make test", "--no-color").want(t, 0, "ADD             1   b.txt", `Adopt try \x1bout now: add 1?  [y/N`)
	if p.read("b.txt") != "b" {
		t.Fatal("nothing came")
	}
	p.types("", "log", "--no-color").want(t, 0, `adopted try \x1bout`, "")
	p.types("", "forks", "--no-color").want(t, 0, `●  try \x1bout `, "")
}

func TestForkFindsANameBeside(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	for _, suffix := range []string{"-fork", "-fork-2", "-fork-3"} {
		p.types("", "fork", "latest").want(t, 0, filepath.Base(p.dir)+suffix, "")
	}
	p.types("", "forks", "--no-color").want(t, 0, "-fork-2 ", "")
}

func TestMountSaysWhereAndHowToEndIt(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	dir := t.TempDir()
	s := p.types("", "mount", dir, "--no-color")
	s.want(t, 0, " are in "+dir+", to read only.\n", "")
	if !strings.Contains(s.out, "  end it: ctrl-c, or fusermount3 -u "+dir+"\n") {
		t.Fatalf("got %q", s.out)
	}
	p.types("", "mount", dir, "--json").want(t, 0, `{"v":1,"dir":"`+dir+`"}`, "")
}
