//go:build linux

package assemble_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
)

// A git repository is as it was after init and ten saves: its status, HEAD, the
// bytes of its index, and every stat but the root's own change time, which the
// mark moves.
func TestUntouchedRepository(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	git(t, root, "init", "-q")
	for name, body := range map[string]string{"a.go": "package a\n", "sub/b.go": "package b\n", "ignored.log": "x"} {
		p := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		must(t, os.WriteFile(p, []byte(body), 0o644))
	}
	must(t, os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*.log\n"), 0o644))
	git(t, root, "add", ".")
	git(t, root, "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "one")
	must(t, os.WriteFile(filepath.Join(root, "a.go"), []byte("package edited\n"), 0o644))

	status := git(t, root, "status", "--porcelain=v2", "--branch")
	before := stats(t, root)
	home := t.TempDir()
	set, err := config.Load(filepath.Join(home, "config.json"))
	must(t, err)
	s, err := assemble.OpenService(t.Context(), config.Config{DataDir: filepath.Join(home, "data"), Home: "/nobody", BootID: "b"}, set, assemble.Options{Derivation: derivation})
	must(t, err)
	defer s.Close()
	res, err := s.Init(t.Context(), retake.InitRequest{Dir: root})
	must(t, err)
	for range 10 {
		_, err := s.Save(t.Context(), retake.SaveRequest{Workspace: res.Workspace.ID})
		must(t, err)
	}
	if d := cmp.Diff(before, stats(t, root)); d != "" {
		t.Errorf("stats (-before +after):\n%s", d)
	}
	if d := cmp.Diff(status, git(t, root, "status", "--porcelain=v2", "--branch")); d != "" {
		t.Errorf("git status (-before +after):\n%s", d)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"--no-optional-locks", "-C", dir}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

// stats is everything stat tells but access times, and a digest of each file.
func stats(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.Walk(root, func(p string, i os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if i.Name() == ".retake" { // the mark, where there are no attributes
			return filepath.SkipDir
		}
		st := i.Sys().(*syscall.Stat_t)
		ctime := fmt.Sprint(st.Ctim)
		if p == root {
			ctime, st.Nlink = "moved by the mark", 0
		}
		var sum [32]byte
		if i.Mode().IsRegular() {
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			sum = sha256.Sum256(b)
		}
		out[p] = fmt.Sprint(i.Mode(), i.Size(), i.ModTime().UnixNano(), st.Ino, st.Nlink, st.Uid, st.Gid, ctime, sum)
		return nil
	}))
	return out
}
