// Package script_test runs the command line as a user types it: the real
// program, on real directories, one page of testdata per story.
package script_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/retake-dev/retake/test/fakeagent"
)

var program string // the built binary

func TestMain(m *testing.M) {
	if handled, exit := fakeagent.Inner(os.Args[1:]); handled {
		os.Exit(exit)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "retake-script")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "retake")
	build := exec.Command("go", append([]string{"build", "-ldflags", "-s -w", "-o", dir + "/"}, buildFlags()...)...)
	build.Args = append(build.Args, "github.com/retake-dev/retake/cmd/retake", "github.com/retake-dev/retake/cmd/retaked")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build program: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	if !reportHints() {
		code = 1
	}
	left := leftBehind()
	for range 100 { // whoever was killed needs a checkpoint to end
		if len(left) == 0 {
			break
		}
		<-time.After(50 * time.Millisecond)
		left = leftBehind()
	}
	if len(left) > 0 {
		fmt.Fprintf(os.Stderr, "daemons are left behind: %v\n", left)
		return 1
	}
	return code
}

// buildFlags repeats how this test was built, so that the program is the same.
func buildFlags() []string {
	var flags []string
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "-tags":
			flags = append(flags, "-tags="+s.Value)
		case s.Key == "-race" && s.Value == "true":
			flags = append(flags, "-race")
		}
	}
	return flags
}

// TestScripts runs the pages as people use the program, with a daemon that the
// first command starts.
func TestScripts(t *testing.T) {
	t.Parallel()
	runPages(t, false)
}

// TestScriptsSolo runs the same pages without a daemon; with -short a sample of them.
func TestScriptsSolo(t *testing.T) {
	t.Parallel()
	runPages(t, true)
}

func runPages(t *testing.T, solo bool) {
	t.Helper()
	pages, err := filepath.Glob("*.txtar")
	if err != nil || len(pages) == 0 {
		t.Fatalf("find pages: %v", err)
	}
	if solo {
		pages = sample(t, pages)
	}
	testscript.Run(t, testscript.Params{
		Files:               pages,
		Setup:               func(e *testscript.Env) error { return setup(e, solo) },
		Condition:           func(name string) (bool, error) { return condition(name, solo) },
		Cmds:                commands,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// sampled is how many go for one of a sample.
const sampled = 8

// sample answers what -short leaves of a list that make full and .ci/run go through.
func sample(t *testing.T, all []string) []string {
	t.Helper()
	if !testing.Short() {
		return all
	}
	var some []string
	for i := 0; i < len(all); i += sampled {
		some = append(some, all[i])
	}
	t.Logf("%d of %d, because of -short", len(some), len(all))
	return some
}

// setup gives each page a home of its own, outside its workspaces. The floor is
// low, so that a small disk is no reason to fail.
func setup(e *testscript.Env, solo bool) error {
	home := filepath.Join(e.WorkDir, "home")
	user := filepath.Join(e.WorkDir, "user")
	for _, d := range []string{home, user} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	for k, v := range map[string]string{
		"RETAKE_HOME": home, "HOME": user, "TZ": "UTC", "LANG": "C.UTF-8", "COLUMNS": "80", "TERM": "xterm",
		"PATH": filepath.Dir(program) + string(filepath.ListSeparator) + e.Getenv("PATH"),
	} {
		e.Setenv(k, v)
	}
	if solo {
		e.Setenv("RETAKE_SOLO", "1")
	}
	e.Defer(func() { stopDaemon(e.T(), home) })
	return os.WriteFile(filepath.Join(home, "config.json"), []byte(`{"floor":"1KB"}`), 0o600)
}

// stopDaemon ends what a page started.
func stopDaemon(t testscript.T, home string) {
	cmd := exec.Command(program, "daemon", "stop")
	cmd.Env = []string{"RETAKE_HOME=" + home, "HOME=" + home}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(fmt.Sprintf("stop daemon of %s: %v: %s", home, err, out))
	}
}

// condition knows [device]: whether we may make device nodes, and [solo]: whether
// the pages run without a daemon.
func condition(name string, solo bool) (bool, error) {
	if name == "solo" {
		return solo, nil
	}
	if name != "device" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	dir, err := os.MkdirTemp("", "retake-device")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	return makeDevice(filepath.Join(dir, "null")) == nil, nil
}

var commands = map[string]func(*testscript.TestScript, bool, []string){
	"retake":  runRetake,
	"exits":   runExits,
	"json":    checkJSON,
	"hostile": makeHostile,
	"device": func(ts *testscript.TestScript, _ bool, args []string) {
		ts.Check(makeDevice(ts.MkAbs(args[0])))
	},
	"damage": damage,
	"keep":   keepJSON,
	"gone":   waitGone,

	"serve":    startServer,
	"receiver": startReceiver,
	"until":    waitUntil,
	"verified": checkSigned,

	"fakeagent": fakeagent.Command,
	"await":     fakeagent.Wait,
}

// retake ARGS… runs the program and wants it to end well.
func runRetake(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("use: exits CODE retake …")
	}
	ts.Check(ts.Exec("retake", args...))
}

// exits CODE PROGRAM ARGS… wants exactly that exit code.
func runExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("use: exits CODE PROGRAM …")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	if args[1] == "retake" {
		tryHints(ts)
	}
}
