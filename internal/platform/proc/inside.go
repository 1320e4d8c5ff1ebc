package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// MountedCommand is a program that runs in one directory and sees it at the path of another.
type MountedCommand struct {
	Args      []string // the program and its arguments
	Dir       string   // the real directory, absolute
	MountPath string   // the absolute path where Dir appears; empty: its own path
	Cwd       string   // working directory, below MountPath or relative to it; empty: MountPath
	Env       []string // the whole environment, except PWD
	In        io.Reader
	Out       io.Writer
	Err       io.Writer
}

// ErrNotMounted means that the program ran, but did not see its directory at the requested
// path.
var ErrNotMounted = errors.New("ran at its own path")

// Exit codes as shells give them.
const (
	exitNotRunnable = 126 // found, but not executable
	exitNotFound    = 127
	exitSignalBase  = 128 // plus the signal number
)

// defaultWaitDelay is how long a program has to end by itself when it is asked to, and how
// long descendants may keep its output open.
const defaultWaitDelay = 5 * time.Second

// relativeWorkDir validates the command and returns its working directory relative to Dir.
func (p MountedCommand) relativeWorkDir() (string, error) {
	if len(p.Args) == 0 || p.Args[0] == "" {
		return "", errors.New("run a program: none is named")
	}
	if !filepath.IsAbs(p.Dir) || p.MountPath != "" && !filepath.IsAbs(p.MountPath) {
		return "", fmt.Errorf("run %s: directories must be absolute", p.Args[0])
	}
	rel := p.Cwd
	if filepath.IsAbs(rel) {
		var err error
		if rel, err = filepath.Rel(p.visiblePath(), rel); err != nil {
			return "", fmt.Errorf("run %s: %w", p.Args[0], err)
		}
	}
	if rel = filepath.Clean(rel); !filepath.IsLocal(rel) {
		return "", fmt.Errorf("run %s: %s is not below %s", p.Args[0], p.Cwd, p.visiblePath())
	}
	return rel, nil
}

// visiblePath returns where the program is to see its directory.
func (p MountedCommand) visiblePath() string {
	if p.MountPath == "" {
		return p.Dir
	}
	return p.MountPath
}

// needsMount reports whether the requested path is not that of the directory.
func (p MountedCommand) needsMount() bool {
	return filepath.Clean(p.visiblePath()) != filepath.Clean(p.Dir)
}

// environAt returns the environment of a program with working directory cwd. Of duplicate keys
// the last value is used.
func (p MountedCommand) environAt(cwd string) []string {
	env := append(append([]string{}, p.Env...), "PWD="+cwd)
	return (&exec.Cmd{Env: env}).Environ()
}

// runUnmounted runs the program in its own directory.
func (p MountedCommand) runUnmounted(ctx context.Context, rel string) (int, error) {
	cwd := filepath.Join(p.Dir, rel)
	if i, err := os.Stat(cwd); err != nil {
		return -1, fmt.Errorf("run %s: %w", p.Args[0], err)
	} else if !i.IsDir() {
		return -1, fmt.Errorf("run %s: %s is no directory", p.Args[0], cwd)
	}
	env := p.environAt(cwd)
	path, err := findProgram(p.Args[0], cwd, env)
	if err != nil {
		return p.reportNotRunnable(err), nil
	}
	cmd, feed, err := p.prepareCommand(ctx, path, p.Args...)
	if err != nil {
		return -1, fmt.Errorf("run %s: %w", p.Args[0], err)
	}
	cmd.Dir, cmd.Env = cwd, env
	if err := markDescriptorsCloseOnExec(); err != nil {
		return -1, fmt.Errorf("keep descriptors: %w", err)
	}
	defer catchTerminalSignals()()
	if err := cmd.Start(); err != nil {
		if isNotRunnable(err) {
			return p.reportNotRunnable(&exec.Error{Name: p.Args[0], Err: errors.Unwrap(err)}), nil
		}
		return -1, fmt.Errorf("run %s: %w", p.Args[0], err)
	}
	feed()
	return waitCommand(ctx, cmd)
}

// reportNotRunnable prints why a program cannot be run, and returns the exit code.
func (p MountedCommand) reportNotRunnable(err error) int {
	text, code := notRunnableMessage(err)
	if p.Err != nil {
		fmt.Fprint(p.Err, text)
	}
	return code
}

