package install_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/install"
)

// Only one word and "hook NAME" is ours.
func TestWhoseCommand(t *testing.T) {
	t.Parallel()
	cases := map[string]bool{
		"retake hook codex":                        true,
		"/usr/local/bin/retake hook codex":         true,
		"'/opt/my tools/retake' hook codex":        true,
		`"/opt/my tools/retake" hook codex`:        true,
		`'/it'\''s/retake' hook codex`:             true,
		`'C:\Program Files\retake.exe' hook codex`: true,
		"retake hook codex ":                       false,
		" retake hook codex":                       false,
		"retake hook claude-code":                  false,
		"retake hook codex --verbose":              false,
		"sudo retake hook codex":                   false,
		"true && retake hook codex":                false,
		"true;retake hook codex":                   false,
		"$(x)/retake hook codex":                   false,
		`"$(x)/retake" hook codex`:                 false,
		"'a' 'b/retake' hook codex":                false,
		"mistake hook codex":                       false,
		"/opt/retake/other hook codex":             false,
		"RETAKE=1 retake hook codex":               false,
		"retake  hook codex":                       false,
		"retake hook codex || true":                false,
		"":                                         false,
	}
	a, p := named(t, "codex"), house(t)
	for command, ours := range cases {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(command)
		settle(t, a.Status(install.User, p).File, `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "`+quoted+`"}]}]}}`)
		if st := a.Status(install.User, p); (st.Hooks == 1) != ours || st.Condition == install.Unknown {
			t.Errorf("%q: %+v", command, st)
		}
	}
}

// Worktrees are opt-in, and stay until they are removed.
func TestWorktreesAreOptIn(t *testing.T) {
	t.Parallel()
	a, p := named(t, "claude-code"), house(t)
	with, err := a.PlanInstall(install.Project, p, install.Options{Worktree: true})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := a.PlanInstall(install.Project, p, install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if with.Added != plain.Added+2 || strings.Contains(string(plain.After), "Worktree") {
		t.Errorf("%d and %d:\n%s", with.Added, plain.Added, plain.After)
	}
	if err := plain.Apply(); err != nil {
		t.Fatal(err)
	}
	more, err := a.PlanInstall(install.Project, p, install.Options{Worktree: true})
	if err != nil || more.Added != 2 || more.Removed != 0 {
		t.Fatalf("%v, +%d -%d", err, more.Added, more.Removed)
	}
	if err := more.Apply(); err != nil {
		t.Fatal(err)
	}
	if st := a.Status(install.Project, p); st.Condition != install.Current || st.Hooks != with.Added {
		t.Errorf("%+v", st)
	}
	if c, err := a.PlanInstall(install.Project, p, install.Options{}); err != nil || !c.Empty() {
		t.Errorf("%v, %v", err, c.Lines())
	}
	if c, err := a.PlanRemove(install.Project, p); err != nil || c.After != nil || c.Removed != with.Added {
		t.Errorf("%v, %q", err, c.After)
	}
}

// Droid reads hooks.json alone when it is there, in one form or the other.
func TestDroidHasTwoFiles(t *testing.T) {
	t.Parallel()
	a := named(t, "droid")
	for what, text := range map[string]string{
		"wrapped":       "{\n  \"hooks\": {\n    \"Stop\": [" + groupEntry + "]\n  }\n}\n",
		"unwrapped":     "{\n  \"Stop\": [" + groupEntry + "],\n  \"Notification\": []\n}\n",
		"not our event": "{\n  \"Notification\": [" + groupEntry + "]\n}\n",
		"empty event":   "{\n  \"Stop\": []\n}\n",
		"hooks, empty":  "{\n  \"hooks\": {}\n}\n",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := house(t)
			file := filepath.Join(p.Home, ".factory", "hooks.json")
			settle(t, file, text)
			if st := a.Status(install.User, p); st.File != file {
				t.Fatalf("%+v", st)
			}
			roundTripAt(t, a, p, text)
			wrapped := strings.Contains(text, "\"hooks\": {")
			if got := strings.Contains(string(over(t, a, p, text).After), "\n  \"PreToolUse\""); got == wrapped {
				t.Error("the hooks are not beside the others")
			}
		})
	}
	p := house(t)
	for _, text := range []string{"", "{}\n", `{"version": 1}`, "{"} {
		settle(t, filepath.Join(p.Home, ".factory", "hooks.json"), text)
		_, err := a.PlanInstall(install.User, p, install.Options{})
		refused(t, err, retake.Denied)
		if st := a.Status(install.User, p); st.Condition != install.Unknown || st.Detail == "" {
			t.Errorf("%q: %+v", text, st)
		}
	}
}

