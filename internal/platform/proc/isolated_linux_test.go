package proc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/proc"
)

func init() { programs["alone"], programs["alone at"] = runIsolatedScript, runIsolatedScriptAt }

// runIsolatedScript runs a script in a directory, until somebody ends this.
func runIsolatedScript(args []string) {
	_, _ = proc.RunIsolated(context.Background(), proc.IsolatedCommand{Args: sh(args[1]), Dir: args[0], Env: []string{searchPath}})
}

// runIsolatedScriptAt runs a script at another path, and tells how it ended.
func runIsolatedScriptAt(args []string) {
	end, err := proc.RunIsolated(context.Background(), proc.IsolatedCommand{Args: sh(args[2]), Dir: args[0], MountPath: args[1], Env: []string{searchPath}, Out: os.Stdout})
	fmt.Fprintf(os.Stdout, "%+v %v\n", end, err)
}

var isolatedRunners = map[string]func(context.Context, proc.IsolatedCommand) (proc.ExitStatus, error){"kept": proc.RunIsolated, "group": proc.RunInGroup}

func TestAloneTellsTheEnd(t *testing.T) {
	t.Parallel()
	for how, run := range isolatedRunners {
		for script, want := range map[string]struct {
			end proc.ExitStatus
			out string
		}{
			"echo one; echo two >&2; echo three":   {proc.ExitStatus{}, "one\ntwo\nthree\n"},
			"exit 3":                               {proc.ExitStatus{Exit: 3}, ""},
			"kill -SEGV $$":                        {proc.ExitStatus{Exit: 139, Signal: 11}, ""},
			"kill -KILL $$":                        {proc.ExitStatus{Exit: 137, Signal: 9}, ""},
			"cat; echo end":                        {proc.ExitStatus{}, "end\n"},
			"kill -TERM 0; exit 4":                 {proc.ExitStatus{Exit: 143, Signal: 15}, ""},
			"env | sort":                           {proc.ExitStatus{}, "A=b\n" + searchPath + "\nPWD=/\n"},
			"sh -c 'trap \"\" TERM; kill -TERM 0'": {proc.ExitStatus{Exit: 143, Signal: 15}, ""},
			"test -e /dev/tty && : </dev/tty":      {proc.ExitStatus{Exit: 2}, "cannot open /dev/tty"},
		} {
			t.Run(how+" "+script, func(t *testing.T) {
				t.Parallel()
				var out bytes.Buffer
				end, err := run(t.Context(), proc.IsolatedCommand{Args: sh(script), Dir: "/", Env: []string{searchPath, "A=b"}, Out: &out})
				if err != nil || end != want.end {
					t.Errorf("%+v, %v; want %+v", end, err, want.end)
				}
				if got := out.String(); got != want.out && (want.out == "" || !strings.Contains(got, want.out)) {
					t.Errorf("%q, want %q", got, want.out)
				}
			})
		}
	}
}

func TestAloneIsLessUrgent(t *testing.T) {
	t.Parallel()
	own, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintln(min(19, 20-own+7))
	var out bytes.Buffer
	if _, err := proc.RunIsolated(t.Context(), proc.IsolatedCommand{Args: []string{"nice"}, Dir: "/", Env: []string{searchPath}, Out: &out, Nice: 7}); err != nil || out.String() != want {
		t.Errorf("%v, %q; want %q", err, out.String(), want)
	}
}

func TestAloneRefusesAsAShell(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	for how, run := range isolatedRunners {
		for program, exit := range map[string]int{"no-such-program": 127, "./none": 127, "./text": 126} {
			var out bytes.Buffer
			end, err := run(t.Context(), proc.IsolatedCommand{Args: []string{program}, Dir: dir, Env: []string{searchPath}, Out: &out})
			if err != nil || end.Exit != exit || !strings.Contains(out.String(), program) {
				t.Errorf("%s %s: %+v, %v: %s", how, program, end, err, out.String())
			}
		}
		if end, err := run(t.Context(), proc.IsolatedCommand{Args: sh(":"), Dir: filepath.Join(dir, "none"), Env: []string{searchPath}}); err == nil && end.Exit == 0 {
			t.Errorf("%s: ran in a directory that is not there", how)
		}
	}
	if _, err := proc.RunIsolated(t.Context(), proc.IsolatedCommand{Args: sh(":"), Dir: "here"}); err == nil {
		t.Error("ran in a relative directory")
	}
	if _, err := proc.RunIsolated(t.Context(), proc.IsolatedCommand{Dir: dir}); err == nil {
		t.Error("ran nothing")
	}
}

// stayingScript writes its pid to a file, reports to a pipe that it runs, and ignores SIGTERM.
const stayingScript = `trap "" TERM; echo $$ > pid; echo there > there; exec sleep 600`

