package config

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake/internal/pure/secrets"
)

// What an unattended verification may see of the environment in which the
// workspace was protected: the locations of programs and toolchains, and the language.
// Everything else is dropped, because it may be anything.
var (
	verifyEnvNames = []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TZ", "TMPDIR",
		"GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE",
		"CARGO_HOME", "RUSTUP_HOME",
		"NVM_DIR", "NPM_CONFIG_PREFIX", "PNPM_HOME",
		"PYENV_ROOT", "VIRTUAL_ENV",
		"JAVA_HOME", "ANDROID_HOME",
		"BUNDLE_PATH", "GEM_HOME", "RBENV_ROOT",
		"DOTNET_ROOT",
	}
	verifyEnvPrefixes = []string{"LC_", "XDG_"}
)

// maxVerifyEnvValue bounds the length of one variable.
const maxVerifyEnvValue = 32 << 10

// VerifyEnv returns the part of our environment that standing verifications may see, sorted by
// name. Values that look like secrets are left out.
func (c Config) VerifyEnv() []string {
	found := map[string]string{}
	for _, pair := range c.Environ {
		if key, value, ok := strings.Cut(pair, "="); ok && isVerifyEnv(key) {
			found[key] = value // the last one counts, as for programs
		}
	}
	var env []string
	for key, value := range found {
		pair := key + "=" + value
		if len(value) <= maxVerifyEnvValue && !strings.ContainsAny(value, "\n\r\x00") && len(secrets.FindKinds([]byte(pair))) == 0 {
			env = append(env, pair)
		}
	}
	slices.Sort(env)
	return env
}

func isVerifyEnv(key string) bool {
	return slices.Contains(verifyEnvNames, key) ||
		slices.ContainsFunc(verifyEnvPrefixes, func(p string) bool { return strings.HasPrefix(key, p) && len(key) > len(p) })
}
