package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/pure/pattern"
	"github.com/retake-dev/retake/internal/pure/secrets"
)

// hostAlias is the name of every host in the known_hosts file, which contains one key.
const hostAlias = "retake-backup"

// sshCommand uses the files beside the repository and nothing of the user's. Paths are
// relative: git and ssh run in the backup directory of the workspace.
const sshCommand = "ssh -F /dev/null -a -x -T" +
	" -o BatchMode=yes -o IdentitiesOnly=yes -o IdentityAgent=none -o PreferredAuthentications=publickey" +
	" -o StrictHostKeyChecking=yes -o UserKnownHostsFile=" + hostsFile + " -o GlobalKnownHostsFile=/dev/null" +
	" -o HostKeyAlias=" + hostAlias + " -o CheckHostIP=no -o UpdateHostKeys=no -o VerifyHostKeyDNS=no" +
	" -o ControlMaster=no -o ControlPath=none -o ClearAllForwardings=yes -o PermitLocalCommand=no -o ProxyCommand=none -o CanonicalizeHostname=no" +
	" -o ConnectTimeout=20 -o ServerAliveInterval=15 -o ServerAliveCountMax=4 -o LogLevel=ERROR"

// gitSettings are all settings of git besides those of the repository that it created itself.
var gitSettings = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null", "core.excludesFile=/dev/null", "core.quotePath=true",
	"gc.auto=0", "maintenance.auto=false", "gc.autoDetach=false", "credential.helper=", "push.followTags=false", "push.recurseSubmodules=no",
	"push.gpgSign=false", "commit.gpgSign=false", "fetch.recurseSubmodules=false", "fetch.writeCommitGraph=false", "advice.detachedHead=false",
	"transfer.credentialsInUrl=die", "protocol.version=2", "fetch.fsckObjects=true",
}

// repo is the opened repository of one workspace.
type repo struct {
	w       *Worker
	dir     string
	remote  remoteAddr
	ref     string
	env     []string
	cleanup func()
}

// openRepo creates what is missing, and the files that ssh reads.
func (w *Worker) openRepo(ctx context.Context, s *state) (*repo, error) {
	to, err := parseRemote(s.Backup.URL, w.opts.AllowPaths)
	if err != nil {
		return nil, err
	}
	r := &repo{w: w, dir: w.workspaceDir(s.Backup.Workspace), remote: to, ref: "refs/heads/" + s.Backup.Branch, cleanup: func() {}}
	key := keyFile
	if to.host != "" {
		if s.Backup.Host == nil {
			return nil, newFault(retake.Denied, ErrHost, nil, "the host's key is not confirmed yet", "set it again: retake backup set "+to.text)
		}
		if err := fsx.ReplaceFile(filepath.Join(r.dir, hostsFile), []byte(hostAlias+" "+s.Backup.Host.Kind+" "+s.Backup.Host.Key+"\n"), 0o600); err != nil {
			return nil, fmt.Errorf("write known hosts: %w", err)
		}
		if key, err = r.openKeyFile(ctx, s.Backup.Workspace); err != nil {
			return nil, err
		}
	}
	ssh := sshCommand + " -o IdentityFile=" + key
	if to.host != "" && w.opts.ResolveHost != nil {
		at, err := w.resolveHost(ctx, to.host)
		if err != nil {
			return nil, err
		}
		ssh += " -o HostName=" + at
	}
	r.env = w.commandEnv(r.dir, to, ssh)
	if err := r.ensureRepo(ctx); err != nil {
		r.cleanup()
		return nil, err
	}
	return r, nil
}

// commandEnv returns the complete environment of git and ssh.
func (w *Worker) commandEnv(dir string, to remoteAddr, ssh string) []string {
	protocol := "ssh"
	if to.host == "" {
		protocol = "file"
	}
	home := filepath.Join(dir, homeDir)
	return []string{
		"PATH=" + w.opts.Path, "HOME=" + home, "XDG_CONFIG_HOME=" + home, "LC_ALL=C", "TZ=UTC",
		"GIT_DIR=" + repoDir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=never", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_ALLOW_PROTOCOL=" + protocol, "GIT_SSH_COMMAND=" + ssh, "GIT_SSH_VARIANT=ssh",
	}
}

