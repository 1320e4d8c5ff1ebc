//go:build unix

package script_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/retake-dev/retake/test/page"
)

const demoPage = "../../docs/start/demo.md"

// passing is what two runs of a demo do not have in common, beside what no two runs have:
// clocks, days, durations at the end of a line, digests of plans, names of sessions, how long
// ago something was, and what changed since, which is told only if it was read in time.
var passing = regexp.MustCompile(`\s+\d+(\.\d+)? m?s$|(?m)^  taken .*$|\d\d:\d\d|plan [0-9a-f]{4}-[0-9a-f]{4}|session [0-9a-f]{4}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|just now +| +\d+(\.\d+)? m?s\b|[0-9.]+ kB( new)?|since 17 +1( +README\.md)?$`)

// machine is what others do on this machine meanwhile, which checkpoints tell too.
var machine = regexp.MustCompile(`\bport \d+ |ports of other programs`)

// The tour through the demo is as its page says. It is played again when somebody opened or
// closed a port: the page knows nothing of that.
func TestDemoPage(t *testing.T) {
	t.Parallel()
	needs(t, "bash", "grep", "sed", "awk", "cut")
	blocks, err := page.Read(demoPage, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		for i := range b.Says {
			b.Says[i] = passing.ReplaceAllString(b.Says[i], "…")
		}
	}
	for range 5 {
		out, err := page.Play(t.Context(), blocks, demoStage(t))
		if err == nil {
			return
		}
		if !machine.MatchString(out) {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	t.Skip("ports come and go on this machine")
}

// demoStage has a home and a daemon of its own.
func demoStage(t *testing.T) page.Stage {
	t.Helper()
	s := stage(t)
	home := filepath.Join(s.Dir, ".retake")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(`{"floor":"1KB"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "RETAKE_HOME="+home, "COLUMNS=80", "TZ=UTC")
	t.Cleanup(func() {
		stop := exec.Command(program, "daemon", "stop")
		stop.Env = s.Env
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("stop daemon: %v: %s", err, out)
		}
	})
	return s
}
