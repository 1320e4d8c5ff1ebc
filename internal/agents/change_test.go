package agents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents"
)

// over installs and answers the text.
func over(t *testing.T, a agents.Agent, p agents.Places, text string) agents.Change {
	t.Helper()
	settle(t, a.Status(agents.User, p).File, text)
	c, err := a.PlanInstall(agents.User, p, agents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// without removes from a text and answers what is left.
func without(t *testing.T, a agents.Agent, p agents.Places, text string) agents.Change {
	t.Helper()
	settle(t, a.Status(agents.User, p).File, text)
	c, err := a.PlanRemove(agents.User, p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What a user writes between an install and a remove stays, and the rest comes
// back as if we had never been there.
func TestEditsInBetweenStay(t *testing.T) {
	t.Parallel()
	const mine = "{\n  // my model\n  \"model\": \"opus\"\n}\n"
	edits := map[string][3]string{ // before, what is replaced after the install, and what must be there in the end
		"another key changes":    {mine, `"opus"|"sonnet"`, strings.Replace(mine, "opus", "sonnet", 1)},
		"a key comes first":      {mine, "{\n|{\n  \"a\": 1,\n", strings.Replace(mine, "{\n", "{\n  \"a\": 1,\n", 1)},
		"a key comes last":       {mine, "\n  }\n}\n|\n  },\n  \"z\": 1\n}\n", "{\n  // my model\n  \"model\": \"opus\",\n  \"z\": 1\n}\n"},
		"an event comes last":    {mine, "]\n  }\n}|],\n    \"Mine\": []\n  }\n}", "{\n  // my model\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Mine\": []\n  }\n}\n"},
		"a comment at the end":   {mine, "\n}\n|\n}\n// bye\n", mine + "// bye\n"},
		"a comment in the hooks": {mine, "\"hooks\": {|\"hooks\": {\n    // not mine", "{\n  // my model\n  \"model\": \"opus\",\n  \"hooks\": {\n    // not mine\n  }\n}\n"},
		"an entry beside ours":   {"{\"hooks\": {}}", "]}}|], \"Mine\": [1]}}", "{\"hooks\": { \"Mine\": [1]}}"},
		"a key in a new file":    {"", "\n}|,\n  \"z\": 1\n}", "{\n  \"z\": 1\n}"},
	}
	for what, e := range edits {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			a, p := named(t, "codex"), house(t)
			installed := string(over(t, a, p, e[0]).After)
			old, young, _ := strings.Cut(e[1], "|")
			i := strings.LastIndex(installed, old)
			if i < 0 || what == "a key comes first" {
				i = strings.Index(installed, old)
			}
			edited := installed[:i] + young + installed[i+len(old):]
			if got := string(without(t, a, p, edited).After); got != e[2] {
				t.Errorf("is\n%s\nwant\n%s\nfrom\n%s", got, e[2], edited)
			}
		})
	}
}

// A program that rewrites the file in its own way does not hide our hooks.
func TestRewrittenFilesLoseOursOnly(t *testing.T) {
	t.Parallel()
	for _, name := range inJSON {
		a, p := named(t, name), house(t)
		names := events(t, name)
		text := shape{text: "{\n  \"model\": \"x\",\n  \"hooks\": {\n    \"EVENT\": [ENTRY]\n  }\n}\n"}.of(names, flat(name))
		for what, rewrite := range map[string]func(string) string{"pretty": pretty, "compact": compact} {
			other := rewrite(string(over(t, a, p, text).After))
			settle(t, a.Status(agents.User, p).File, other)
			if st := a.Status(agents.User, p); st.Condition != agents.Current {
				t.Errorf("%s, %s: %+v", name, what, st)
			}
			if got, want := string(without(t, a, p, other).After), rewrite(text); compact(got) != compact(want) {
				t.Errorf("%s, %s:\n%s\nwant\n%s", name, what, got, want)
			}
		}
	}
}

// An older set, and another path of the program, give way where they stand.
func TestOutdatedIsReplacedInPlace(t *testing.T) {
	t.Parallel()
	for _, name := range inJSON {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, p := named(t, name), house(t)
			names := events(t, name)
			text := shape{text: "{\n  \"hooks\": {\n    \"EVENT\": [\n      ENTRY\n    ],\n    \"Mine\": []\n  },\n  \"z\": 1\n}\n"}.of(names, flat(name))
			now := over(t, a, p, text)
			moved := p
			moved.Retake = "/opt/my tools/retake"
			settle(t, now.File, text)
			c, err := a.PlanInstall(agents.User, moved, agents.Options{})
			if err != nil {
				t.Fatal(err)
			}
			then := string(c.After)
			// An event that is not in the set any more, and one less of the set.
			then = strings.Replace(then, `"`+names[1]+`"`, `"Olden"`, 1)
			settle(t, now.File, then)
			if st := a.Status(agents.User, p); st.Condition != agents.Outdated || st.Hooks != len(names) {
				t.Errorf("%+v", st)
			}
			again := over(t, a, p, then)
			if again.Added != len(names) || again.Removed != len(names) {
				t.Errorf("+%d -%d", again.Added, again.Removed)
			}
			settle(t, now.File, string(again.After))
			if st := a.Status(agents.User, p); st.Condition != agents.Current || st.Hooks != len(names) {
				t.Errorf("%+v", st)
			}
			if strings.Contains(string(again.After), "my tools") || strings.Contains(string(again.After), "Olden") {
				t.Errorf("something old is left:\n%s", again.After)
			}
			at := func(s string) int { return strings.Index(s, names[2]) }
			if at(string(again.After)) > at(string(now.After))+40 {
				t.Errorf("%s left its place:\n%s", names[2], again.After)
			}
			if got := string(without(t, a, p, string(again.After)).After); got != text {
				t.Errorf("came back as\n%s", got)
			}
			if got := string(without(t, a, p, then).After); got != text {
				t.Errorf("the older set came back as\n%s", got)
			}
		})
	}
}

