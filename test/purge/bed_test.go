package purge_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the database that secrets are put into

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/carry"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// bed is a service as the daemon has it, on a store on disk.
type bed struct {
	*testing.T
	s      *service.Service
	st     store.Store
	data   string
	root   string
	ws     retake.WorkspaceID
	remote string
	forked string
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{T: t, data: filepath.Join(t.TempDir(), "data"), root: filepath.Join(t.TempDir(), "shop")}
	for _, dir := range []string{"store", "locks", "index", "returns", "signals", "sessions"} {
		b.must(os.MkdirAll(filepath.Join(b.data, dir), 0o700))
	}
	cat, err := sqlite.Open(t.Context(), filepath.Join(b.data, "catalog.db"), "local", sqlite.Options{})
	b.must(err)
	locks := fsx.NewLocks(filepath.Join(b.data, "locks"))
	b.s = service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog: cat,
			OpenStore: func(ctx context.Context, create bool) (store.Store, error) {
				o := kopia.Options{Dir: filepath.Join(b.data, "store"), FS: fsx.OS(), Locks: locks, Clock: clock.Wall, Exclusive: true}
				var err error
				if create {
					b.st, err = kopia.Create(ctx, o)
				} else {
					b.st, err = kopia.Open(ctx, o)
				}
				return b.st, err
			},
			FS: fsx.OS(), IndexDir: filepath.Join(b.data, "index"), DataDir: b.data, RestoreDir: filepath.Join(b.data, "returns"),
			SignalDir: filepath.Join(b.data, "signals"), SessionDir: filepath.Join(b.data, "sessions"), Locks: locks,
			Clock: clock.Wall, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute, Exclusive: true,
			Policy:  func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
			MinFree: func(int64) int64 { return 0 },
		},
		Backup: carry.Options{Worker: backup.New(backup.Options{Dir: filepath.Join(b.data, "backup"), Path: os.Getenv("PATH"), Locks: locks, AllowPaths: true})},
	})
	t.Cleanup(func() { _ = b.s.Close() })
	b.must(os.Mkdir(b.root, 0o755))
	b.write("README", "a shop")
	res, err := b.s.Init(t.Context(), retake.InitRequest{Dir: b.root})
	b.must(err)
	b.ws = res.Workspace.ID
	return b
}

func (b *bed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bed) write(name, text string) {
	b.Helper()
	path := filepath.Join(b.root, name)
	b.must(os.MkdirAll(filepath.Dir(path), 0o755))
	b.must(os.WriteFile(path, []byte(text), 0o644))
}

func (b *bed) save(intent string) retake.Checkpoint {
	b.Helper()
	res, err := b.s.Save(b.Context(), retake.SaveRequest{Workspace: b.ws, Intent: intent})
	b.must(err)
	return res.Checkpoint
}

// secrets are random, so that each is found by its own bytes alone.
func (b *bed) secrets(n int) []string {
	out := make([]string, n)
	for i := range out {
		raw := make([]byte, 15)
		_, err := rand.Read(raw)
		b.must(err)
		out[i] = "sk_" + hex.EncodeToString(raw)
	}
	return out
}

// live is how secrets come into a history: in files, moved and renamed ones, a database,
// archives, a message, a check's output, a fork, a replaced file, and a git backup.
func (b *bed) live(secrets []string) {
	for i := range 200 {
		b.write("src/"+name(i)+".txt", strings.Repeat("line "+name(i)+"\n", i+1))
	}
	place := func(kind int) []string {
		var out []string
		for i := kind; i < len(secrets); i += 7 {
			out = append(out, secrets[i])
		}
		return out
	}
	for i, s := range place(0) {
		b.write("plain/"+name(i)+".env", "TOKEN="+s+"\n")
	}
	for i, s := range place(1) {
		b.write("moving/"+name(i), "before "+s+" after")
	}
	b.database("app.db", place(2))
	b.zipped("keys.zip", place(3))
	b.tarred("keys.tar.gz", place(4), true)
	b.tarred("keys.tar", place(5), false)
	for i, s := range place(6) {
		b.loose(".git/objects/aa/"+name(i), s)
	}
	b.save("all of them")
	b.must(os.Rename(filepath.Join(b.root, "moving"), filepath.Join(b.root, "moved")))
	b.must(os.Rename(filepath.Join(b.root, "app.db"), filepath.Join(b.root, "renamed.db")))
	b.save("moved " + secrets[0])
	_, err := b.s.Attest(b.Context(), retake.Attestation{Workspace: b.ws, Command: "print", Output: "the key is " + secrets[1]})
	b.must(err)
	b.forked = filepath.Join(b.TempDir(), "fork")
	fork, err := b.s.Fork(b.Context(), retake.ForkRequest{Workspace: b.ws, Ref: "latest", Dir: b.forked})
	b.must(err)
	b.must(os.WriteFile(filepath.Join(b.forked, "copy.txt"), []byte(strings.Join(secrets, "\n")), 0o644))
	_, err = b.s.Save(b.Context(), retake.SaveRequest{Workspace: fork.Workspace.ID, Intent: "in the fork"})
	b.must(err)
	b.goBack()
	b.backUp()
}

