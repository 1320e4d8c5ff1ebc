//go:build ssh

package real_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/test/real"
)

// yard is a workspace whose checkpoints go to a host.
type yard struct {
	t    testing.TB
	host *real.Sshd
	s    *service.Service
	ws   retake.Workspace
	dir  string // of the workspace
	data string
	repo string // the remote as a directory
}

func newYard(t testing.TB, o assemble.Options) *yard {
	t.Helper()
	y := &yard{t: t, host: real.StartSshd(t), dir: filepath.Join(t.TempDir(), "shop"), data: filepath.Join(t.TempDir(), "data")}
	y.repo = filepath.Join(y.host.Root, "shop.git")
	y.git("init", "--bare", "-q", y.repo)
	y.must(os.Mkdir(y.dir, 0o755))
	c := config.Config{DataDir: y.data, Home: "/nobody", BootID: "this run", Environ: []string{"PATH=" + os.Getenv("PATH")}}
	set, err := config.Load(filepath.Join(t.TempDir(), "config.json"))
	y.must(err)
	o.Derivation = derivation
	y.s, err = assemble.OpenService(t.Context(), c, set, o)
	y.must(err)
	t.Cleanup(func() { y.must(y.s.Close()) })
	return y
}

func (y *yard) must(err error) {
	y.t.Helper()
	if err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) write(name, text string) {
	y.t.Helper()
	at := filepath.Join(y.dir, name)
	y.must(os.MkdirAll(filepath.Dir(at), 0o755))
	y.must(os.WriteFile(at, []byte(text), 0o644))
}

func (y *yard) git(args ...string) string {
	y.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x"}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		y.t.Fatalf("git %v: %v: %s", args, err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

func (y *yard) init() {
	y.t.Helper()
	res, err := y.s.Init(y.t.Context(), retake.InitRequest{Dir: y.dir})
	y.must(err)
	y.ws = res.Workspace
}

func (y *yard) save(intent string) retake.SaveResult {
	y.t.Helper()
	res, err := y.s.Save(y.t.Context(), retake.SaveRequest{Workspace: y.ws.ID, Intent: intent})
	y.must(err)
	return res
}

// set agrees to the host as a person would, and lets the key in.
func (y *yard) set() retake.Backup {
	y.t.Helper()
	req := retake.BackupRequest{Workspace: y.ws.ID, URL: y.host.URL("shop.git")}
	offered, err := y.s.SetBackup(y.t.Context(), req)
	y.must(err)
	if offered.Set || offered.Host == nil || offered.Host.Kind+" "+offered.Host.Key != y.host.Key {
		y.t.Fatalf("the host says %+v, and is %s", offered, y.host.Key)
	}
	req.Host = offered.Host.Print
	b, err := y.s.SetBackup(y.t.Context(), req)
	y.must(err)
	y.host.LetIn(b.Public)
	return b
}

func (y *yard) backUp() retake.Backup {
	y.t.Helper()
	b, err := y.s.PushBackup(y.t.Context(), y.ws.ID)
	y.must(err)
	return b
}

func (y *yard) tip() string { return y.git("--git-dir", y.repo, "rev-parse", "--branches") }

// clone checks the branch out as a person would.
func (y *yard) clone(b retake.Backup) string {
	y.t.Helper()
	to := filepath.Join(y.t.TempDir(), "clone")
	y.git("clone", "-q", "--branch", b.Branch, "file://"+y.repo, to)
	return to
}

// tree reads all files below a directory: type, execution and bytes.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if rel == ".git" {
			return filepath.SkipDir
		}
		i, err := d.Info()
		switch {
		case err != nil || d.IsDir():
		case d.Type()&fs.ModeSymlink != 0:
			var to string
			to, err = os.Readlink(path)
			out[rel] = "link " + to
		case d.Type().IsRegular():
			var b []byte
			b, err = os.ReadFile(path)
			out[rel] = fmt.Sprintf("file %v %x", i.Mode()&0o100 != 0, sha256.Sum256(b))
		default:
			out[rel] = i.Mode().Type().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// everything is all bytes of all objects of a repository, reachable or not.
func everything(t testing.TB, repo string) []byte {
	t.Helper()
	cmd := exec.Command("git", "--git-dir", repo, "cat-file", "--batch-all-objects", "--batch", "--unordered")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}
