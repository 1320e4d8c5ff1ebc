package verify_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/verify"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// The test program is also the keeper of what it runs.
func TestMain(m *testing.M) {
	if handled, exit := proc.RunHelper(os.Args[1:]); handled {
		os.Exit(exit)
	}
	os.Exit(m.Run())
}

var env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "A=b"}

func job(t *testing.T, command string) verify.Job {
	t.Helper()
	return verify.Job{Command: command, Dir: t.TempDir(), Env: env}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]verify.Outcome{
		"true":                               {Verdict: retake.Passed},
		"echo out; echo err >&2":             {Verdict: retake.Passed, Output: "out\nerr\n"},
		"echo $A; cat":                       {Verdict: retake.Passed, Output: "b\n"},
		"exit 3":                             {Verdict: retake.Failed, Exit: 3},
		"exit 255":                           {Verdict: retake.Failed, Exit: 255},
		"kill -SEGV $$":                      {Verdict: retake.Failed, Exit: 139},
		"kill -ABRT $$":                      {Verdict: retake.Failed, Exit: 134},
		"kill -KILL $$":                      {Verdict: retake.CouldNotRun, Why: "killed", Exit: 137},
		"kill -HUP $$":                       {Verdict: retake.CouldNotRun, Why: "killed", Exit: 129},
		"exit 129":                           {Verdict: retake.Failed, Exit: 129},
		"sh -c 'kill -KILL $$' >&2; exit $?": {Verdict: retake.CouldNotRun, Why: "killed", Exit: 137},
		"exit 127":                           {Verdict: retake.CouldNotRun, Why: "not found", Exit: 127},
		"exit 126":                           {Verdict: retake.CouldNotRun, Why: "cannot be run", Exit: 126},
		"echo 'sh: 1: jest: not found'; exit 127":                            {Verdict: retake.CouldNotRun, Why: "not found: jest", Exit: 127, Output: "sh: 1: jest: not found\n"},
		"echo 'bash: line 1: npm: command not found'; exit 127":              {Verdict: retake.CouldNotRun, Why: "not found: npm", Exit: 127, Output: "bash: line 1: npm: command not found\n"},
		`echo "/usr/bin/env: 'node': No such file or directory"; exit 127`:   {Verdict: retake.CouldNotRun, Why: "not found: node", Exit: 127, Output: "/usr/bin/env: 'node': No such file or directory\n"},
		`echo "/usr/bin/env: ‘python’: No such file or directory"; exit 127`: {Verdict: retake.CouldNotRun, Why: "not found: python", Exit: 127, Output: "/usr/bin/env: ‘python’: No such file or directory\n"},
		"echo './verify.sh: Permission denied'; exit 126":                    {Verdict: retake.CouldNotRun, Why: "cannot be run: ./verify.sh", Exit: 126, Output: "./verify.sh: Permission denied\n"},
		"echo 'jest: not found'; exit 1":                                     {Verdict: retake.Failed, Exit: 1, Output: "jest: not found\n"},
		`printf '\033]0;x\007npm: not found\n' | tr -d '\n'; echo; exit 127`: {Verdict: retake.CouldNotRun, Why: "not found: ]0;xnpm", Exit: 127, Output: "\x1b]0;x\x07npm: not found\n"},
		"echo token ghp_16C7e42F292c6912E7710c838347Ae178B4a":                {Verdict: retake.Passed, Output: "token [masked: github token]\n"},
		`printf 'a\377b\000c\n'`:                                             {Verdict: retake.Passed, Output: "a\uFFFDb\uFFFDc\n"},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			got := verify.Run(t.Context(), job(t, command))
			if got.Verdict != want.Verdict || got.Why != want.Why || got.Exit != want.Exit || got.Where != retake.OnLive {
				t.Errorf("%+v, want %+v", got, want)
			}
			if want.Output != "" && got.Output != want.Output {
				t.Errorf("%q, want %q", got.Output, want.Output)
			}
		})
	}
}

