package daemonctl

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/config"
)

// engineName is the program that holds the store: the daemon, the server, and work without
// a daemon.
const engineName = "retaked"

// ErrNoEngine says that the engine's program is missing.
var ErrNoEngine = &retake.Error{
	Kind: retake.Away, What: "the program " + engineName + " is missing: it is neither beside retake nor in PATH", Safe: unchanged,
	Hint: "install both programs: go install github.com/retake-dev/retake/cmd/...@latest",
}

// FindEngine finds the engine's program: beside this one, then in the absolute directories of
// PATH. "" when it is in neither.
func FindEngine(c config.Config) string {
	name := engineName
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if filepath.Base(c.Executable) == name {
		return c.Executable
	}
	if c.Executable != "" {
		beside := filepath.Join(filepath.Dir(c.Executable), name)
		if i, err := os.Stat(beside); err == nil && i.Mode().IsRegular() {
			return beside
		}
	}
	path, _ := c.LookPath(name)
	return path
}

func engineBuild(c config.Config, version string) (string, Build) {
	exe := FindEngine(c)
	if exe == c.Executable && exe != "" { // it may have been replaced since we were started from it
		return Executable(version)
	}
	return exe, Build{Version: version, Stamp: modTime(exe)}
}

const forVersion = "--for="

// ForVersion is the first argument of an engine that another program starts: of which version
// that program is.
func ForVersion(version string) string { return forVersion + version }

// CutForVersion takes that argument off. An engine of another version than the program that
// started it is an error: they come from one build, as docker and dockerd do.
func CutForVersion(args []string, version, self string) ([]string, error) {
	if len(args) == 0 || !strings.HasPrefix(args[0], forVersion) {
		return args, nil
	}
	wanted := strings.TrimPrefix(args[0], forVersion)
	if wanted == version {
		return args[1:], nil
	}
	return args[1:], &retake.Error{
		Kind: retake.Away, What: "this is version " + wanted + ", and " + self + " is version " + version, Safe: unchanged,
		Hint: "install both programs: go install github.com/retake-dev/retake/cmd/...@latest",
	}
}