// A command of ours that a user put among theirs is taken out, and they stay.
func TestOursAmongOthers(t *testing.T) {
	t.Parallel()
	a, p := named(t, "claude-code"), house(t)
	const both = `{"hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "retake hook claude-code"%s}, {"type": "command", "command": "b"}]}]}}`
	as := strings.Replace(both, "%s", `, "timeout": 60, "async": true`, 1)
	if c := over(t, a, p, as); c.Removed != 0 || c.Added != len(events(t, "claude-code"))-1 {
		t.Errorf("as it should be: +%d -%d", c.Added, c.Removed)
	}
	old := strings.Replace(both, "%s", "", 1)
	c := over(t, a, p, old)
	if c.Removed != 1 || strings.Count(string(c.After), "retake hook claude-code") != len(events(t, "claude-code")) {
		t.Errorf("older: -%d\n%s", c.Removed, c.After)
	}
	const left = `{"hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "b"}]}]}}`
	for _, text := range []string{as, old, string(c.After)} {
		if got := string(without(t, a, p, text).After); got != left {
			t.Errorf("left is\n%s", got)
		}
	}
}

// Twice the same hook becomes one.
func TestDoublesGo(t *testing.T) {
	t.Parallel()
	a, p := named(t, "cursor"), house(t)
	twice := `{"version": 1, "hooks": {"stop": [{"command": "retake hook cursor"}, {"command": "mine"}, {"command": "/usr/bin/retake hook cursor", "timeout": 10}]}}`
	c := over(t, a, p, twice)
	if n := strings.Count(string(c.After), "retake hook cursor"); n != len(events(t, "cursor")) || c.Removed != 2 {
		t.Errorf("%d, -%d:\n%s", n, c.Removed, c.After)
	}
}

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
		settle(t, a.Status(agents.User, p).File, `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "`+quoted+`"}]}]}}`)
		if st := a.Status(agents.User, p); (st.Hooks == 1) != ours || st.Condition == agents.Unknown {
			t.Errorf("%q: %+v", command, st)
		}
	}
}

