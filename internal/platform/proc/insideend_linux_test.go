package proc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/retake-dev/retake/internal/platform/proc"
)

func init() { programs["_inside"] = func([]string) { fmt.Fprint(os.Stdout, "typed") } }

// up waits until a program says so.
func up(t *testing.T, r io.Reader) {
	t.Helper()
	if line, err := bufio.NewReader(r).ReadString('\n'); err != nil || line != "up\n" {
		t.Errorf("it says %q (%v)", line, err)
	}
}

func TestProgramEndsWhenNobodyWaits(t *testing.T) {
	t.Parallel()
	dir, over := makeMountDirs(t, os.Getuid())
	for name, c := range map[string]struct {
		script string
		exit   int
	}{
		"asked":    {"echo up; exec sleep 60", 128 + int(syscall.SIGTERM)},
		"deaf":     {"trap '' TERM; echo up; exec sleep 60", 128 + int(syscall.SIGKILL)},
		"by a way": {"trap 'exit 5' TERM; echo up; while :; do sleep 0.01; done", 5},
	} {
		for _, at := range []string{over, ""} {
			if name == "deaf" && at == "" {
				continue // it takes its time, and is the same
			}
			t.Run(name+" "+filepath.Base(at), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithCancel(t.Context())
				r, w := pipe(t)
				go func() {
					up(t, r)
					cancel()
				}()
				exit, err := proc.RunMounted(ctx, proc.MountedCommand{Args: sh(c.script), Dir: dir, MountPath: at, Env: []string{searchPath}, Out: w})
				if exit != c.exit || err != nil && !errors.Is(err, proc.ErrNotMounted) {
					t.Errorf("code %d (%v), want %d", exit, err, c.exit)
				}
			})
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, at := range []string{over, ""} {
		if exit, err := proc.RunMounted(ended, proc.MountedCommand{Args: sh("echo ran > ran"), Dir: dir, MountPath: at, Env: []string{searchPath}}); !errors.Is(err, context.Canceled) || exit != -1 {
			t.Errorf("code %d (%v)", exit, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it ran for nobody")
	}
}

// The keys of a terminal go to the whole group; the program decides what they mean.
func TestKeysAreForTheProgram(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		dir, over := makeMountDirs(t, os.Getuid())
		for _, at := range []string{over, ""} {
			cmd, tell := mountRequestCommand(t, os.Getuid(), mountRequest{Args: sh("trap 'exit 7' INT QUIT; echo up; while :; do sleep 0.01; done"), Env: []string{searchPath}, Dir: dir, Over: at})
			out, outW := pipe(t)
			cmd.Stdout = outW
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			outW.Close()
			up(t, out)
			if err := syscall.Kill(-cmd.Process.Pid, s); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatalf("we ended before it: %v", err)
			}
			var w mountResult
			if err := json.NewDecoder(tell).Decode(&w); err != nil || w.Exit != 7 {
				t.Errorf("%v at %q: %+v (%v)", s, at, w, err)
			}
		}
	}
}

func TestProgramInheritsThreeStreams(t *testing.T) {
	t.Parallel()
	dir, over := makeMountDirs(t, os.Getuid())
	for _, at := range []string{over, ""} {
		cmd, tell := mountRequestCommand(t, os.Getuid(), mountRequest{Args: []string{"ls", "/proc/self/fd"}, Env: []string{searchPath}, Dir: dir, Over: at})
		_, w := pipe(t)
		cmd.ExtraFiles = append(cmd.ExtraFiles, w, w, w)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		var said mountResult
		if err := json.NewDecoder(tell).Decode(&said); err != nil || said.Exit != 0 {
			t.Errorf("%+v (%v)", said, err)
		}
		if got := strings.Fields(out.String()); !slices.Equal(got, []string{"0", "1", "2", "3"}) { // the last one reads the list
			t.Errorf("it holds %q", got)
		}
	}
}

// A program that leaves something behind is not waited for for ever.
func TestOutputThatStaysOpenIsLeft(t *testing.T) {
	t.Parallel()
	dir, over := makeMountDirs(t, os.Getuid())
	var out, left bytes.Buffer
	exit, err := proc.RunMounted(t.Context(), proc.MountedCommand{Args: sh("echo word; sleep 60 2>/dev/null & echo $! >&2; exit 6"), Dir: dir, MountPath: over, Env: []string{searchPath}, Out: &out, Err: &left})
	if pid, err := strconv.Atoi(strings.TrimSpace(left.String())); err != nil || proc.Terminate(pid) != nil {
		t.Errorf("nothing was left behind: %q", left.String())
	}
	if exit != 6 || out.String() != "word\n" || err != nil && !errors.Is(err, proc.ErrNotMounted) {
		t.Errorf("code %d (%v), it says %q", exit, err, out.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestOutputThatIsNotTakenIsAnError(t *testing.T) {
	t.Parallel()
	dir, over := makeMountDirs(t, os.Getuid())
	if _, err := proc.RunMounted(t.Context(), proc.MountedCommand{Args: sh("echo word"), Dir: dir, MountPath: over, Env: []string{searchPath}, Out: broken{}}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestOnlyTheInnerSideIsInner(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"save"}, {"_inside", "more"}} {
		if handled, _ := proc.RunHelper(args); handled {
			t.Errorf("%q is taken for it", args)
		}
	}
	out, err := self(os.Getuid(), "retake", "_inside").Output() // typed by somebody: no pipes
	if err != nil || string(out) != "typed" {
		t.Errorf("it says %q (%v)", out, err)
	}
}
