package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// bed is a server with what stands around it: a proxy in front, and a desk at which
// runners ask for faults and for what happened.
type bed struct {
	program string
	dir     string
	listen  string
	url     string
	desk    string
	proxy   *proxy
	inbox   *inbox
	keys    map[string]string // secrets by kind

	mu  sync.Mutex
	cmd *exec.Cmd     // guarded by mu
	log *bytes.Buffer // of the server, guarded by mu
}

const ready = 60 * time.Second

func newBed(program, dir string) (*bed, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &bed{program: program, dir: dir, listen: l.Addr().String(), keys: map[string]string{}, log: &bytes.Buffer{}}
	b.url = "http://" + b.listen
	if err := l.Close(); err != nil { // the server takes the address again after it was killed
		return nil, err
	}
	if err := b.start(true); err != nil {
		return nil, err
	}
	if b.proxy, err = newProxy(b.url); err != nil {
		return nil, err
	}
	return b, b.openDesk()
}

// start runs the server; the first time it tells its keys.
func (b *bed) start(first bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	cmd := exec.Command(b.program, "serve", "--data", filepath.Join(b.dir, "data"), "--listen", b.listen, "--lenient-webhooks", "--json")
	cmd.Stderr = b.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	b.cmd = cmd
	var told struct {
		Begun struct {
			Keys []struct {
				Key    struct{ Kind string }
				Secret string
			}
		}
	}
	if err := json.NewDecoder(out).Decode(&told); err != nil {
		return fmt.Errorf("read what the server says: %w: %s", err, b.log)
	}
	if first {
		for _, k := range told.Begun.Keys {
			b.keys[k.Key.Kind] = k.Secret
		}
	}
	return b.wait()
}

func (b *bed) wait() error {
	for end := time.Now().Add(ready); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		r, err := http.Get(b.url + "/readyz")
		if err != nil {
			continue
		}
		_ = r.Body.Close() // only read
		if r.StatusCode == http.StatusOK {
			return nil
		}
	}
	return errors.New("the server did not get ready")
}

// kill ends the server as a power cut does.
func (b *bed) kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.cmd.Process.Kill() // it may be gone
	_ = b.cmd.Wait()         // killed
}

// restart kills the server, and brings it back while the runner goes on.
func (b *bed) restart() {
	b.kill()
	go func() {
		if err := b.start(false); err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			fmt.Fprintln(b.log, "not started again:", err)
		}
	}()
}

func (b *bed) close() {
	b.kill()
	b.proxy.close()
}

// said is the end of what the server wrote.
func (b *bed) said() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.log.String()
	return text[max(0, len(text)-4000):]
}
