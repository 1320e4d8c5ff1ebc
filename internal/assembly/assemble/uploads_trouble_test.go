package assemble_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// startSilent returns the address of a server that takes every connection and never says a word.
func startSilent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var mu sync.Mutex
	var held []net.Conn
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			held = append(held, c)
			mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range held {
			_ = c.Close()
		}
	})
	return l.Addr().String()
}

// silentRemotes asks for remotes at a server that never answers.
func silentRemotes(t *testing.T) map[string]retake.RemoteRequest {
	at := startSilent(t)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	must(t, err)
	key := pem.EncodeToMemory(block)
	return map[string]retake.RemoteRequest{
		"s3":     {Name: "far", URL: "s3://things/a", Access: retake.RemoteAccess{Endpoint: "http://" + at, User: "u", Secret: "s"}},
		"sftp":   {Name: "far", URL: "sftp://user@" + at + "/a", Access: retake.RemoteAccess{PrivateKey: string(key), KnownHosts: "other ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJLpcHfDBjBlzMWUu0jJyHXGUFLMUb1Ch3rxDkvwLLPW\n"}},
		"webdav": {Name: "far", URL: "webdav+http://" + at + "/a"},
	}
}

// putState writes down a remote as if it had been added before.
func (u *uploads) putState(name string, fields map[string]any) {
	u.Helper()
	state := map[string]any{"v": 1, "name": name, "store": "0123456789abcdef", "created": time.Now(), "protection": map[string]any{}}
	for k, v := range fields {
		state[k] = v
	}
	b, err := json.Marshal(state)
	must(u.T, err)
	must(u.T, os.MkdirAll(u.remotesDir(), 0o700))
	must(u.T, os.WriteFile(filepath.Join(u.remotesDir(), name+".json"), b, 0o600))
}

func (u *uploads) remotesDir() string { return filepath.Join(u.home, "data", "remotes") }

// within fails if f takes longer.
func within(t *testing.T, limit time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		buf := make([]byte, 1<<20)
		t.Fatalf("%s takes longer than %v\n%s", what, limit, buf[:runtime.Stack(buf, true)])
	}
}

// Who adds a remote that never answers can stop waiting, and the service closes while one hangs.
func TestRemoteThatNeverAnswers(t *testing.T) {
	t.Parallel()
	for scheme, req := range silentRemotes(t) {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			u := newUploadsDesk(t)
			ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer stop()
			within(t, 5*time.Second, "AddRemote", func() {
				if _, err := u.s.AddRemote(ctx, req); err == nil {
					t.Error("it was added")
				}
			})
			must(t, u.s.Close())
			u.putState("far", map[string]any{"url": req.URL, "access": req.Access})
			u.open()
			asked := make(chan error, 1)
			go func() {
				_, err := u.s.SyncRemotes(context.Background(), retake.SyncQuery{})
				asked <- err
			}()
			select {
			case err := <-asked:
				t.Fatalf("the server answered: %v", err)
			case <-time.After(300 * time.Millisecond):
			}
			begun := time.Now()
			u.save(retake.SaveRequest{})
			if took := time.Since(begun); took > 3*time.Second {
				t.Errorf("a save took %v", took)
			}
			within(t, 10*time.Second, "Close", func() { must(t, u.s.Close()) })
			within(t, 5*time.Second, "the sync", func() {
				if err := <-asked; err == nil {
					t.Error("uploaded to nobody")
				}
			})
		})
	}
}

// A remote is removed while an upload to it hangs; who waits for the upload is told, and nothing is kept.
func TestRemoveDuringUpload(t *testing.T) {
	t.Parallel()
	for scheme, req := range silentRemotes(t) {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			u := newUploadsDesk(t)
			must(t, u.s.Close())
			u.putState("far", map[string]any{"url": req.URL, "access": req.Access})
			u.open()
			var all sync.WaitGroup
			for range 3 { // the others wait for their turn, and have none
				all.Go(func() {
					if _, err := u.s.SyncRemotes(context.Background(), retake.SyncQuery{}); err == nil {
						t.Error("uploaded to nobody")
					}
				})
			}
			<-time.After(300 * time.Millisecond)
			within(t, 10*time.Second, "RemoveRemote", func() {
				_, err := u.s.RemoveRemote(t.Context(), "far")
				must(t, err)
			})
			within(t, 10*time.Second, "those who waited", all.Wait)
			left, err := filepath.Glob(filepath.Join(u.remotesDir(), "far*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left: %v %v", left, err)
			}
		})
	}
}

