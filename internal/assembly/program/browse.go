package program

import (
	"runtime"

	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// newBrowserOpener shows an address in the user's browser; nil where there is none to be seen.
func newBrowserOpener(conf config.Config) func(url string) error {
	opener, seen := "xdg-open", conf.EnvValue("DISPLAY") != "" || conf.EnvValue("WAYLAND_DISPLAY") != ""
	if runtime.GOOS == "darwin" {
		opener, seen = "open", true
	}
	if !seen || !proc.CanDetach {
		return nil
	}
	return func(url string) error {
		path, ok := conf.LookPath(opener)
		if !ok {
			return proc.ErrUnsupported
		}
		return proc.SpawnNoWait(proc.Detached{Path: path, Args: []string{url}, Env: conf.Environ})
	}
}
