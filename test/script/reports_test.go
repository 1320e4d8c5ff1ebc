//go:build unix

package script_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake/test/fakeagent"
)

// repositories is how many a user has on one machine.
const repositories = 20

// firstTurn deletes what git does not have, and edits what it has.
const firstTurn = `
prompt clean up %d
write src/app.js broken
shell rm -rf notes .env
stop It is clean.
`

// A user installs the hooks once, and then works in each repository. In google-gemini/gemini-cli#4115,
// #15616 and anomalyco/opencode#41384, #2642 an agent worked where nothing was saved, and nobody knew. With
// protect=auto the first turn in every repository can be undone.
func TestFirstTurnOfEachRepository(t *testing.T) {
	t.Parallel()
	s := stage(t)
	home := filepath.Join(s.Dir, ".retake")
	settings := []byte(`{"floor":"1KB","protect":"auto"}`)
	must(t, os.Mkdir(home, 0o700))
	must(t, os.WriteFile(filepath.Join(home, "config.json"), settings, 0o600))
	env := append(s.Env, "RETAKE_HOME="+home, "COLUMNS=200", "TZ=UTC")
	run := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("retake %s in %s: %v\n%s", strings.Join(args, " "), dir, err, out)
		}
	}
	t.Cleanup(func() { run(s.Dir, "daemon", "stop") })
	run(s.Dir, "agents", "install", "claude-code", "--yes")
	for i := range repositories {
		dir := filepath.Join(s.Dir, fmt.Sprintf("repo%02d", i+1))
		had := map[string]string{".git/HEAD": "ref: refs/heads/main\n", "src/app.js": "works\n", ".env": "KEY=value\n", "notes/todo.md": "mine\n"}
		for name, text := range had {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		p := fakeagent.Places{Home: s.Dir, Dir: dir, Env: env}
		must(t, fakeagent.Run(t.Context(), "claude-code", p, fmt.Sprintf(firstTurn, i+1), io.Discard))
		must(t, fakeagent.Await(p, "intent", fmt.Sprintf("clean up %d", i+1)))
		if _, err := os.Stat(filepath.Join(dir, ".env")); err == nil {
			t.Fatalf("the turn in %s did nothing", dir)
		}
		run(dir, "undo", "--yes")
		for name, text := range had {
			if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != text {
				t.Errorf("%s in %s after undo: %q %v", name, dir, b, err)
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// homeFiles is how many files are in the home directory of the benchmark.
const homeFiles = 400_000

// BenchmarkHomeIsRefused measures `retake init` and the first prompt of an agent in a home directory
// with many files: go test -tags testing ./test/script -run XXX -bench HomeIsRefused. That the files are
// not counted is for reports-home-refused.txtar to show.
func BenchmarkHomeIsRefused(b *testing.B) {
	base := b.TempDir()
	home, data := filepath.Join(base, "user"), filepath.Join(base, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		b.Fatal(err)
	}
	for i := range homeFiles {
		dir := filepath.Join(home, fmt.Sprintf("d%03d", i/1000))
		if i%1000 == 0 {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	payload, err := json.Marshal(map[string]string{"session_id": "one", "cwd": home, "hook_event_name": "UserPromptSubmit", "prompt": "look around"})
	if err != nil {
		b.Fatal(err)
	}
	for name, x := range map[string]struct {
		args []string
		says string
	}{
		"init": {[]string{"init"}, "is a whole home directory"},
		"hook": {[]string{"hook", "claude-code"}, "Retake does not protect"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := os.RemoveAll(filepath.Join(data, "data", "told")); err != nil { // it is said once only
					b.Fatal(err)
				}
				cmd := exec.Command(program, x.args...)
				cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "RETAKE_HOME=" + data, "PATH=" + os.Getenv("PATH")}
				cmd.Stdin = bytes.NewReader(payload)
				if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), x.says) {
					b.Fatalf("%s", out)
				}
			}
		})
	}
}
