//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/config"
)

// readConfig reads the configuration of an environment with nothing but these variables.
func readConfig(t *testing.T, vars map[string]string) config.Config {
	t.Helper()
	for _, pair := range os.Environ() {
		key, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(key, "XDG_") || strings.HasPrefix(key, "RETAKE_") || strings.HasPrefix(key, "LISTEN_") {
			t.Setenv(key, "")
		}
	}
	for k, v := range vars {
		t.Setenv(k, v)
	}
	c, err := config.Read()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSocketsOfHomes(t *testing.T) {
	long := "/tmp/" + strings.Repeat("x", 120)
	run := map[string]string{"HOME": "/home/ann", "XDG_RUNTIME_DIR": "/run/user/7", "TMPDIR": "/tmp"}
	own := readConfig(t, map[string]string{"RETAKE_HOME": "/srv/r"})
	if own.Socket != "/srv/r/run/daemon.sock" || own.DataDir != "/srv/r/data" {
		t.Errorf("RETAKE_HOME: %s", own.Socket)
	}
	session := readConfig(t, run)
	if filepath.Dir(session.Socket) != "/run/user/7/retake" || session.UnitDir != "/home/ann/.config/systemd/user" {
		t.Errorf("session: %s, units %s", session.Socket, session.UnitDir)
	}
	run["XDG_DATA_HOME"] = "/data"
	if other := readConfig(t, run); filepath.Dir(other.Socket) != "/run/user/7/retake" || other.Socket == session.Socket {
		t.Errorf("two data directories share %s", other.Socket)
	}
	if bare := readConfig(t, map[string]string{"HOME": "/home/ann"}); filepath.Dir(bare.Socket) != "/home/ann/.local/share/retake/run" {
		t.Errorf("without a session: %s", bare.Socket)
	}
	far := readConfig(t, map[string]string{"RETAKE_HOME": long, "TMPDIR": "/tmp"})
	if len(far.Socket) > 103 || !strings.HasPrefix(far.Socket, "/tmp/retake-") || far.SocketDir != filepath.Dir(far.Socket) {
		t.Errorf("a long home: %s", far.Socket)
	}
	if farther := readConfig(t, map[string]string{"RETAKE_HOME": long, "TMPDIR": long}); farther.Socket != far.Socket {
		t.Errorf("a long directory for temporary files: %s", farther.Socket)
	}
}

func TestWishesOfTheEnvironment(t *testing.T) {
	for value, want := range map[string]bool{"": false, "0": false, "false": false, "1": true, "yes": true} {
		if got := readConfig(t, map[string]string{"RETAKE_HOME": "/srv/r", "RETAKE_SOLO": value}).Solo; got != want {
			t.Errorf("RETAKE_SOLO=%s: %v", value, got)
		}
	}
	if n := readConfig(t, map[string]string{"RETAKE_HOME": "/srv/r", "LISTEN_FDS": "1", "LISTEN_PID": "1"}).ListenFDs; n != 0 {
		t.Errorf("%d sockets that were handed to another", n)
	}
}

func TestDaemonSeesLittle(t *testing.T) {
	c := readConfig(t, map[string]string{
		"RETAKE_HOME": "relative", "HOME": "/home/ann", "LC_TIME": "de", "XDG_RUNTIME_DIR": "/run/user/7", "TZ": "UTC",
		"AWS_SECRET": "s", "LD_PRELOAD": "/evil.so", "PATH": "/evil", "RETAKE_SOLO": "1", "GIT_DIR": "/w/.git", "HOMER": "x",
	})
	env := c.DaemonEnv()
	root, err := filepath.Abs("relative")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"RETAKE_HOME=" + root, "HOME=/home/ann", "LC_TIME=de", "XDG_RUNTIME_DIR=/run/user/7", "TZ=UTC"} {
		if !slices.Contains(env, want) {
			t.Errorf("it does not see %s", want)
		}
	}
	for _, pair := range env {
		key, value, _ := strings.Cut(pair, "=")
		if slices.Contains([]string{"AWS_SECRET", "LD_PRELOAD", "RETAKE_SOLO", "GIT_DIR", "HOMER"}, key) || key == "PATH" && strings.Contains(value, "evil") {
			t.Errorf("it sees %s", pair)
		}
	}
}