// Of several that add one name or one address at once, one does.
func TestAddedAtOnce(t *testing.T) {
	t.Parallel()
	u := newUploadsDesk(t)
	for round := range 8 {
		disk := t.TempDir()
		var all sync.WaitGroup
		var mu sync.Mutex
		added := []string{}
		for i := range 4 {
			req := retake.RemoteRequest{Name: "disk", URL: t.TempDir()}
			if round%2 > 0 {
				req = retake.RemoteRequest{Name: fmt.Sprint("disk-", i), URL: disk}
			}
			all.Go(func() {
				r, err := u.s.AddRemote(t.Context(), req)
				if err != nil && !retake.IsKind(err, retake.Exists) {
					t.Error(err)
				}
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					added = append(added, r.URL)
				}
			})
		}
		all.Wait()
		r := u.remote()
		if len(added) != 1 || r.URL != added[0] {
			t.Errorf("round %d: %v were added, and the remote is %s", round, added, r.URL)
		}
		_, err := u.s.RemoveRemote(t.Context(), r.Name)
		must(t, err)
	}
}

// What is where the copy was is not taken for one, and nothing breaks.
func TestCopyIsAFile(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	u.sync()
	at := u.copyDir()
	must(t, os.RemoveAll(at))
	must(t, os.WriteFile(at, nil, 0o600))
	u.write("shop/a", "2")
	u.save(retake.SaveRequest{})
	for range 2 {
		if _, err := u.s.SyncRemotes(t.Context(), retake.SyncQuery{}); !retake.IsKind(err, retake.Away) {
			t.Errorf("a file in place of the copy: %v", err)
		}
	}
	must(t, u.s.Close())
}

// A store that was put back to an older state has other checkpoints under the numbers that the copy has. They
// are not taken for uploaded.
func TestStoreThatWasPutBack(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	u.sync()
	must(t, u.s.Close())
	old := filepath.Join(t.TempDir(), "data")
	copyDir(t, filepath.Join(u.home, "data"), old)
	u.open()
	for _, text := range []string{"2", "3", "4"} {
		u.write("shop/a", text)
		u.save(retake.SaveRequest{})
	}
	u.sync()
	must(t, u.s.Close())
	must(t, os.RemoveAll(filepath.Join(u.home, "data")))
	copyDir(t, old, filepath.Join(u.home, "data"))
	u.open()
	u.write("shop/a", "another")
	n := u.save(retake.SaveRequest{}).Checkpoint.Number
	for range 2 {
		_, err := u.s.SyncRemotes(t.Context(), retake.SyncQuery{Workspace: u.ws, Number: n})
		if !errors.Is(err, replica.ErrBehind) || !retake.IsKind(err, retake.Moved) {
			t.Errorf("checkpoint %d is not there: %v", n, err)
		}
	}
	if r := u.remote(); r.Pending == 0 || r.Workspaces[0].Uploaded >= n {
		t.Errorf("it counts as uploaded: %+v", r.Workspaces)
	}
	tl, err := u.s.Log(t.Context(), retake.LogQuery{Workspace: u.ws})
	must(t, err)
	if tl.Upload.Through >= n || !tl.Upload.Failing {
		t.Errorf("it counts as uploaded: %+v", tl.Upload)
	}
}

// If only the store was put back, what is kept of the remote says more than there is. That is looked into.
func TestOnlyTheStoreWasPutBack(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	u.sync()
	must(t, u.s.Close())
	state := filepath.Join(u.remotesDir(), "disk.json")
	b, err := os.ReadFile(state)
	must(t, err)
	more := strings.Replace(string(b), `: 2`, `: 5`, 1)
	if more == string(b) {
		t.Fatalf("no line in %s", b)
	}
	must(t, os.WriteFile(state, []byte(more), 0o600))
	u.open()
	u.await("it is put right", func() bool {
		b, err := os.ReadFile(state)
		return err == nil && strings.Contains(string(b), `: 2`)
	})
}

// await waits until something is so.
func (u *uploads) await(what string, so func() bool) {
	u.Helper()
	limit, tick := time.After(30*time.Second), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-limit:
			u.Fatalf("%s: never; %+v", what, u.remote())
		case <-tick.C:
		}
	}
}

// The name of a directory is no pattern.
func TestRemotesInAStrangeDirectory(t *testing.T) {
	t.Parallel()
	u := &uploads{desk: &desk{T: t, area: t.TempDir()}, home: filepath.Join(t.TempDir(), "[a]*"), disk: t.TempDir()}
	must(t, os.Mkdir(u.home, 0o700))
	u.open()
	t.Cleanup(func() { _ = u.s.Close() })
	must(t, os.Mkdir(u.at("shop"), 0o755))
	u.init()
	_, err := u.s.AddRemote(t.Context(), retake.RemoteRequest{Name: "disk", URL: u.disk})
	must(t, err)
	must(t, u.s.Close())
	u.open()
	u.remote()
}

