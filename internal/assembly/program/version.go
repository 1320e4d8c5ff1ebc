package program

import (
	"runtime/debug"
	"strings"
)

// Unversioned is the version of a build that nobody gave one.
const Unversioned = "dev"

// Version is what a program calls itself, by what was set at build time.
func Version(set string) string { return builtVersion(set, debug.ReadBuildInfo) }

// builtVersion is the version that was set, else what the Go toolchain knows: the version
// of the module after `go install …@v1.2.3`, or the commit after a build in a clone.
func builtVersion(set string, read func() (*debug.BuildInfo, bool)) string {
	info, ok := read()
	if set != Unversioned || !ok {
		return set
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	var revision, dirty string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return set
	}
	return strings.Join([]string{Unversioned, revision[:min(len(revision), 12)] + dirty}, "-")
}