func TestPlaceOfTheSocketIsSafe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := config.Config{SocketDir: filepath.Join(dir, "run")}
	if err := c.CheckSocketDir(); err != nil {
		t.Errorf("a place that is not there: %v", err)
	}
	if err := os.Mkdir(c.SocketDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(c.SocketDir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := c.MakeSocketDir(); err != nil {
		t.Fatal(err)
	}
	if i, err := os.Stat(c.SocketDir); err != nil || i.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", i.Mode(), err)
	}
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := os.Symlink(c.SocketDir, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{link, file} {
		if err := (config.Config{SocketDir: bad}).MakeSocketDir(); !retake.IsKind(err, retake.Away) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if os.Getuid() != 0 {
		return
	}
	if err := os.Chown(c.SocketDir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if err := c.CheckSocketDir(); !retake.IsKind(err, retake.Away) {
		t.Errorf("a place of somebody else: %v", err)
	}
}

// A process that lives for long sees what another one set.
func TestSettingsFollowTheirFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.json")
	long, other := loadSettings(t, path), loadSettings(t, path)
	if long.IdleTimeout() != 4*time.Hour || !long.LeavesCgroup() {
		t.Errorf("by default: %v, %v", long.IdleTimeout(), long.LeavesCgroup())
	}
	for key, value := range map[string]string{"daemon-idle": "90m", "daemon-cgroup": "stay", "floor": "7"} {
		if err := other.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	if long.IdleTimeout() != 90*time.Minute || long.LeavesCgroup() || long.Floor(1e12) != 7 {
		t.Errorf("set elsewhere: %v, %v, %d", long.IdleTimeout(), long.LeavesCgroup(), long.Floor(1e12))
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if long.IdleTimeout() != 90*time.Minute {
		t.Error("a damaged file changed something")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if long.IdleTimeout() != 4*time.Hour {
		t.Error("a removed file still counts")
	}
	for key, value := range map[string]string{"daemon-idle": "-1s", "daemon-cgroup": "perhaps"} {
		if err := other.Set(key, value); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%s = %s: %v", key, value, err)
		}
	}
}

// A daemon that is to see files come to rest stays, for one workspace as for all.
func TestQuietKeepsTheDaemon(t *testing.T) {
	t.Parallel()
	const one = "ws_0190f3a1-2b4c-7d5e-8f60-718293a4b5c6"
	for key, everywhere := range map[string]bool{"quiet": true, one + ".quiet": false} {
		s := loadSettings(t, filepath.Join(t.TempDir(), "config.json"))
		if s.Habits(one).Quiet || s.IdleTimeout() == 0 {
			t.Error("it is on before anybody asked")
		}
		if err := s.Set(key, "on"); err != nil {
			t.Fatal(err)
		}
		if other := s.Habits("ws_0190f3a1-2b4c-7d5e-8f60-000000000000").Quiet; !s.Habits(one).Quiet || other != everywhere || s.IdleTimeout() != 0 {
			t.Errorf("%s: here %v, elsewhere %v, the daemon stays %v", key, s.Habits(one).Quiet, other, s.IdleTimeout())
		}
		for other, want := range map[string]bool{"agents": true, "paused": false} { // own edits are no matter of agents
			value := map[string]string{"agents": "off", "paused": "2026-03-02T09:00:00Z"}[other]
			if err := s.Set(other, value); err != nil {
				t.Fatal(err)
			}
			if s.Habits(one).Quiet != want {
				t.Errorf("%s: with %s = %s it is %v", key, other, value, !want)
			}
			if err := s.Unset(other); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Set(key, "off"); err != nil {
			t.Fatal(err)
		}
		if s.Habits(one).Quiet || s.IdleTimeout() == 0 {
			t.Errorf("%s: it is on after it was set off", key)
		}
	}
}
