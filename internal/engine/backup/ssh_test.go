package backup_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
)

// programs puts scripts before the real programs.
func programs(t *testing.T, scripts map[string]string) (path, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir + ":" + os.Getenv("PATH"), dir
}

// overSSH is what a host would do: it runs the last word as a command.
const overSSH = `printf '%s\n' "$@" > "$0.args"; env > "$0.env"; cat key key.open > "$0.key" 2>/dev/null; for last; do :; done; exec sh -c "$last"`

const url = "ssh://git@host.invalid:2222"

// host makes a key of a host.
func host(t *testing.T) string {
	t.Helper()
	_, public, err := backup.NewKeyPair("host")
	if err != nil {
		t.Fatal(err)
	}
	return public
}

func TestSSHSeesNothingOfTheUser(t *testing.T) {
	b := newBackupTest(t)
	canary := filepath.Join(t.TempDir(), "canary")
	evil := "touch " + canary
	home := t.TempDir()
	writeFile(t, filepath.Join(home, ".gitconfig"), "[core]\n\tsshCommand = "+evil+"\n\thooksPath = "+home+"\n\tfsmonitor = "+evil+"\n[alias]\n\tpush = !"+evil+"\n")
	writeFile(t, filepath.Join(home, "pre-push"), "#!/bin/sh\n"+evil+"\n")
	for name, value := range map[string]string{
		"HOME": home, "GIT_SSH": evil, "GIT_SSH_COMMAND": evil, "GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"), "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.sshCommand",
		"GIT_CONFIG_VALUE_0": evil, "GIT_DIR": home, "GIT_EXEC_PATH": home, "GIT_PROXY_COMMAND": evil, "SSH_AUTH_SOCK": "/tmp/agent", "GIT_TRACE": canary, "GIT_TEMPLATE_DIR": home, "SECRET": "x",
	} {
		t.Setenv(name, value)
	}
	path, dir := programs(t, map[string]string{"ssh": overSSH})
	w := b.worker(backup.Options{Path: path})
	set, err := w.Set(t.Context(), b.history.ws, retake.BackupRequest{URL: url + b.remote, Host: host(t)})
	if err != nil || !set.Set || !strings.HasPrefix(set.Public, "ssh-ed25519 ") {
		t.Fatalf("%+v %v", set, err)
	}
	b.history.save("one", map[string]item{"a": file("1"), ".git/config": file("[core]\n\tsshCommand = " + evil + "\n\tfsmonitor = " + evil)})
	got, err := w.Run(t.Context(), b.history.ws.ID, b.history)
	if err != nil {
		t.Fatal(err)
	}
	b.wantFiles(got.Pushed.Commit, map[string]item{"a": file("1")})
	if _, err := os.Stat(canary); err == nil {
		t.Error("something of the user's was run")
	}
	args, env := readFile(t, dir, "ssh.args"), readFile(t, dir, "ssh.env")
	for _, want := range []string{"-F\n/dev/null\n", "IdentitiesOnly=yes", "UserKnownHostsFile=known_hosts", "StrictHostKeyChecking=yes", "BatchMode=yes", "IdentityAgent=none", "ProxyCommand=none", "IdentityFile=key\n", "\n2222\n", "\ngit@host.invalid\n"} {
		if !strings.Contains(args, want) {
			t.Errorf("no %q in %s", want, args)
		}
	}
	for _, bad := range []string{"SECRET", "SSH_AUTH_SOCK", home, "GIT_CONFIG_COUNT", "GIT_TRACE"} {
		if strings.Contains(env, bad) {
			t.Errorf("%s is seen: %s", bad, env)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// xorSealer seals by turning every bit.
type xorSealer struct{}

func (xorSealer) Seal(_ context.Context, purpose string, b []byte) ([]byte, error) {
	out := []byte(purpose)
	for _, c := range b {
		out = append(out, ^c)
	}
	return out, nil
}

func (f xorSealer) Open(ctx context.Context, purpose string, sealed []byte) ([]byte, error) {
	if !bytes.HasPrefix(sealed, []byte(purpose)) {
		return nil, errors.New("of another purpose")
	}
	out, err := f.Seal(ctx, "", sealed[len(purpose):])
	return out, err
}

func TestKeysAreForNobodyElse(t *testing.T) {
	t.Parallel()
	for name, seal := range map[string]backup.Sealer{"plain": nil, "sealed": xorSealer{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBackupTest(t)
			path, programs := programs(t, map[string]string{"ssh": overSSH})
			w := b.worker(backup.Options{Path: path, Seal: seal})
			if _, err := w.Set(t.Context(), b.history.ws, retake.BackupRequest{URL: url + b.remote, Host: host(t)}); err != nil {
				t.Fatal(err)
			}
			b.history.save("one", map[string]item{"a": file("1")})
			if _, err := w.Run(t.Context(), b.history.ws.ID, b.history); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(readFile(t, programs, "ssh.key"), "BEGIN OPENSSH PRIVATE KEY") {
				t.Error("ssh did not see the key")
			}
			dir := filepath.Join(b.dir, string(b.history.ws.ID))
			if plain := strings.Contains(readFile(t, dir, "key"), "BEGIN OPENSSH"); plain != (seal == nil) {
				t.Errorf("the key lies there as plain text: %v", plain)
			}
			if _, err := os.Stat(filepath.Join(dir, "key.open")); err == nil {
				t.Error("the open key stays")
			}
			for _, at := range []string{dir, filepath.Join(dir, "key"), filepath.Join(dir, "state.json")} {
				if i, err := os.Stat(at); err != nil || i.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s: %v %v", at, i.Mode(), err)
				}
			}
		})
	}
}