func TestRealShellsNameWhatIsMissing(t *testing.T) {
	t.Parallel()
	j := job(t, "no-such-program --all")
	if got := verify.Run(t.Context(), j); got.Verdict != retake.CouldNotRun || got.Why != "not found: no-such-program" {
		t.Errorf("%+v", got)
	}
	if err := os.WriteFile(filepath.Join(j.Dir, "verify.sh"), []byte("echo no\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	j.Command = "./verify.sh"
	if got := verify.Run(t.Context(), j); got.Verdict != retake.CouldNotRun || got.Why != "cannot be run: ./verify.sh" {
		t.Errorf("%+v", got)
	}
}

func TestWithoutADirectoryNothingRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for at, why := range map[string]string{filepath.Join(dir, "none"): "no such directory: " + filepath.Join(dir, "none"), file: "not a directory: " + file} {
		got := verify.Run(t.Context(), verify.Job{Command: "true", Dir: at, Env: env})
		if got.Verdict != retake.CouldNotRun || got.Why != why {
			t.Errorf("%+v", got)
		}
	}
	if got := verify.Run(t.Context(), verify.Job{Dir: dir, Env: env}); got.Verdict != retake.CouldNotRun || got.Why != "no command" {
		t.Errorf("%+v", got)
	}
	if got := verify.Run(t.Context(), verify.Job{Command: "true", Dir: ".", Env: env}); got.Verdict != retake.CouldNotRun || got.Why == "" {
		t.Errorf("%+v", got)
	}
}

// ticking moves a clock by a second at each look.
type ticking struct{ *clock.Manual }

func (c ticking) Now() time.Time {
	defer c.Advance(time.Second)
	return c.Manual.Now()
}

func TestTimesComeFromTheClock(t *testing.T) {
	t.Parallel()
	j := job(t, "true")
	j.Clock = ticking{clock.NewManual(noon)}
	if got := verify.Run(t.Context(), j); !got.Started.Equal(noon) || got.Took != time.Second {
		t.Errorf("%+v", got)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for limit, why := range map[time.Duration]string{30 * time.Millisecond: "took longer than 30ms", time.Second: "took longer than 1 s"} {
		j := job(t, "echo begun; sleep 600")
		j.Limit = limit
		if got := verify.Run(t.Context(), j); got.Verdict != retake.CouldNotRun || got.Why != why {
			t.Errorf("%+v", got)
		}
	}
}

// The shell hears no signal, and its child has a session of its own and hears none.
func TestCancelEndsAllOfIt(t *testing.T) {
	t.Parallel()
	j := job(t, `trap "" TERM; echo begun; setsid sh -c 'trap "" TERM; echo $$ > pid; echo > there; exec sleep 600'; sleep 600`)
	if err := syscall.Mkfifo(filepath.Join(j.Dir, "there"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan verify.Outcome, 1)
	go func() { done <- verify.Run(ctx, j) }()
	f, err := os.Open(filepath.Join(j.Dir, "there"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, _ = io.ReadAll(f)
	b, err := os.ReadFile(filepath.Join(j.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || !proc.IsAlive(pid) {
		t.Fatalf("process %q: %v", b, err)
	}
	cancel()
	if got := <-done; got.Verdict != retake.CouldNotRun || got.Why != "cancelled" || got.Output != "begun\n" {
		t.Errorf("%+v", got)
	}
	if proc.IsAlive(pid) {
		t.Errorf("process %d lives on", pid)
	}
	if got := verify.Run(ctx, job(t, "true")); got.Verdict != retake.CouldNotRun || got.Why != "cancelled" {
		t.Errorf("after the cancel: %+v", got)
	}
}

func TestOnlyTheEndOfTheOutputIsKept(t *testing.T) {
	t.Parallel()
	got := verify.Run(t.Context(), job(t, "seq 1 200000; exit 1"))
	lines := strings.Split(strings.TrimSuffix(got.Output, "\n"), "\n")
	if len(got.Output) > 64<<10 || len(got.Output) < 60<<10 || lines[len(lines)-1] != "200000" {
		t.Fatalf("%d bytes, the last line is %q", len(got.Output), lines[len(lines)-1])
	}
	first, err := strconv.Atoi(lines[0])
	if err != nil || first != 200001-len(lines) {
		t.Errorf("from %q on, %d lines", lines[0], len(lines))
	}
	got = verify.Run(t.Context(), job(t, "head -c 300000 /dev/urandom"))
	if len(got.Output) > 64<<10 || len(got.Output) < 8<<10 || !utf8.ValidString(got.Output) {
		t.Errorf("%d bytes, valid: %v", len(got.Output), utf8.ValidString(got.Output))
	}
}

// A secret whose beginning is lost is not known as one; its end must not be kept.
func TestASecretThatIsCutIsNotKept(t *testing.T) {
	t.Parallel()
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	for _, after := range []int{72<<10 - 20, 72<<10 - 1, 64<<10 - 20, 64 << 10} {
		got := verify.Run(t.Context(), job(t, "printf 'x %s' "+secret+"; yes . | tr -d '\\n' | head -c "+strconv.Itoa(after)))
		if strings.Contains(got.Output, "178B4a") || len(got.Output) < 60<<10 {
			t.Errorf("%d bytes after it: %d are kept, %.60q", after, len(got.Output), got.Output)
		}
	}
}

func TestForkAtTheWorkspacesPath(t *testing.T) {
	t.Parallel()
	fork, live := t.TempDir(), t.TempDir()
	for dir, text := range map[string]string{fork: "old\n", live: "new\n"} {
		if err := os.WriteFile(filepath.Join(dir, "which"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := verify.Run(t.Context(), verify.Job{Command: "cat " + live + "/which; pwd; echo changed > which", Dir: fork, Over: live, Env: env})
	want := verify.Outcome{Verdict: retake.Passed, Output: "old\n" + live + "\n", Where: retake.InFork}
	if got.Where == retake.Elsewhere { // this system lets nobody have a namespace
		want.Output, want.Where = "new\n"+fork+"\n", retake.Elsewhere
	}
	if got.Verdict != want.Verdict || got.Output != want.Output || got.Where != want.Where {
		t.Errorf("%+v, want %+v", got, want)
	}
	for dir, text := range map[string]string{fork: "changed\n", live: "new\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, "which")); err != nil || string(b) != text {
			t.Errorf("%s holds %q, %v", dir, b, err)
		}
	}
}
