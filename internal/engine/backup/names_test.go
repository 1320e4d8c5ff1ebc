package backup_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/pure/token"
)

func TestNamesThatGitRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		".git", ".GIT", ".gIt", "git~1", "GIT~1", ".git ", ".git.", ".git . .", ".git::$INDEX_ALLOCATION", ".git:x", ".g\u200cit", "\ufeff.git", ".git\u200d", ".gi\u202et", ".git\xff",
	} {
		if !backup.IsGitName(name) {
			t.Errorf("%q passes", name)
		}
	}
	for _, name := range []string{".gitignore", ".github", "git", "x.git", ".git2", "git~2", ".git-x", "a.git.", ".gitattributes", "\xff.git"} {
		if backup.IsGitName(name) {
			t.Errorf("%q is held back", name)
		}
	}
	for name, want := range map[string]bool{".gitmodules": true, ".GitModules": true, "gitmod~1": true, "gi7eba~1": true, ".gitmodules .": true, ".gitmodules2": false, "gitmodules": false} {
		if backup.IsModulesName(name) != want {
			t.Errorf("%q: not %v", name, want)
		}
	}
	for name, want := range map[string]bool{"": true, ".": true, "..": true, "a\\b": true, "a/b": true, "a\x00": true, "...": false, " ": false, "-": false} {
		if backup.IsBadName(name) != want {
			t.Errorf("%q: not %v", name, want)
		}
	}
}

// TestGitAgreesAboutNames asks git's own check of trees about every name that passes.
func TestGitAgreesAboutNames(t *testing.T) {
	t.Parallel()
	b := newBackupTest(t)
	files := map[string]item{}
	for _, name := range []string{
		".git", ".GIT", "git~1", ".git ", ".git.", ".git:x", ".g\u200cit", "a\\b", "..\\x", ".gitmodules", ".github", "git~2", ".git\xff", "\xff.git", "-rf", "a b", "\x01", "\"", "é", "😀", "...", "CON", "a:b",
	} {
		files["in/"+name] = file("x")
		files["dir/"+name+"/x"] = file("y")
	}
	files["link/.gitmodules"] = item{data: "x", kind: retake.KindSymlink}
	for i, text := range []string{"[submodule \"../x\"]\n\tpath = x\n\turl = x\n", "[submodule \"x\"]\n\tpath = -x\n\turl = x\n", "[submodule \"x\"]\n\turl = -x\n", "[submodule \"x\"]\n\turl = x\n\tupdate = !touch x\n"} {
		files[fmt.Sprintf("m%d/.gitmodules", i)] = file(text)
	}
	files["link/.gitignore"] = item{data: "x", kind: retake.KindSymlink}
	files["in/.gitmodules"] = file("[submodule \"x\"]\n\tpath = x\n\turl = x\n")
	b.remoteGit("config", "receive.fsckObjects", "true")
	b.history.save("names", files)
	got := b.runBackup()
	count := map[retake.LeaveReason]int64{}
	for _, l := range got.Left {
		count[l.Reason] = l.Count
	}
	if count[retake.LeaveGit] != 16 || count[retake.LeaveName] != 10 {
		t.Errorf("%+v", got.Left)
	}
	if n := int64(len(b.files(got.Pushed.Commit))); n != int64(len(files))-26 {
		t.Errorf("%d of %d are there", n, len(files))
	}
}

func TestPlacesForSecrets(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".env": true, ".ENV": true, ".env.production": true, "prod.env": true, ".env.example": false, ".env.sample": false, "env": false, ".envrc": false, "environment.ts": false,
		"id_rsa": true, "id_rsa.pub": false, ".netrc": true, "a.p12": true, "a.kdbx": true, "terraform.tfstate": true, "a.pem": false, "key.go": false,
	} {
		if backup.IsSecretFile(name) != want {
			t.Errorf("%q: not %v", name, want)
		}
	}
	key, _, _ := token.New(retake.KeyAgent)
	long := strings.Repeat("x\n", 3<<19)
	for text, want := range map[string]bool{
		"a " + key + " b": true, long + "ghp_" + strings.Repeat("Zq7tL9mRk2Xv", 3) + long: true, long: false, "\x00\x01 ghp_" + strings.Repeat("Zq7tL9mRk2Xv", 3): false, "": false,
		long[:1<<20-20] + "ghp_" + strings.Repeat("Zq7tL9mRk2Xv", 3): true,
	} {
		if backup.TextHasSecret([]byte(text)) != want {
			t.Errorf("%.40q: not %v", text, want)
		}
	}
}

func TestRemotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"git@example.com:me/shop.git": "example.com", "ssh://git@example.com/me/shop": "example.com", "ssh://git@example.com:2222/x": "example.com", "deploy@10.0.0.1:x": "10.0.0.1",
		"git@[::1]:x": "::1", "ssh://git@[::1]:22/x": "::1", "me@host:~/x": "host",
		"https://example.com/x": "", "http://git@example.com/x": "", "file:///tmp/x": "", "/tmp/x": "", "x": "", "": "", "host:path": "", "C:\\x": "", "ext::sh -c x": "",
		"git@-oProxyCommand=x:y": "", "-oProxyCommand=x@h:y": "", "ssh://-oProxyCommand=x/y": "", "git@host:-x": "", "ssh://git@host/-x": "", "git@host:": "", "ssh://git@host/": "",
		"ssh://git:pw@host/x": "", "ssh://git@host/x?y": "", "ssh://git@host/x#y": "", "ssh://git@host:0/x": "", "ssh://git@host:99999/x": "", "git@ho st:x": "", "git@host:x y": "", "git@host:x\ny": "",
		"git@host;id:x": "", "ssh://git@ho%73t;x/y": "", "git+ssh://git@host/x": "", "SSH://git@host/x": "", "git@fe80::1%eth0:x": "", "ssh://host/x": "", "git@host:é": "",
	} {
		host, port, err := backup.ParseRemote(text, false)
		if host != want || (err == nil) != (want != "") || err != nil && !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%q: %q, %v", text, host, err)
		}
		if want != "" && port != 22 && !strings.Contains(text, ":2222") {
			t.Errorf("%q: port %d", text, port)
		}
	}
}

func TestBranches(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"My shop": "my-shop", "..": "workspace", "a/../b": "a-b", "~^:?*[\\": "workspace", "Ünïcode": "n-code", "": "workspace", strings.Repeat("ab-", 40): ""} {
		id := retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString())
		got := backup.BranchName(retake.Workspace{ID: id, Name: name})
		if want != "" && got != "retake/"+want+"-"+string(id[len(id)-8:]) || len(got) > 60 {
			t.Errorf("%q: %q", name, got)
		}
	}
}

func TestSSHReadsOurKeys(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	for range 3 {
		private, public, err := backup.NewKeyPair("retake-shop")
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(at, private, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("ssh-keygen", "-y", "-f", at).Output()
		if err != nil || strings.TrimSpace(string(out)) != public {
			t.Errorf("%v: %q, not %q", err, out, public)
		}
		out, err = exec.Command("ssh-keygen", "-l", "-f", at).Output()
		key, ok := backup.ParseHostKey("[h]:22 " + public)
		if err != nil || !ok || strings.Fields(string(out))[1] != key.Print {
			t.Errorf("%v %v: %q, not %q", err, ok, out, key.Print)
		}
	}
}

func TestKeysOfHosts(t *testing.T) {
	t.Parallel()
	_, public, err := backup.NewKeyPair("x")
	if err != nil {
		t.Fatal(err)
	}
	bare := strings.TrimSuffix(public, " x")
	for line, want := range map[string]bool{
		public: true, bare: true, "host " + public: true, "": false, "ssh-ed25519": false, "ssh-ed25519 !!!": false, "ssh-dss " + strings.Fields(bare)[1]: false,
		"ssh-rsa " + strings.Fields(bare)[1]: false, "ssh-ed25519 " + base64.StdEncoding.EncodeToString([]byte("x")): false,
	} {
		if _, ok := backup.ParseHostKey(line); ok != want {
			t.Errorf("%q: not %v", line, want)
		}
	}
}

func TestWhatProgramsSayIsOneLine(t *testing.T) {
	t.Parallel()
	got := backup.SummarizeErrors("Writing objects:  10% (1/10)\rWriting objects: 100% (10/10)\nfatal: \x1b[31mno\x00 way\nerror: also\n@@@@\n")
	if got != "[31mno way; also" {
		t.Errorf("%q", got)
	}
	if long := backup.SummarizeErrors(strings.Repeat("é", 1000)); len(long) > 410 {
		t.Errorf("%d bytes", len(long))
	}
}
