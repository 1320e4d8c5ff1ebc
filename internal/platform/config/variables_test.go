package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/platform/config"
)

// What a service manager or a shell sets, and nobody else.
var notForPeople = []string{"LISTEN_PID", "LISTEN_FDS", "PWD"}

// Every variable that this package reads is described, and none that it does not read.
func TestVariablesAreDescribed(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_testing.go") || name == "variables.go" || name == "verifyenv.go" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"((?:RETAKE|XDG|AWS|OTEL|LC)_[A-Z0-9_]+)"|(?:Getenv|LookupEnv)\("([A-Z_]+)"\)|"(LANG)"`).FindAllStringSubmatch(string(text), -1) {
			read[m[1]+m[2]+m[3]] = true
		}
	}
	described := map[string]bool{}
	for _, v := range config.Variables {
		described[v.Name] = true
		if !read[v.Name] {
			t.Errorf("%s is described and not read", v.Name)
		}
	}
	for name := range read {
		if !described[name] && !slices.Contains(notForPeople, name) {
			t.Errorf("%s is read and not described: add it to Variables", name)
		}
	}
}
