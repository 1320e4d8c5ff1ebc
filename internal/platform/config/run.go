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

// socketRoom is how long the path of a socket may be: the kernels allow between
// 103 and 107 bytes.
const socketRoom = 100

// sockets finds where the daemon of this data directory listens. Two data
// directories never share a socket: below RETAKE_HOME they have one each, and
// elsewhere the name carries a digest of the directory.
func (c *Config) sockets() {
	name := "daemon-" + c.Digest() + ".sock"
	c.Runtime = os.Getenv("XDG_RUNTIME_DIR")
	switch {
	case c.Root != "":
		c.Run, name = filepath.Join(c.Root, "run"), "daemon.sock"
	case filepath.IsAbs(c.Runtime):
		c.Run = filepath.Join(c.Runtime, "retake")
	default:
		c.Run = filepath.Join(c.Data, "run")
	}
	c.Socket = filepath.Join(c.Run, name)
	if len(c.Socket) <= socketRoom {
		return
	}
	for _, temp := range []string{os.TempDir(), "/tmp"} {
		c.Run = filepath.Join(temp, "retake-"+strconv.Itoa(os.Getuid()))
		c.Socket = filepath.Join(c.Run, "daemon-"+c.Digest()+".sock")
		if len(c.Socket) <= socketRoom {
			return
		}
	}
}

// Digest tells data directories apart in names.
func (c Config) Digest() string {
	sum := sha256.Sum256([]byte(c.Data))
	return hex.EncodeToString(sum[:6])
}

// MakeRun makes the directory of the socket, and looks that nobody but the user
// can have put something there.
func (c Config) MakeRun() error {
	if err := os.MkdirAll(c.Run, 0o700); err != nil {
		return unsafePlace("the directory of the socket cannot be made", err)
	}
	return c.CheckRun()
}

// CheckRun looks at the directory of the socket before anything in it is
// trusted. A mode that is too wide is narrowed; an owner that is not the user is
// refused. A directory that is not there is safe.
func (c Config) CheckRun() error {
	i, err := os.Lstat(c.Run)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unsafePlace("the directory of the socket cannot be looked at", err)
	}
	if !i.IsDir() {
		return unsafePlace("the place of the socket is not safe", fmt.Errorf("%s is not a directory of its own", c.Run))
	}
	if !owned(i) {
		return unsafePlace("the place of the socket is not safe", fmt.Errorf("%s belongs to another user", c.Run))
	}
	if i.Mode().Perm()&^0o700 == 0 {
		return nil
	}
	if err := os.Chmod(c.Run, 0o700); err != nil {
		return unsafePlace("the place of the socket is not safe", err)
	}
	return nil
}

func unsafePlace(what string, err error) error {
	return &retake.Error{
		Kind: retake.Away, What: what, Safe: "Nothing was changed.",
		Hint: "put it elsewhere: RETAKE_HOME=DIR\nrun without a daemon: add --solo", Err: err,
	}
}

// defaultPath is where a daemon finds programs, whatever its starter's shell had.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// kept are the variables that a daemon inherits. All others stay behind: an agent
// or a hook may have put anything there.
var (
	kept         = []string{"HOME", "LANG", "TZ", "USER", "LOGNAME", "TMPDIR"}
	keptPrefixes = []string{"LC_", "XDG_"}
)

// Env is the environment of a daemon of these places.
func (c Config) Env() []string {
	env := []string{"PATH=" + defaultPath}
	if c.Root != "" {
		env = append(env, "RETAKE_HOME="+c.Root)
	}
	if c.Debug {
		env = append(env, "RETAKE_DEBUG=1")
	}
	for _, pair := range os.Environ() {
		key, _, ok := strings.Cut(pair, "=")
		if ok && keeps(key) {
			env = append(env, pair)
		}
	}
	return env
}

func keeps(key string) bool {
	for _, k := range kept {
		if key == k {
			return true
		}
	}
	for _, p := range keptPrefixes {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

// wish reads a variable that is on or off.
func wish(key string) bool {
	v := os.Getenv(key)
	if on, err := strconv.ParseBool(v); err == nil {
		return on
	}
	return v != ""
}

// given counts the sockets that a service manager opened for this process, the
// first of them at descriptor 3.
func given() int {
	if pid, err := strconv.Atoi(os.Getenv("LISTEN_PID")); err != nil || pid != os.Getpid() {
		return 0
	}
	n, err := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if err != nil {
		return 0
	}
	return n
}
