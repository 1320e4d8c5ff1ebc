package config

import (
	"os"
	"path/filepath"
	"strings"
)

// EnvValue returns a variable of our environment. Of duplicates the last one is used, as in
// programs.
func (c Config) EnvValue(key string) string {
	out := ""
	for _, e := range c.Environ {
		if k, v, ok := strings.Cut(e, "="); ok && k == key {
			out = v
		}
	}
	return out
}

// LookPath finds a program in the absolute directories of PATH. A relative one would let a
// workspace choose what runs.
func (c Config) LookPath(program string) (string, bool) {
	if strings.ContainsRune(program, os.PathSeparator) || program == "" {
		return "", false
	}
	for _, dir := range filepath.SplitList(c.EnvValue("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, program)
		if i, err := os.Stat(path); err == nil && i.Mode().IsRegular() && i.Mode().Perm()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}

// SearchPath returns the PATH for programs that run unattended: the absolute directories of
// our own PATH, or the default.
func (c Config) SearchPath() string {
	var dirs []string
	for _, dir := range filepath.SplitList(c.EnvValue("PATH")) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return defaultPath
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// findExecutable returns the path of our own program. Where the system does not report it, as
// in a chroot without /proc, it uses the name that we were called by. It returns "" if that
// fails too.
func (c Config) findExecutable() string {
	if exe, err := os.Executable(); err == nil {
		return exe
	}
	name := os.Args[0]
	if path, ok := c.LookPath(name); ok {
		return path
	}
	if path, err := filepath.Abs(name); err == nil && strings.ContainsRune(name, os.PathSeparator) {
		return path
	}
	return ""
}
