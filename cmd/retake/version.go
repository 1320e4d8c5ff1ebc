package main

import (
	"runtime/debug"
	"strings"
)

// version is what this program calls itself. A release sets it at build time.
var version = "dev"

// unversioned is what version is when nobody set it.
const unversioned = "dev"

func init() { version = builtVersion(version, debug.ReadBuildInfo) }

// builtVersion is the version that was set, else what the Go toolchain knows: the version
// of the module after `go install …@v1.2.3`, or the commit after a build in a clone.
func builtVersion(set string, read func() (*debug.BuildInfo, bool)) string {
	info, ok := read()
	if set != unversioned || !ok {
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
	return strings.Join([]string{unversioned, revision[:min(len(revision), 12)] + dirty}, "-")
}
