package server_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/server"
)

func makeTar(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for name, text := range files {
		must(t, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}))
		_, err := io.WriteString(w, text)
		must(t, err)
	}
	must(t, w.Close())
	return out.Bytes()
}

// An import does not use the space below the disk's floor.
func TestT2_ImportKeepsTheFloor(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	b := newTestServer(t, "", func(o *server.Options) {
		o.Floor = func(total int64) int64 {
			if full.Load() {
				return total
			}
			return 0
		}
	})
	full.Store(true)
	_, err := b.clientAs(retake.KeyOperator).Import(t.Context(), retake.ImportRequest{Name: "over"}, bytes.NewReader(makeTar(t, map[string]string{"a": "a"})))
	if !retake.IsKind(err, retake.Limit) || !strings.Contains(err.Error(), "the archive is refused") {
		t.Errorf("imported onto a full disk: %v", err)
	}
}

// A namespace runs one import at a time: another one waits.
func TestT2_OneImportAtATime(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	operator, text := b.clientAs(retake.KeyOperator), makeTar(t, map[string]string{"a": strings.Repeat("a", 1<<20)})
	body, feed := io.Pipe()
	first := make(chan error, 1)
	go func() {
		_, err := operator.Import(t.Context(), retake.ImportRequest{Name: "first"}, body)
		first <- err
	}()
	_, err := feed.Write(text[:len(text)/2]) // it is being read: the first import has started
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := operator.Import(ctx, retake.ImportRequest{Name: "second"}, bytes.NewReader(text)); err == nil {
		t.Error("a second import did not wait for the first")
	}
	_, err = feed.Write(text[len(text)/2:])
	must(t, errors.Join(err, feed.Close(), <-first))
	_, err = operator.Import(t.Context(), retake.ImportRequest{Name: "third"}, bytes.NewReader(text))
	must(t, err)
}

// An import reports what it leaves out, and captures the rest.
func TestT3_ImportTellsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	res, err := b.clientAs(retake.KeyOperator).Import(t.Context(), retake.ImportRequest{Name: "other"}, bytes.NewReader(makeTar(t, map[string]string{
		".retake/keep.txt": "keep", ".retake/id": string(b.initial.Namespace.Default) + "\n",
	})))
	must(t, err)
	if len(res.Warnings) != 1 || res.Warnings[0].Code != "skipped" || !strings.Contains(res.Warnings[0].Text, ".retake/id") {
		t.Errorf("warnings: %+v", res.Warnings)
	}
	r, _, err := b.clientAs(retake.KeyReader).Open(t.Context(), res.Workspace.ID, "latest", ".retake/keep.txt")
	must(t, err)
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "keep" {
		t.Errorf("it holds %q, %v", got, err)
	}
}

// A virtual environment of Python has links to the interpreter of the machine. It leaves as an
// archive and comes back the same.
func TestS5_VirtualEnvironmentsComeBack(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	ctx, ws := t.Context(), b.initial.Namespace.Default
	venv := filepath.Join(b.data, "ns", "main", "files", "default", "venv")
	must(t, os.MkdirAll(filepath.Join(venv, "bin"), 0o755))
	must(t, os.Mkdir(filepath.Join(venv, "lib"), 0o755))
	must(t, os.WriteFile(filepath.Join(venv, "pyvenv.cfg"), []byte("home = /usr/bin\n"), 0o644))
	links := map[string]string{"bin/python3": "/usr/bin/python3", "bin/python": "python3", "lib64": "lib", "bin/up": "../../../outside"}
	for name, to := range links {
		must(t, os.Symlink(to, filepath.Join(venv, name)))
	}
	b.saveCheckpoint("with an environment")
	c := b.clientAs(retake.KeyOperator)
	out, err := c.Archive(ctx, ws, "latest")
	must(t, err)
	res, err := c.Import(ctx, retake.ImportRequest{Name: "again"}, out)
	must(t, errors.Join(err, out.Close()))
	for name, to := range links {
		if got, err := os.Readlink(filepath.Join(b.data, "ns", "main", "files", "again", "venv", name)); err != nil || got != to {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if i := slices.IndexFunc(res.Warnings, func(w retake.Warning) bool { return w.Code == "links" }); i < 0 || !strings.HasPrefix(res.Warnings[i].Text, "2 of the archive") {
		t.Errorf("warnings %+v", res.Warnings)
	}
}