func TestTheSameRemoteKeepsItsKey(t *testing.T) {
	t.Parallel()
	b, at := newBackupTest(t), host(t)
	set := func(url string) retake.Backup {
		got, err := b.w.Set(t.Context(), b.history.ws, retake.BackupRequest{URL: url, Host: at})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	one, again, other := set("git@a.invalid:x"), set("git@a.invalid:x"), set("git@a.invalid:y")
	if one.Public != again.Public || one.Public == other.Public {
		t.Errorf("%s, %s, %s", one.Public, again.Public, other.Public)
	}
}

func TestTroubleOfSSHHasAKind(t *testing.T) {
	t.Parallel()
	for says, want := range map[string]struct {
		cause error
		kind  retake.ErrorKind
	}{
		"Host key verification failed.":                                                         {backup.ErrHost, retake.Denied},
		"git@host: Permission denied (publickey).":                                              {backup.ErrRefused, retake.Denied},
		"ERROR: Repository not found.":                                                          {backup.ErrRefused, retake.NotFound},
		"ssh: connect to host h port 22: Connection refused":                                    {backup.ErrAway, retake.Away},
		"ssh: Could not resolve hostname h: Name or service not known":                          {backup.ErrAway, retake.Away},
		"fatal: '/x' does not appear to be a git repository":                                    {backup.ErrRefused, retake.NotFound},
		"remote: error: GH006: the key is read-only, ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6": {backup.ErrRefused, retake.Denied},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			b := newBackupTest(t)
			path, _ := programs(t, map[string]string{"ssh": "cat <<'END' >&2\n" + says + "\nEND\nexit 255"})
			w := b.worker(backup.Options{Path: path})
			if _, err := w.Set(t.Context(), b.history.ws, retake.BackupRequest{URL: url + "/x", Host: host(t)}); err != nil {
				t.Fatal(err)
			}
			got, err := w.Run(t.Context(), b.history.ws.ID, b.history)
			if !errors.Is(err, want.cause) || !retake.IsKind(err, want.kind) {
				t.Errorf("%v", err)
			}
			if got.Trouble == nil || got.Trouble.Kind != want.kind || got.Trouble.Hint == "" || strings.Contains(got.Trouble.What, "ghp_") {
				t.Errorf("%+v", got.Trouble)
			}
		})
	}
}

