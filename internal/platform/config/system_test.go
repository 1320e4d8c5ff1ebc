package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/platform/config"
)

// What a system daemon is told comes from root and from the list of users, not from the environment.
func TestSystemEngine(t *testing.T) {
	t.Setenv("RETAKE_HOME", t.TempDir())
	t.Setenv("RETAKE_SOLO", "1")
	t.Setenv("SECRET", "of root")
	c, err := config.SystemEngine(config.Identity{UID: 4711, GID: 4711, Name: "ada", Home: "/home/ada"})
	if err != nil {
		t.Fatal(err)
	}
	if c.System != 4711 || c.RetakeHome != "" || c.Solo || c.Home != "/home/ada" || c.WorkDir != "/" || c.UnitDir != "" {
		t.Errorf("%+v", c)
	}
	for what, at := range map[string]string{c.DataDir: config.SystemDataDir, c.SettingsFile: config.SystemConfigDir, c.Socket: config.SystemRunDir} {
		if !strings.HasPrefix(what, at+"/4711") {
			t.Errorf("%s is not below %s", what, at)
		}
	}
	if !slices.Contains(c.Environ, "HOME=/home/ada") || slices.ContainsFunc(c.Environ, func(e string) bool { return strings.Contains(e, "of root") }) {
		t.Errorf("environment %q", c.Environ)
	}
}
