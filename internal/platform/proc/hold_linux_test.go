package proc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/proc"
)

func init() {
	programs["hold"] = useFile
	programs["ask"] = printFileUsers
	if len(os.Args) > 2 && os.Args[1] == "hold" && os.Args[2] == "leader" {
		runtime.LockOSThread() // the first thread is the one to end
	}
}

// useFile uses a file in one way until its input ends, and reports when it does.
func useFile(args []string) {
	how, path := args[0], args[1]
	if how == "leader" {
		useFileWithoutLeader(path)
		return
	}
	if err := openAs(how, path); err != nil {
		fmt.Fprintln(os.Stdout, err)
		return
	}
	fmt.Fprintln(os.Stdout, "here")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func openAs(how, path string) error {
	open := func(flag int) int {
		fd, err := unix.Open(path, flag|unix.O_CLOEXEC, 0)
		if err != nil {
			fmt.Fprintln(os.Stdout, err)
		}
		return fd
	}
	mapped := func(flag, prot, share int) error {
		fd := open(flag)
		_, err := unix.Mmap(fd, 0, 1, prot, share)
		return errors.Join(err, unix.Close(fd))
	}
	switch how {
	case "read":
		open(unix.O_RDONLY)
	case "path":
		open(unix.O_PATH)
	case "write":
		open(unix.O_WRONLY | unix.O_APPEND)
	case "both":
		open(unix.O_RDONLY)
		open(unix.O_RDWR)
		return mapped(unix.O_RDONLY, unix.PROT_READ, unix.MAP_SHARED)
	case "map":
		return mapped(unix.O_RDWR, unix.PROT_READ, unix.MAP_SHARED)
	case "map-private":
		return mapped(unix.O_RDWR, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	case "map-write":
		return mapped(unix.O_RDWR, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	case "cwd":
		return unix.Chdir(path)
	case "many":
		for range manyFiles {
			open(unix.O_RDONLY)
		}
	}
	return nil
}

// useFileWithoutLeader ends the main thread and uses the file in the others.
func useFileWithoutLeader(path string) {
	go func() {
		_ = openAs("read", path)
		for !strings.Contains(readProcStat(os.Getpid()), ") Z ") {
			runtime.Gosched()
		}
		fmt.Fprintln(os.Stdout, "here")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	_, _, _ = syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
}

func readProcStat(pid int) string {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return string(b)
}

// scanResult is the output of printFileUsers.
type scanResult struct {
	Found  []proc.FileUser
	Hidden int
	Err    string
}

// printFileUsers prints the users of a file, as seen by the user that runs it.
func printFileUsers(args []string) {
	var in proc.Inode
	in.Dev, _ = strconv.ParseUint(args[0], 10, 64)
	in.Ino, _ = strconv.ParseUint(args[1], 10, 64)
	var a scanResult
	var err error
	if a.Found, a.Hidden, err = proc.FindFileUsers(context.Background(), map[proc.Inode]bool{in: true}); err != nil {
		a.Err = err.Error()
	}
	_ = json.NewEncoder(os.Stdout).Encode(a)
}

// nobody is a user that owns nothing.
const nobody = 65534

// self is this program, started as somebody; the link works for users who may not
// enter the directory that it is in.
func self(uid int, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args, cmd.Dir = args, "/"
	if uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	return cmd
}

// startAndWait starts a process and waits until it uses the file.
func startAndWait(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, outW := pipe(t)
	cmd.Stdout = outW
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	outW.Close()
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // only that it ends
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "here\n" {
		t.Fatalf("it says %q (%v)", line, err)
	}
	return cmd.Process.Pid
}
