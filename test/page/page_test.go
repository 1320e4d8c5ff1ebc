//go:build unix

package page_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake/test/page"
)

const whole = "# A page\n\n## One\n\n```sh\nX=1\nsleep 1000 &\n```\n\nBetween.\n\n```sh\necho \"the port is 7350, X is $X\"\necho ws_01a1e0d2-900a-7da5-a29f-fed72fa7cdfa\n```\n\n" +
	"```text\nthe port is 7350, X is 1\nws_01a1e0d2-0000-0000-0000-000000000000\n```\n\n## Two\n\n```sh\necho two\n```\n\n```text\nt…\n```\n"

func play(t *testing.T, text, heading string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, "page.md")
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	blocks, err := page.Read(at, heading)
	if err != nil {
		return "", err
	}
	return page.Play(t.Context(), blocks, page.Stage{Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Swap: map[string]string{"7350": "40123"}})
}

func TestPlay(t *testing.T) {
	t.Parallel()
	out, err := play(t, whole, "")
	if err != nil || !strings.Contains(out, "two") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = play(t, whole, "## Two")
	if err != nil || strings.Contains(out, "port") || !strings.Contains(out, "two") {
		t.Errorf("one section: %v: %s", err, out)
	}
}

// A page that cannot be found wrong says nothing.
func TestLiesAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, want string }{
		"another text":     {"X is 1\n", "X is 2\n", "the block at line 12 prints"},
		"a line more":      {"t…\n", "t…\nthree\n", "the block at line 24 prints"},
		"a line less":      {"the port is 7350, X is 1\n", "", "the block at line 12 prints"},
		"another id":       {"ws_01a1e0d2-0000", "cp_01a1e0d2-0000", "the block at line 12 prints"},
		"a command fails":  {"echo two", "false\necho two", "the block at line 24: exit status 1"},
		"in a pipe":        {"echo two", "false | echo two", "the block at line 24: exit status 1"},
		"an unknown name":  {"$X", "$Y", "Y: unbound variable"},
		"it ends too soon": {"echo two", "exit 0", "the block at line 24 prints"},
		"and before that":  {"X=1", "exit 0", "the block at line 24 did not run"},
		"no commands":      {"```sh", "```", "nothing is run before this"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lie := strings.ReplaceAll(whole, c.from, c.to)
			if lie == whole {
				t.Fatal("the lie changes nothing")
			}
			if _, err := play(t, lie, ""); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}