// A time to try again that is years ahead is of a clock that was wrong.
func TestTroubleOfAWrongClock(t *testing.T) {
	t.Parallel()
	u := newUploadsDesk(t)
	must(t, u.s.Close())
	ahead := time.Now().AddDate(70, 0, 0)
	u.putState("disk", map[string]any{"url": u.disk, "trouble": retake.BackupTrouble{What: "away", Since: ahead, At: ahead, Tries: 3, Next: &ahead}})
	u.open()
	u.write("shop/a", "2")
	u.save(retake.SaveRequest{})
	u.await("it is uploaded", func() bool { return u.remote().Pending == 0 })
}

// The warning that uploads stall goes to who saves what is not uploaded.
func TestWarningOfALimitedRemote(t *testing.T) {
	t.Parallel()
	u := newUploadsDesk(t)
	must(t, os.Mkdir(u.at("other"), 0o755))
	other, err := u.s.Init(t.Context(), retake.InitRequest{Dir: u.at("other")})
	must(t, err)
	must(t, u.s.Close())
	since := time.Now().Add(-time.Hour)
	u.putState("disk", map[string]any{
		"url": filepath.Join(u.disk, "away"), "workspaces": []retake.WorkspaceID{u.ws},
		"trouble": retake.BackupTrouble{What: "away", Since: since, At: since, Tries: 3},
	})
	u.open()
	u.write("other/x", "2")
	res, err := u.s.Save(t.Context(), retake.SaveRequest{Workspace: other.Workspace.ID})
	must(t, err)
	if len(res.Warnings) > 0 {
		t.Errorf("a workspace that is not uploaded: %v", res.Warnings)
	}
	u.write("shop/a", "2")
	if w := u.save(retake.SaveRequest{}).Warnings; len(w) != 1 || w[0].Code != "upload" {
		t.Errorf("warnings: %v", w)
	}
}

// What is opened for an upload is closed when it fails.
func TestFailedUploadsLeaveNothingOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files that are open are counted in /proc")
	}
	t.Parallel()
	u := newUploads(t)
	u.sync()
	must(t, u.s.Close())
	must(t, os.RemoveAll(u.copyDir()))
	u.open()
	for range 5 {
		if _, err := u.s.SyncRemotes(t.Context(), retake.SyncQuery{}); !errors.Is(err, replica.ErrLost) {
			t.Fatal(err)
		}
	}
	must(t, u.s.Close())
	files, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for _, f := range files {
		if at, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && strings.HasPrefix(at, u.home) {
			t.Errorf("it is open: %s", at)
		}
	}
}

// What is kept of remotes may be damaged: that is said, and nobody else is held up.
func TestDamagedStateOfRemotes(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"torn": `{"v":1,"na`, "empty": "", "null": "null", "a list": "[1]", "newer": `{"v":99,"name":"bad"}`, "another": `{"v":1,"name":"disk","store":"a"}`,
		"no store": `{"v":1,"name":"bad","url":"/x"}`, "a path": `{"v":1,"name":"bad","store":"../../x"}`, "a wrong kind": `{"v":1,"name":"bad","store":"a","lines":[]}`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			u := newUploadsDesk(t)
			must(t, u.s.Close())
			must(t, os.MkdirAll(u.remotesDir(), 0o700))
			bad := filepath.Join(u.remotesDir(), "bad.json")
			must(t, os.WriteFile(bad, []byte(text), 0o600))
			u.open()
			u.save(retake.SaveRequest{})
			if _, err := u.s.Status(t.Context(), u.ws); err != nil {
				t.Error(err)
			}
			_, err := u.s.Remotes(t.Context())
			if e := retake.AsError(err); err == nil || e.Kind != retake.Damaged || !strings.Contains(e.Hint, bad) {
				t.Errorf("%v", err)
			}
			_, err = u.s.AddRemote(t.Context(), retake.RemoteRequest{Name: "two", URL: u.disk})
			if !retake.IsKind(err, retake.Damaged) {
				t.Errorf("added: %v", err)
			}
		})
	}
}

// Somebody deletes what is kept of the remotes while they run.
func TestStateIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	u.sync()
	for i := range 4 {
		must(t, os.RemoveAll(u.remotesDir()))
		u.write("shop/a", fmt.Sprint("again ", i))
		n := u.save(retake.SaveRequest{}).Checkpoint.Number
		if r := u.sync(); r.Pending > 0 || r.Workspaces[0].Uploaded != n {
			t.Errorf("%+v", r)
		}
	}
	must(t, os.RemoveAll(u.remotesDir()))
	if _, err := u.s.CheckRemote(t.Context(), retake.RemoteCheckQuery{Name: "disk", Share: 1}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(u.remotesDir(), "disk.json")); errors.Is(err, fs.ErrNotExist) {
		t.Error("it is not written down again")
	}
}
