package script_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/retake-dev/retake/internal/platform/webhook"
)

// serve DIR starts a server on a free port until the page ends, and puts its address into
// RETAKE_SERVER and the keys of its first namespace into AGENT, READER, OPERATOR, ADMIN and
// MAINTAINER.
func startServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("use: serve DIR")
	}
	cmd := exec.Command(program, "serve", "--data", ts.MkAbs(args[0]), "--listen", "127.0.0.1:0", "--lenient-webhooks", "--json")
	for _, name := range []string{"RETAKE_HOME", "HOME", "PATH", "TZ", "LANG"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			ts.Fatalf("the server ends with %v: %s", err, log.String())
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		ts.Fatalf("the server says nothing: %v", err)
	}
	var said struct {
		Address string
		Begun   struct {
			Keys []struct {
				Key    struct{ Kind string }
				Secret string
			}
		}
	}
	ts.Check(json.Unmarshal(line, &said))
	ts.Setenv("RETAKE_SERVER", said.Address)
	for _, k := range said.Begun.Keys {
		ts.Setenv(strings.ToUpper(k.Key.Kind), k.Secret)
	}
}

// message is what a receiver got.
type message struct {
	Header http.Header
	Body   string
}

// receiver NAME FILE CODE listens until the page ends: NAME becomes its address, FILE gets a
// line of JSON for each message, and CODE is what it answers.
func startReceiver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("use: receiver NAME FILE CODE")
	}
	code, err := strconv.Atoi(args[2])
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			err = json.NewEncoder(f).Encode(message{r.Header, string(body)})
		}
		if err != nil {
			code = http.StatusInternalServerError
		}
		w.WriteHeader(code)
	}))
	ts.Defer(func() {
		s.Close()
		ts.Check(f.Close())
	})
	ts.Setenv(args[0], s.URL)
}

// until FILE PATTERN waits until a line of the file matches.
func waitUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("use: until FILE PATTERN")
	}
	want, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	for end := time.Now().Add(goneWait); ; <-time.After(20 * time.Millisecond) {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && want.Match(data) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%s never comes; there is %s", args[1], data)
		}
	}
}

// verified FILE SECRET wants messages, all signed with this secret.
func checkSigned(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("use: verified FILE SECRET")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	for _, line := range lines {
		var m message
		ts.Check(json.Unmarshal([]byte(line), &m))
		if err := webhook.Verify(args[1], m.Header, []byte(m.Body), time.Now()); (err == nil) == neg {
			ts.Fatalf("%s: %v", m.Body, err)
		}
	}
}
