package proc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/proc"
)

func init() { programs["caged"] = runSandboxed }

var testSandbox = proc.Sandbox{MaxMemory: 1 << 30, MaxCPU: time.Second, MaxOpenFiles: 16}

// runSandboxed tries one thing, confined or not, and says how it went.
func runSandboxed(args []string) {
	switch args[0] {
	case "confined":
		fmt.Fprintln(os.Stdout, "missing:", strings.Join(proc.EnterSandbox(testSandbox), ", "))
	case "walled":
		if err := proc.RestrictWithLandlock(); err != nil {
			fmt.Fprintln(os.Stdout, "missing:", err)
			return
		}
	}
	err := attempts[args[1]](args[2])
	if err != nil {
		fmt.Fprintln(os.Stdout, "refused:", err)
		return
	}
	fmt.Fprintln(os.Stdout, "done")
}

// attempts are what nobody in a cage may do.
var attempts = map[string]func(arg string) error{
	"open": func(string) error {
		_, err := os.ReadFile("/etc/passwd")
		return err
	},
	"write": func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) },
	"list": func(string) error {
		_, err := os.ReadDir("/")
		return err
	},
	"connect": func(addr string) error {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err
	},
	"threads": func(string) error { // a thread that was there before must be held too
		for range 64 {
			result := make(chan error)
			go func() {
				runtime.LockOSThread()
				_, err := os.ReadFile("/etc/passwd")
				result <- err
			}()
			if err := <-result; err != nil {
				return err
			}
		}
		return nil
	},
	"run":  func(string) error { return exec.Command("/bin/true").Run() },
	"exec": func(string) error { return syscall.Exec("/bin/true", []string{"true"}, nil) },
	"kill": func(pid string) error {
		n, _ := strconv.Atoi(pid)
		return syscall.Kill(n, 0)
	},
	"trace": func(string) error {
		if _, _, errno := unix.Syscall(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0); errno != 0 {
			return errno
		}
		return nil
	},
	"memory": func(string) error {
		b := make([]byte, 4<<30)
		b[len(b)-1] = 1
		return nil
	},
	"spin": func(string) error { // for more than the cage allows
		for {
			var u syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
				return err
			}
			if u.Utime.Sec+u.Stime.Sec >= 2 {
				return nil
			}
		}
	},
	"work": func(string) error { // what must still be possible: threads, collection, timers
		done := make(chan int)
		for i := range 8 {
			go func() {
				runtime.LockOSThread()
				var keep [][]byte
				for range 100 {
					keep = append(keep, make([]byte, 100<<10))
				}
				runtime.GC()
				<-time.After(time.Millisecond)
				done <- i + len(keep)
			}()
		}
		for range 8 {
			<-done
		}
		return nil
	},
}

func attempt(t *testing.T, how, what, arg string) (out string, ok bool) {
	t.Helper()
	cmd := self(os.Getuid(), "caged", "caged", how, what, arg)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err := cmd.Run()
	return b.String(), err == nil && strings.HasSuffix(b.String(), "done\n") || err == nil && what == "exec" && !strings.Contains(b.String(), "refused")
}

// TestACageHolds tries each thing in a cage, where it must not work, and outside, where it
// must: else the attempt proves nothing.
func TestACageHolds(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	for what := range attempts {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			arg := map[string]string{
				"connect": l.Addr().String(), "write": t.TempDir() + "/f", "kill": strconv.Itoa(os.Getpid()),
			}[what]
			if out, ok := attempt(t, "free", what, arg); !ok {
				t.Errorf("outside it does not work either: %s", out)
			}
			if out, ok := attempt(t, "confined", what, arg); ok != (what == "work") {
				t.Errorf("in the cage: %s", out)
			}
		})
	}
}

// TestACageLacksNothingHere holds that this system can do all of it, Landlock in a build
// with C code left out.
func TestACageLacksNothingHere(t *testing.T) {
	t.Parallel()
	out, _ := attempt(t, "confined", "work", "")
	missing, _, _ := strings.Cut(strings.TrimPrefix(out, "missing: "), "\n")
	if missing != "" && missing != "landlock: not in a build with C code" {
		t.Errorf("missing: %s", missing)
	}
}

// TestTheSecondWallHoldsAlone looks at Landlock without the filter before it.
func TestTheSecondWallHoldsAlone(t *testing.T) {
	t.Parallel()
	if out, _ := attempt(t, "walled", "work", ""); strings.Contains(out, "missing") {
		t.Skip(out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	for _, what := range []string{"open", "list", "write", "threads", "connect", "run"} {
		arg := map[string]string{"connect": l.Addr().String(), "write": t.TempDir() + "/f"}[what]
		if out, ok := attempt(t, "walled", what, arg); ok || !strings.Contains(out, "refused") {
			t.Errorf("%s: %s", what, out)
		}
	}
}

func TestAPipedProcessSpeaksAndEnds(t *testing.T) {
	t.Parallel()
	p, err := proc.StartPiped(context.Background(), "/bin/cat")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 5)
	if _, err := p.Read(b); err != nil || string(b) != "hello" {
		t.Fatalf("%q, %v", b, err)
	}
	woken := make(chan error)
	go func() {
		_, err := p.Read(b)
		woken <- err
	}()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-woken; err == nil {
		t.Error("a reader of a closed process goes on")
	}
}

// TestAPipedProcessTellsThatItWasHungry holds that the reason can be told to people.
func TestAPipedProcessTellsThatItWasHungry(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := proc.StartPiped(context.Background(), exe, "caged", "confined", "memory", "")
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1<<10)
	for {
		if _, err := p.Read(b); err != nil {
			break
		}
	}
	if err := p.Close(); !errors.Is(err, proc.ErrOutOfMemory) {
		t.Errorf("it ended with %v", err)
	}
}
