package config

import (
	"os"
	"path/filepath"
	"strings"
)

// Var answers a variable of our environment; the last one counts, as for programs.
func (c Config) Var(key string) string {
	out := ""
	for _, e := range c.Environ {
		if k, v, ok := strings.Cut(e, "="); ok && k == key {
			out = v
		}
	}
	return out
}

// Look finds a program in the absolute directories of PATH: a relative one would
// let a workspace say what runs.
func (c Config) Look(program string) (string, bool) {
	if strings.ContainsRune(program, os.PathSeparator) || program == "" {
		return "", false
	}
	for _, dir := range filepath.SplitList(c.Var("PATH")) {
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
