// Package config is the only reader of the environment and of the home directory:
// it makes one plain value of flags, environment and file.
//
// It may read the environment and read and write the user's configuration file.
// It never reads anything from a workspace.
//
//	N1  What shapes a capture comes from the user's file, never from the workspace.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// Config is where files are and what the environment asks for.
type Config struct {
	DataDir      string // store, catalog, indexes and locks
	SettingsFile string // the user's settings
	Home         string
	RetakeHome   string // RETAKE_HOME, absolute; "" when it is not set
	SocketDir    string // directory of the daemon's socket; see MakeSocketDir and CheckSocketDir
	Socket       string
	// RuntimeDir is XDG_RUNTIME_DIR, where the user's service manager would be.
	RuntimeDir string
	UnitDir    string   // directory of the user's systemd units
	ListenFDs  int      // number of sockets passed by a service manager
	System     int      // ID of the user whose history a system daemon keeps, which is then asked; 0: none
	Solo       bool     // RETAKE_SOLO: no daemon
	Debug      bool     // RETAKE_DEBUG: log what is done and how long it takes
	BootID     string   // id of this boot of the machine; "" if unknown
	Executable string   // path of our own program; "" if unknown
	WorkDir    string   // working directory
	Environ    []string // of this process, for programs that the user runs through us
	Project    string   // where the agent was started that runs this hook, if it says so
	Color      bool
	ASCII      bool
	Width      int
	Height     int // lines of the terminal; 0: unknown
	InTTY      bool
	OutTTY     bool
	ErrTTY     bool
}

// RiskFile returns the file with the user's rules for risky commands, beside the settings; ""
// if there are no settings.
func (c *Config) RiskFile() string {
	if c.SettingsFile == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(c.SettingsFile), "risk.json")
}

// workingDir returns the working directory. If it was removed, a shell still knows it by name
// in PWD, and a restore of its files must be able to start there.
func workingDir() (string, error) {
	dir, err := os.Getwd()
	if err == nil {
		return dir, nil
	}
	if dir = os.Getenv("PWD"); filepath.IsAbs(dir) {
		return dir, nil
	}
	return "", fmt.Errorf("find working directory: %w", err)
}

// Read reads the environment.
func Read() (Config, error) {
	var c Config
	var err error
	if c.WorkDir, err = workingDir(); err != nil {
		return c, err
	}
	c.Home = homeDir() // without one, RETAKE_HOME or XDG variables must say where
	if err := c.resolvePaths(); err != nil {
		return c, err
	}
	c.resolveSocket()
	c.useSystemDaemon()
	c.ListenFDs, c.Solo, c.Debug = countListenFDs(), boolEnv("RETAKE_SOLO"), boolEnv("RETAKE_DEBUG")
	c.BootID, c.Environ = bootID(), os.Environ()
	c.Project = cmp.Or(os.Getenv("CLAUDE_PROJECT_DIR"), os.Getenv("GEMINI_PROJECT_DIR"))
	c.Executable = c.findExecutable()
	c.InTTY, c.OutTTY, c.ErrTTY = isTerminal(os.Stdin), isTerminal(os.Stdout), isTerminal(os.Stderr)
	c.Width, c.Height = terminalWidth(), terminalHeight()
	term := os.Getenv("TERM")
	_, noColor := os.LookupEnv("NO_COLOR")
	c.Color = !noColor && term != "dumb"
	c.ASCII = term == "dumb" || isPlainLocale()
	return c, nil
}

// homeDir returns "" if there is none. Service managers do not set the variable for root.
func homeDir() string {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
		return u.HomeDir
	}
	return ""
}

// unitSubdir is where systemd looks for units of a user, below the configuration directory.
const unitSubdir = "systemd/user"

// resolvePaths sets the directories from RETAKE_HOME or, without it, from the XDG variables.
func (c *Config) resolvePaths() error {
	if h := os.Getenv("RETAKE_HOME"); h != "" {
		abs, err := filepath.Abs(h)
		if err != nil {
			return fmt.Errorf("find RETAKE_HOME: %w", err)
		}
		c.RetakeHome, c.DataDir, c.SettingsFile = abs, filepath.Join(abs, "data"), filepath.Join(abs, "config.json")
		if conf, err := xdgDir("XDG_CONFIG_HOME", c.Home, ".config"); err == nil {
			c.UnitDir = filepath.Join(conf, unitSubdir)
		}
		return nil
	}
	data, err := xdgDir("XDG_DATA_HOME", c.Home, ".local/share")
	if err != nil {
		return err
	}
	conf, err := xdgDir("XDG_CONFIG_HOME", c.Home, ".config")
	if err != nil {
		return err
	}
	c.DataDir, c.SettingsFile = filepath.Join(data, "retake"), filepath.Join(conf, "retake", "config.json")
	c.UnitDir = filepath.Join(conf, unitSubdir)
	return nil
}

// xdgDir returns an XDG directory: the variable key, or rest below the home directory.
func xdgDir(key, home, rest string) (string, error) {
	if d := os.Getenv(key); filepath.IsAbs(d) { // the specification says to ignore relative paths
		return d, nil
	}
	if home == "" {
		return "", fmt.Errorf("no home directory: set RETAKE_HOME")
	}
	return filepath.Join(home, filepath.FromSlash(rest)), nil
}

// isPlainLocale reports whether the locale is ASCII only.
func isPlainLocale() bool {
	for _, k := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(k); v != "" {
			return v == "C" || v == "POSIX"
		}
	}
	return false
}

// bootFile identifies this boot of the machine on Linux.
var bootFile = "/proc/sys/kernel/random/boot_id"

func bootID() string {
	b, err := os.ReadFile(bootFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func isTerminal(f *os.File) bool {
	i, err := f.Stat()
	return err == nil && i.Mode()&os.ModeCharDevice != 0 && i.Mode()&os.ModeDevice != 0 && isTTY(f)
}

// CatalogFile is the catalog of a data directory.
func CatalogFile(data string) string { return filepath.Join(data, "catalog.db") }

// SignalsDir is where events of agents wait that are not done yet.
func SignalsDir(data string) string { return filepath.Join(data, "signals") }

// HasStore reports whether anything was ever protected here. It opens nothing.
func (c Config) HasStore() bool {
	if c.System > 0 {
		return true // it is the daemon's, which knows
	}
	_, err := os.Stat(CatalogFile(c.DataDir))
	return !errors.Is(err, os.ErrNotExist)
}