// ensureRepo creates a bare repository without a template.
func (r *repo) ensureRepo(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(r.dir, homeDir), 0o700); err != nil {
		return fmt.Errorf("make backup: %w", err)
	}
	if notes, err := filepath.Glob(filepath.Join(r.dir, repoDir, "fast_import_crash_*")); err == nil {
		for _, n := range notes { // they name paths, and nobody reads them
			_ = os.Remove(n)
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, repoDir, "HEAD")); err == nil {
		return nil
	}
	_, err := r.runGit(ctx, "init", "--bare", "--quiet", "--template=", "--object-format=sha1", "--initial-branch=retake", repoDir)
	return err
}

// gitError is a git command that failed.
type gitError struct {
	verb   string
	exit   int
	stderr string // its errors
	stdout string
}

func (f *gitError) Error() string {
	if f.stderr == "" {
		return fmt.Sprintf("git %s ended with %d", f.verb, f.exit)
	}
	return f.stderr
}

// runGit runs one command and returns its output.
func (r *repo) runGit(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	err := r.runCommand(ctx, nil, &boundedBuffer{b: &out}, args...)
	return out.String(), err
}

// runCommand runs git until it ends or makes no progress for too long.
func (r *repo) runCommand(ctx context.Context, feed func(io.Writer), out io.Writer, args ...string) error {
	ctx, moved, stop := r.w.watchProgress(ctx)
	defer stop()
	line := []string{"git"}
	for _, s := range gitSettings {
		line = append(line, "-c", s)
	}
	a := proc.IsolatedCommand{Args: append(line, args...), Dir: r.dir, Env: r.env, Out: progressWriter{out, moved}, Nice: 5}
	var errs bytes.Buffer
	a.Err = progressWriter{&boundedBuffer{b: &errs}, moved}
	if feed != nil {
		a.Feed = func(w io.Writer) { feed(progressWriter{w, moved}) }
	}
	end, err := proc.RunIsolated(ctx, a)
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errStalled):
		return newFault(retake.Away, ErrAway, nil, "nothing moved for "+r.w.opts.Stall.String()+", and the try was given up", "look whether the remote answers")
	case err != nil:
		return fmt.Errorf("run git %s: %w", args[0], err)
	case end.Exit == 126 || end.Exit == 127:
		return newFault(retake.Invalid, ErrProgram, nil, "git cannot be run: "+summarizeErrors(errs.String()), "install git and ssh")
	case end.Exit != 0:
		text := ""
		if b, ok := out.(*boundedBuffer); ok {
			text = b.b.String()
		}
		return &gitError{verb: args[0], exit: end.Exit, stderr: summarizeErrors(errs.String()), stdout: text}
	}
	return nil
}

var errStalled = errors.New("nothing moves")

// watchProgress limits a step, in total and by how long nothing happens.
func (w *Worker) watchProgress(ctx context.Context) (_ context.Context, moved, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	still := time.AfterFunc(w.opts.Stall, func() { cancel(errStalled) })
	all := time.AfterFunc(w.opts.Timeout, func() { cancel(errStalled) })
	return ctx, func() { still.Reset(w.opts.Stall) }, func() {
		still.Stop()
		all.Stop()
		cancel(nil)
	}
}

// progressWriter reports every write.
type progressWriter struct {
	io.Writer
	moved func()
}

func (t progressWriter) Write(b []byte) (int, error) {
	t.moved()
	return t.Writer.Write(b)
}

// boundedBuffer keeps only the beginning of what is written.
type boundedBuffer struct {
	mu sync.Mutex
	b  *bytes.Buffer
}

const maxOutput = 1 << 20

func (l *boundedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Write(b[:min(len(b), maxOutput-l.b.Len())])
	return len(b), nil
}

// noisePattern matches output that explains nothing.
var noisePattern = pattern.Lazy(`^(@@@|(Enumerating|Counting|Compressing|Writing) objects|Delta compression|Total [0-9]|Could not read from remote repository|Please make sure you have the correct access|and the repository exists|failed to push some refs)`)

// summarizeErrors returns the error output of a program as one short line without progress and
// secrets.
func summarizeErrors(said string) string {
	var lines []string
	for line := range strings.FieldsFuncSeq(said, func(c rune) bool { return c == '\n' || c == '\r' }) {
		line = strings.TrimSpace(strings.Map(func(c rune) rune {
			if c < ' ' || c == 0x7f || c == 0xfffd {
				return -1
			}
			return c
		}, line))
		line = strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: ")
		if line != "" && !strings.Contains(line, "% (") && !noisePattern().MatchString(line) {
			lines = append(lines, line)
		}
	}
	text, _ := secrets.Mask(strings.Join(lines, "; "))
	const most = 400
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
