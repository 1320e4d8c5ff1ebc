package install_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/install"
)

// planned is an install of codex over a file with this text.
func planned(t *testing.T, text string) (install.Change, string) {
	t.Helper()
	a, p := named(t, "codex"), house(t)
	file := a.Status(install.User, p).File
	settle(t, file, text)
	c, err := a.PlanInstall(install.User, p, install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c, file
}

func TestApplyRefusesWhatMoved(t *testing.T) {
	t.Parallel()
	c, file := planned(t, "{}\n")
	settle(t, file, "{ }\n")
	refused(t, c.Apply(), retake.Moved)
	if got := string(read(t, file)); got != "{ }\n" {
		t.Errorf("became %q", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	refused(t, c.Apply(), retake.Moved)

	a, p := named(t, "codex"), house(t)
	fresh, err := a.PlanInstall(install.User, p, install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, fresh.File, "")
	refused(t, fresh.Apply(), retake.Moved)
	alone(t, fresh.File)
}

// alone checks that nothing of ours lies beside a file.
func alone(t *testing.T, file string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("beside it: %v", entries)
	}
}

func TestApplyRefusesWhatIsClosed(t *testing.T) {
	t.Parallel()
	for what, close := range map[string]func(file string) error{
		"file":      func(file string) error { return os.Chmod(file, 0o444) },
		"directory": func(file string) error { return os.Chmod(filepath.Dir(file), 0o555) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c, file := planned(t, "{}\n")
			if err := close(file); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(filepath.Dir(file), 0o755) })
			err := c.Apply()
			refused(t, err, retake.Denied)
			if e := retake.AsError(err); !strings.Contains(e.Hint, "writable") {
				t.Errorf("%+v", e)
			}
			if got := string(read(t, file)); got != "{}\n" {
				t.Errorf("became %q", got)
			}
			alone(t, file)
		})
	}
}

// A home that takes no directory is left as it is.
func TestApplyRefusesAClosedHome(t *testing.T) {
	t.Parallel()
	a, p := named(t, "copilot"), house(t)
	c, err := a.PlanInstall(install.User, p, install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p.Home, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(p.Home, 0o755) })
	before := listing(t, p)
	refused(t, c.Apply(), retake.Denied)
	if got := listing(t, p); !slices.Equal(got, before) {
		t.Errorf("left: %v", got)
	}
}

func TestApplyKeepsModeAndLink(t *testing.T) {
	t.Parallel()
	a, p := named(t, "claude-code"), house(t)
	file := a.Status(install.User, p).File
	target := filepath.Join(p.Home, "dotfiles", "claude.json")
	settle(t, target, "{\n  \"a\": 1\n}\n")
	if err := os.Chmod(target, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../dotfiles/claude.json", file); err != nil {
		t.Fatal(err)
	}
	for _, plan := range []func() (install.Change, error){
		func() (install.Change, error) { return a.PlanInstall(install.User, p, install.Options{}) },
		func() (install.Change, error) { return a.PlanRemove(install.User, p) },
	} {
		c, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Apply(); err != nil {
			t.Fatal(err)
		}
		if to, err := os.Readlink(file); err != nil || to != "../dotfiles/claude.json" {
			t.Fatalf("%q, %v", to, err)
		}
		info, err := os.Lstat(target)
		if err != nil || info.Mode() != 0o600 || string(read(t, target)) != string(c.After) {
			t.Fatalf("%v, %v", info.Mode(), err)
		}
		alone(t, target)
	}
	if got := string(read(t, target)); got != "{\n  \"a\": 1\n}\n" {
		t.Errorf("became %q", got)
	}
}

func TestApplyKeepsTheOwner(t *testing.T) {
	t.Parallel()
	c, file := planned(t, "{}\n")
	if err := os.Chown(file, 12345, 23456); err != nil {
		t.Skipf("files cannot be given away here: %v", err)
	}
	if err := c.Apply(); err != nil {
		t.Fatal(err)
	}
	if uid, gid := owner(t, file); uid != 12345 || gid != 23456 {
		t.Errorf("belongs to %d:%d", uid, gid)
	}
}

func TestNothingToDoTouchesNothing(t *testing.T) {
	t.Parallel()
	a, p := named(t, "codex"), house(t)
	c, err := a.PlanRemove(install.User, p)
	if err != nil || !c.Empty() || c.Existed || len(c.Lines()) > 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := c.Apply(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(c.File)); err == nil {
		t.Error("a directory was made")
	}
	done, file := planned(t, "{}\n")
	if err := done.Apply(); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	again := install.Change{File: file, Before: done.After, After: done.After, Existed: true}
	if err := again.Apply(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was replaced: %v", err)
	}
}

// The lines are exactly what differs: applied to the old text they give the new one.
func TestLinesAreTheDifference(t *testing.T) {
	t.Parallel()
	for _, name := range inJSON {
		names := events(t, name)
		for _, s := range shapes {
			a, p := named(t, name), house(t)
			settle(t, a.Status(install.User, p).File, s.of(names, flat(name)))
			c, err := a.PlanInstall(install.User, p, install.Options{})
			if err != nil {
				t.Fatal(err)
			}
			count := map[string]int{}
			for _, l := range lines(c.Before) {
				count[l]--
			}
			for _, l := range lines(c.After) {
				count[l]++
			}
			for _, l := range c.Lines() {
				count[l[1:]] += map[byte]int{'+': -1, '-': 1}[l[0]]
			}
			for l, n := range count {
				if n != 0 {
					t.Fatalf("%s, %s: %q counts %d\n%s", name, s.name, l, n, strings.Join(c.Lines(), "\n"))
				}
			}
			if n := len(c.Lines()); n > 2*c.Added+12 {
				t.Errorf("%s, %s: %d lines for %d hooks", name, s.name, n, c.Added)
			}
		}
	}
}

func lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	out := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := range out {
		out[i] = strings.TrimSuffix(out[i], "\r")
	}
	return out
}
