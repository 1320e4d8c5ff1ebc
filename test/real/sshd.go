//go:build ssh

package real

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Sshd is a host for git over ssh on a port that only this machine reaches. Whoever comes
// in with a key that was let in gets git's own shell, and nothing else.
type Sshd struct {
	Port int
	User string
	Root string // repositories lie below it
	Key  string // what the host says that it is, as ssh tells it

	t    testing.TB
	dir  string
	name int // of the newest host key
	cmd  *exec.Cmd
	log  bytes.Buffer
}

// StartSshd starts a host that ends with the test.
func StartSshd(t testing.TB) *Sshd {
	t.Helper()
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s := &Sshd{t: t, User: who.Username, dir: t.TempDir()}
	s.Root = filepath.Join(s.dir, "repositories")
	s.must(os.Mkdir(s.Root, 0o700))
	if os.Geteuid() == 0 {
		s.must(os.MkdirAll("/run/sshd", 0o755)) // it does not start as root without one
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	s.Port = l.Addr().(*net.TCPAddr).Port
	s.must(l.Close())
	s.must(os.WriteFile(s.at("authorized_keys"), nil, 0o600))
	s.NewHostKey()
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

func (s *Sshd) at(name string) string { return filepath.Join(s.dir, name) }

func (s *Sshd) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// NewHostKey makes the host another one, from its next start on.
func (s *Sshd) NewHostKey() {
	s.t.Helper()
	s.name++
	path := s.at(fmt.Sprintf("host-%d", s.name))
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "host", "-f", path).CombinedOutput()
	if err != nil {
		s.t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	public, err := os.ReadFile(path + ".pub")
	s.must(err)
	s.Key = strings.Join(strings.Fields(string(public))[:2], " ")
}

// LetIn lets a key in, for git alone.
func (s *Sshd) LetIn(public string) {
	s.t.Helper()
	line := `restrict,command="git-shell -c \"$SSH_ORIGINAL_COMMAND\"" ` + public + "\n"
	s.must(os.WriteFile(s.at("authorized_keys"), []byte(line), 0o600))
}

// LetInSFTP lets a key in, for files alone.
func (s *Sshd) LetInSFTP(public string) {
	s.t.Helper()
	s.must(os.WriteFile(s.at("authorized_keys"), []byte(`restrict,command="internal-sftp" `+public+"\n"), 0o600))
}

// URL is the address of a repository.
func (s *Sshd) URL(name string) string {
	return fmt.Sprintf("ssh://%s@127.0.0.1:%d%s", s.User, s.Port, filepath.Join(s.Root, name))
}

// Start starts the host and waits until it listens.
func (s *Sshd) Start() {
	s.t.Helper()
	program, err := exec.LookPath("sshd")
	if err != nil {
		program = "/usr/sbin/sshd"
	}
	conf := strings.Join([]string{
		"ListenAddress 127.0.0.1", "Port " + strconv.Itoa(s.Port), "HostKey " + s.at(fmt.Sprintf("host-%d", s.name)), "AuthorizedKeysFile " + s.at("authorized_keys"),
		"PidFile none", "StrictModes no", "UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin forced-commands-only", "AllowUsers " + s.User,
		"Subsystem sftp internal-sftp", "LogLevel VERBOSE", "",
	}, "\n")
	s.must(os.WriteFile(s.at("config"), []byte(conf), 0o600))
	s.cmd = exec.Command(program, "-D", "-e", "-f", s.at("config"))
	s.cmd.Stderr = &s.log
	s.must(s.cmd.Start())
	for end := time.Now().Add(20 * time.Second); ; <-time.After(10 * time.Millisecond) {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)))
		if err == nil {
			s.must(c.Close())
			return
		}
		if time.Now().After(end) {
			s.Stop()
			s.t.Fatalf("the host never listened: %s", s.Log())
		}
	}
}

// Stop ends the host; nobody answers then.
func (s *Sshd) Stop() {
	if s.cmd == nil {
		return
	}
	err := s.cmd.Process.Kill()
	if werr := s.cmd.Wait(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Error(err, werr)
	}
	s.cmd = nil
}

// Log is what it told, once it was stopped.
func (s *Sshd) Log() string { return s.log.String() }
