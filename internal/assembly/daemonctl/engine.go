package daemonctl

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
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

// engineFits reports whether the engine's program is of our version. While an upgrade has
// replaced only one of the two programs it is not, and nobody may stop a daemon that cannot be
// replaced.
func (h *Controller) engineFits(ctx context.Context) bool {
	if h.exe == "" || h.exe == h.conf.Executable {
		return h.exe != ""
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	exit, err := proc.RunMounted(ctx, proc.MountedCommand{
		Args: []string{h.exe, ForVersion(h.build.Version), "version"}, Dir: filepath.Dir(h.exe), Env: h.conf.DaemonEnv(), Out: io.Discard, Err: io.Discard,
	})
	return err == nil && exit == 0
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
		Kind: retake.Away, What: "the two programs have different versions: retake " + wanted + ", " + self + " " + version, Safe: unchanged,
		Hint: "install both programs: go install github.com/retake-dev/retake/cmd/...@latest",
	}
}