func TestWhatDoesNotMoveIsGivenUp(t *testing.T) {
	t.Parallel()
	b := newBackupTest(t)
	path, dir := programs(t, map[string]string{"ssh": `echo $$ > "$0.pid"; exec sleep 600`})
	w := b.worker(backup.Options{Path: path, Stall: 5 * time.Second})
	if _, err := w.Set(t.Context(), b.history.ws, retake.BackupRequest{URL: url + "/x", Host: host(t)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(t.Context(), b.history.ws.ID, b.history); !errors.Is(err, backup.ErrAway) || !retake.IsKind(err, retake.Away) {
		t.Errorf("%v", err)
	}
	if pid := strings.TrimSpace(readFile(t, dir, "ssh.pid")); pid == "" {
		t.Error("nothing was run")
	} else if _, err := os.Stat("/proc/" + pid + "/exe"); err == nil {
		t.Errorf("process %s lives on", pid)
	}
}

func TestHostsAreAgreedTo(t *testing.T) {
	t.Parallel()
	b := newBackupTest(t)
	key, other := host(t), host(t)
	line := strings.Join(strings.Fields(key)[:2], " ")
	path, dir := programs(t, map[string]string{"ssh-keyscan": `printf '%s\n' "$@" > "$0.args"; echo '# comment'; echo '[host.invalid]:2222 ` + line + `'`})
	w := b.worker(backup.Options{Path: path})
	req := retake.BackupRequest{URL: url + "/x"}
	offered, err := w.Set(t.Context(), b.history.ws, req)
	if err != nil || offered.Set || offered.Host == nil || offered.Host.Kind+" "+offered.Host.Key != line || offered.Public != "" {
		t.Fatalf("%+v %v", offered, err)
	}
	if known, err := b.w.State(b.history.ws.ID); err != nil || known.URL != b.remote {
		t.Errorf("an offer changed the backup: %+v %v", known, err)
	}
	if args := readFile(t, dir, "ssh-keyscan.args"); !strings.HasSuffix(args, "-p\n2222\n--\nhost.invalid\n") {
		t.Errorf("%q", args)
	}
	for named, want := range map[string]error{offered.Host.Print: nil, key: nil, line: nil, other: nil, "SHA256:" + strings.Repeat("A", 43): backup.ErrHost, "nonsense": backup.ErrHost} {
		req.Host = named
		got, err := w.Set(t.Context(), b.history.ws, req)
		if !errors.Is(err, want) || err == nil && (!got.Set || got.Public == "") {
			t.Errorf("%q: %+v %v", named, got, err)
		}
	}
}

func TestAnAddressMayBeRefused(t *testing.T) {
	t.Parallel()
	b := newBackupTest(t)
	path, dir := programs(t, map[string]string{"ssh": overSSH, "ssh-keyscan": "exit 1"})
	refuse := false
	w := b.worker(backup.Options{Path: path, ResolveHost: func(_ context.Context, host string) (string, error) {
		if refuse || host != "host.invalid" {
			return "", errors.New("it lies inside")
		}
		return "192.0.2.7", nil
	}})
	if _, err := w.Set(t.Context(), b.history.ws, retake.BackupRequest{URL: url + b.remote, Host: host(t)}); err != nil {
		t.Fatal(err)
	}
	b.history.save("one", map[string]item{"a": file("1")})
	if _, err := w.Run(t.Context(), b.history.ws.ID, b.history); err != nil {
		t.Fatal(err)
	}
	if args := readFile(t, dir, "ssh.args"); !strings.Contains(args, "HostName=192.0.2.7\n") {
		t.Errorf("%s", args)
	}
	if err := os.Remove(filepath.Join(dir, "ssh.args")); err != nil {
		t.Fatal(err)
	}
	refuse = true
	if _, err := w.Run(t.Context(), b.history.ws.ID, b.history); !errors.Is(err, backup.ErrAway) {
		t.Errorf("%v", err)
	}
	if _, err := w.Set(t.Context(), b.history.ws, retake.BackupRequest{URL: url + b.remote}); !errors.Is(err, backup.ErrAway) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ssh.args")); err == nil {
		t.Error("it was spoken to")
	}
}

func TestMissingProgramsAreNamed(t *testing.T) {
	t.Parallel()
	b := newBackupTest(t)
	w := b.worker(backup.Options{Path: t.TempDir()})
	for _, err := range []error{
		func() error { _, err := w.Run(t.Context(), b.history.ws.ID, b.history); return err }(),
		func() error {
			_, err := w.Set(t.Context(), b.history.ws, retake.BackupRequest{URL: url + "/x"})
			return err
		}(),
	} {
		if !errors.Is(err, backup.ErrProgram) || !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%v", err)
		}
	}
}
