package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
)

func (p *person) read(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return "none"
	}
	return string(b)
}

// twelve is a workspace of two checkpoints; the second came with twelve files.
func twelve(t *testing.T) *person {
	t.Helper()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	for _, name := range many(12, "new%02d") {
		p.write(name, name)
	}
	p.write("a.txt", "hello again\n")
	p.types("", "save", "two").want(t, 0, "two", "")
	return p
}

const (
	firstKeys = "  \x1b[2m[y/N · d diff · l list]\x1b[0m "
	massAsks  = "\x1b[33m1 of 1  mass-delete:\x1b[0m delete 12 files?"
	lastAsks  = "Restore 1 now: delete 12, change 1?  \x1b[2m[y/N]\x1b[0m "
)

func TestRestoreAsksStepByStep(t *testing.T) {
	t.Parallel()
	p := twelve(t)
	for _, answers := range []string{"", "\n", "n\n", "q\n", "y\n", "y\n\n", "y\nno\n", "l\nn\n", "d\n\n"} {
		s := p.types(answers, "restore", "1")
		s.want(t, 6, "Nothing has been changed yet.", massAsks+firstKeys)
		s.want(t, 6, "", "Cancelled. Nothing was changed.\n")
		if strings.HasPrefix(answers, "y") {
			s.want(t, 6, "", lastAsks)
		}
	}
	if got := p.read("a.txt") + p.read("new11"); got != "hello again\nnew11" {
		t.Fatalf("something was changed: %q", got)
	}
	p.types("l\nl\nd\ny\ny\n", "restore", "1", "--no-color").want(t, 0, "✔ Restored 1", "")
	if got := p.read("a.txt") + p.read("new11"); got != "hello\nnone" {
		t.Fatalf("got %q", got)
	}
}

func TestRestoreListsAndDiffsBetweenQuestions(t *testing.T) {
	t.Parallel()
	p := twelve(t)
	s := p.types("l\nd\nn\n", "restore", "1", "--no-color")
	if n := strings.Count(s.err, "1 of 1  mass-delete: delete 12 files?"); n != 3 {
		t.Fatalf("asked %d times:\n%s", n, s.err)
	}
	for _, want := range []string{"DELETE  12\n", "  new00 ", "  new11 ", "deleted  12 files\n", "+1       −1"} {
		if !strings.Contains(s.out, want) {
			t.Errorf("no %q in\n%s", want, s.out)
		}
	}
}

func TestRestoreResultNamesTheCheckpoints(t *testing.T) {
	t.Parallel()
	p := twelve(t)
	p.write("a.txt", "not saved\n")
	s := p.types("y\ny\ny\n", "restore", "1", "--no-color")
	s.want(t, 0, "  deleted 12 · changed 1", "2 of 2  mass-delete: delete 12 files?  [y/N] ")
	s.want(t, 0, "  before      checkpoint 3, everything you had\n  now         checkpoint 4, same files as 1\n", "changed your mind: retake undo\n")
	if got := p.read("a.txt"); got != "hello\n" {
		t.Fatalf("got %q", got)
	}
	p.types("", "log", "--no-color").want(t, 0, "●     4  11:42  restored 1", "")
	p.types("", "log", "--no-color").want(t, 0, "│ ◇   3  11:42  before restore of 1", "")
	p.types("", "restore", "1", "--no-color").want(t, 0, "The files are already as in 1. Nothing to do.\n", "")
	p.types("y\n", "undo", "--no-color").want(t, 0, "✔ Undone 4", "Undo 4 now: bring back 12, change back 1?  [y/N · d diff · l list] ")
	if got := p.read("a.txt") + p.read("new11"); got != "not saved\nnew11" {
		t.Fatalf("got %q", got)
	}
}

func TestRestoreNeedsAWordForEachClass(t *testing.T) {
	t.Parallel()
	p := twelve(t)
	p.types("", "restore", "1", "--yes", "--no-color").want(t, 6, "", "✘ This would delete 12 files, and --yes alone does not cover that.\n  Nothing was changed.\n"+
		"  Preview:   retake restore 1 --plan\n  Go ahead:  retake restore 1 --yes --accept mass-delete\n")
	p.types("", "restore", "1", "--no-input", "--no-color").want(t, 6, "", "This would delete 12 files, which needs your confirmation.")
	p.types("y\ny\n", "restore", "1", "--json").want(t, 6, `"kind":"denied"`, "")
	p.types("", "restore", "1", "--yes", "--accept", "mass-delete", "--no-color").want(t, 0, "✔ Restored 1", "")
}

