package service_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
)

const logLine = "0000000000000000000000000000000000000000 1111111111111111111111111111111111111111 A <a@b> 1700000000 +0000\t"

// last is what the newest checkpoint is called.
func (k *summaryFixture) last() string {
	k.Helper()
	tl, err := k.s.Log(k.Context(), retake.LogQuery{Workspace: k.ws, Limit: 1})
	k.must(err)
	return tl.Checkpoints[0].Intent
}

func (k *summaryFixture) logged(text string) {
	k.Helper()
	k.must(os.MkdirAll(k.path(".git/logs"), 0o755))
	f, err := os.OpenFile(k.path(".git/logs/HEAD"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	k.must(err)
	_, err = f.WriteString(text)
	k.must(err)
	k.must(f.Close())
}

// A commit says what a checkpoint is about, when nobody else does.
func TestACommitSpeaksForASilentCheckpoint(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	k := newSummaryFixture(t)
	k.write("a.go", "one\n")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = k.root
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	k.init()
	git("add", "a.go")
	git("commit", "-q", "-m", "sell apples: and pears\n\nat length")
	k.save()
	if got := k.last(); got != "sell apples: and pears" {
		t.Errorf("%q", got)
	}
	git("checkout", "-q", "-b", "other")
	k.save()
	if got := k.last(); got != "" {
		t.Errorf("a checkout is no commit: %q", got)
	}
	git("commit", "-q", "--amend", "-m", "sell fruit")
	_, err := k.s.Save(t.Context(), retake.SaveRequest{Workspace: k.ws, Intent: "mine"})
	k.must(err)
	if got := k.last(); got != "mine" {
		t.Errorf("%q", got)
	}
	k.write("a.go", "two\n")
	k.save()
	if got := k.last(); got != "" {
		t.Errorf("that commit was told already: %q", got)
	}
}

// The log of git is a file like all others in a workspace.
func TestAnOddLogSaysNothing(t *testing.T) {
	t.Parallel()
	k := newSummaryFixture(t)
	k.write("a.go", "one\n")
	k.init()
	for _, c := range []struct{ name, text, want string }{
		{"no tab", "commit: x\n", ""},
		{"no subject", logLine + "commit: \n", ""},
		{"another deed", logLine + "commits: x\n", ""},
		{"not UTF-8", logLine + "commit: a\xffb\n", "a\uFFFDb"},
		{"a secret", logLine + "commit: use ghp_x7Kq2mR9vT4bN8cW1zL5pY3sD6fH0jG2aQ4e\n", ""},
		{"the last counts", logLine + "commit: one\n" + logLine + "commit (merge): two\n" + logLine + "reset: moving to HEAD~1\n", "two"},
		{"very long", logLine + "commit: " + strings.Repeat("x", 1<<20) + "\n", ""},
	} {
		k.logged(c.text)
		k.save()
		got := k.last()
		if c.name == "a secret" {
			if !strings.HasPrefix(got, "use ") || strings.Contains(got, "7Kq2mR9vT4bN8c") {
				t.Errorf("%s: %q", c.name, got)
			}
		} else if got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	k.must(os.WriteFile(k.path(".git/logs/HEAD"), []byte(logLine+"commit: written anew\n"), 0o644))
	k.must(os.Chtimes(k.path(".git/logs/HEAD"), time.Now(), time.Now()))
	k.save()
	if got := k.last(); got != "" {
		t.Errorf("a log that was cut: %q", got)
	}
	k.must(os.RemoveAll(k.path(".git/logs")))
	k.must(os.Symlink(t.TempDir(), k.path(".git/logs")))
	k.save()
	if got := k.last(); got != "" {
		t.Errorf("a link: %q", got)
	}
}
