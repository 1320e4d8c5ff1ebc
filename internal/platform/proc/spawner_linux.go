package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// A process that works for a user and keeps files from him (see WorkFor) must not start his programs:
// they would inherit what it may. A spawner does that: a process that is entirely the user.

// spawnerArg is the argument by which our own program recognizes that it is a spawner.
const spawnerArg = "_spawn"

// spawner is our side of it; nil: this process starts programs itself.
var spawner atomic.Pointer[spawnerClient]

type spawnerClient struct {
	mu   sync.Mutex // one request at a time is written
	conn *net.UnixConn
}

// spawnRequest is what a spawner is sent, with the descriptors of the supervisor: its output, errors,
// request and reply pipe, one that is closed when it has ended, and its input if it has one.
type spawnRequest struct {
	Namespaces, User, Input bool
}

// fixedSpawnFiles is the number of descriptors without the input.
const fixedSpawnFiles = 5

// startSpawner starts the spawner of a user. The caller is root.
func startSpawner(uid, gid int, groups []int) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("start spawner: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "spawner"), os.NewFile(uintptr(pair[1]), "requests")
	defer func() { _, _ = ours.Close(), theirs.Close() }() // what is used was duplicated
	cmd := exec.Command("/proc/self/exe")
	cmd.Args, cmd.Dir, cmd.Env = []string{"retake", spawnerArg}, "/", []string{}
	cmd.ExtraFiles = []*os.File{theirs}
	creds := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	for _, g := range groups {
		creds.Groups = append(creds.Groups, uint32(g))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: creds, Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start spawner: %w", err)
	}
	go func() { _ = cmd.Wait() }() // its requests fail from then on
	c, err := net.FileConn(ours)
	if err != nil {
		return fmt.Errorf("start spawner: %w", err)
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return errors.New("start spawner: not a unix socket")
	}
	spawner.Store(&spawnerClient{conn: conn})
	return nil
}

// start lets the spawner start a supervisor; ended is closed when the supervisor has ended.
func (c *spawnerClient) start(s *processStreams, request, reply *os.File, namespaces, userNamespace bool) (ended *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer w.Close() //nolint:errcheck // the spawner has its own
	files := []*os.File{s.out, s.err, request, reply, w}
	if s.in != nil {
		files = append(files, s.in)
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	text, err := json.Marshal(spawnRequest{Namespaces: namespaces, User: userNamespace, Input: s.in != nil})
	if err == nil {
		c.mu.Lock()
		_, _, err = c.conn.WriteMsgUnix(text, unix.UnixRights(fds...), nil)
		c.mu.Unlock()
	}
	if err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("ask the spawner: %w", err)
	}
	return r, nil
}

// runSpawner makes this process a spawner, until its requester is gone.
func runSpawner(args []string) (handled bool) {
	if len(args) != 1 || args[0] != spawnerArg {
		return false
	}
	c, err := net.FileConn(os.NewFile(requestFD, "requests"))
	if err != nil {
		return true
	}
	unix.CloseOnExec(requestFD)
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return true
	}
	text, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(16*4))
	for {
		n, m, _, _, err := conn.ReadMsgUnix(text, rights)
		if err != nil || n == 0 {
			return true
		}
		spawnSupervisor(text[:n], rights[:m])
	}
}

// spawnSupervisor starts one supervisor. Who asked sees that it ended by the end of a pipe.
func spawnSupervisor(text, rights []byte) {
	files := receivedFiles(rights)
	closeAll := func() {
		for _, f := range files {
			_ = f.Close()
		}
	}
	var r spawnRequest
	if json.Unmarshal(text, &r) != nil || len(files) < fixedSpawnFiles || r.Input != (len(files) > fixedSpawnFiles) {
		closeAll()
		return
	}
	cmd := supervisorCommand(r.Namespaces, r.User)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = files[0], files[1], files[2:4]
	if r.Input {
		cmd.Stdin = files[fixedSpawnFiles]
	}
	if cmd.Start() != nil {
		closeAll()
		return
	}
	ended := files[4]
	files = append(files[:4:4], files[fixedSpawnFiles:]...)
	closeAll()
	go func() {
		_ = cmd.Wait() // its reports say how it went
		_ = ended.Close()
	}()
}

func receivedFiles(rights []byte) []*os.File {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil
	}
	var out []*os.File
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			out = append(out, os.NewFile(uintptr(fd), "received"))
		}
	}
	return out
}

// supervisorCommand is the start of a supervisor, without its streams.
func supervisorCommand(namespaces, userNamespace bool) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args, cmd.Dir, cmd.Env = []string{"retake", supervisorArg}, "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if namespaces {
		cmd.SysProcAttr = namespaceAttr(userNamespace)
	}
	cmd.SysProcAttr.Setsid = true
	return cmd
}

// supervisorProcess is a supervisor that runs, started by us or by the spawner.
type supervisorProcess struct {
	cmd   *exec.Cmd // nil: the spawner's child
	ended *os.File
}

func (p supervisorProcess) kill() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		return
	}
	_ = p.ended.Close() // it ends with its request pipe
}

func (p supervisorProcess) wait() {
	if p.cmd != nil {
		_ = p.cmd.Wait()
		return
	}
	_, _ = io.Copy(io.Discard, p.ended)
	_ = p.ended.Close()
}
