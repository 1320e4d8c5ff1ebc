package daemonctl_test

import (
	"testing"

	"github.com/retake-dev/retake/internal/assembly/daemonctl"
)

func TestYoungerBuildsTakeOver(t *testing.T) {
	t.Parallel()
	build := func(version string, stamp int64) daemonctl.Build {
		return daemonctl.Build{Version: version, Stamp: stamp}
	}
	order := []daemonctl.Build{ // from old to young
		build("v0.9.0", 9), build("v1.0.0-alpha", 1), build("v1.0.0-alpha.1", 1), build("v1.0.0-alpha.beta", 1), build("v1.0.0-rc.2", 5), build("v1.0.0-rc.11", 1),
		build("v1.0.0", 1), build("1.0.0", 2), build("v1.0.0+meta", 3), build("v1.2.0", 1), build("v1.10.0", 1), build("dev", 1), build("dev", 2), build("v1.2", 3),
	}
	for i, a := range order {
		for j, b := range order {
			if got := a.Newer(b); got != (i > j) {
				t.Errorf("%v takes over from %v: %v", a, b, got)
			}
		}
	}
}
