package restore

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// outputDirs are directories that programs fill and people do not edit.
var outputDirs = []string{"node_modules", "dist", "build", "out", "target", ".next", ".nuxt", ".svelte-kit", ".turbo", ".cache", ".parcel-cache", ".vite", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "coverage", "logs", "log", "tmp", ".gradle", ".idea"}

// IsVolatile reports whether a path is, by its name, one that programs write all the time: a
// database, a log, build output. If it changed again after the change that is undone, it is
// left as it is, since nobody edited it.
func IsVolatile(path string) bool { return isDatabaseMember(path) || hasGeneratedName(path) }

// isGenerated reports whether a path is a log or build output and not a database. A program
// that goes on writing there must not prevent the rest of a restore; a database is restored
// completely or not at all.
func isGenerated(path string) bool { return hasGeneratedName(path) && !isDatabaseMember(path) }

func isDatabaseMember(path string) bool {
	dir, name := splitPath(path)
	for _, c := range retake.Companions {
		name = strings.TrimSuffix(name, c)
	}
	return isDatabase(joinPath(dir, name))
}

func hasGeneratedName(path string) bool {
	dir, name := splitPath(path)
	for _, suffix := range []string{".log", ".pid", ".tmp", ".swp", ".pyc", ".tsbuildinfo"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	for part := range strings.SplitSeq(dir, "/") {
		if slices.Contains(outputDirs, part) {
			return pathclass.Of(path).Theme() != retake.ThemeSource // people name packages "log" and "build" too
		}
	}
	return false
}