// goBack replaces files by a restore, which keeps them for a day.
func (b *bed) goBack() {
	req := retake.PlanRequest{Workspace: b.ws, Course: retake.CourseRestore, Ref: "2"}
	plan, err := b.s.PlanRestore(b.Context(), req)
	b.must(err)
	var accept []string
	for _, o := range plan.Obstacles {
		accept = append(accept, string(o.Class))
	}
	_, err = b.s.ApplyRestore(b.Context(), retake.ApplyRequest{PlanRequest: req, Digest: plan.Digest, Accept: accept})
	b.must(err)
}

func (b *bed) backUp() {
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("no git here")
	}
	b.remote = filepath.Join(b.TempDir(), "remote.git")
	b.must(exec.CommandContext(b.Context(), "git", "init", "-q", "--bare", b.remote).Run())
	_, err := b.s.SetBackup(b.Context(), retake.BackupRequest{Workspace: b.ws, URL: b.remote})
	b.must(err)
	_, err = b.s.PushBackup(b.Context(), b.ws)
	b.must(err)
}

func (b *bed) database(file string, secrets []string) {
	db, err := sql.Open("sqlite", filepath.Join(b.root, file))
	b.must(err)
	_, err = db.ExecContext(b.Context(), "CREATE TABLE keys (id INTEGER PRIMARY KEY, value TEXT)")
	b.must(err)
	for _, s := range secrets {
		_, err = db.ExecContext(b.Context(), "INSERT INTO keys (value) VALUES (?)", s)
		b.must(err)
	}
	b.must(db.Close())
}

func (b *bed) zipped(file string, secrets []string) {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for i, s := range secrets {
		w, err := z.Create(name(i))
		b.must(err)
		_, err = io.WriteString(w, strings.Repeat("filler ", 40)+s)
		b.must(err)
	}
	b.must(z.Close())
	b.write(file, buf.String())
}

func (b *bed) tarred(file string, secrets []string, gz bool) {
	var buf bytes.Buffer
	var w io.WriteCloser = nopWriter{&buf}
	if gz {
		w = gzip.NewWriter(&buf)
	}
	t := tar.NewWriter(w)
	for i, s := range secrets {
		b.must(t.WriteHeader(&tar.Header{Name: name(i), Mode: 0o644, Size: int64(len(s))}))
		_, err := io.WriteString(t, s)
		b.must(err)
	}
	b.must(t.Close())
	b.must(w.Close())
	b.write(file, buf.String())
}

type nopWriter struct{ io.Writer }

func (nopWriter) Close() error { return nil }

// loose writes bytes as git keeps an object.
func (b *bed) loose(file, text string) {
	var buf bytes.Buffer
	z := zlib.NewWriter(&buf)
	_, err := z.Write([]byte("blob 99\x00" + text))
	b.must(err)
	b.must(z.Close())
	b.write(file, buf.String())
}

// removeLive takes the secrets from the directories: those are the user's.
func (b *bed) removeLive(secrets []string) {
	for _, dir := range []string{b.root, b.forked} {
		b.must(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil && holdsAny(unpacked(text), secrets) {
				err = os.Remove(path)
			}
			return err
		}))
	}
}

// search counts the secrets that are in anything that is kept: every stored piece as
// the engine gives it, every stored file as a whole, every other file as it is on disk,
// and what lies in the workspaces that is ours.
func (b *bed) search(secrets []string) int {
	b.Helper()
	found := map[string]bool{}
	look := func(text []byte) {
		text = unpacked(text)
		for _, s := range secrets {
			if !found[s] && bytes.Contains(text, []byte(s)) {
				found[s] = true
			}
		}
	}
	b.must(b.st.Contents(b.Context(), func(piece []byte) error { look(piece); return nil }))
	for _, dir := range []string{b.data, filepath.Join(b.root, ".retake")} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			look(text)
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			b.Fatal(err)
		}
	}
	heads, err := b.st.Heads(b.Context())
	b.must(err)
	for _, h := range heads {
		for path, text := range b.files(h.Workspace.ID) {
			look([]byte(path))
			look(text)
		}
	}
	return len(found)
}

