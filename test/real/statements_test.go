//go:build postgres

package real_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/server"
	"github.com/retake-dev/retake/test/real"
)

// What one save costs the database, from its request until its webhook has the message, and
// what a server asks while nobody does anything. PostgreSQL itself counts, in its log.
const (
	countedSaves        = 10 // one after the other; what is done in the pause after them counts for all
	maxSaveTransactions = 30 // 27 as measured, 62 before the queue was announced
	maxSaveStatements   = 115
	maxRestPerSecond    = 1.0
)

func TestStatementsOfASave(t *testing.T) {
	pg := real.StartPostgres(t, real.Careless, "log_statement=all", "log_line_prefix='%p '")
	bed := startCountedServer(t, pg.Database(t))
	for _, intent := range []string{"first", "second"} { // keys, plans of statements and files are known afterwards
		bed.save(t, intent)
	}
	bed.waitUntilQuiet(t, pg.LogPath())
	before := readStatements(t, pg.LogPath())
	for i := range countedSaves {
		bed.save(t, fmt.Sprintf("counted %d", i))
	}
	bed.waitUntilQuiet(t, pg.LogPath())
	all := readStatements(t, pg.LogPath())[len(before):]
	for _, s := range all {
		t.Log(s.process, s.text)
	}
	transactions := float64(countTransactions(all)) / countedSaves
	statements := float64(len(all)) / countedSaves
	t.Logf("one save of %d: %.1f transactions, %.1f statements", countedSaves, transactions, statements)
	if transactions > maxSaveTransactions || statements > maxSaveStatements {
		t.Errorf("one save took %.1f transactions and %.1f statements, more than %d and %d", transactions, statements, maxSaveTransactions, maxSaveStatements)
	}
	if transactions == 0 {
		t.Error("nothing was counted")
	}
	bed.restsQuietly(t, pg.LogPath())
}

// restsQuietly counts what the server asks while nothing happens. A poll every second by each of
// its six queues would be more.
func (b *countedServer) restsQuietly(t *testing.T, log string) {
	t.Helper()
	const span = 20 * time.Second
	before := len(readStatements(t, log))
	time.Sleep(span) // what is measured is a time in which nothing happens
	n := len(readStatements(t, log)) - before
	rate := float64(n) / span.Seconds()
	t.Logf("at rest: %d statements in %v, %.2f a second", n, span, rate)
	if rate > maxRestPerSecond {
		t.Errorf("at rest the server sends %.2f statements a second, more than %.0f", rate, maxRestPerSecond)
	}
}

// countedServer is a server with one namespace, whose webhook waits for messages.
type countedServer struct {
	client    *client.Client
	dir       string
	workspace retake.WorkspaceID
	messages  chan string
}

func startCountedServer(t *testing.T, dsn string) *countedServer {
	t.Helper()
	dir, err := os.MkdirTemp("", "rt")
	ok(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b := &countedServer{messages: make(chan string, 100)}
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.messages <- string(body)
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(hook.Close)
	ctx, cancel := context.WithCancel(context.Background())
	srv, err := server.Open(ctx, server.Options{
		DataDir: dir, ListenAddress: "127.0.0.1:0", AllowInsecureWebhooks: true, Version: "test", Clock: clock.Wall, Postgres: dsn,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Floor: func(int64) int64 { return 0 }, Boot: "this run",
	})
	ok(t, err)
	ready, ended := make(chan string, 1), make(chan error, 1)
	var first *retake.NewNamespace
	go func() {
		ended <- srv.Serve(ctx, func() (err error) { first, err = srv.Bootstrap(ctx, hook.URL); return err }, func(at string) { ready <- at })
	}()
	stop := sync.OnceFunc(func() { cancel(); ok(t, <-ended); ok(t, srv.Close()) })
	t.Cleanup(stop)
	select {
	case at := <-ready:
		b.dir, b.workspace = filepath.Join(dir, "ns", "main", "files", "default"), first.Namespace.Default
		b.client = client.New(client.Options{URL: "http://" + at, Key: agentSecret(first), Retries: -1})
	case err := <-ended:
		t.Fatal(err)
	}
	return b
}

func agentSecret(n *retake.NewNamespace) string {
	for _, k := range n.Keys {
		if k.Key.Kind == retake.KeyAgent {
			return k.Secret
		}
	}
	return ""
}

// save takes a checkpoint of three new files and waits for its message.
func (b *countedServer) save(t *testing.T, intent string) {
	t.Helper()
	for _, name := range []string{"a.go", "b.go", "c.go"} {
		ok(t, os.WriteFile(filepath.Join(b.dir, name), []byte("package p // "+intent+name), 0o600))
	}
	_, err := b.client.Save(t.Context(), retake.SaveRequest{Workspace: b.workspace, Intent: intent, Trigger: retake.TriggerManual})
	ok(t, err)
	deadline := time.After(time.Minute)
	for {
		select {
		case m := <-b.messages:
			if strings.Contains(m, intent) {
				return
			}
		case <-deadline:
			t.Fatal("the message of the save did not come")
		}
	}
}

// waitUntilQuiet waits until what follows a save is done: nothing is written for three seconds.
func (b *countedServer) waitUntilQuiet(t *testing.T, log string) {
	t.Helper()
	wrote := func() int {
		n := 0
		for _, s := range readStatements(t, log) {
			if writes.MatchString(s.text) {
				n++
			}
		}
		return n
	}
	for last, since := wrote(), time.Now(); time.Since(since) < 3*time.Second; time.Sleep(100 * time.Millisecond) {
		if n := wrote(); n != last {
			last, since = n, time.Now()
		}
	}
}

type statement struct{ process, text string }

var (
	logged = regexp.MustCompile(`(?m)^(\d+) LOG:  (?:statement|execute [^:]*): (.*)$`)
	writes = regexp.MustCompile(`(?i)^(insert|update|delete)`)
)

// countTransactions counts what is begun, and every statement outside of that: it is one by itself.
func countTransactions(all []statement) int {
	n, open := 0, map[string]bool{}
	for _, s := range all {
		word, _, _ := strings.Cut(strings.ToLower(s.text), " ")
		switch {
		case word == "commit" || word == "rollback":
			open[s.process] = false
			continue
		case open[s.process]:
			continue
		}
		open[s.process] = word == "begin"
		n++
	}
	return n
}

// readStatements reads what PostgreSQL was asked, in order.
func readStatements(t *testing.T, log string) []statement {
	t.Helper()
	text, err := os.ReadFile(log)
	ok(t, err)
	var all []statement
	for _, m := range logged.FindAllStringSubmatch(string(text), -1) {
		all = append(all, statement{m[1], m[2]})
	}
	return all
}
