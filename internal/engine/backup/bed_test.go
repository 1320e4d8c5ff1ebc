package backup_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// needGit skips where there is no git: plain tests need nothing installed.
func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
}

// item is one path of a tree.
type item struct {
	data string
	exec bool
	kind retake.Kind // "" is a file
}

// fakeHistory is a history in memory.
type fakeHistory struct {
	*memorytest.Store
	t           *testing.T
	ws          retake.Workspace
	checkpoints []backup.Checkpoint
	lost        map[retake.ObjectID]bool // directories that were swept
}

func newFakeHistory(t *testing.T) *fakeHistory {
	t.Helper()
	ws := retake.Workspace{ID: retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString()), Name: "My shop"}
	return &fakeHistory{Store: memorytest.New(), t: t, ws: ws, lost: map[retake.ObjectID]bool{}}
}

func (b *fakeHistory) Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error) {
	if b.lost[id] {
		return nil, store.ErrNotFound
	}
	return b.Store.Dir(ctx, id)
}

func (b *fakeHistory) After(ctx context.Context, n int64, f func(backup.Checkpoint) error) error {
	for _, m := range b.checkpoints {
		if m.Checkpoint.Number <= n {
			continue
		}
		if err := f(m); err != nil {
			return err
		}
	}
	return nil
}

func (b *fakeHistory) Known(_ context.Context, n int64) (retake.CheckpointID, error) {
	for _, m := range b.checkpoints {
		if m.Checkpoint.Number == n {
			return m.Checkpoint.ID, nil
		}
	}
	return "", nil
}

// save adds a checkpoint with these files.
func (b *fakeHistory) save(intent string, files map[string]item) backup.Checkpoint {
	b.t.Helper()
	w, err := b.Begin(b.t.Context(), b.ws)
	if err != nil {
		b.t.Fatal(err)
	}
	defer w.Close()
	n := int64(len(b.checkpoints) + 1)
	m := backup.Checkpoint{Checkpoint: retake.Checkpoint{
		ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: b.ws.ID, Number: n, Intent: intent,
		Time: time.Date(2026, 1, 2, 3, 4, int(n), 0, time.UTC), Trigger: retake.TriggerManual, Tree: b.tree(w, files).Object,
		Coverage: retake.Coverage{Grade: retake.Complete},
	}}
	b.checkpoints = append(b.checkpoints, m)
	return m
}