// notRunnableMessage returns the message and the exit code that a shell would give.
func notRunnableMessage(err error) (text string, code int) {
	why, name := err, ""
	var e *exec.Error
	if errors.As(err, &e) {
		why, name = e.Err, e.Name+": "
	}
	if errors.Is(err, exec.ErrNotFound) {
		return "retake: " + name + "not found\n", exitNotFound
	}
	return "retake: " + name + why.Error() + "\n", exitNotRunnable
}

// isNotRunnable reports whether a start failed because of the program, and not because the
// machine lacks resources.
func isNotRunnable(err error) bool {
	var pe *os.PathError
	if !errors.As(err, &pe) || pe.Op != "fork/exec" {
		return false
	}
	return !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.ENOMEM) && !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE)
}

// prepareCommand prepares a process that gets SIGTERM when ctx ends, and is killed later.
// Input that is not a file is copied only after feed is called, so that a start that fails
// consumes none of it.
func (p MountedCommand) prepareCommand(ctx context.Context, path string, args ...string) (cmd *exec.Cmd, feed func(), err error) {
	cmd = exec.CommandContext(ctx, path)
	cmd.Args = args
	cmd.Stdout, cmd.Stderr = p.Out, p.Err
	cmd.WaitDelay = defaultWaitDelay
	cmd.Cancel = func() error {
		err := cmd.Process.Signal(syscall.SIGTERM)
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			return cmd.Process.Kill() // a system without SIGTERM
		}
		return err
	}
	if p.In == nil {
		return cmd, func() {}, nil
	}
	if f, ok := p.In.(*os.File); ok {
		cmd.Stdin = f
		return cmd, func() {}, nil
	}
	w, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	return cmd, func() {
		go func() { // may block in a read of In long after the program has ended
			_, _ = io.Copy(w, p.In) // the program need not read all of it
			_ = w.Close()
		}()
	}, nil
}

// catchTerminalSignals keeps Ctrl-C and Ctrl-\ from ending us before the program, which gets
// them too and decides for itself. The signals are caught, not ignored, because the program
// would inherit that.
func catchTerminalSignals() (restore func()) {
	keys := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(keys, s)
		}
	}
	return func() { signal.Stop(keys) }
}

// waitCommand waits for the process and returns its exit code.
func waitCommand(ctx context.Context, cmd *exec.Cmd) (int, error) {
	err := cmd.Wait()
	if cmd.ProcessState == nil {
		return -1, fmt.Errorf("wait for %s: %w", cmd.Path, err)
	}
	exit := exitCodeOf(cmd.ProcessState)
	var ended *exec.ExitError
	if err == nil || ctx.Err() != nil || errors.As(err, &ended) || errors.Is(err, exec.ErrWaitDelay) {
		return exit, nil
	}
	return exit, fmt.Errorf("pass on its output: %w", err)
}

// exitCodeOf returns the exit code as a shell does: 128 plus the signal that ended the
// process.
func exitCodeOf(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return exitSignalBase + int(ws.Signal())
	}
	return s.ExitCode()
}

// findProgram looks up a program as a shell in cwd does. Without PATH only names with a slash
// are found.
func findProgram(name, cwd string, env []string) (string, error) {
	from := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return cwd + string(filepath.Separator) + path // not cleaned: there may be a symbolic link before a ..
	}
	if filepath.Base(name) != name {
		return checkRunnable(name, from(name))
	}
	refused := error(&exec.Error{Name: name, Err: exec.ErrNotFound})
	for _, dir := range filepath.SplitList(lookupEnv(env, "PATH")) {
		path, err := checkRunnable(name, from(filepath.Join(dir, name)))
		if err == nil {
			return path, nil
		}
		if i, gone := os.Stat(from(filepath.Join(dir, name))); gone == nil && !i.IsDir() {
			refused = err
		}
	}
	return "", refused
}

// checkRunnable returns path if it is executable, and an *exec.Error with the given name
// otherwise.
func checkRunnable(name, path string) (string, error) {
	got, err := exec.LookPath(path)
	if err == nil {
		return got, nil
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, exec.ErrNotFound) || errors.Is(err, syscall.ENOTDIR) {
		return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
	}
	var e *exec.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	return "", &exec.Error{Name: name, Err: err}
}

func lookupEnv(env []string, name string) string {
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}
