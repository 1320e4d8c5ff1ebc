package restore

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// outputs are directories that programs fill and people do not write in.
var outputDirs = []string{"node_modules", "dist", "build", "out", "target", ".next", ".nuxt", ".svelte-kit", ".turbo", ".cache", ".parcel-cache", ".vite", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "coverage", "logs", "log", "tmp", ".gradle", ".idea"}

// IsVolatile reports whether a path is, by its name, one that programs write all the
// time: databases, logs, what is built. One that changed again after the change that
// is taken back is left as it is; it is nobody's edit.
func IsVolatile(path string) bool { return isDatabaseMember(path) || hasGeneratedName(path) }

// isGenerated reports whether a path is a log or something built, and no database. A program
// that goes on writing there must not stop everything else from going back; a database
// goes back whole or not at all.
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
