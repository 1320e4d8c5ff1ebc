//go:build unix

package seeds_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/server"
)

// This seed is the snapshots of TroveFiles: a namespace is captured with one call and
// rolled back with one call, and a signed webhook tells of both. Its page shows a Python
// client. testdata has that client, written from the page, and the story that the page tells.

// troveKnown are the checks of the story that do not hold here. The script fails when one of
// them holds again, so that the list only becomes shorter.
var troveKnown = []string{
	// No key both adds to the history and deletes from it; an admin key deletes.
	"the key that takes snapshots deletes them",
	// A deletion can be canceled for a week, and until then the snapshot is there.
	"a deleted snapshot is not listed",
}

// hosted is a server on a disk of its own, with a namespace for a customer.
type hosted struct {
	*testing.T
	data string
	url  string
	srv  *server.Server
	keys map[retake.KeyKind]string // of the customer
	ns   retake.Namespace
	main retake.NewNamespace // a neighbor
}

const customer retake.NamespaceID = "customer-acme"

// newHosted starts a server as retake serve does.
func newHosted(t *testing.T, change func(*server.Options)) *hosted {
	t.Helper()
	data, err := os.MkdirTemp("", "rt") // the path of a socket has about a hundred bytes
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(data) })
	env, err := config.Read()
	must(t, err)
	o := server.Options{
		DataDir: data, ListenAddress: "127.0.0.1:0", Version: "test", Clock: clock.Wall, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Floor: func(int64) int64 { return 0 }, Boot: "this run", SearchPath: env.SearchPath(),
	}
	if change != nil {
		change(&o)
	}
	h := &hosted{T: t, data: data, keys: map[retake.KeyKind]string{}}
	ctx, cancel := context.WithCancel(context.Background())
	h.srv, err = server.Open(ctx, o)
	must(t, err)
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- h.srv.Serve(ctx, func() error { return h.begin(ctx) }, func(at string) { ready <- at })
	}()
	select {
	case at := <-ready:
		h.url = "http://" + at
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, h.srv.Close()); err != nil {
			t.Error(err)
		}
	})
	return h
}

// begin creates the namespaces before the first request.
func (h *hosted) begin(ctx context.Context) error {
	begun, err := h.srv.Bootstrap(ctx, "")
	if err != nil {
		return err
	}
	h.main = *begun
	made, err := h.srv.AddNamespace(ctx, retake.Namespace{ID: customer, Limits: retake.DefaultLimits()}, "")
	if err != nil {
		return err
	}
	h.ns = made.Namespace
	for _, k := range made.Keys {
		h.keys[k.Key.Kind] = k.Secret
	}
	return nil
}

func (h *hosted) client(kind retake.KeyKind) *client.Client {
	return client.New(client.Options{URL: h.url, Key: h.keys[kind], Retries: -1})
}

// dir is where the server has the files of a workspace of the customer.
func (h *hosted) dir(name string) string {
	return filepath.Join(h.data, "ns", string(customer), "files", name)
}

// entries are what is below a directory, without our mark: directories, links, and files with
// their content and whether they can be run.
func entries(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if rel == ".retake" || rel == ".git" {
			return fs.SkipDir
		}
		info, err := d.Info()
		switch {
		case err != nil:
		case d.IsDir():
			out[rel] = "directory"
		case d.Type()&fs.ModeSymlink != 0:
			out[rel], err = os.Readlink(path)
		default:
			var b []byte
			b, err = os.ReadFile(path)
			out[rel] = fmt.Sprintf("%t %s", info.Mode()&0o100 != 0, b)
		}
		return err
	}))
	return out
}

// archived are the entries of a checkpoint, as its archive has them.
func (h *hosted) archived(ws retake.WorkspaceID, ref string) map[string]string {
	h.Helper()
	src, err := h.client(retake.KeyReader).Archive(h.Context(), ws, ref)
	must(h.T, err)
	defer src.Close()
	out := map[string]string{}
	for r := tar.NewReader(src); ; {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		must(h.T, err)
		name := strings.TrimSuffix(strings.TrimPrefix(e.Name, "./"), "/")
		switch b, err := io.ReadAll(r); {
		case err != nil:
			h.Fatal(err)
		case name == "" || name == "." || strings.HasPrefix(name, ".retake"):
		case e.Typeflag == tar.TypeDir:
			out[name] = "directory"
		case e.Typeflag == tar.TypeSymlink:
			out[name] = e.Linkname
		default:
			out[name] = fmt.Sprintf("%t %s", e.FileInfo().Mode()&0o100 != 0, b)
		}
	}
}

