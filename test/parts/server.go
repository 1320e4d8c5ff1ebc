//go:build unix

package parts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
)

// Serving says what servers of Retake stand on. Several may share one.
type Serving struct {
	Program   string // the command retake
	Dir       string // logs, and the home that they see
	Data      string
	Postgres  string // "": SQLite
	S3        string // an address with the bucket; "": the disk
	AccessKey string
	SecretKey string
	Flags     []string
}

func (o *Serving) place() []string {
	out := []string{"--data", o.Data}
	if o.Postgres != "" {
		out = append(out, "--postgres", o.Postgres)
	}
	if o.S3 != "" {
		out = append(out, "--s3", o.S3)
	}
	return out
}

func (o *Serving) env() []string {
	return []string{
		"PATH=/usr/bin:/bin", "HOME=" + filepath.Join(o.Dir, "home"), "TMPDIR=" + o.Dir,
		"RETAKE_S3_ACCESS_KEY=" + o.AccessKey, "RETAKE_S3_SECRET_KEY=" + o.SecretKey,
	}
}

// Admin runs a command of retake admin and answers its JSON.
func (o *Serving) Admin(ctx context.Context, args ...string) ([]byte, error) {
	if err := os.MkdirAll(filepath.Join(o.Dir, "home"), 0o700); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, o.Program, append(append([]string{"admin"}, args...), append(o.place(), "--json")...)...)
	cmd.Env, cmd.Dir = o.env(), o.Dir
	out, err := cmd.Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return out, fmt.Errorf("retake admin %v: %w\n%s%s", args, err, out, ended.Stderr)
	}
	return out, err
}

// Server is one process of retake serve.
type Server struct {
	Process
	Address string // host:port, the same after every start
}

// StartServer starts a server under a name of its own.
func StartServer(o Serving, name string) (*Server, error) {
	if err := os.MkdirAll(filepath.Join(o.Dir, "home"), 0o700); err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &Server{Address: address, Process: Process{program: program{
		path: o.Program, args: append(append([]string{"serve", "--listen", address, "--json"}, o.place()...), o.Flags...),
		env: o.env(), dir: o.Dir, log: filepath.Join(o.Dir, name+".log"),
	}}}
	return s, s.Start()
}

// Start starts the server again after Kill, and waits until it is ready.
func (s *Server) Start() error {
	if err := s.Launch(); err != nil {
		return err
	}
	return s.Ready()
}

// Ready waits until a server that was launched is ready.
func (s *Server) Ready() error { return s.await(startTime, s.ready) }

// Launch starts the server and does not wait: what it stands on may be away.
func (s *Server) Launch() error { return s.start() }

func (s *Server) ready() error {
	answer, err := http.Get("http://" + s.Address + "/readyz")
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("it is not ready: %s", answer.Status)
	}
	return errors.Join(err, answer.Body.Close())
}
