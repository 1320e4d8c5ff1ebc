package daemon

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Build tells two executables apart: by version, and by when they were made.
type Build struct {
	Version string
	Stamp   int64 // nanoseconds
}

// Newer reports whether b takes over from a daemon of build o. Builds stand in
// one order, releases before what carries no version, so that any number of
// them on one machine comes to rest at the youngest.
func (b Build) Newer(o Build) bool {
	mine, theirs := parseVersion(b.Version), parseVersion(o.Version)
	if c := mine.compare(theirs); c != 0 {
		return c > 0
	}
	return b.Stamp > o.Stamp
}

// version is a release as semantic versioning orders them; without numbers it
// is a build by hand.
type version struct {
	numbers []int64
	pre     []string // empty for a full release, which is later
}

func parseVersion(s string) version {
	s, _, _ = strings.Cut(strings.TrimPrefix(s, "v"), "+")
	core, pre, hasPre := strings.Cut(s, "-")
	parts := strings.Split(core, ".")
	if len(parts) != 3 {
		return version{}
	}
	var v version
	for _, p := range parts {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil || n < 0 {
			return version{}
		}
		v.numbers = append(v.numbers, n)
	}
	if hasPre {
		v.pre = strings.Split(pre, ".")
	}
	return v
}

func (v version) compare(o version) int {
	if (v.numbers == nil) != (o.numbers == nil) {
		if v.numbers == nil {
			return 1
		}
		return -1
	}
	if c := slices.Compare(v.numbers, o.numbers); c != 0 {
		return c
	}
	if (len(v.pre) == 0) != (len(o.pre) == 0) {
		return cmp.Compare(len(o.pre), len(v.pre))
	}
	return slices.CompareFunc(v.pre, o.pre, comparePre)
}

// comparePre orders numbers by value and before words.
func comparePre(a, b string) int {
	n, errA := strconv.ParseInt(a, 10, 64)
	m, errB := strconv.ParseInt(b, 10, 64)
	switch {
	case errA == nil && errB == nil:
		return cmp.Compare(n, m)
	case errA == nil:
		return -1
	case errB == nil:
		return 1
	}
	return strings.Compare(a, b)
}

// Executable answers the path of this program and its build.
func Executable(version string) (string, Build) {
	exe, err := os.Executable()
	if err != nil {
		exe = ""
	}
	b := Build{Version: version}
	// The file at the path may have been replaced since we were started from it.
	for _, p := range []string{"/proc/self/exe", exe} {
		if i, err := os.Stat(p); err == nil {
			b.Stamp = i.ModTime().UnixNano()
			break
		}
	}
	return exe, b
}