// customerFiles are the files that the agent of the story works on.
func customerFiles(t *testing.T, outside string) string {
	t.Helper()
	top := t.TempDir()
	for name, text := range map[string]string{
		"config.json": `{"quarter":1}`, "memory/notes.md": "acme pays yearly\n", "reports/q1.md": "# Q1\n", "reports/q2.md": "# Q2\n", "empty": "",
		"reports/raw/2026/ledger.csv": strings.Repeat("2026-04-30,acme,4812393\n", 20_000), "reports/Größe.md": "größer\n", "run.sh": "#!/bin/sh\n", "a b/c+d%2F&e.txt": "odd\n",
	} {
		path := filepath.Join(top, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	must(t, os.Chmod(filepath.Join(top, "run.sh"), 0o755))
	must(t, os.Mkdir(filepath.Join(top, "inbox"), 0o755))
	must(t, os.Symlink(outside, filepath.Join(top, "exit")))
	return top
}

// troveStory is one run of the script.
type troveStory struct {
	*hosted
	files   string // what the workspace must have in the end
	outside string // where nothing may arrive
}

func newTroveStory(t *testing.T) *troveStory {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 to run the client of the page with")
	}
	s := &troveStory{hosted: newHosted(t, func(o *server.Options) { o.AllowInsecureWebhooks = true }), outside: t.TempDir()}
	s.files = customerFiles(t, s.outside)
	must(t, os.Symlink(s.outside, filepath.Join(s.dir("default"), "exit"))) // the agent has a shell, too
	return s
}

// play runs the script and returns what it printed.
func (s *troveStory) play(flags ...string) (string, error) {
	s.Helper()
	neighbor := client.New(client.Options{URL: s.url, Key: s.main.Keys[0].Secret, Retries: -1})
	foreign, err := neighbor.Save(s.Context(), retake.SaveRequest{Workspace: s.main.Namespace.Default, Intent: "of the neighbor", Trigger: retake.TriggerManual})
	must(s.T, err)
	scene, err := json.Marshal(map[string]string{
		"url": s.url, "namespace": string(customer), "workspace": string(s.ns.Default), "files": s.files, "outside": s.outside, "foreign": string(foreign.Checkpoint.ID),
		"agent": s.keys[retake.KeyAgent], "admin": s.keys[retake.KeyAdmin], "operator": s.keys[retake.KeyOperator],
	})
	must(s.T, err)
	for _, name := range troveKnown {
		flags = append(flags, "--known", name)
	}
	cmd := exec.CommandContext(s.Context(), "python3", append([]string{"-B", filepath.Join("testdata", "trove_flow.py")}, flags...)...)
	cmd.Stdin = bytes.NewReader(scene)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestSeed002_TroveSnapshots(t *testing.T) {
	t.Parallel()
	s := newTroveStory(t)
	out, err := s.play()
	if t.Log(out); err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(strings.TrimSpace(out[strings.LastIndex(out, "\nsnapshot "):]), " ")
	want, disk := entries(t, s.files), entries(t, s.dir("default"))
	if !maps.Equal(disk, want) {
		t.Errorf("on disk are %v, want %v", keys(disk), keys(want))
	}
	if got := s.archived(s.ns.Default, id); !maps.Equal(got, want) {
		t.Errorf("the snapshot has %v, want %v", keys(got), keys(want))
	}
	if left := entries(t, s.outside); len(left) > 0 {
		t.Errorf("outside of the namespace: %v", keys(left))
	}
	must(t, filepath.WalkDir(s.data, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), "escaped") {
			t.Errorf("escaped within the server: %s", path)
		}
		if errors.Is(err, fs.ErrNotExist) { // the server goes on meanwhile
			return nil
		}
		return err
	}))
	s.audited()
}

// audited looks for the rollback in the audit log, which nobody can change unseen.
func (s *troveStory) audited() {
	s.Helper()
	admin := s.client(retake.KeyAdmin)
	all, err := admin.Audit(s.Context(), retake.AuditQuery{Limit: 1000})
	must(s.T, err)
	if !slices.ContainsFunc(all, func(e retake.AuditEntry) bool { return e.Verb == "restore" && e.Actor.Kind == retake.KeyAgent }) {
		s.Errorf("no restore of the agent in %+v", all)
	}
	if p, err := admin.CheckAudit(s.Context()); err != nil || p.Broken != 0 {
		s.Errorf("the audit log: %+v, %v", p, err)
	}
}

// A rollback that only says that it was done is noticed.
func TestSeed002_ControlRestoreDoesNothing(t *testing.T) {
	t.Parallel()
	s := newTroveStory(t)
	out, err := s.play("--restore-does-nothing")
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("the story ended with %v", err)
	}
	if lines := strings.Split(strings.TrimSpace(out), "\n"); !strings.HasPrefix(lines[len(lines)-1], "DIFFERS  after a restore the files are those of the snapshot: ") {
		t.Errorf("the story ended with:\n%s", out)
	}
	if maps.Equal(entries(t, s.dir("default")), entries(t, s.files)) {
		t.Error("the files went back by themselves")
	}
}
