package program

import (
	"runtime/debug"
	"testing"
)

func TestX5_VersionOfEveryBuild(t *testing.T) {
	t.Parallel()
	clone := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "52ad5ee0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}
	for name, x := range map[string]struct {
		set  string
		info *debug.BuildInfo
		want string
	}{
		"a release":                   {"v1.4.0", &debug.BuildInfo{Main: debug.Module{Version: "v1.3.9"}}, "v1.4.0"},
		"go install of a module":      {"dev", &debug.BuildInfo{Main: debug.Module{Version: "v1.4.0"}}, "v1.4.0"},
		"go install in a clone":       {"dev", &debug.BuildInfo{Main: debug.Module{Version: "v1.4.1-0.20261116151445-52ad5ee01234+dirty"}, Settings: clone}, "v1.4.1-0.20261116151445-52ad5ee01234+dirty"},
		"a clone of an older Go":      {"dev", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: clone}, "dev-52ad5ee01234+dirty"},
		"without version control":     {"dev", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "dev"},
		"without a note of the build": {"dev", nil, "dev"},
	} {
		if got := builtVersion(x.set, func() (*debug.BuildInfo, bool) { return x.info, x.info != nil }); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
}
