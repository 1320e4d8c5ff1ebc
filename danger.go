package retake

import (
	"fmt"
	"slices"
	"strings"
)

// systemDirs are directories of the machine, not of a project.
var systemDirs = []string{"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/mnt", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var", "/Users", "/System", "/Library", `C:\`}

// PlaceDangers lists why protecting a directory needs consent, as far as its path alone tells: it is
// a home directory, or one of the machine. Homes are the paths of the user's home directory: as it is
// named, and without links. Nothing is read, because to count a home directory takes minutes.
func PlaceDangers(dir string, homes ...string) []Danger {
	holds := func(home string) bool {
		return home != "" && (dir == home || strings.HasPrefix(home, strings.TrimSuffix(dir, "/")+"/"))
	}
	switch {
	case slices.ContainsFunc(homes, holds):
		return []Danger{{Class: DangerHome, Text: fmt.Sprintf("%s is a whole home directory", dir)}}
	case slices.Contains(systemDirs, dir):
		return []Danger{{Class: DangerSystem, Text: fmt.Sprintf("%s belongs to the machine, not to a project", dir)}}
	}
	return []Danger{}
}
