//go:build unix

package service_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/carry"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// backupFixture is a workspace whose checkpoints are backed up to a directory.
type backupFixture struct {
	*testing.T
	s      *service.Service
	st     *memorytest.Store
	home   string
	root   string
	remote string
	ws     retake.WorkspaceID
	ends   chan error // how runs ended
}

func newBackupFixture(t *testing.T) *backupFixture {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	p := &backupFixture{T: t, st: memorytest.New(), home: t.TempDir(), root: filepath.Join(t.TempDir(), "shop"), remote: filepath.Join(t.TempDir(), "remote.git"), ends: make(chan error, 100)}
	p.git("init", "--bare", "-q", p.remote)
	p.must(os.Mkdir(p.root, 0o755))
	p.open()
	p.write("start")
	res, err := p.s.Init(t.Context(), retake.InitRequest{Dir: p.root})
	p.must(err)
	p.ws = res.Workspace.ID
	t.Cleanup(func() { p.must(p.s.Close()) })
	return p
}

func (p *backupFixture) open() {
	p.Helper()
	for _, dir := range []string{"index", "returns"} {
		p.must(os.MkdirAll(filepath.Join(p.home, dir), 0o700))
	}
	cat, err := sqlite.Open(p.Context(), filepath.Join(p.home, "catalog.db"), "local", sqlite.Options{})
	p.must(err)
	p.s = service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog:   cat,
			OpenStore: func(context.Context, bool) (store.Store, error) { return p.st, nil },
			FS:        fsx.OS(), IndexDir: filepath.Join(p.home, "index"), DataDir: p.home, RestoreDir: filepath.Join(p.home, "returns"), Locks: fsx.NewMemoryLocks(),
			Clock: clock.Wall, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute, Exclusive: true,
			Policy:  func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
			MinFree: func(int64) int64 { return 0 },
		},
		Backup: carry.Options{Worker: backup.New(backup.Options{Dir: filepath.Join(p.home, "backup"), Path: os.Getenv("PATH"), AllowPaths: true}), OnEnd: func(_ retake.Backup, err error) { p.ends <- err }},
	})
}

func (p *backupFixture) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *backupFixture) write(text string) {
	p.Helper()
	p.must(os.WriteFile(filepath.Join(p.root, "a"), []byte(text), 0o644))
}

func (p *backupFixture) save(text string) retake.SaveResult {
	p.Helper()
	p.write(text)
	res, err := p.s.Save(p.Context(), retake.SaveRequest{Workspace: p.ws, Intent: text})
	p.must(err)
	return res
}

