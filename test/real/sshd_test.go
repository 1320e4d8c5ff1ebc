//go:build ssh

package real_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/engine/backup"
)

// TestSSHCloneIsTheCheckpoint sends checkpoints to a real host, and checks one out.
func TestSSHCloneIsTheCheckpoint(t *testing.T) {
	t.Parallel()
	y := newYard(t, assemble.Options{})
	y.write("a.txt", "a\n")
	y.write("deep/er/b.txt", "b\n")
	y.write("names/caf\xe9", "latin")
	y.write("names/new\nline", "odd")
	y.write(".gitignore", "build/\n*.log\n")
	y.write("empty", "")
	y.write("big.bin", strings.Repeat("\x00\x01\x02retake", 300_000))
	y.must(os.Symlink("../a.txt", filepath.Join(y.dir, "deep/link")))
	y.must(os.Symlink("/nowhere", filepath.Join(y.dir, "dangling")))
	y.write("run.sh", "#!/bin/sh\n")
	y.must(os.Chmod(filepath.Join(y.dir, "run.sh"), 0o755))
	y.init()
	y.write("a.txt", "changed\n")
	y.must(os.RemoveAll(filepath.Join(y.dir, "deep/er")))
	want := tree(t, y.dir)
	for name, text := range map[string]string{"build/out": "o", "x.log": "l", ".env": "A=b", "sub/.git/config": "[core]\n", "key.pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA0\n-----END RSA PRIVATE KEY-----\n"} {
		y.write(name, text)
	}
	y.must(syscall.Mkfifo(filepath.Join(y.dir, "pipe"), 0o600))
	y.save("second")
	y.set()
	b := y.backUp()
	if b.Pushed.Number != 2 || b.Behind != 0 || b.Trouble != nil || b.Pushed.Commit != y.tip() {
		t.Errorf("%+v, the remote has %s", b, y.tip())
	}
	if got := tree(t, y.clone(b)); !maps.Equal(got, want) {
		t.Errorf("the clone is %q\nand not %q", got, want)
	}
	count := map[retake.LeaveReason]int64{}
	for _, l := range b.Left {
		count[l.Reason] = l.Count
	}
	if fmt.Sprint(count) != fmt.Sprint(map[retake.LeaveReason]int64{retake.LeaveSecret: 2, retake.LeaveIgnored: 2, retake.LeaveGit: 1, retake.LeaveSpecial: 1}) {
		t.Errorf("left out: %v", b.Left)
	}
	y.git("--git-dir", y.repo, "fsck", "--strict")
}

// TestSSHOtherHostIsRefused: the host is another one than before, and hears nothing.
func TestSSHOtherHostIsRefused(t *testing.T) {
	t.Parallel()
	y := newYard(t, assemble.Options{})
	y.write("a.txt", "a\n")
	y.init()
	y.set()
	tip := y.backUp().Pushed.Commit
	y.host.Stop()
	y.host.NewHostKey()
	y.host.Start()
	y.write("a.txt", "b\n")
	y.save("not for strangers")
	_, err := y.s.PushBackup(t.Context(), y.ws.ID)
	if !errors.Is(err, backup.ErrHost) || !retake.IsKind(err, retake.Denied) {
		t.Errorf("%v", err)
	}
	if y.tip() != tip || bytes.Contains(everything(t, y.repo), []byte("strangers")) {
		t.Error("the other host was told something")
	}
	b, err := y.s.Backup(t.Context(), y.ws.ID)
	y.must(err)
	if b.Trouble == nil || b.Behind != 1 || !strings.Contains(b.Trouble.What, "not the one that was agreed to") {
		t.Errorf("%+v", b.Trouble)
	}
	if res := y.save("loud"); len(res.Warnings) != 1 || res.Warnings[0].Code != "backup" {
		t.Errorf("%+v", res.Warnings)
	}
	y.host.Stop()
	if log := y.host.Log(); strings.Count(log, "Accepted publickey") != 3 { // of the first host: asked, sent, read back
		t.Errorf("let in: %s", log)
	}
}

// TestSSHHostThatIsAway is said and tried again, in the background.
func TestSSHHostThatIsAway(t *testing.T) {
	t.Parallel()
	y := newYard(t, assemble.Options{Exclusive: true})
	y.write("a.txt", "a\n")
	y.init()
	y.set()
	y.host.Stop()
	y.write("a.txt", "b\n")
	y.save("nobody there")
	y.until("trouble", func(b retake.Backup) bool { return b.Trouble != nil })
	b, err := y.s.Backup(t.Context(), y.ws.ID)
	y.must(err)
	if b.Trouble.Kind != retake.Away || b.Trouble.Next == nil || b.Behind != 2 {
		t.Errorf("%+v", b)
	}
	if _, err := y.s.PushBackup(t.Context(), y.ws.ID); !errors.Is(err, backup.ErrAway) {
		t.Errorf("%v", err)
	}
	y.host.Start()
	y.write("a.txt", "c\n")
	y.save("back again")
	y.backUp()
	y.until("all", func(b retake.Backup) bool { return b.Trouble == nil && b.Behind == 0 && b.Pushed.Commit == y.tip() })
	// And now nobody has to ask.
	y.write("a.txt", "d\n")
	y.save("by itself")
	y.until("by itself", func(b retake.Backup) bool { return b.Behind == 0 && b.Pushed.Number == 4 && b.Pushed.Commit == y.tip() })
}

func (y *yard) until(what string, is func(retake.Backup) bool) {
	y.t.Helper()
	for end := time.Now().Add(90 * time.Second); ; <-time.After(50 * time.Millisecond) {
		b, err := y.s.Backup(y.t.Context(), y.ws.ID)
		y.must(err)
		if is(b) {
			return
		}
		if time.Now().After(end) {
			y.t.Fatalf("%s: it never came: %+v", what, b)
		}
	}
}

