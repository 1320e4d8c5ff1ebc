// Package config is the only reader of the environment and of the home directory:
// it makes one plain value of flags, environment and file.
//
// It may read the environment and read and write the user's configuration file.
// It never reads anything from a workspace.
//
//	N1  What shapes a capture comes from the user's file, never from the workspace.
package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Config is where things lie and what the environment asks for.
type Config struct {
	DataDir      string // store, catalog, indexes and locks
	SettingsFile string // the user's settings
	Home         string
	RetakeHome   string // RETAKE_HOME, absolute; "" when it is not set
	SocketDir    string // directory of the daemon's socket; see MakeRun and CheckRun
	Socket       string
	// Runtime is XDG_RUNTIME_DIR: where a service manager of the user would be.
	RuntimeDir string
	UnitDir    string   // directory of the user's units of that manager
	ListenFDs  int      // sockets that a service manager hands over
	Solo       bool     // RETAKE_SOLO: no daemon
	Debug      bool     // RETAKE_DEBUG: log what is done and how long it takes
	BootID     string   // identity of this run of the machine; "" when it cannot be told
	Executable string   // our own program; "" when it cannot be told
	WorkDir    string   // working directory
	Environ    []string // of this process, for programs that the user runs through us
	Color      bool
	ASCII      bool
	Width      int
	Height     int // lines of the terminal; 0: not known
	InTTY      bool
	OutTTY     bool
	ErrTTY     bool
}

// workingDir is where we are. A directory that was removed under a shell is still known to
// it by its name, and what brings its files back must start there too.
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
	c.Home, _ = os.UserHomeDir() // without one, RETAKE_HOME or XDG variables must say where
	if err := c.resolvePaths(); err != nil {
		return c, err
	}
	c.resolveSocket()
	c.ListenFDs, c.Solo, c.Debug = countListenFDs(), boolEnv("RETAKE_SOLO"), boolEnv("RETAKE_DEBUG")
	c.BootID, c.Environ = bootID(), os.Environ()
	c.Executable = c.findExecutable()
	c.InTTY, c.OutTTY, c.ErrTTY = isTerminal(os.Stdin), isTerminal(os.Stdout), isTerminal(os.Stderr)
	c.Width, c.Height = terminalWidth(), terminalHeight()
	term := os.Getenv("TERM")
	_, noColor := os.LookupEnv("NO_COLOR")
	c.Color = !noColor && term != "dumb"
	c.ASCII = term == "dumb" || isPlainLocale()
	return c, nil
}

// unitsBelow is where systemd looks for units of a user, below the configuration.
const unitSubdir = "systemd/user"

// resolvePaths follows RETAKE_HOME, else the XDG directories.
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

func xdgDir(key, home, rest string) (string, error) {
	if d := os.Getenv(key); filepath.IsAbs(d) { // relative ones are to be ignored
		return d, nil
	}
	if home == "" {
		return "", fmt.Errorf("no home directory: set RETAKE_HOME")
	}
	return filepath.Join(home, filepath.FromSlash(rest)), nil
}

func isPlainLocale() bool {
	for _, k := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(k); v != "" {
			return v == "C" || v == "POSIX"
		}
	}
	return false
}

// bootID names this run of the machine on Linux.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
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
	_, err := os.Stat(CatalogFile(c.DataDir))
	return !errors.Is(err, os.ErrNotExist)
}