// files are all files of all checkpoints of a workspace, by number and path.
func (b *bed) files(ws retake.WorkspaceID) map[string][]byte {
	out := map[string][]byte{}
	known := map[retake.ObjectID][]byte{}
	log, err := b.s.Log(b.Context(), retake.LogQuery{Workspace: ws})
	b.must(err)
	var walk func(number, dir string)
	walk = func(number, dir string) {
		entries, err := b.s.List(b.Context(), ws, number, dir)
		b.must(err)
		for _, e := range entries {
			path := strings.TrimPrefix(dir+"/"+e.Name, "/")
			if e.Kind == retake.KindDir {
				walk(number, path)
				continue
			}
			if _, ok := known[e.Object]; !ok {
				r, _, err := b.s.Open(b.Context(), ws, number, path)
				b.must(err)
				known[e.Object], err = io.ReadAll(r)
				b.must(err)
				b.must(r.Close())
			}
			out[string(ws)+" "+number+" "+path] = known[e.Object]
		}
	}
	for _, cp := range log.Checkpoints {
		walk(strconv.FormatInt(cp.Number, 10), "")
	}
	return out
}

// manifest is what every file of every checkpoint is that holds no secret.
func (b *bed) manifest(secrets []string) map[string]map[string]string {
	out := map[string]map[string]string{}
	heads, err := b.st.Heads(b.Context())
	b.must(err)
	for _, h := range heads {
		for at, text := range b.files(h.Workspace.ID) {
			parts := strings.SplitN(at, " ", 3)
			cp := parts[0] + " " + parts[1]
			if out[cp] == nil {
				out[cp] = map[string]string{}
			}
			if !holdsAny(unpacked(text), secrets) {
				sum := sha256.Sum256(text)
				out[cp][parts[2]] = hex.EncodeToString(sum[:])
			}
		}
	}
	return out
}

// compare restores each checkpoint into a fork, and compares all files with what they
// were.
func (b *bed) compare(before map[string]map[string]string) int {
	b.Helper()
	n := 0
	for cp, want := range before {
		ws, number, _ := strings.Cut(cp, " ")
		dir := filepath.Join(b.TempDir(), "again")
		res, err := b.s.Fork(b.Context(), retake.ForkRequest{Workspace: retake.WorkspaceID(ws), Ref: number, Dir: dir})
		b.must(err)
		got := map[string]string{}
		b.must(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			rel, _ := filepath.Rel(dir, path)
			if sum := sha256.Sum256(text); !strings.HasPrefix(rel, ".retake") {
				got[rel] = hex.EncodeToString(sum[:])
			}
			return err
		}))
		for path, sum := range want {
			if got[path] != sum {
				b.Errorf("%s: %s is another file, or gone", cp, path)
			}
			n++
		}
		if len(got) != len(want) {
			b.Errorf("%s: %d files, want %d", cp, len(got), len(want))
		}
		_, err = b.s.Deinit(b.Context(), res.Workspace.ID)
		b.must(err)
	}
	return n
}

// goesOn: the next save works and is whole, and the store is sound.
func (b *bed) goesOn() {
	b.Helper()
	b.write("after.txt", "after the purge")
	cp := b.save("after the purge")
	if slices.ContainsFunc(cp.Coverage.Gaps, func(g retake.Gap) bool { return g.Reason == retake.ReasonPurged }) || cp.Coverage.Grade != retake.Complete {
		b.Errorf("the next checkpoint is not complete: %+v", cp.Coverage)
	}
	scrub, err := b.s.Scrub(b.Context(), retake.ScrubQuery{Share: 1})
	if err != nil || len(scrub.Failed) > 0 {
		b.Errorf("%+v %v", scrub, err)
	}
}

// unpacked is bytes with what is in them, if they are an archive; this is not the code
// under test.
func unpacked(b []byte) []byte {
	out := b
	add := func(r io.Reader, err error) {
		if err == nil {
			all, _ := io.ReadAll(r)
			out = append(slices.Clone(out), all...)
		}
	}
	if z, err := zip.NewReader(bytes.NewReader(b), int64(len(b))); err == nil {
		for _, f := range z.File {
			r, err := f.Open()
			add(r, err)
		}
	}
	if len(b) > 2 && b[0] == 0x1f && b[1] == 0x8b {
		r, err := gzip.NewReader(bytes.NewReader(b))
		add(r, err)
	}
	if len(b) > 2 && b[0] == 0x78 {
		r, err := zlib.NewReader(bytes.NewReader(b))
		add(r, err)
	}
	return out
}