func (b *fakeHistory) tree(w store.Writer, files map[string]item) retake.Entry {
	b.t.Helper()
	below := map[string]map[string]item{}
	var entries []retake.Entry
	for path, it := range files {
		if dir, rest, ok := strings.Cut(path, "/"); ok {
			if below[dir] == nil {
				below[dir] = map[string]item{}
			}
			below[dir][rest] = it
			continue
		}
		entries = append(entries, b.entry(w, path, it))
	}
	for name, sub := range below {
		e := b.tree(w, sub)
		e.Name = name
		entries = append(entries, e)
	}
	id, sum, err := w.WriteDir(b.t.Context(), entries, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return retake.Entry{Kind: retake.KindDir, Mode: 0o755, Object: id, Sum: sum}
}

func (b *fakeHistory) entry(w store.Writer, name string, it item) retake.Entry {
	b.t.Helper()
	e := retake.Entry{Name: name, Kind: it.kind, Mode: 0o644}
	if it.exec {
		e.Mode = 0o755
	}
	if e.Kind == "" {
		e.Kind = retake.KindFile
	}
	if e.Kind == retake.KindFile || e.Kind == retake.KindSymlink {
		id, n, err := w.WriteFile(b.t.Context(), name, strings.NewReader(it.data))
		if err != nil {
			b.t.Fatal(err)
		}
		e.Object, e.Size = id, n
	}
	return e
}

// backupTest is a worker with a directory for a remote.
type backupTest struct {
	t       *testing.T
	w       *backup.Worker
	dir     string // the worker's
	remote  string
	clock   *clock.Manual
	history *fakeHistory
}

func newBackupTest(t *testing.T) *backupTest {
	t.Helper()
	needGit(t)
	b := &backupTest{t: t, dir: filepath.Join(t.TempDir(), "backup"), remote: filepath.Join(t.TempDir(), "remote.git"), history: newFakeHistory(t)}
	b.clock = clock.NewManual(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	b.git("init", "--bare", "-q", b.remote)
	b.w = b.worker(backup.Options{})
	if _, err := b.w.Set(t.Context(), b.history.ws, retake.BackupRequest{URL: b.remote}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *backupTest) worker(o backup.Options) *backup.Worker {
	o.Dir, o.AllowPaths, o.Clock = b.dir, true, b.clock
	if o.Path == "" {
		o.Path = os.Getenv("PATH")
	}
	return backup.New(o)
}

// git runs git without the configuration of this machine.
func (b *backupTest) git(args ...string) string {
	b.t.Helper()
	return gitIn(b.t, filepath.Dir(b.remote), args...)
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x"}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, errs.String())
	}
	return string(out)
}

// remoteGit runs git on the remote.
func (b *backupTest) remoteGit(args ...string) string {
	b.t.Helper()
	return b.git(append([]string{"--git-dir", b.remote}, args...)...)
}

func (b *backupTest) ref() string { return "refs/heads/" + backup.BranchName(b.history.ws) }

// runBackup does a backup that must succeed.
func (b *backupTest) runBackup() retake.Backup {
	b.t.Helper()
	got, err := b.w.Run(b.t.Context(), b.history.ws.ID, b.history)
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

// files are what a commit of the remote holds.
func (b *backupTest) files(commit string) map[string]item {
	b.t.Helper()
	out, ids := map[string]item{}, map[string]string{}
	var ask strings.Builder
	for line := range strings.SplitSeq(b.remoteGit("ls-tree", "-r", "-z", commit), "\x00") {
		if line == "" {
			continue
		}
		meta, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		it := item{exec: f[0] == "100755"}
		if f[0] == "120000" {
			it.kind = retake.KindSymlink
		}
		if !slices.Contains([]string{"100644", "100755", "120000"}, f[0]) {
			b.t.Fatalf("mode %s of %q", f[0], path)
		}
		out[path], ids[path] = it, f[2]
		fmt.Fprintln(&ask, f[2])
	}
	blobs := blobsOf(b.t, b.remote, ask.String())
	for path, it := range out {
		it.data = blobs[ids[path]]
		out[path] = it
	}
	return out
}

// blobsOf reads objects in one go.
func blobsOf(t *testing.T, dir, ask string) map[string]string {
	t.Helper()
	cmd := exec.Command("git", "--git-dir", dir, "cat-file", "--batch")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	cmd.Stdin = strings.NewReader(ask)
	answer, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for len(answer) > 0 {
		var id, kind string
		var size int
		head, rest, _ := bytes.Cut(answer, []byte("\n"))
		if _, err := fmt.Sscan(string(head), &id, &kind, &size); err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		out[id], answer = string(rest[:size]), rest[size+1:]
	}
	return out
}

func (b *backupTest) wantFiles(commit string, want map[string]item) {
	b.t.Helper()
	if diff := diffItems(b.files(commit), want); diff != "" {
		b.t.Error(diff)
	}
}

// diffItems names the paths in which two trees differ.
func diffItems(got, want map[string]item) string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[path]; !ok {
			out = append(out, fmt.Sprintf("%q is missing", path))
		} else if g != want[path] {
			out = append(out, fmt.Sprintf("%q is %.60q %v %s, not %.60q", path, g.data, g.exec, g.kind, want[path].data))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[path]; !ok {
			out = append(out, fmt.Sprintf("%q is there", path))
		}
	}
	return strings.Join(out, "; ")
}

// readAllObjects are the bytes of everything that a repository holds, reachable or not.
func readAllObjects(t *testing.T, dir string) []byte {
	t.Helper()
	cmd := exec.Command("git", "--git-dir", dir, "cat-file", "--batch-all-objects", "--batch", "--unordered")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(out)
	if werr := cmd.Wait(); err != nil || werr != nil {
		t.Fatal(err, werr)
	}
	return all
}

func file(s string) item { return item{data: s} }
