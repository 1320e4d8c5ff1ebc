//go:build linux

package g22

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/token"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// live does everything once, well and badly.
func (l *lifetime) live() error {
	d, err := l.h.Describe(l.m.Keys[retake.KeyReader])
	if err != nil {
		return err
	}
	for _, op := range d.Ops {
		if err := l.m.Provide(op.ID); err != nil {
			return fmt.Errorf("%s: %w", op.ID, err)
		}
		for _, kind := range retake.KeyKinds {
			q := l.m.Request(op)
			q.Key = l.m.Keys[kind]
			l.h.Ask(q)
		}
	}
	l.once()
	l.strangers()
	if err := l.noise(d); err != nil {
		return err
	}
	if err := l.scrape(); err != nil {
		return err
	}
	l.family()
	return errors.Join(l.pairs(), l.tables(), l.lastWords())
}

// once asks for secrets in requests that may be repeated.
func (l *lifetime) once() {
	for i, q := range []serverbed.Asked{
		{Method: http.MethodPost, Path: "/v1/keys", Body: []byte(`{"kind":"agent","name":"asked twice"}`)},
		{Method: http.MethodPost, Path: "/v1/webhooks", Body: []byte(`{"url":"` + l.sink.URL + `/twice"}`)},
		{Method: http.MethodPost, Path: "/v1/webhooks", Body: []byte(`{"url":"` + l.sink.URL + `/pair","scheme":"v1a"}`)},
		{Method: http.MethodPost, Path: "/v1/webhooks/" + l.m.Names["hook"] + "/rotate", Body: []byte(`{}`)},
	} {
		q.Key, q.Header = l.m.Keys[retake.KeyAdmin], map[string]string{"Idempotency-Key": "twice-" + strconv.Itoa(i)}
		l.h.Ask(q)
		l.h.Ask(q)
	}
}

// strangers come with what is no key, and put keys where they do not belong.
func (l *lifetime) strangers() {
	stray, _, _ := token.New(retake.KeyAdmin)
	l.learn("key that nobody has", stray)
	word := fresh("bearer")
	l.learn("header of a stranger", word)
	agent := l.m.Keys[retake.KeyAgent]
	for _, q := range []serverbed.Asked{
		{Key: stray, Method: http.MethodGet, Path: "/v1/keys"},
		{Key: word, Method: http.MethodGet, Path: "/v1/keys"},
		{Method: http.MethodGet, Path: "/v1/keys", Header: map[string]string{"Authorization": "Basic " + word, "Cookie": "session=" + word, "Proxy-Authorization": word}},
		{Key: agent, Method: http.MethodPost, Path: "/v1/snapshots", Body: []byte(`{"label":`), Header: map[string]string{"X-Api-Key": word, "Idempotency-Key": "half"}},
		{Key: l.m.Keys[retake.KeyOperator], Method: http.MethodPut, Path: "/v1/workspaces/" + string(l.m.Home) + "/backup", Body: []byte(`{"url":"https://user:` + l.deploy + `@git.example.com/a/b.git"}`)},
		{Key: agent, Method: http.MethodGet, Path: "/v1/workspaces/" + string(l.m.Home) + "/file?ref=latest&path=.env"},
		{Key: agent, Method: http.MethodGet, Path: "/v1/workspaces/" + string(l.m.Home) + "/story?from=1&to=latest"},
		{Key: agent, Method: http.MethodGet, Path: "/v1/workspaces/" + string(l.m.Home) + "/archive-of-nothing?key=" + url.QueryEscape(word)},
		{Key: agent, Method: http.MethodGet, Path: "/" + word},
		{Key: agent, Method: "BREW", Path: "/v1/about"},
	} {
		l.h.Ask(q)
		if strings.Contains(q.Path, word) || strings.Contains(string(q.Body), l.deploy) {
			l.unsay()
		}
	}
	l.garbage(word)
}

// unsay drops the newest answer: who said the secret may hear it again.
func (l *lifetime) unsay() {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.things, fmt.Sprintf("answer %d", l.count))
	delete(l.things, fmt.Sprintf("own content answer %d", l.count))
}

// garbage is what is not HTTP, on the port for HTTP.
func (l *lifetime) garbage(word string) {
	for _, text := range []string{"GET /v1/keys HTTP/1.1\r\nAuthorization: Bearer " + word + "\r\nHost: a\r\nContent-Length: x\r\n\r\n", "\x16\x03\x01" + word + "\r\n\r\n", word + "\r\n\r\n"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(l.h.URL, "http://"))
		if err != nil {
			continue
		}
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = io.WriteString(c, text) // it may be cut off
		b, _ := io.ReadAll(c)
		l.keep("answer to garbage "+strconv.Itoa(len(text)), b)
		_ = c.Close()
	}
}