func TestRestoreByDigest(t *testing.T) {
	t.Parallel()
	p := twelve(t)
	s := p.types("", "restore", "1", "--plan", "--json")
	var plan retake.Plan
	if err := json.Unmarshal([]byte(s.out), &plan); err != nil || s.err != "" {
		t.Fatalf("%v: %s", err, s.err)
	}
	p.types("", "restore", "1", "--digest", plan.Short(), "--no-color").want(t, 6, "", "--digest alone does not cover that")
	p.write("a.txt", "moved on\n")
	p.types("", "restore", "1", "--digest", plan.Short(), "--accept", "mass-delete", "--no-color").want(t, 5, "",
		"  Plan again:        retake restore 1\n  See what changed:  retake diff\n")
	p.write("a.txt", "hello again\n")
	s = p.types("", "restore", "1", "--plan", "--no-color")
	s.want(t, 0, "DELETE", "apply it: retake restore 1 --digest ")
	_, typed, _ := strings.Cut(s.err, "apply it: retake ")
	typed, _, _ = strings.Cut(typed, "\n") // a line of its own: both hints are wider than the screen
	p.types("", append(strings.Fields(typed), "--json")...).want(t, 0, `"failed":[]`, "")
}

func TestUndoMergesAndPutsConflictsBeside(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	lines := strings.Repeat("line\n", 20)
	p.write("merge.txt", lines)
	p.write("both.txt", "one\n")
	p.types("", "init").want(t, 0, "", "")
	p.write("merge.txt", "theirs\n"+lines)
	p.write("both.txt", "two\n")
	p.write("came.txt", "came\n")
	p.types("", "save", "item").want(t, 0, "", "")
	p.write("merge.txt", "theirs\n"+lines+"yours\n")
	p.write("both.txt", "three\n")
	p.types("", "save", "yours").want(t, 0, "", "")
	s := p.types("y\n", "undo", "2", "--no-color")
	s.want(t, 0, "DELETE", "Undo 2 now: delete 1, merge 1, put 1 beside?")
	for _, want := range []string{
		"MERGE           1   merge.txt         its place goes, yours at line 21 stays\n",
		"CONFLICT        1   both.txt          stays yours; the other: both.txt.before-2\n",
		"  beside      both.txt.before-2  the other version of both.txt\n",
	} {
		if !strings.Contains(s.out, want) {
			t.Errorf("no %q in\n%s", want, s.out)
		}
	}
	if got := p.read("merge.txt") + p.read("both.txt") + p.read("both.txt.before-2"); got != lines+"yours\nthree\none\n" {
		t.Fatalf("got %q", got)
	}
	p.types("y\n", "redo", "--no-color").want(t, 0, "✔ Redone 2", "")
	if got := p.read("merge.txt"); got != "theirs\n"+lines+"yours\n" {
		t.Fatalf("got %q", got)
	}
}

// cutOff is a service whose workspaces wait to be finished.
type cutOff struct{ retake.Service }

func (c cutOff) Locate(ctx context.Context, dir string) (retake.Workspace, error) {
	ws, err := c.Service.Locate(ctx, dir)
	ws.Interrupted = &retake.Interruption{Course: retake.CourseRestore, Target: 14, Safety: 18, Done: 612, Total: 1181, Since: now.Add(-3 * time.Minute)}
	return ws, err
}

func TestInterruptionIsToldOnce(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.wrap = func(s retake.Service) retake.Service { return cutOff{s} }
	const banner = "! The restore to checkpoint 14 was interrupted 3 min ago, after 612 of 1,181 files.\n"
	for _, args := range [][]string{{"--no-color"}, {"log", "--no-color"}, {"status", "--no-color"}} {
		s := p.types("", args...)
		s.want(t, 12, "protected", banner)
		if strings.Contains(s.err, "✘") || strings.Count(s.err, "interrupted") != 1 {
			t.Fatalf("got %q", s.err)
		}
	}
	p.types("", "save", "goes on", "--no-color").want(t, 0, "goes on", banner)
	s := p.types("", "log", "--json")
	if s.code != 12 || s.err != "" || !json.Valid([]byte(s.out)) {
		t.Fatalf("code %d: %q, %q", s.code, s.out, s.err)
	}
	s = p.types("", "status", "--line", "--no-color")
	s.want(t, 0, "restore interrupted at ", "")
	if s.err != "" {
		t.Fatalf("a prompt gets a banner: %q", s.err)
	}
}

func TestRestoreUsage(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for _, args := range [][]string{
		{"restore"}, {"restore", "1", "2"}, {"restore", "--finish", "--undo"}, {"restore", "--finish", "1"}, {"restore", "1", "--plan", "--digest", "x"},
		{"undo", "1", "2"}, {"redo", "1"}, {"adopt"}, {"run"}, {"run", "ls"}, {"at", "1"}, {"at", "--", "ls"},
	} {
		p.types("", args...).want(t, 2, "", "Nothing was changed.")
	}
	p.types("", "run", "--json", "--", "ls").want(t, 2, `"kind":"invalid"`, "")
	p.types("", "log", "--no-such-flag", "--json").want(t, 2, `"kind":"invalid"`, "") // it is known before the flags are read
}