// TestSSHRewrittenRemoteIsKept: what somebody else put there stays.
func TestSSHRewrittenRemoteIsKept(t *testing.T) {
	t.Parallel()
	y := newYard(t, assemble.Options{})
	y.write("a.txt", "a\n")
	y.init()
	b := y.set()
	y.backUp()
	other := y.git("--git-dir", y.repo, "commit-tree", "-m", "another history", y.tip()+"^{tree}")
	y.git("--git-dir", y.repo, "update-ref", "refs/heads/"+b.Branch, other)
	y.write("a.txt", "b\n")
	y.save("more")
	if _, err := y.s.PushBackup(t.Context(), y.ws.ID); !errors.Is(err, backup.ErrRewritten) || !retake.IsKind(err, retake.Moved) {
		t.Errorf("%v", err)
	}
	if y.tip() != other {
		t.Errorf("the remote has %s, not %s", y.tip(), other)
	}
}

// TestSSHKeyThatIsNotLetIn is told apart from a host that is away.
func TestSSHKeyThatIsNotLetIn(t *testing.T) {
	t.Parallel()
	y := newYard(t, assemble.Options{})
	y.write("a.txt", "a\n")
	y.init()
	y.set()
	y.host.LetIn("")
	if _, err := y.s.PushBackup(t.Context(), y.ws.ID); !errors.Is(err, backup.ErrRefused) || !retake.IsKind(err, retake.Denied) {
		t.Errorf("%v", err)
	}
}

// TestSSHNoSecretArrives plants markers in twelve places, over three checkpoints.
func TestSSHNoSecretArrives(t *testing.T) {
	t.Parallel()
	const marker = "Zq7tL9mRk2Xv"
	y := newYard(t, assemble.Options{})
	y.write("README.md", "hello\n")
	y.write("old.pem", "-----BEGIN EC PRIVATE KEY-----\n"+marker+"\n-----END EC PRIVATE KEY-----\n")
	y.write("config.py", "API_TOKEN = \"ghp_"+strings.Repeat(marker, 3)+"\"\n")
	y.init()
	y.must(os.Remove(filepath.Join(y.dir, "old.pem")))
	y.write("config.py", "API_TOKEN = os.environ[\"API_TOKEN\"]\n")
	for name, text := range map[string]string{
		".env": "A=" + marker, "app/.env.production": "A=" + marker, "id_ed25519": marker, "certs/store.p12": marker, ".aws/credentials": marker,
		"settings.json": `{"password": "` + marker + `"}`, "db.txt": "postgres://app:" + marker + "@db/x\n", ".npmrc": "//x/:_authToken=npm_" + strings.Repeat(marker, 3) + "\n",
		"ci.yml": "env:\n  AWS_SECRET_ACCESS_KEY: " + strings.Repeat(marker, 3) + "b3/+\n", "hook.sh": "curl -H 'Authorization: Bearer " + strings.Repeat(marker, 3) + "'\n",
	} {
		y.write(name, text)
	}
	y.save("with ghp_" + strings.Repeat(marker, 3))
	y.write("README.md", "hello again\n")
	y.save("third")
	y.set()
	b := y.backUp()
	all := everything(t, y.repo)
	if n := bytes.Count(all, []byte(marker)); n != 0 {
		t.Errorf("%d markers arrived", n)
	}
	if !bytes.Contains(all, []byte("hello again")) || !bytes.Contains(all, []byte("os.environ")) || b.Pushed.Number != 3 {
		t.Error("what is no secret did not arrive")
	}
	if len(b.Left) != 1 || b.Left[0].Reason != retake.LeaveSecret || b.Left[0].Count != 10 {
		t.Errorf("%+v", b.Left)
	}
}

// TestSSHNothingOfTheWorkspaceRuns plants programs wherever git looks for some.
func TestSSHNothingOfTheWorkspaceRuns(t *testing.T) {
	t.Parallel()
	y := newYard(t, assemble.Options{})
	canary := filepath.Join(t.TempDir(), "canary")
	evil := "touch " + canary + ";:"
	y.git("init", "-q", y.dir)
	conf := fmt.Sprintf("[core]\n\tsshCommand = %s\n\tfsmonitor = %s\n\thooksPath = hooks\n\tgitProxy = %s\n[filter \"x\"]\n\tclean = %s\n\tsmudge = %s\n\tprocess = %s\n[diff]\n\texternal = %s\n[credential]\n\thelper = !%s\n[protocol]\n\tallow = always\n", evil, evil, evil, evil, evil, evil, evil, evil)
	y.write(".git/config", conf)
	y.write(".gitconfig", conf)
	y.write(".gitattributes", "* filter=x diff=x\n")
	y.write(".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c '"+evil+"'\n")
	for _, hook := range []string{"pre-push", "post-commit", "reference-transaction", "pre-auto-gc", "post-update", "update", "pre-receive"} {
		for _, dir := range []string{".git/hooks", "hooks"} {
			y.write(filepath.Join(dir, hook), "#!/bin/sh\n"+evil+"\n")
			y.must(os.Chmod(filepath.Join(y.dir, dir, hook), 0o755))
		}
	}
	y.write("a.txt", "a\n")
	y.init()
	y.set()
	b := y.backUp()
	if _, err := os.Stat(canary); err == nil {
		t.Error("a program of the workspace was run")
	}
	if b.Pushed.Number != 1 {
		t.Errorf("%+v", b)
	}
}
