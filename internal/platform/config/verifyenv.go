package config

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake/internal/pure/secrets"
)

// What a verification that nobody watches may see of the environment in which the
// workspace was protected: where programs and their parts lie, and the language.
// All else stays behind, because it may hold anything.
var (
	verifyNames = []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TZ", "TMPDIR",
		"GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE",
		"CARGO_HOME", "RUSTUP_HOME",
		"NVM_DIR", "NPM_CONFIG_PREFIX", "PNPM_HOME",
		"PYENV_ROOT", "VIRTUAL_ENV",
		"JAVA_HOME", "ANDROID_HOME",
		"BUNDLE_PATH", "GEM_HOME", "RBENV_ROOT",
		"DOTNET_ROOT",
	}
	verifyPrefixes = []string{"LC_", "XDG_"}
)

// maxVerifyValue bounds one variable that is kept.
const maxVerifyValue = 32 << 10

// VerifyEnv is the part of our environment that standing verifications may see, by
// name. Nothing in it looks like a secret.
func (c Config) VerifyEnv() []string {
	found := map[string]string{}
	for _, pair := range c.Environ {
		if key, value, ok := strings.Cut(pair, "="); ok && verifies(key) {
			found[key] = value // the last one counts, as for programs
		}
	}
	var env []string
	for key, value := range found {
		pair := key + "=" + value
		if len(value) <= maxVerifyValue && !strings.ContainsAny(value, "\n\r\x00") && len(secrets.Find([]byte(pair))) == 0 {
			env = append(env, pair)
		}
	}
	slices.Sort(env)
	return env
}

func verifies(key string) bool {
	return slices.Contains(verifyNames, key) ||
		slices.ContainsFunc(verifyPrefixes, func(p string) bool { return strings.HasPrefix(key, p) && len(key) > len(p) })
}
