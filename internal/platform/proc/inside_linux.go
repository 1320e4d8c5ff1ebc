package proc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// RunMounted runs a program in its own mount namespace, in which Dir is bound over MountPath,
// and returns its exit code. Without root it also gets a user namespace, with the same user
// and group and without additional rights; files of other users appear as nobody's there. If
// that is not possible the program runs in Dir itself, and the error is ErrNotMounted besides
// the code. Any other error means that it did not run, or that its output could not be passed
// on.
//
// The program shares our terminal and its signals. When ctx ends it gets SIGTERM and is killed
// soon after; its own children are left alone.
func RunMounted(ctx context.Context, p MountedCommand) (exit int, err error) {
	rel, err := p.relativeWorkDir()
	if err != nil {
		return -1, err
	}
	if !p.needsMount() {
		return p.runUnmounted(ctx, rel)
	}
	exit, why, err := p.runInNamespace(ctx, rel)
	if why == nil || err != nil {
		return exit, err
	}
	if err := ctx.Err(); err != nil {
		return -1, fmt.Errorf("run %s: %w", p.Args[0], err)
	}
	exit, err = p.runUnmounted(ctx, rel)
	if err == nil {
		err = fmt.Errorf("%w: %w", ErrNotMounted, why)
	}
	return exit, err
}

// insideArg is the argument by which our own program recognizes that it is the helper.
const insideArg = "_inside"

// The descriptors of the helper's pipes. Both close when the program starts.
const (
	requestFD = 3 // the request
	replyFD   = 4 // the reply: readyReply or an error text
)

// readyReply is the reply of a helper that is about to start the program.
const readyReply = "ready"

// helperRequest is everything that the helper is sent.
type helperRequest struct {
	Args, Env           []string
	Dir, MountPath, Cwd string
	DropCapabilities    bool // the helper has capabilities that the program must not have
}

// helperJSON is a helperRequest in bytes: names and variables of the environment need not be
// UTF-8, and JSON keeps nothing else as text.
type helperJSON struct {
	Args, Env           [][]byte
	Dir, MountPath, Cwd []byte
	DropCapabilities    bool
}

// MarshalJSON keeps every byte.
func (o helperRequest) MarshalJSON() ([]byte, error) {
	return json.Marshal(helperJSON{convertAll[[]byte](o.Args), convertAll[[]byte](o.Env), []byte(o.Dir), []byte(o.MountPath), []byte(o.Cwd), o.DropCapabilities})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (o *helperRequest) UnmarshalJSON(b []byte) error {
	var x helperJSON
	err := json.Unmarshal(b, &x)
	*o = helperRequest{convertAll[string](x.Args), convertAll[string](x.Env), string(x.Dir), string(x.MountPath), string(x.Cwd), x.DropCapabilities}
	return err
}

func convertAll[To, From string | []byte](all []From) []To {
	out := make([]To, 0, len(all))
	for _, x := range all {
		out = append(out, To(x))
	}
	return out
}

// runInNamespace runs the program through the helper. If why is not nil, nothing was run.
func (p MountedCommand) runInNamespace(ctx context.Context, rel string) (exit int, why, err error) {
	if err := markDescriptorsCloseOnExec(); err != nil {
		return -1, nil, fmt.Errorf("keep descriptors: %w", err)
	}
	cmd, feed, err := p.prepareCommand(ctx, "/proc/self/exe", "retake", insideArg)
	if err != nil {
		return -1, nil, fmt.Errorf("run %s: %w", p.Args[0], err)
	}
	raised := os.Geteuid() != 0
	cmd.Dir, cmd.Env = "/", []string{}
	cmd.SysProcAttr = namespaceAttr(raised)
	cwd := filepath.Join(p.MountPath, rel)
	defer catchTerminalSignals()()
	word, why := startHelper(cmd, helperRequest{Args: p.Args, Env: p.environAt(cwd), Dir: p.Dir, MountPath: p.MountPath, Cwd: cwd, DropCapabilities: raised})
	if cmd.Process == nil {
		return -1, why, nil
	}
	if word == readyReply {
		feed()
		exit, err = waitCommand(ctx, cmd)
		return exit, nil, err
	}
	exit, err = waitCommand(ctx, cmd)
	return exit, helperFailure(word, exit, why), err
}

// startHelper starts the helper, sends the request and waits for the reply, which comes just
// before the program starts or when it is certain that it will not.
func startHelper(cmd *exec.Cmd, o helperRequest) (word string, err error) {
	orderR, orderW, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("make a pipe: %w", err)
	}
	defer orderW.Close() //nolint:errcheck // closed before, or the helper did not start
	defer orderR.Close() //nolint:errcheck // theirs
	wordR, wordW, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("make a pipe: %w", err)
	}
	defer wordR.Close() //nolint:errcheck // only read
	defer wordW.Close() //nolint:errcheck // theirs
	cmd.ExtraFiles = []*os.File{orderR, wordW}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("make a namespace: %w", err)
	}
	_, _ = orderR.Close(), wordW.Close()
	if err = json.NewEncoder(orderW).Encode(o); err != nil {
		err = fmt.Errorf("tell the inner side: %w", err)
	}
	_ = orderW.Close()
	said, _ := io.ReadAll(io.LimitReader(wordR, maxReplyLength)) // an incomplete reply is not readyReply
	return string(said), err
}

// helperFailure returns why nothing was run, and nil if somebody killed the helper meanwhile.
// A failure of its own and a forbidden system call (SIGSYS) do not count as that.
func helperFailure(word string, exit int, sent error) error {
	switch {
	case word != "":
		return errors.New(strings.TrimSpace(word))
	case exit > exitSignalBase && exit != exitSignalBase+int(unix.SIGSYS):
		return nil
	case sent != nil:
		return sent
	}
	return fmt.Errorf("the inner side ended without a word, code %d", exit)
}

// namespaceAttr returns the namespaces of the helper. CAP_SYS_ADMIN would be lost at its exec;
// as an ambient capability it lasts until the helper drops it.
func namespaceAttr(user bool) *syscall.SysProcAttr {
	if !user {
		return &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	}
	uid, gid := os.Geteuid(), os.Getegid()
	return &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN},
	}
}