func (p *backupFixture) git(args ...string) string {
	p.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	out, err := cmd.Output()
	if err != nil {
		p.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// remoteSubjects returns the commit subjects in the remote, newest first.
func (p *backupFixture) remoteSubjects() string {
	p.Helper()
	return strings.ReplaceAll(p.git("--git-dir", p.remote, "log", "--format=%s", "--branches"), "\n", " ")
}

func (p *backupFixture) setBackup() {
	p.Helper()
	_, err := p.s.SetBackup(p.Context(), retake.BackupRequest{Workspace: p.ws, URL: p.remote})
	p.must(err)
}

// waitForRun waits for a backup run and returns its error.
func (p *backupFixture) waitForRun() error {
	p.Helper()
	select {
	case err := <-p.ends:
		return err
	case <-time.After(time.Minute):
		b, err := p.s.Backup(p.Context(), p.ws)
		p.Fatalf("no run ends: %+v %+v %v", b, b.Trouble, err)
		return nil
	}
}

func TestCheckpointsArriveByThemselves(t *testing.T) {
	t.Parallel()
	p := newBackupFixture(t)
	p.setBackup()
	p.save("one")
	p.must(p.waitForRun())
	b, err := p.s.Backup(t.Context(), p.ws)
	if err != nil || b.Behind != 0 || b.Pushed == nil || b.Pushed.Number != 2 || !strings.HasPrefix(p.remoteSubjects(), "one ") {
		t.Errorf("%+v %v: %s", b, err, p.remoteSubjects())
	}
	st, err := p.s.Status(t.Context(), p.ws)
	if err != nil || st.Backup == nil || st.Backup.Pushed.Number != 2 {
		t.Errorf("%+v %v", st.Backup, err)
	}
	// What nobody could send is sent by the next service.
	p.save("two")
	p.must(p.s.Close())
	p.open()
	p.must(p.waitForRun())
	if !strings.HasPrefix(p.remoteSubjects(), "two one ") {
		t.Errorf("%s", p.remoteSubjects())
	}
	// Forgotten checkpoints stay where they arrived, and what follows goes on from there.
	_, err = p.s.Forget(t.Context(), p.ws, []string{"1", "2"})
	p.must(err)
	_, err = p.s.Sweep(t.Context())
	p.must(err)
	for len(p.ends) > 0 { // a slow machine may have sent "two" before the end of the first service, too
		p.must(<-p.ends)
	}
	p.save("three")
	p.must(p.waitForRun())
	if !strings.HasPrefix(p.remoteSubjects(), "three two one ") {
		t.Errorf("%s", p.remoteSubjects())
	}
}

func TestABackupThatFailsIsLoud(t *testing.T) {
	t.Parallel()
	p := newBackupFixture(t)
	p.setBackup()
	p.must(os.Rename(p.remote, p.remote+".away"))
	if res := p.save("one"); len(res.Warnings) != 0 {
		t.Errorf("it warns of what did not happen yet: %+v", res.Warnings)
	}
	if err := p.waitForRun(); !errors.Is(err, backup.ErrRefused) {
		t.Errorf("%v", err)
	}
	res := p.save("two")
	if len(res.Warnings) != 1 || res.Warnings[0].Code != "backup" || res.Checkpoint.Number != 3 {
		t.Errorf("%+v", res)
	}
	b, err := p.s.Backup(t.Context(), p.ws)
	if err != nil || b.Trouble == nil || b.Behind != 3 || b.Trouble.Next == nil {
		t.Errorf("%+v %v", b, err)
	}
	p.must(os.Rename(p.remote+".away", p.remote))
	if b, err = p.s.PushBackup(t.Context(), p.ws); err != nil || b.Trouble != nil || b.Behind != 0 {
		t.Errorf("%+v %v", b, err)
	}
	if res := p.save("three"); len(res.Warnings) != 0 {
		t.Errorf("%+v", res.Warnings)
	}
	_, err = p.s.DropBackup(t.Context(), p.ws)
	p.must(err)
	if _, err := p.s.Backup(t.Context(), p.ws); !retake.IsKind(err, retake.NotFound) {
		t.Errorf("%v", err)
	}
}

// A remote that takes for ever keeps nobody waiting but itself.
func TestNoSaveWaitsForABackup(t *testing.T) {
	t.Parallel()
	p := newBackupFixture(t)
	wall := filepath.Join(t.TempDir(), "wall")
	p.must(syscall.Mkfifo(wall, 0o600))
	p.must(os.WriteFile(filepath.Join(p.remote, "hooks", "pre-receive"), []byte("#!/bin/sh\necho here > "+wall+"\nexec sleep 600\n"), 0o755))
	p.setBackup()
	p.save("one")
	_, err := os.ReadFile(wall) // to its end: a hook whose word nobody takes is ended by it, and the push refused
	p.must(err)
	for _, text := range []string{"two", "three"} {
		if res := p.save(text); len(res.Warnings) != 0 {
			t.Errorf("%+v", res.Warnings)
		}
	}
	p.must(p.s.Close()) // ends it
	select {
	case err := <-p.ends:
		t.Errorf("somebody was told %v", err)
	default:
	}
	p.must(os.Remove(filepath.Join(p.remote, "hooks", "pre-receive")))
	p.open()
	p.must(p.waitForRun())
	if !strings.HasPrefix(p.remoteSubjects(), "three two one ") {
		t.Errorf("%s", p.remoteSubjects())
	}
}

func TestThereMayBeNoBackups(t *testing.T) {
	t.Parallel()
	r := newRetentionFixture(t, false)
	if _, err := r.s.PushBackup(t.Context(), r.ws); !retake.IsKind(err, retake.Invalid) {
		t.Errorf("%v", err)
	}
	if _, err := r.s.SetBackup(t.Context(), retake.BackupRequest{Workspace: "ws_none"}); !retake.IsKind(err, retake.Invalid) {
		t.Errorf("%v", err)
	}
}
