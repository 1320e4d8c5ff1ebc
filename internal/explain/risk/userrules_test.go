package risk_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
)

const userFile = `{
  "programs": [
    {"programs": ["rip", "saferm"], "like": "rm"},
    {"programs": ["acme"], "rule": "deploy", "subcommands": ["app push", "rollout"], "value_flags": ["--env"], "harmless_flags": ["--plan"]},
    {"programs": ["scrubdb"], "rule": "sql-destroy"},
    {"programs": ["wipeout"], "rule": "delete-files"},
    {"programs": ["inbox"], "like": "sudo"}
  ],
  "tools": [
    {"server": "crm", "read_only": true},
    {"server": "crm", "tool": "merge_accounts", "read_only": false, "destructive": true, "open_world": true}
  ]
}`

func parseUserRules(t *testing.T, text string) *retake.RiskRules {
	t.Helper()
	r, err := risk.ParseUserRules([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestUserPrograms(t *testing.T) {
	t.Parallel()
	r := parseUserRules(t, userFile)
	for command, want := range map[string]string{
		"rip a b":                      "delete-files: deletes a, b",
		"sudo saferm -r dist":          "delete-files: deletes dist",
		"acme --env prod app push web": "deploy web",
		"acme rollout":                 "deploy acme rollout",
		"acme rollout --plan":          "",
		"acme status":                  "",
		"scrubdb":                      "sql-destroy: runs on a database: scrubdb",
		"wipeout x":                    "delete-files: runs wipeout",
		"inbox git push origin main":   "push origin main",
		"rm a":                         "delete-files: deletes a",
		"make test":                    "",
	} {
		j := risk.JudgeWith(r, retake.Call{Kind: retake.CallShell, Command: command})
		got := ""
		switch {
		case j.Destructive:
			got = j.Rule + ": " + j.Why
		case len(j.Effects) > 0:
			got = j.Effects[0].Kind + " " + j.Effects[0].Target
		}
		if got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	if j := risk.Judge(retake.Call{Kind: retake.CallShell, Command: "rip a"}); j.Destructive {
		t.Errorf("the rules of one user apply to all: %+v", j)
	}
}

func TestUserTools(t *testing.T) {
	t.Parallel()
	r := parseUserRules(t, userFile)
	for _, c := range []struct {
		server, tool      string
		destructive, open bool
	}{
		{"crm", "delete_contact", false, false}, // the file says that it only reads
		{"CRM", "merge_accounts", true, true},
		{"other", "delete_contact", true, true},
	} {
		j := risk.JudgeWith(r, retake.Call{Kind: retake.CallMCP, Server: c.server, Tool: c.tool})
		if j.Destructive != c.destructive || (len(j.Effects) > 0) != c.open {
			t.Errorf("%s/%s: %+v", c.server, c.tool, j)
		}
	}
}

func TestWrongUserRules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n\"programs\": [":              "unexpected EOF",
		"{\n\"programs\": [,":             "line 2: invalid character",
		"":                                "EOF",
		"[]":                              "line 1",
		"{} {}":                           "more after the end",
		`{"programz":[]}`:                 `unknown field "programz"`,
		`{"programs":[{"programs":"a"}]}`: `"programs.programs" cannot be a string`,
		`{"programs":[{}]}`:               "entry 1 of programs: it names no program",
		`{"programs":[{"programs":["a"],"rule":"nuke"}]}`:                      `there is no rule "nuke"`,
		`{"programs":[{"programs":["a"]}]}`:                                    `there is no rule ""`,
		`{"programs":[{"programs":["a"],"like":"b"}]}`:                         `no rule knows the program "b"`,
		`{"programs":[{"programs":["rm"],"like":"cd"}]}`:                       `the rules know "rm" already`,
		`{"programs":[{"programs":["a"],"like":"rm","rule":"deploy"}]}`:        "like stands alone",
		`{"programs":[{"programs":["/bin/a"],"rule":"deploy"}]}`:               "not the name of a program",
		`{"programs":[{"programs":["A"],"rule":"deploy"}]}`:                    "not the name of a program",
		`{"programs":[{"programs":["a"],"rule":"deploy","subcommands":[""]}]}`: "a subcommand is empty",
		`{"tools":[{"read_only":true}]}`:                                       "names no server and no tool",
		`{"tools":[` + strings.Repeat(`{"tool":"a"},`, 500) + `{"tool":"a"}]}`: "more than 500 entries",
		strings.Repeat(" ", risk.MaxUserFile) + "{}":                           "more than 64 KiB",
	} {
		r, err := risk.ParseUserRules([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "retake.") || r != nil {
			t.Errorf("%.60q: %v, %v, want %q", text, r, err, want)
		}
	}
	for _, text := range []string{"{}", `{"programs": []}`} {
		if _, err := risk.ParseUserRules([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
