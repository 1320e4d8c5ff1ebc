//go:build unix

package parts

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// S3 is a versitygw with one bucket, on a port that only this machine reaches.
type S3 struct {
	Process
	Endpoint  string // host:port, http
	Region    string
	Name      string
	AccessKey string
	SecretKey string
	Dir       string // the bucket as files
}

// StartS3 starts a server whose bucket is empty and lies below dir.
func StartS3(dir string) (*S3, error) {
	at, err := versitygw()
	if err != nil {
		return nil, err
	}
	s := &S3{Region: "us-east-1", Name: "things", AccessKey: "opener", SecretKey: "of-the-box-in-the-yard"}
	files, notes := filepath.Join(dir, "files"), filepath.Join(dir, "notes")
	s.Dir = filepath.Join(files, s.Name)
	for _, d := range []string{s.Dir, notes} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("make a directory: %w", err)
		}
	}
	if s.Endpoint, err = freeAddress(); err != nil {
		return nil, err
	}
	s.program = program{
		path: at, args: []string{"--port", s.Endpoint, "--quiet", "posix", "--sidecar", notes, files}, dir: dir, log: filepath.Join(dir, "log"),
		env: []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "ROOT_ACCESS_KEY=" + s.AccessKey, "ROOT_SECRET_KEY=" + s.SecretKey},
	}
	return s, s.Start()
}

// Start starts the server again after Kill, with all it held, and waits until it answers.
func (s *S3) Start() error {
	if err := s.start(); err != nil {
		return err
	}
	return s.await(startTime, func() error { return answers("http://" + s.Endpoint + "/") })
}

// Stop is Kill.
func (s *S3) Stop() { s.Kill() }

func answers(url string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// freeAddress answers one that nobody listened to a moment ago, below the ports that the system gives to
// whoever asks for any: a server that was killed finds its own free when it starts again.
func freeAddress() (string, error) {
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(12_000))
		if l, err := net.Listen("tcp", address); err == nil {
			return address, l.Close()
		}
	}
	return "", errors.New("find a free port: none of 100 is")
}

// versitygw finds the program on the path, or where Go installs programs.
func versitygw() (string, error) {
	const name = "versitygw"
	if at, err := exec.LookPath(name); err == nil {
		return at, nil
	}
	for _, of := range []string{"GOBIN", "GOPATH"} {
		out, err := exec.Command("go", "env", of).Output()
		dir := strings.TrimSpace(string(out))
		if err != nil || dir == "" {
			continue
		}
		if of == "GOPATH" {
			dir = filepath.Join(filepath.SplitList(dir)[0], "bin")
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name), nil
		}
	}
	return "", errors.New("find versitygw: it is neither on the path nor where Go installs programs: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0")
}
