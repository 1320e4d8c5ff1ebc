package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
)

// maxSocketPath is the longest path of a socket that we use: kernels allow between 103 and 107
// bytes.
const maxSocketPath = 100

// resolveSocket sets where the daemon of this data directory listens. Two data directories
// never share a socket: below RETAKE_HOME each has its own, and elsewhere the name contains a
// digest of the data directory.
func (c *Config) resolveSocket() {
	name := "daemon-" + c.DataDigest() + ".sock"
	c.RuntimeDir = os.Getenv("XDG_RUNTIME_DIR")
	switch {
	case c.RetakeHome != "":
		c.SocketDir, name = filepath.Join(c.RetakeHome, "run"), "daemon.sock"
	case filepath.IsAbs(c.RuntimeDir):
		c.SocketDir = filepath.Join(c.RuntimeDir, "retake")
	default:
		c.SocketDir = filepath.Join(c.DataDir, "run")
	}
	c.Socket = filepath.Join(c.SocketDir, name)
	if len(c.Socket) <= maxSocketPath {
		return
	}
	for _, temp := range []string{os.TempDir(), "/tmp"} {
		c.SocketDir = filepath.Join(temp, "retake-"+strconv.Itoa(os.Getuid()))
		c.Socket = filepath.Join(c.SocketDir, "daemon-"+c.DataDigest()+".sock")
		if len(c.Socket) <= maxSocketPath {
			return
		}
	}
}

// DataDigest distinguishes data directories in file names.
func (c Config) DataDigest() string {
	sum := sha256.Sum256([]byte(c.DataDir))
	return hex.EncodeToString(sum[:6])
}

// MakeSocketDir creates the directory of the socket and checks that it is safe.
func (c Config) MakeSocketDir() error {
	if c.System > 0 {
		return c.checkSystemSocketDir() // root has made it
	}
	if err := os.MkdirAll(c.SocketDir, 0o700); err != nil {
		return unsafeSocketError("the directory of the socket cannot be made", err)
	}
	return c.CheckSocketDir()
}

// CheckSocketDir checks the directory of the socket before anything in it is trusted. A mode
// that is too permissive is fixed; a directory of another user is refused. A directory that
// does not exist is safe.
func (c Config) CheckSocketDir() error {
	if c.System > 0 {
		return c.checkSystemSocketDir()
	}
	i, err := os.Lstat(c.SocketDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unsafeSocketError("the directory of the socket cannot be looked at", err)
	}
	if !i.IsDir() {
		return unsafeSocketError("the place of the socket is not safe", fmt.Errorf("%s is not a directory of its own", c.SocketDir))
	}
	if !isOwnedByUser(i) {
		return unsafeSocketError("the place of the socket is not safe", fmt.Errorf("%s belongs to another user", c.SocketDir))
	}
	if i.Mode().Perm()&^0o700 == 0 {
		return nil
	}
	if err := os.Chmod(c.SocketDir, 0o700); err != nil {
		return unsafeSocketError("the place of the socket is not safe", err)
	}
	return nil
}

func unsafeSocketError(what string, err error) error {
	return &retake.Error{
		Kind: retake.Away, What: what, Safe: "Nothing was changed.",
		Hint: "put it elsewhere: RETAKE_HOME=DIR\nrun without a daemon: add --solo", Err: err,
	}
}

// defaultPath is the PATH of a daemon, independent of the shell that started it.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// The variables that a daemon inherits. All others are dropped: an agent
// or a hook may have set anything.
var (
	daemonEnvNames    = []string{"HOME", "LANG", "TZ", "USER", "LOGNAME", "TMPDIR"}
	daemonEnvPrefixes = []string{"LC_", "XDG_"}
)

// DaemonEnv returns the environment of the daemon for this configuration.
func (c Config) DaemonEnv() []string {
	env := []string{"PATH=" + defaultPath}
	if c.RetakeHome != "" {
		env = append(env, "RETAKE_HOME="+c.RetakeHome)
	}
	if c.Debug {
		env = append(env, "RETAKE_DEBUG=1")
	}
	for _, pair := range os.Environ() {
		key, _, ok := strings.Cut(pair, "=")
		if ok && isDaemonEnv(key) {
			env = append(env, pair)
		}
	}
	return env
}

func isDaemonEnv(key string) bool {
	for _, k := range daemonEnvNames {
		if key == k {
			return true
		}
	}
	for _, p := range daemonEnvPrefixes {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

// boolEnv reads a variable that is on or off. Any other non-empty value means on.
func boolEnv(key string) bool {
	v := os.Getenv(key)
	if on, err := strconv.ParseBool(v); err == nil {
		return on
	}
	return v != ""
}

// countListenFDs returns the number of sockets that a service manager opened for this process,
// starting at descriptor 3.
func countListenFDs() int {
	if pid, err := strconv.Atoi(os.Getenv("LISTEN_PID")); err != nil || pid != os.Getpid() {
		return 0
	}
	n, err := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if err != nil {
		return 0
	}
	return n
}