// deafDir holds the pipe for a program that stays.
func deafDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "there"), 0o666), os.WriteFile(filepath.Join(dir, "stay.sh"), []byte(stayingScript), 0o644)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// waitForPID waits for the program that stays, and answers its number.
func waitForPID(t *testing.T, dir string) int {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "there"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); err != nil || len(b) == 0 {
		t.Fatalf("%q, %v", b, err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || !proc.IsAlive(pid) {
		t.Fatalf("process %q: %v", b, err)
	}
	return pid
}

func TestNothingSurvivesTheCancel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		group  bool // a group is enough to find it
	}{
		"itself":              {"exec sh stay.sh", true},
		"a child":             {"trap '' TERM; sh stay.sh", true},
		"an orphan":           {"trap '' TERM; (sh stay.sh &); sleep 600", true},
		"in its own session":  {"setsid sh stay.sh", false},
		"an orphaned session": {"(setsid sh stay.sh &); sleep 600", false},
	} {
		for how, run := range isolatedRunners {
			if how == "group" && !c.group {
				continue
			}
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				dir := deafDir(t)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() {
					_, err := run(ctx, proc.IsolatedCommand{Args: sh(c.script), Dir: dir, Env: []string{searchPath}, Grace: 50 * time.Millisecond})
					ended <- err
				}()
				pid := waitForPID(t, dir)
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("%v", err)
				}
				if how == "group" { // it is ended, and others collect it
					if err := proc.WaitGone(t.Context(), pid); err != nil {
						t.Error(err)
					}
				}
				if proc.IsAlive(pid) {
					t.Errorf("process %d lives on", pid)
				}
			})
		}
	}
}

func TestNothingSurvivesTheEnd(t *testing.T) {
	t.Parallel()
	dir := deafDir(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "go"), 0o666); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	type ending struct {
		end proc.ExitStatus
		err error
	}
	ended := make(chan ending, 1)
	go func() {
		end, err := proc.RunIsolated(t.Context(), proc.IsolatedCommand{
			Args: sh("(setsid sh stay.sh &); read go < go; echo done; exit 5"), Dir: dir, Env: []string{searchPath}, Out: &out, Grace: 50 * time.Millisecond,
		})
		ended <- ending{end, err}
	}()
	pid := waitForPID(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	if e := <-ended; e.err != nil || e.end.Exit != 5 || out.String() != "done\n" {
		t.Errorf("%+v %q", e, out.String())
	}
	if proc.IsAlive(pid) {
		t.Errorf("process %d lives on", pid)
	}
}

func TestNothingSurvivesUs(t *testing.T) {
	t.Parallel()
	dir := deafDir(t)
	cmd := self(os.Getuid(), "starter", "alone", dir, "(setsid sh stay.sh &); sleep 600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := waitForPID(t, dir)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := proc.WaitGone(t.Context(), pid); err != nil {
		t.Error(err)
	}
}

func TestAloneAtAnothersPath(t *testing.T) {
	t.Parallel()
	for name, uid := range users() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, over := makeMountDirs(t, uid)
			works := canMount(t, uid, dir, over)
			out, err := self(uid, "starter", "alone at", dir, over, `cat "`+over+`/which"; pwd; echo new > made; id -u; grep '^Cap[PEA]' /proc/self/status; exit 3`).Output()
			want, rights := "real\n"+over+"\n", ""
			if !works {
				want = "shown\n" + dir + "\n"
			}
			if uid != 0 {
				rights = "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapAmb:\t0000000000000000\n"
			}
			want += fmt.Sprintf("%d\n", uid)
			end := fmt.Sprintf("%+v <nil>\n", proc.ExitStatus{Exit: 3, NotMounted: !works})
			if got := string(out); err != nil || !strings.HasPrefix(got, want+rights) || !strings.HasSuffix(got, end) {
				t.Errorf("%v: %q, want %q, %q and %q", err, got, want, rights, end)
			}
			if _, err := os.Stat(filepath.Join(dir, "made")); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(over, "made")); err == nil {
				t.Error("it wrote to the directory that it must not see")
			}
		})
	}
}

func TestAloneIsFed(t *testing.T) {
	t.Parallel()
	const size = 3 << 20 // more than a pipe holds
	for how, run := range isolatedRunners {
		for script, want := range map[string]string{
			"wc -c":                                  fmt.Sprintln(size),
			"head -c 5; exit":                        "xxxxx", // the rest is never read
			"exec 0<&-; exit":                        "",
			"cat >/dev/null; echo over; echo no >&2": "over\n",
		} {
			t.Run(how+" "+script, func(t *testing.T) {
				t.Parallel()
				var out, errs bytes.Buffer
				end, err := run(t.Context(), proc.IsolatedCommand{
					Args: sh(script), Dir: "/", Env: []string{searchPath}, Out: &out, Err: &errs,
					Feed: func(w io.Writer) { _, _ = io.Copy(w, strings.NewReader(strings.Repeat("x", size))) },
				})
				if err != nil || end != (proc.ExitStatus{}) || out.String() != want {
					t.Errorf("%+v, %v: %q, want %q", end, err, out.String(), want)
				}
				if got := errs.String(); strings.Contains(script, "no >&2") && got != "no\n" {
					t.Errorf("errors: %q", got)
				}
			})
		}
	}
	if _, err := proc.RunIsolated(t.Context(), proc.IsolatedCommand{Args: sh(":"), Dir: "/", MountPath: "/tmp", Feed: func(io.Writer) {}}); err == nil {
		t.Error("fed at another's path")
	}
}

func TestWhoFeedsIsNotKeptWaiting(t *testing.T) {
	t.Parallel()
	for how, run := range isolatedRunners {
		dir := deafDir(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := run(ctx, proc.IsolatedCommand{
				Args: sh("exec sh stay.sh"), Dir: dir, Env: []string{searchPath}, Grace: 50 * time.Millisecond,
				Feed: func(w io.Writer) { _, _ = io.Copy(w, endless{}) },
			})
			ended <- err
		}()
		waitForPID(t, dir)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// endless is input without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }
