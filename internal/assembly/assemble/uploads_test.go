package assemble_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/track"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/storage/store/replica"
	"github.com/retake-dev/retake/internal/storage/store/replica/places"
)

// uploads is a desk with a remote in a directory.
type uploads struct {
	*desk
	home string
	disk string
	now  clock.Clock // nil: that of the machine
}

func newUploadsDesk(t *testing.T) *uploads {
	t.Helper()
	u := &uploads{desk: &desk{T: t, area: t.TempDir()}, home: t.TempDir(), disk: t.TempDir()}
	u.open()
	t.Cleanup(func() { _ = u.s.Close() })
	must(t, os.Mkdir(u.at("shop"), 0o755))
	u.write("shop/a", "1")
	u.init()
	u.save(retake.SaveRequest{})
	return u
}

func (u *uploads) open() {
	u.Helper()
	var err error
	u.set, err = config.Load(filepath.Join(u.home, "config.json"))
	must(u.T, err)
	c := config.Config{DataDir: filepath.Join(u.home, "data"), Home: "/nobody", BootID: "this run"}
	u.s, err = assemble.OpenService(u.Context(), c, u.set, assemble.Options{Exclusive: true, Derivation: derivation, Clock: u.now, Track: track.Options{TrustUnreadable: true}})
	must(u.T, err)
}

func newUploads(t *testing.T) *uploads {
	t.Helper()
	u := newUploadsDesk(t)
	r, err := u.s.AddRemote(t.Context(), retake.RemoteRequest{Name: "disk", URL: u.disk})
	must(t, err)
	if r.Name != "disk" || r.URL != u.disk || r.Pending != 2 || r.Uploaded != nil || len(r.Workspaces) != 1 || !r.Protection.Refuses {
		t.Fatalf("added: %+v", r)
	}
	return u
}

func (u *uploads) sync() retake.Remote {
	u.Helper()
	all, err := u.s.SyncRemotes(u.Context(), retake.SyncQuery{})
	must(u.T, err)
	return all[0]
}

func (u *uploads) remote() retake.Remote {
	u.Helper()
	all, err := u.s.Remotes(u.Context())
	must(u.T, err)
	if len(all) != 1 {
		u.Fatalf("%d remotes", len(all))
	}
	return all[0]
}

// copyDir is the directory of the copy.
func (u *uploads) copyDir() string {
	u.Helper()
	found, err := filepath.Glob(filepath.Join(u.disk, "retake-*-*"))
	must(u.T, err)
	if len(found) != 1 {
		u.Fatalf("copies: %v", found)
	}
	return found[0]
}

func TestUploadedIsShown(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	if r := u.sync(); r.Pending != 0 || r.Uploaded == nil || r.Workspaces[0].Uploaded != 2 || r.Sent == 0 {
		t.Fatalf("uploaded: %+v", r)
	}
	u.write("shop/a", "2")
	third := u.save(retake.SaveRequest{}).Checkpoint
	v, err := u.s.ViewTimeline(t.Context(), retake.TimelineQuery{LogQuery: retake.LogQuery{Workspace: u.ws}})
	must(t, err)
	st, err := u.s.Status(t.Context(), u.ws)
	must(t, err)
	behind := v.Upload.Through == 2 && len(st.Remotes) == 1 && st.Remotes[0].Pending == 1 && st.Remotes[0].Workspaces[0].Newest == 3
	flagged := len(v.Rows[0].Flags) == 1 && v.Rows[0].Flags[0].Word == "not uploaded" && len(v.Rows[1].Flags) == 0
	if caughtUp := v.Upload.Through == third.Number; !caughtUp && (!behind || !flagged) { // the upload in the background may be fast
		t.Errorf("timeline %+v %+v, status %+v", v.Upload, v.Rows[0].Flags, st.Remotes)
	}
	// It is uploaded without anybody asking.
	limit, tick := time.After(time.Minute), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for u.remote().Pending > 0 {
		select {
		case <-limit:
			t.Fatalf("not uploaded by itself: %+v", u.remote())
		case <-tick.C:
		}
	}
	tl, err := u.s.Log(t.Context(), retake.LogQuery{Workspace: u.ws})
	must(t, err)
	if tl.Upload == nil || tl.Upload.Through != 3 || tl.Upload.Remote != "disk" || tl.Upload.Failing {
		t.Errorf("%+v", tl.Upload)
	}
}

// A remote that is gone delays no save, is shown, and goes on when it is back. One that lost its copy is not
// filled again: it may be a mount point.
func TestRemoteIsGone(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	u.sync()
	away := u.disk + "-away"
	must(t, u.s.Close())
	must(t, os.Rename(u.disk, away))
	u.open()
	u.write("shop/a", "3")
	if w := u.save(retake.SaveRequest{}).Warnings; len(w) > 0 {
		t.Errorf("a save warns at once: %v", w)
	}
	_, err := u.s.SyncRemotes(t.Context(), retake.SyncQuery{Workspace: u.ws, Number: 3})
	if !retake.IsKind(err, retake.Away) {
		t.Fatalf("no disk: %v", err)
	}
	if all, err := u.s.SyncRemotes(t.Context(), retake.SyncQuery{Workspace: u.ws, Number: 2}); err != nil || len(all) != 1 {
		t.Errorf("2 is there: %v", err)
	}
	r := u.remote()
	if r.Trouble == nil || r.Trouble.Tries < 2 || r.Trouble.Next == nil || r.Pending != 1 {
		t.Errorf("trouble is not shown: %+v", r)
	}
	must(t, os.Mkdir(u.disk, 0o700)) // a mount point without its disk
	if _, err := u.s.SyncRemotes(t.Context(), retake.SyncQuery{}); !errors.Is(err, replica.ErrLost) || !retake.IsKind(err, retake.Moved) {
		t.Errorf("an empty directory: %v", err)
	}
	must(t, os.RemoveAll(u.disk))
	must(t, os.Rename(away, u.disk))
	if r := u.sync(); r.Pending != 0 || r.Trouble != nil {
		t.Errorf("after it is back: %+v", r)
	}
}

// What is read back is compared; damage is found.
func TestRemoteIsChecked(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	u.sync()
	c, err := u.s.CheckRemote(t.Context(), retake.RemoteCheckQuery{Name: "disk", Share: 1})
	must(t, err)
	if c.Checkpoints != 2 || c.Objects == 0 || c.Bytes == 0 || len(c.Failed) > 0 {
		t.Errorf("whole: %+v", c)
	}
	for _, share := range []float64{0, 0.05} { // the rest is looked for, and not read
		if c, err := u.s.CheckRemote(t.Context(), retake.RemoteCheckQuery{Name: "disk", Share: share}); err != nil || c.Checkpoints != 2 || len(c.Failed) > 0 {
			t.Errorf("a share of %v: %+v %v", share, c, err)
		}
	}
	packs, err := filepath.Glob(filepath.Join(u.copyDir(), "[pq]*.f"))
	must(t, err)
	for _, p := range packs {
		b, err := os.ReadFile(p)
		must(t, err)
		b[40] ^= 1 // near the beginning, where contents are
		must(t, os.Chmod(p, 0o600))
		must(t, os.WriteFile(p, b, 0o600))
	}
	c, err = u.s.CheckRemote(t.Context(), retake.RemoteCheckQuery{Name: "disk", Share: 1})
	if err == nil && len(c.Failed) == 0 {
		t.Errorf("%d damaged packs are not noticed: %+v", len(packs), c)
	}
	for _, share := range []float64{-1, 2} {
		if _, err := u.s.CheckRemote(t.Context(), retake.RemoteCheckQuery{Name: "disk", Share: share}); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("share %v: %v", share, err)
		}
	}
}

// A history that was erased leaves the copy; one of a store that is damaged does not.
func TestErasedLeavesTheRemote(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	must(t, os.Mkdir(u.at("other"), 0o755))
	u.write("other/x", "x")
	other, err := u.s.Init(t.Context(), retake.InitRequest{Dir: u.at("other")})
	must(t, err)
	if r := u.sync(); len(r.Workspaces) != 2 || r.Pending != 0 {
		t.Fatalf("%+v", r)
	}
	rep, err := u.s.Erase(t.Context(), other.Workspace.ID)
	must(t, err)
	if len(rep.Left) != 1 || !strings.Contains(rep.Left[0], "remote disk") {
		t.Errorf("it is not said that the remote has it: %q", rep.Left)
	}
	u.sync()
	if h := u.readHead(); len(h.Lines) != 1 || h.Lines[0].Workspace != u.ws {
		t.Errorf("%d histories are there", len(h.Lines))
	}
}

func (u *uploads) readHead() *replica.Head {
	u.Helper()
	password, err := os.ReadFile(filepath.Join(u.home, "data", "store", "password"))
	must(u.T, err)
	key, err := kopia.ReplicaSealer(strings.TrimSpace(string(password)))
	must(u.T, err)
	p, err := places.OpenDir(fsx.OS(), u.copyDir(), time.Now)
	must(u.T, err)
	defer p.Close()
	h, err := replica.ReadHead(u.Context(), p, key)
	must(u.T, err)
	return h
}