// Worktrees are opt-in, and stay until they are removed.
func TestWorktreesAreOptIn(t *testing.T) {
	t.Parallel()
	a, p := named(t, "claude-code"), house(t)
	with, err := a.PlanInstall(agents.Project, p, agents.Options{Worktree: true})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := a.PlanInstall(agents.Project, p, agents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if with.Added != plain.Added+2 || strings.Contains(string(plain.After), "Worktree") {
		t.Errorf("%d and %d:\n%s", with.Added, plain.Added, plain.After)
	}
	if err := plain.Apply(); err != nil {
		t.Fatal(err)
	}
	more, err := a.PlanInstall(agents.Project, p, agents.Options{Worktree: true})
	if err != nil || more.Added != 2 || more.Removed != 0 {
		t.Fatalf("%v, +%d -%d", err, more.Added, more.Removed)
	}
	if err := more.Apply(); err != nil {
		t.Fatal(err)
	}
	if st := a.Status(agents.Project, p); st.Condition != agents.Current || st.Hooks != with.Added {
		t.Errorf("%+v", st)
	}
	if c, err := a.PlanInstall(agents.Project, p, agents.Options{}); err != nil || !c.Empty() {
		t.Errorf("%v, %v", err, c.Lines())
	}
	if c, err := a.PlanRemove(agents.Project, p); err != nil || c.After != nil || c.Removed != with.Added {
		t.Errorf("%v, %q", err, c.After)
	}
}

// Droid reads hooks.json alone when it is there, in one form or the other.
func TestDroidHasTwoFiles(t *testing.T) {
	t.Parallel()
	a := named(t, "droid")
	for what, text := range map[string]string{
		"wrapped":      "{\n  \"hooks\": {\n    \"Stop\": [" + groupEntry + "]\n  }\n}\n",
		"unwrapped":    "{\n  \"Stop\": [" + groupEntry + "],\n  \"Notification\": []\n}\n",
		"empty event":  "{\n  \"Stop\": []\n}\n",
		"hooks, empty": "{\n  \"hooks\": {}\n}\n",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := house(t)
			file := filepath.Join(p.Home, ".factory", "hooks.json")
			settle(t, file, text)
			if st := a.Status(agents.User, p); st.File != file {
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
	settle(t, filepath.Join(p.Home, ".factory", "hooks.json"), "{}\n")
	_, err := a.PlanInstall(agents.User, p, agents.Options{})
	refused(t, err, retake.Denied)
}

// A script or an extension of somebody else is not touched.
func TestFilesOfOthersStay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"opencode", "pi"} {
		a, p := named(t, name), house(t)
		file := a.Status(agents.User, p).File
		settle(t, file, "// mine\n")
		if st := a.Status(agents.User, p); st.Condition != agents.Unknown {
			t.Errorf("%+v", st)
		}
		_, err := a.PlanInstall(agents.User, p, agents.Options{})
		refused(t, err, retake.Exists)
		_, err = a.PlanRemove(agents.User, p)
		refused(t, err, retake.Exists)

		settle(t, file, "// Written by: retake agents install "+name+"\nold\n")
		if st := a.Status(agents.User, p); st.Condition != agents.Outdated {
			t.Errorf("%+v", st)
		}
		c, err := a.PlanInstall(agents.User, p, agents.Options{})
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
	c, err := a.PlanInstall(agents.Project, p, agents.Options{})
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
	if st := a.Status(agents.Project, p); st.Condition != agents.Current || st.Hooks != c.Added {
		t.Errorf("%+v", st)
	}
	p.Retake = "retake"
	if st := a.Status(agents.Project, p); st.Condition != agents.Outdated {
		t.Errorf("%+v", st)
	}
	back, err := a.PlanRemove(agents.Project, p)
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
	for _, a := range agents.All() {
		p := house(t)
		if a.Installed(p) {
			t.Errorf("%s is there", a.Name)
		}
		p.Look = func(string) (string, bool) { return "/usr/bin/x", true }
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
	if st := named(t, "codex").Status(agents.User, p); st.File != filepath.Join(moved, "hooks.json") {
		t.Errorf("%+v", st)
	}
	if st := named(t, "claude-code").Status(agents.User, p); st.File != filepath.Join(p.Home, ".claude/settings.json") {
		t.Errorf("%+v", st)
	}
}

func TestTurnedOffIsTold(t *testing.T) {
	t.Parallel()
	a, p := named(t, "claude-code"), house(t)
	c := over(t, a, p, "{\"disableAllHooks\": true}")
	settle(t, c.File, string(c.After))
	if st := a.Status(agents.User, p); st.Condition != agents.Current || !strings.Contains(st.Detail, "disableAllHooks") {
		t.Errorf("%+v", st)
	}
}
