package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/retake-dev/retake"
)

// Directories of system daemons. Each protects one user, whose ID is the name below them. Only root
// can write to the first, and only Retake's own user can look into the second.
const (
	SystemConfigDir = "/etc/retake"
	SystemDataDir   = "/var/lib/retake"
	SystemRunDir    = "/run/retake"
)

// SystemSocket is where the system daemon of a user listens.
func SystemSocket(uid int) string { return filepath.Join(SystemRunDir, strconv.Itoa(uid)+".sock") }

// SystemSettings is the settings file of a system daemon.
func SystemSettings(uid int) string {
	return filepath.Join(SystemConfigDir, strconv.Itoa(uid), "config.json")
}

// SystemStore is the data directory of a system daemon.
func SystemStore(uid int) string { return filepath.Join(SystemDataDir, strconv.Itoa(uid)) }

// UserStore is where the history of a user is who has no system daemon and sets no variables.
func UserStore(home string) string { return filepath.Join(home, ".local", "share", "retake") }

// useSystemDaemon sets the places of the system daemon that root has installed for this user, if
// there is one. Root itself acts for the user who called sudo.
func (c *Config) useSystemDaemon() {
	uid := os.Getuid()
	if uid == 0 {
		uid = SudoUID()
	}
	if uid <= 0 || c.RetakeHome != "" {
		return
	}
	if i, err := os.Lstat(filepath.Dir(SystemSettings(uid))); err != nil || !i.IsDir() {
		return
	}
	c.System, c.SettingsFile, c.UnitDir = uid, SystemSettings(uid), ""
	c.SocketDir, c.Socket = SystemRunDir, SystemSocket(uid)
	// What is left for this process to write: logs of hooks, and what was told to whom.
	c.DataDir = filepath.Join(cmp.Or(os.Getenv("XDG_STATE_HOME"), filepath.Join(c.Home, ".local", "state")), "retake")
}

// SudoUID is the user who became root by sudo; 0: none.
func SudoUID() int {
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	if err != nil || uid < 0 {
		return 0
	}
	return uid
}

// checkSystemSocketDir checks that nobody but root can put a socket there.
func (c *Config) checkSystemSocketDir() error {
	i, err := os.Lstat(c.SocketDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && (!i.IsDir() || !isOwnedBy(i, 0) || i.Mode().Perm()&0o022 != 0) {
		err = fmt.Errorf("others than root can write to %s", c.SocketDir)
	}
	if err != nil {
		return unsafeSocketError("the place of the socket is not safe", err)
	}
	return nil
}

// Identity is a user as the kernel knows him, with what his files need.
type Identity struct {
	UID, GID int
	Groups   []int
	Name     string
	Home     string
}

// FindIdentity looks a user up.
func FindIdentity(uid int) (Identity, error) {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return Identity{}, fmt.Errorf("find user %d: %w", uid, err)
	}
	out := Identity{UID: uid, Name: u.Username, Home: u.HomeDir}
	if out.GID, err = strconv.Atoi(u.Gid); err != nil {
		return Identity{}, fmt.Errorf("find the group of user %d: %w", uid, err)
	}
	groups, err := u.GroupIds()
	if err != nil {
		return Identity{}, fmt.Errorf("find the groups of user %d: %w", uid, err)
	}
	for _, g := range groups {
		if id, err := strconv.Atoi(g); err == nil {
			out.Groups = append(out.Groups, id)
		}
	}
	return out, nil
}

// SystemEngine is the configuration of the system daemon of a user.
func SystemEngine(id Identity) (Config, error) {
	c, err := Read()
	if err != nil {
		return c, err
	}
	c.System, c.Home, c.WorkDir, c.RetakeHome, c.Solo, c.UnitDir = id.UID, id.Home, "/", "", false, ""
	c.DataDir, c.SettingsFile = SystemStore(id.UID), SystemSettings(id.UID)
	c.SocketDir, c.Socket = SystemRunDir, SystemSocket(id.UID)
	c.Environ = []string{"PATH=" + defaultPath, "HOME=" + id.Home, "USER=" + id.Name, "LOGNAME=" + id.Name}
	return c, nil
}

// isSystem reports whether these are the settings of a system daemon, which root alone can change.
func (s *Settings) isSystem() bool { return filepath.Dir(filepath.Dir(s.path)) == SystemConfigDir }

// fileMode lets the user, and the daemon, read what root has set.
func (s *Settings) fileMode() fs.FileMode {
	if s.isSystem() {
		return 0o644
	}
	return 0o600
}

func (s *Settings) writeError(err error) error {
	if s.isSystem() && errors.Is(err, fs.ErrPermission) {
		return &retake.Error{
			Kind: retake.Denied, What: "only root can change the settings of a system daemon", Safe: "Nothing was changed.", Hint: "run the same command with sudo", Err: err,
		}
	}
	return fmt.Errorf("write settings: %w", err)
}
