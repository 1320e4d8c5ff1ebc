package install_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/agents/install"
)

var update = flag.Bool("update", false, "write the files of plugin/ again")

const pluginDir = "../../../plugin"

// What a plugin brings is what an install writes.
func TestPluginHoldsWhatInstallWrites(t *testing.T) {
	t.Parallel()
	want := map[string][]byte{
		"retake/hooks/hooks.json": fresh(t, "claude-code"),
		"retake/hooks/codex.json": fresh(t, "codex"),
		"gemini/hooks/hooks.json": fresh(t, "gemini"),
		"opencode/retake.js":      fresh(t, "opencode"),
		"pi/retake.ts":            fresh(t, "pi"),
		"docker-agent/hooks.yaml": fresh(t, "docker-agent"),
	}
	want["gemini/skills/retake/SKILL.md"] = read(t, filepath.Join(pluginDir, "retake/skills/retake/SKILL.md"))
	p := house(t)
	c, err := named(t, "cline").PlanInstall(install.Project, p, install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(); err != nil {
		t.Fatal(err)
	}
	want["cline/hook.sh"] = read(t, filepath.Join(p.Project, ".cline/hooks/PreToolUse"))
	c, err = named(t, "docker-agent").PlanInstall(install.Project, p, install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want["docker-agent/agent.yaml"] = []byte(c.Notes[1])
	for name, text := range want {
		path := filepath.Join(pluginDir, name)
		if *update {
			mode := fs.FileMode(0o644)
			if strings.HasSuffix(name, ".sh") {
				mode = 0o755
			}
			if err := os.WriteFile(path, text, mode); err != nil {
				t.Fatal(err)
			}
		}
		if got := read(t, path); !bytes.Equal(got, text) {
			t.Errorf("%s is not what an install writes", name)
		}
	}
}

// fresh is the file that an install makes where there is none.
func fresh(t *testing.T, name string) []byte {
	t.Helper()
	c, err := named(t, name).PlanInstall(install.User, house(t), install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c.After
}

func TestPluginFilesAreValid(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir(pluginDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text := read(t, path)
		switch {
		case strings.HasSuffix(path, ".json"):
			seen++
			if !json.Valid(text) {
				t.Errorf("%s is no JSON", path)
			}
		case d.Name() == "SKILL.md":
			seen++
			checkSkill(t, path, string(text))
		case strings.Contains(path, "/commands/"):
			seen++
			if !regexp.MustCompile(`(?m)^description( =|:) ?.{10,}`).Match(text) {
				t.Errorf("%s has no description", path)
			}
		}
		return nil
	})
	if err != nil || seen < 16 {
		t.Fatalf("%v, %d files", err, seen)
	}
	var market struct {
		Plugins []struct{ Name, Source string }
	}
	if err := json.Unmarshal(read(t, filepath.Join(pluginDir, ".claude-plugin/marketplace.json")), &market); err != nil {
		t.Fatal(err)
	}
	for _, m := range market.Plugins {
		for _, kind := range []string{".claude-plugin", ".codex-plugin"} {
			var manifest struct{ Name, Hooks string }
			if err := json.Unmarshal(read(t, filepath.Join(pluginDir, m.Source, kind, "plugin.json")), &manifest); err != nil || manifest.Name != m.Name {
				t.Errorf("%s of %s: %v, %q", kind, m.Source, err, manifest.Name)
			}
			if manifest.Hooks != "" {
				read(t, filepath.Join(pluginDir, m.Source, manifest.Hooks))
			}
		}
	}
}

// checkSkill holds a skill to the format: the name is the directory, the
// description is short, the body is not long.
func checkSkill(t *testing.T, path, text string) {
	t.Helper()
	head, body, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	if !ok || !strings.HasPrefix(text, "---\n") {
		t.Fatalf("%s has no front matter", path)
	}
	fields := map[string]string{}
	for _, line := range strings.Split(head, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if !ok || strings.Contains(value, ": ") || strings.HasPrefix(value, "[") {
			t.Errorf("%s: %q is no plain field", path, line)
		}
		fields[key] = value
	}
	if name := fields["name"]; name != filepath.Base(filepath.Dir(path)) || !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(name) || len(name) > 64 {
		t.Errorf("%s: name %q", path, name)
	}
	if n := len(fields["description"]); n == 0 || n > 1024 {
		t.Errorf("%s: description of %d", path, n)
	}
	if len(fields["compatibility"]) > 500 || strings.Count(body, "\n") >= 500 {
		t.Errorf("%s is too long", path)
	}
}

func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	return path
}

func TestPluginIsJavaScript(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "retake.mjs")
	settle(t, file, string(read(t, filepath.Join(pluginDir, "opencode/retake.js"))))
	if out, err := exec.Command(node(t), "--check", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