// A remote that is added again goes on; with NewCopy another copy begins.
func TestRemoteIsAddedAgain(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	sent := u.sync().Sent
	for _, wrong := range []retake.RemoteRequest{
		{Name: "disk", URL: t.TempDir()}, {Name: "two", URL: u.disk}, {Name: "Two!", URL: t.TempDir()}, {URL: "ftp://host"}, {URL: "/nothing/here"}, {URL: "s3://b:c@d/"},
	} {
		if _, err := u.s.AddRemote(t.Context(), wrong); err == nil {
			t.Errorf("%+v was added", wrong)
		}
	}
	_, err := u.s.RemoveRemote(t.Context(), "disk")
	must(t, err)
	if _, err := u.s.RemoveRemote(t.Context(), "disk"); !retake.IsKind(err, retake.NotFound) {
		t.Errorf("removed twice: %v", err)
	}
	_, err = u.s.AddRemote(t.Context(), retake.RemoteRequest{Name: "again", URL: u.disk})
	must(t, err)
	if r := u.sync(); r.Sent >= sent || r.Workspaces[0].Uploaded != 2 {
		t.Errorf("it does not go on: %d bytes, then %d; %+v", sent, r.Sent, r)
	}
	_, err = u.s.RemoveRemote(t.Context(), "again")
	must(t, err)
	_, err = u.s.AddRemote(t.Context(), retake.RemoteRequest{Name: "new", URL: u.disk, NewCopy: true})
	must(t, err)
	u.sync()
	if found, _ := filepath.Glob(filepath.Join(u.disk, "retake-*-*")); len(found) != 2 {
		t.Errorf("%d copies", len(found))
	}
}

// A limited remote gets nothing of other workspaces.
func TestLimitedRemote(t *testing.T) {
	t.Parallel()
	u := newUploadsDesk(t)
	must(t, os.Mkdir(u.at("other"), 0o755))
	other, err := u.s.Init(t.Context(), retake.InitRequest{Dir: u.at("other")})
	must(t, err)
	_, err = u.s.AddRemote(t.Context(), retake.RemoteRequest{Name: "disk", URL: u.disk, Workspaces: []retake.WorkspaceID{u.ws}})
	must(t, err)
	if r := u.sync(); !r.Limited || len(r.Workspaces) != 1 {
		t.Errorf("%+v", r)
	}
	if h := u.readHead(); len(h.Lines) != 1 || h.Lines[0].Workspace != u.ws {
		t.Errorf("%d histories", len(h.Lines))
	}
	tl, err := u.s.Log(t.Context(), retake.LogQuery{Workspace: other.Workspace.ID})
	must(t, err)
	if tl.Upload != nil {
		t.Errorf("another workspace is said to be uploaded: %+v", tl.Upload)
	}
}

func TestCopyKey(t *testing.T) {
	t.Parallel()
	password := strings.Repeat("0f", 32)
	key, err := kopia.EncodeCopyKey(password)
	must(t, err)
	if groups := strings.Split(key, "-"); len(groups) != 14 {
		t.Errorf("%d groups: %s", len(groups), key)
	}
	typed := " " + strings.ToLower(strings.ReplaceAll(key, "0", "O")) + "\n"
	if got, err := kopia.DecodeCopyKey(typed); err != nil || got != password {
		t.Errorf("%q: %v", typed, err)
	}
	if got, err := kopia.DecodeCopyKey("Recovery key\n\n    " + key[:35] + "\n    " + key[35:] + "\n\n  Keep it where this machine is not."); err != nil || got != password {
		t.Errorf("as it was printed: %v", err)
	}
	for i := range key {
		if key[i] == '-' {
			continue
		}
		other := key[:i] + "7" + key[i+1:]
		if key[i] == '7' {
			other = key[:i] + "8" + key[i+1:]
		}
		if _, err := kopia.DecodeCopyKey(other); err == nil {
			t.Errorf("a mistake in letter %d is not noticed", i)
		}
	}
	if _, err := kopia.EncodeCopyKey("pw"); err == nil {
		t.Error("a password that is not ours has a key")
	}
}

// Who works there is told once that uploads stall, and who saves by hand each time.
func TestStalledUploadsAreTold(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	u.sync()
	must(t, u.s.Close())
	held := clock.NewManual(time.Now())
	u.now = held
	must(t, os.Rename(u.disk, u.disk+"-away"))
	u.open()
	u.write("shop/a", "5")
	try := func() {
		if _, err := u.s.SyncRemotes(t.Context(), retake.SyncQuery{}); err == nil {
			t.Fatal("it was uploaded")
		}
	}

	prompt := func() int {

		r, err := u.s.Observe(t.Context(), retake.Signal{
			ID: retake.SignalID(retake.SignalPrefix + uuid.Must(uuid.NewV7()).String()), Kind: retake.SignalPrompt, Agent: "claude-code", Session: "s", Dir: u.at("shop"), Time: held.Now(), Prompt: "go",
		})
		must(t, err)
		return len(r.Warnings)
	}
	try()
	if n := prompt(); n != 0 || len(u.save(retake.SaveRequest{}).Warnings) != 0 {
		t.Errorf("%d warnings after one failure", n)
	}
	held.Advance(time.Hour)
	try()
	if a, b := prompt(), prompt(); a != 1 || b != 0 {
		t.Errorf("%d and %d warnings at two prompts", a, b)
	}
	for range 2 {
		if w := u.save(retake.SaveRequest{}).Warnings; len(w) != 1 || w[0].Code != "upload" {
			t.Errorf("a save: %+v", w)
		}
	}
}
