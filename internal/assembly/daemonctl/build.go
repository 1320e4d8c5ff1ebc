package daemonctl

import (
	"os"
	"strings"

	"golang.org/x/mod/semver"
)

// Build tells two executables apart: by version, and by when they were made.
type Build struct {
	Version string
	Stamp   int64 // nanoseconds
}

// Newer reports whether b takes over from a daemon of build o. Builds are in one order,
// releases before what has no version, so that any number of them on one machine ends with
// the youngest.
func (b Build) Newer(o Build) bool {
	mine, theirs := canonicalVersion(b.Version), canonicalVersion(o.Version)
	if (mine == "") != (theirs == "") {
		return mine == ""
	}
	if c := semver.Compare(mine, theirs); c != 0 {
		return c > 0
	}
	return b.Stamp > o.Stamp
}

// canonicalVersion is a full version, or "" for a build by hand.
func canonicalVersion(version string) string {
	v := "v" + strings.TrimPrefix(version, "v")
	core, _, _ := strings.Cut(v, "-")
	if !semver.IsValid(v) || strings.Count(core, ".") != 2 {
		return ""
	}
	return v
}

// Executable returns the path of this program and its build.
func Executable(version string) (string, Build) {
	exe, err := os.Executable()
	if err != nil {
		exe = ""
	}
	// The file at the path may have been replaced since we were started from it.
	return exe, Build{Version: version, Stamp: modTime("/proc/self/exe", exe)}
}

// modTime is the time of the first of some files that is there; 0: none is.
func modTime(files ...string) int64 {
	for _, f := range files {
		if i, err := os.Stat(f); err == nil {
			return i.ModTime().UnixNano()
		}
	}
	return 0
}