// noise is random requests of all keys.
func (l *lifetime) noise(d *serverbed.Description) error {
	c, err := serverbed.NewDice(22, d)
	if err != nil {
		return err
	}
	c.Name = l.m.Pool(c.Rand)
	for range 300 {
		op := d.Ops[c.IntN(len(d.Ops))]
		if slices.Contains([]string{"revoke-key", "set-limits", "deinit"}, op.ID) {
			continue
		}
		q := c.Request(op)
		q.Key = l.m.Keys[retake.KeyKinds[c.IntN(len(retake.KeyKinds))]]
		l.h.Ask(q)
	}
	if !l.h.Settled() {
		return errors.New("the server does not come to rest")
	}
	return nil
}

func (l *lifetime) scrape() error {
	for _, path := range []string{"/metrics", "/readyz?verbose", "/livez"} {
		a := serverbed.AskAt("http://"+l.metrics, serverbed.Asked{Method: http.MethodGet, Path: path})
		if !a.Good() {
			return fmt.Errorf("%s: %s", path, a.Say())
		}
		l.keep("metrics "+path, a.Body)
	}
	return nil
}

// family looks at the processes: the command line of the server, and all of its children.
func (l *lifetime) family() {
	pid := l.proc.cmd.Process.Pid
	read := func(pid int, what string) {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, what)); err == nil {
			l.keep(fmt.Sprintf("%s of process %d", what, pid), b)
		}
	}
	read(pid, "cmdline")
	kids, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, t := range tasks {
		b, _ := os.ReadFile(t)
		kids = append(append(kids, ' '), b...)
	}
	for _, f := range strings.Fields(string(kids)) {
		if kid, err := strconv.Atoi(f); err == nil {
			l.children++
			read(kid, "cmdline")
			read(kid, "environ")
		}
	}
}

// tables reads all rows, wherever they are.
func (l *lifetime) tables() error {
	all, err := l.h.Rows.Dump(l.m.Ns)
	for table, rows := range all {
		l.keep("rows of "+table, []byte(strings.Join(rows, "\n")))
	}
	return err
}

// lastWords ends the server as a person does who wants to know what it does.
func (l *lifetime) lastWords() error {
	if err := errors.Join(l.h.Rows.Close(), l.proc.cmd.Process.Signal(syscall.SIGQUIT)); err != nil {
		return err
	}
	select {
	case <-l.proc.ended:
	case <-time.After(harness.Patience):
		return errors.Join(errors.New("the server does not end"), l.proc.cmd.Process.Kill())
	}
	return nil
}

// stranded are servers that cannot begin: what they say must not hold what they were given.
func (l *lifetime) stranded(r *harness.Run, exe string) error {
	secret := fresh("pw")
	l.learn("password in an address", secret)
	var wg sync.WaitGroup
	var begins atomic.Pointer[string]
	for i, env := range [][]string{
		{"RETAKE_POSTGRES=postgres://u:" + secret + "@127.0.0.1:1/db"},
		{"RETAKE_POSTGRES=postgres://u:" + secret + "@127.0.0.1:x/db"},
		{"RETAKE_POSTGRES=host=127.0.0.1 port=1 user=u password=" + secret + " dbname=d connect_timeout=1"},
		{"RETAKE_S3=https://key:" + secret + "@127.0.0.1:1/bucket"},
		{"RETAKE_S3=http://127.0.0.1:1/bucket", "RETAKE_S3_ACCESS_KEY=a", "RETAKE_S3_SECRET_KEY=" + secret},
		{"RETAKE_KEK=" + secret},
	} {
		dir := r.Scratch("stranded")
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, exe, "serve", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0", "--verbose")
			cmd.Dir, cmd.Env = dir, append([]string{"PATH=/usr/bin:/bin", "HOME=" + dir, "RETAKE_HOME=" + dir}, env...)
			out, err := cmd.CombinedOutput()
			if err == nil {
				begins.Store(&env[0])
			}
			l.keep(fmt.Sprintf("words of a server that cannot begin %d", i), out)
		})
	}
	wg.Wait()
	if at := begins.Load(); at != nil {
		return fmt.Errorf("a server begins that must not: %s", *at)
	}
	return nil
}

// unzipped is a body that may be packed.
func unzipped(b []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return b
	}
	out, err := io.ReadAll(z)
	if err != nil {
		return b
	}
	return out
}
