package install_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/agents/install"
)

// over installs and answers the text.
func over(t *testing.T, a install.Agent, p install.Places, text string) install.Change {
	t.Helper()
	settle(t, a.Status(install.User, p).File, text)
	c, err := a.PlanInstall(install.User, p, install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// without removes from a text and answers what is left.
func without(t *testing.T, a install.Agent, p install.Places, text string) install.Change {
	t.Helper()
	settle(t, a.Status(install.User, p).File, text)
	c, err := a.PlanRemove(install.User, p)
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

// A comment stays on the line that it is about, and alive.
func TestCommentsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	a, p := named(t, "codex"), house(t)
	c := over(t, a, p, "{\n  \"hooks\": {\n    \"Stop\": [\n      1 // one\n    ] // list\n  }, // all\n}\n")
	for _, line := range []string{"      1, // one\n", "    ], // list\n", "  }, // all\n"} {
		if !strings.Contains(string(c.After), line) {
			t.Errorf("there is no %q in\n%s", line, c.After)
		}
	}
	const ours = `{"hooks": [{"type": "command", "command": "retake hook codex"}]}`
	for text, want := range map[string]string{
		"{\"hooks\": {\"Stop\": [1, // one\n " + ours + ", 2]}}":                 "{\"hooks\": {\"Stop\": [1, // one\n 2]}}",
		"{\"hooks\": {\"Stop\": [1, // one\n " + ours + "]}}":                    "{\"hooks\": {\"Stop\": [1 // one\n]}}",
		"{\"hooks\": {\"Stop\": [// one\n " + ours + "]}}":                       "{\"hooks\": {\"Stop\": [// one\n]}}",
		"{\n  \"hooks\": {\n\n    // mine\n    \"Stop\": [" + ours + "]\n  }\n}": "{\n  \"hooks\": {\n\n    // mine\n  }\n}",
		"{\"hooks\": {\"Stop\": [" + ours + " /* it */, 2]}}":                    "{\"hooks\": {\"Stop\": [ /* it */ 2]}}",
	} {
		got := string(without(t, a, p, text).After)
		if got != want {
			t.Errorf("%q became %q", text, got)
		}
		decode(t, []byte(got))
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
			settle(t, a.Status(install.User, p).File, other)
			if st := a.Status(install.User, p); st.Condition != install.Current {
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
			c, err := a.PlanInstall(install.User, moved, install.Options{})
			if err != nil {
				t.Fatal(err)
			}
			then := string(c.After)
			// An event that is not in the set any more, and one less of the set.
			then = strings.Replace(then, `"`+names[1]+`"`, `"Olden"`, 1)
			settle(t, now.File, then)
			if st := a.Status(install.User, p); st.Condition != install.Outdated || st.Hooks != len(names) {
				t.Errorf("%+v", st)
			}
			again := over(t, a, p, then)
			if again.Added != len(names) || again.Removed != len(names) {
				t.Errorf("+%d -%d", again.Added, again.Removed)
			}
			settle(t, now.File, string(again.After))
			if st := a.Status(install.User, p); st.Condition != install.Current || st.Hooks != len(names) {
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
	as := strings.Replace(both, "%s", `, "timeout": 10`, 1)
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
