package proc

import (
	"context"
	"encoding/gob"
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

// RunMounted runs a program in a mount namespace of its own, in which Dir is bound
// over Over, and answers its exit code. Who is not root gets a user namespace as
// well, as the same user and group and with no more rights than before; there the
// files of others seem to be nobody's. Where that is impossible the program runs
// in Dir itself, and ErrElsewhere stands beside the code. Any other error means
// that it did not run, or that its output was not passed on.
//
// The program shares our terminal and gets its keys. When ctx ends it is asked to
// end, and soon ended; its own children are left to it.
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

// innerWord is the argument by which our own program knows that it is the inner
// side.
const insideArg = "_inside"

// Where the inner side finds its pipes. Both close when the program begins.
const (
	requestFD = 3 // what to do
	replyFD   = 4 // whether it works
)

// ready is the word of an inner side that has set up everything.
const readyReply = "ready"

// helperRequest is all that the inner side is told.
type helperRequest struct {
	Args, Env           []string
	Dir, MountPath, Cwd string
	DropCapabilities    bool // it has a right that the program must not have
}

// runInNamespace starts the inner side. A why means that nothing was run.
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

// startHelper starts the inner side, tells it what to do, and waits for its word: until
// the program begins, or never will.
func startHelper(cmd *exec.Cmd, o helperRequest) (word string, err error) {
	orderR, orderW, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("make a pipe: %w", err)
	}
	defer orderW.Close() //nolint:errcheck // closed before, or nobody reads
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
	if err = gob.NewEncoder(orderW).Encode(o); err != nil {
		err = fmt.Errorf("tell the inner side: %w", err)
	}
	_ = orderW.Close()
	said, _ := io.ReadAll(io.LimitReader(wordR, maxReplyLength)) // what was lost of it is no word
	return string(said), err
}

// helperFailure says why nothing was run; nil when somebody ended it meanwhile. Its
// own mistakes and a kernel that forbids a call are no such end.
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

// namespaceAttr are those of the inner side. The right to mount would be lost at its
// start; ambient, it lasts until the inner side gives it up.
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
