//go:build linux

package main

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
)

// live does everything once, well and badly.
func (l *lifetime) live() error {
	d, err := l.h.describe(l.m.keys[retake.KeyReader])
	if err != nil {
		return err
	}
	for _, op := range d.ops {
		if err := l.m.provide(op.id); err != nil {
			return fmt.Errorf("%s: %w", op.id, err)
		}
		for _, kind := range retake.KeyKinds {
			q := l.m.request(op)
			q.key = l.m.keys[kind]
			l.h.ask(q)
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
	for i, q := range []asked{
		{method: http.MethodPost, path: "/v1/keys", body: []byte(`{"kind":"agent","name":"asked twice"}`)},
		{method: http.MethodPost, path: "/v1/webhooks", body: []byte(`{"url":"` + l.sink.url + `/twice"}`)},
		{method: http.MethodPost, path: "/v1/webhooks", body: []byte(`{"url":"` + l.sink.url + `/pair","scheme":"v1a"}`)},
		{method: http.MethodPost, path: "/v1/webhooks/" + l.m.names["hook"] + "/rotate", body: []byte(`{}`)},
	} {
		q.key, q.header = l.m.keys[retake.KeyAdmin], map[string]string{"Idempotency-Key": "twice-" + strconv.Itoa(i)}
		l.h.ask(q)
		l.h.ask(q)
	}
}

// strangers come with what is no key, and put keys where they do not belong.
func (l *lifetime) strangers() {
	stray, _, _ := token.New(retake.KeyAdmin)
	l.learn("key that nobody has", stray)
	word := fresh("bearer")
	l.learn("header of a stranger", word)
	agent := l.m.keys[retake.KeyAgent]
	for _, q := range []asked{
		{key: stray, method: http.MethodGet, path: "/v1/keys"},
		{key: word, method: http.MethodGet, path: "/v1/keys"},
		{method: http.MethodGet, path: "/v1/keys", header: map[string]string{"Authorization": "Basic " + word, "Cookie": "session=" + word, "Proxy-Authorization": word}},
		{key: agent, method: http.MethodPost, path: "/v1/snapshots", body: []byte(`{"label":`), header: map[string]string{"X-Api-Key": word, "Idempotency-Key": "half"}},
		{key: l.m.keys[retake.KeyOperator], method: http.MethodPut, path: "/v1/workspaces/" + string(l.m.home) + "/backup", body: []byte(`{"url":"https://user:` + l.deploy + `@git.example.com/a/b.git"}`)},
		{key: agent, method: http.MethodGet, path: "/v1/workspaces/" + string(l.m.home) + "/file?ref=latest&path=.env"},
		{key: agent, method: http.MethodGet, path: "/v1/workspaces/" + string(l.m.home) + "/story?from=1&to=latest"},
		{key: agent, method: http.MethodGet, path: "/v1/workspaces/" + string(l.m.home) + "/archive-of-nothing?key=" + url.QueryEscape(word)},
		{key: agent, method: http.MethodGet, path: "/" + word},
		{key: agent, method: "BREW", path: "/v1/about"},
	} {
		l.h.ask(q)
		if strings.Contains(q.path, word) || strings.Contains(string(q.body), l.deploy) {
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
		c, err := net.Dial("tcp", strings.TrimPrefix(l.h.url, "http://"))
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
func (l *lifetime) noise(d *description) error {
	c, err := newDice(22, d)
	if err != nil {
		return err
	}
	c.name = l.m.pool(c.Rand)
	for range 300 {
		op := d.ops[c.IntN(len(d.ops))]
		if slices.Contains([]string{"revoke-key", "set-limits", "deinit"}, op.id) {
			continue
		}
		q := c.request(op)
		q.key = l.m.keys[retake.KeyKinds[c.IntN(len(retake.KeyKinds))]]
		l.h.ask(q)
	}
	if !l.h.settled() {
		return errors.New("the server does not come to rest")
	}
	return nil
}

func (l *lifetime) scrape() error {
	for _, path := range []string{"/metrics", "/readyz?verbose", "/livez"} {
		a := askAt("http://"+l.metrics, asked{method: http.MethodGet, path: path})
		if !a.good() {
			return fmt.Errorf("%s: %s", path, a.say())
		}
		l.keep("metrics "+path, a.body)
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
	all, err := l.h.rows.dump(l.m.ns)
	for table, rows := range all {
		l.keep("rows of "+table, []byte(strings.Join(rows, "\n")))
	}
	return err
}

// lastWords ends the server as a person does who wants to know what it does.
func (l *lifetime) lastWords() error {
	if err := errors.Join(l.h.rows.close(), l.proc.cmd.Process.Signal(syscall.SIGQUIT)); err != nil {
		return err
	}
	select {
	case <-l.proc.ended:
	case <-time.After(patience):
		return errors.Join(errors.New("the server does not end"), l.proc.cmd.Process.Kill())
	}
	return nil
}

// stranded are servers that cannot begin: what they say must not hold what they were given.
func (l *lifetime) stranded(r *run, exe string) error {
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
		dir := r.scratch("stranded")
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