// A script or an extension of somebody else is not touched.
func TestFilesOfOthersStay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"opencode", "pi"} {
		a, p := named(t, name), house(t)
		file := a.Status(install.User, p).File
		settle(t, file, "// mine\n")
		if st := a.Status(install.User, p); st.Condition != install.Unknown {
			t.Errorf("%+v", st)
		}
		_, err := a.PlanInstall(install.User, p, install.Options{})
		refused(t, err, retake.Exists)
		_, err = a.PlanRemove(install.User, p)
		refused(t, err, retake.Exists)

		settle(t, file, "// Written by: retake agents install "+name+"\nold\n")
		if st := a.Status(install.User, p); st.Condition != install.Outdated {
			t.Errorf("%+v", st)
		}
		c, err := a.PlanInstall(install.User, p, install.Options{})
		if err != nil || c.Added == 0 || c.Removed == 0 || !slices.Contains(c.Lines(), "-old") {
			t.Errorf("%v, %+v", err, c)
		}
	}
}

func TestClineScripts(t *testing.T) {
	t.Parallel()
	a, p := named(t, "cline"), house(t)
	p.Retake = "/opt/my tools/retake"
	theirs := filepath.Join(p.Project, ".cline/hooks/PreToolUse")
	settle(t, theirs, "#!/bin/sh\necho mine\n")
	c, err := a.PlanInstall(install.Project, p, install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, theirs) }) {
		t.Errorf("%v", c.Notes)
	}
	ours := filepath.Join(p.Project, ".cline/hooks/TaskStart")
	info, err := os.Stat(ours)
	if err != nil || info.Mode().Perm() != 0o755 || !strings.Contains(string(read(t, ours)), "\nRETAKE='/opt/my tools/retake'\n") {
		t.Fatalf("%v, %v", info, err)
	}
	if st := a.Status(install.Project, p); st.Condition != install.Current || st.Hooks != c.Added {
		t.Errorf("%+v", st)
	}
	p.Retake = "retake"
	if st := a.Status(install.Project, p); st.Condition != install.Outdated {
		t.Errorf("%+v", st)
	}
	back, err := a.PlanRemove(install.Project, p)
	if err != nil || back.Removed != c.Added {
		t.Fatalf("%v, %d", err, back.Removed)
	}
	if err := back.Apply(); err != nil {
		t.Fatal(err)
	}
	alone(t, theirs)
}

func TestInstalled(t *testing.T) {
	t.Parallel()
	for _, a := range install.All() {
		p := house(t)
		if a.Installed(p) {
			t.Errorf("%s is there", a.Name)
		}
		p.LookPath = func(string) (string, bool) { return "/usr/bin/x", true }
		if !a.Installed(p) || a.Title == "" {
			t.Errorf("%s is not found", a.Name)
		}
	}
	p, moved := house(t), t.TempDir()
	p.Env = func(key string) string {
		return map[string]string{"CODEX_HOME": moved, "CLAUDE_CONFIG_DIR": "relative"}[key]
	}
	if !named(t, "codex").Installed(p) || named(t, "claude-code").Installed(p) {
		t.Error("the directory of a variable")
	}
	if st := named(t, "codex").Status(install.User, p); st.File != filepath.Join(moved, "hooks.json") {
		t.Errorf("%+v", st)
	}
	if st := named(t, "claude-code").Status(install.User, p); st.File != filepath.Join(p.Home, ".claude/settings.json") {
		t.Errorf("%+v", st)
	}
}

func TestTurnedOffIsTold(t *testing.T) {
	t.Parallel()
	a, p := named(t, "claude-code"), house(t)
	c := over(t, a, p, "{\"disableAllHooks\": true}")
	settle(t, c.File, string(c.After))
	if st := a.Status(install.User, p); st.Condition != install.Current || !strings.Contains(st.Detail, "disableAllHooks") {
		t.Errorf("%+v", st)
	}
}
