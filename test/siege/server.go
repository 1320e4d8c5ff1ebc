//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/parts"
)

// build makes both programs of a source tree in dir and returns the path of the first. The tag
// makes the keys of stores cheap, for all that are built here alike.
func build(ctx context.Context, source, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-tags", "testing", "-o", dir+"/", "github.com/retake-dev/retake/cmd/retake", "github.com/retake-dev/retake/cmd/retaked")
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build retake: %w\n%s", err, out)
	}
	return filepath.Join(dir, "retake"), nil
}

// server is one process of retake serve. It can be ended in order, which parts.Server cannot, and
// replaced by another program at the same address.
type server struct {
	parts.Serving
	address string
	secure  *authority // nil: plain HTTP
	log     string

	mu    sync.Mutex
	cmd   *exec.Cmd     // guarded by mu; nil: it does not run
	ended chan struct{} // guarded by mu; closed when cmd has ended
	up    bool          // guarded by mu; it was ready once
	told  bool          // guarded by mu; it was told to end
	exit  error         // guarded by mu; how the last process ended
	falls int           // guarded by mu; processes that were ready and ended without being told
}

// newServer chooses an address, and starts nothing.
func newServer(on parts.Serving, name string, secure *authority) (*server, error) {
	if err := os.MkdirAll(filepath.Join(on.Dir, "home"), 0o700); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	s := &server{Serving: on, address: l.Addr().String(), secure: secure, log: filepath.Join(on.Dir, name+".log")}
	return s, l.Close()
}

func (s *server) url() string {
	if s.secure != nil {
		return "https://" + s.address
	}
	return "http://" + s.address
}

func (s *server) args() []string {
	out := []string{"serve", "--listen", s.address, "--json", "--data", s.Data}
	if s.Postgres != "" {
		out = append(out, "--postgres", s.Postgres)
	}
	if s.S3 != "" {
		out = append(out, "--s3", s.S3)
	}
	if s.secure != nil {
		out = append(out, "--tls-cert", s.secure.certFile, "--tls-key", s.secure.keyFile)
	}
	return append(out, s.Flags...)
}

// launches is a thread that lives as long as we do: a child that shall end with its parent ends
// with the thread that made it.
var launches = sync.OnceValue(func() chan func() {
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range c {
			f()
		}
	}()
	return c
})

// start starts a program, which may be another than the last time, and waits until it is ready.
func (s *server) start(program string) error {
	ended, err := s.launch(program)
	if err != nil {
		return err
	}
	err = s.await(ended)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.up = err == nil; err != nil && s.exit != nil {
		return fmt.Errorf("%w (%w)", err, s.exit)
	}
	return err
}

func (s *server) launch(program string) (ended chan struct{}, err error) {
	log, err := os.OpenFile(s.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the child has its own
	cmd := exec.Command(program, s.args()...)
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "HOME=" + filepath.Join(s.Dir, "home"), "TMPDIR=" + s.Dir,
		"RETAKE_S3_ACCESS_KEY=" + s.AccessKey, "RETAKE_S3_SECRET_KEY=" + s.SecretKey,
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	begun := make(chan error)
	launches() <- func() { begun <- cmd.Start() }
	if err := <-begun; err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ended = make(chan struct{})
	s.cmd, s.ended, s.told, s.up, s.exit = cmd, ended, false, false, nil
	go s.reap(cmd, ended)
	return ended, nil
}

func (s *server) reap(cmd *exec.Cmd, ended chan struct{}) {
	err := cmd.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exit = err; s.up && !s.told {
		s.falls++
	}
	s.cmd = nil
	close(ended)
}

const startTime = 3 * time.Minute // a machine may be busy

// await asks until the server is ready, has ended, or the time is over.
func (s *server) await(ended chan struct{}) error {
	c := &http.Client{Timeout: 10 * time.Second, Transport: s.transport()}
	defer c.CloseIdleConnections()
	for end := time.Now().Add(startTime); ; {
		res, err := c.Get(s.url() + "/readyz")
		if err == nil {
			if _ = res.Body.Close(); res.StatusCode == http.StatusOK { // only its status is of interest
				return nil
			}
			err = errors.New(res.Status)
		}
		if time.Now().After(end) {
			return fmt.Errorf("start a server: %w: %s", err, s.lastLine())
		}
		select {
		case <-ended:
			return fmt.Errorf("start a server: it ended: %s", s.lastLine())
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// transport makes a connection for each request, as a client that comes once does.
func (s *server) transport() *http.Transport {
	t := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	if s.secure != nil {
		t.TLSClientConfig = s.secure.config("http/1.1")
	}
	return t
}

// stop asks the server to end, and waits. It must end in order.
func (s *server) stop() error {
	s.mu.Lock()
	cmd, ended := s.cmd, s.ended
	s.told = true
	s.mu.Unlock()
	if cmd == nil {
		return nil
	}
	_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-ended:
	case <-time.After(startTime):
		_ = cmd.Process.Kill()
		<-ended
		return errors.New("stop a server: it does not end")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exit != nil {
		return fmt.Errorf("stop a server: %w", s.exit)
	}
	return nil
}

// restart ends the server in order and starts it again.
func (s *server) restart() error {
	if err := s.stop(); err != nil {
		return err
	}
	return s.start(s.Program)
}

// kill ends the server at once, if it runs.
func (s *server) kill() {
	s.mu.Lock()
	cmd, ended := s.cmd, s.ended
	s.told = true
	s.mu.Unlock()
	if cmd != nil {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
	}
}

// crashes counts the processes that ended without being told.
func (s *server) crashes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.falls
}

func (s *server) pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return 0
	}
	return s.cmd.Process.Pid
}

// lastLine returns the end of what it logged.
func (s *server) lastLine() string {
	b, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	text := strings.TrimSpace(string(b))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// tenant is a namespace with its keys.
type tenant struct {
	name string
	keys map[retake.KeyKind]string
}

// addTenant makes a namespace, as an operator of a server does.
func addTenant(ctx context.Context, on *parts.Serving, name string) (*tenant, error) {
	out, err := on.Admin(ctx, "add", name)
	if err != nil {
		return nil, err
	}
	var told struct {
		Begun struct{ Keys []retake.NewKey } `json:"begun"`
	}
	if err := json.Unmarshal(out, &told); err != nil {
		return nil, fmt.Errorf("read the keys of a namespace: %w", err)
	}
	t := &tenant{name: name, keys: map[retake.KeyKind]string{}}
	for _, k := range told.Begun.Keys {
		t.keys[k.Key.Kind] = k.Secret
	}
	return t, nil
}

// use is what a process takes of its machine.
type use struct {
	Descriptors int   `json:"descriptors"`
	Memory      int64 `json:"memory_bytes"` // of its own, resident
}

func usedBy(pid int) (u use, err error) {
	at := "/proc/" + strconv.Itoa(pid)
	names, err := os.ReadDir(at + "/fd")
	if err != nil {
		return u, err
	}
	text, err := os.ReadFile(at + "/status")
	if err != nil {
		return u, err
	}
	u.Descriptors = len(names)
	for line := range bytes.Lines(text) {
		if rest, ok := strings.CutPrefix(string(line), "RssAnon:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				return u, err
			}
			u.Memory = kb << 10
		}
	}
	return u, nil
}
