package restore

import (
	"strings"

	"github.com/retake-dev/retake"
)

// outputs are directories that programs fill and people do not write in.
var outputs = []string{"node_modules", "dist", "build", "out", "target", ".next", ".nuxt", ".svelte-kit", ".turbo", ".cache", ".parcel-cache", ".vite", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "coverage", "logs", "log", "tmp", ".gradle", ".idea"}

// Output reports whether a path is, by its name, one that programs write all the
// time: databases, logs, what is built. One that changed again after the change that
// is taken back is left as it is; it is nobody's edit.
func Output(path string) bool {
	dir, name := split(path)
	for _, c := range retake.Companions {
		name = strings.TrimSuffix(name, c)
	}
	if database(join(dir, name)) {
		return true
	}
	for _, suffix := range []string{".log", ".pid", ".tmp", ".swp", ".pyc", ".tsbuildinfo"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	for part := range strings.SplitSeq(dir, "/") {
		for _, o := range outputs {
			if part == o {
				return true
			}
		}
	}
	return false
}
