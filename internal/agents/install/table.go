package install

import (
	"os"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/tailscale/hujson"
)

const claudeCode = "claude-code"

const nextSession = "takes effect in its next session"

// agents is the table. What each agent understands, and what it does when a hook
// fails, is written beside its hooks.
var agents = []Agent{
	{Name: claudeCode, Title: "Claude Code", programs: []string{"claude"},
		homes:  func(p Places) []string { return []string{p.home("CLAUDE_CONFIG_DIR", ".claude")} },
		driver: settings{file: in("CLAUDE_CONFIG_DIR", ".claude", "settings.json"), hooks: claudeHooks, ours: commandOf(claudeCode), notes: claudeNotes}},
	{Name: "codex", Title: "Codex", programs: []string{"codex"},
		homes:  func(p Places) []string { return []string{p.home("CODEX_HOME", ".codex")} },
		driver: settings{file: in("CODEX_HOME", ".codex", "hooks.json"), hooks: codexHooks, ours: commandOf("codex"), notes: says(nextSession + ", and asks once to trust the hooks")}},
	{Name: "gemini", Title: "Gemini CLI", programs: []string{"gemini"},
		homes:  func(p Places) []string { return []string{filepath.Join(p.home("GEMINI_CLI_HOME"), ".gemini")} },
		driver: settings{file: geminiFile, hooks: geminiHooks, ours: commandOf("gemini"), notes: says(nextSession)}},
	{Name: "opencode", Title: "opencode", programs: []string{"opencode"},
		homes: func(p Places) []string {
			return []string{filepath.Join(p.home("XDG_CONFIG_HOME", ".config"), "opencode")}
		},
		driver: extension{file: opencodeFile, from: "retake.js", hooks: 9, notes: []string{nextSession}}},
	{Name: "docker-agent", Title: "Docker Agent", programs: []string{"docker-agent", "cagent"},
		homes:  func(p Places) []string { return []string{filepath.Join(p.Home, ".cagent"), dockerConfig(p)} },
		driver: dockerHooks},
	{Name: "cursor", Title: "Cursor", programs: []string{"cursor", "cursor-agent"},
		homes:  func(p Places) []string { return []string{filepath.Join(p.Home, ".cursor")} },
		driver: settings{file: in("", ".cursor", "hooks.json"), hooks: cursorHooks, ours: commandOf("cursor"), flat: true, version: true, notes: says(nextSession)}},
	{Name: "copilot", Title: "Copilot CLI", programs: []string{"copilot"},
		homes:  func(p Places) []string { return []string{p.home("COPILOT_HOME", ".copilot")} },
		driver: settings{file: copilotFile, hooks: copilotHooks, ours: copilotOurs, flat: true, version: true, notes: says(nextSession)}},
	{Name: "cline", Title: "Cline", programs: []string{"cline"},
		homes: func(p Places) []string {
			return []string{filepath.Join(p.Home, ".cline"), filepath.Join(p.Home, "Documents", "Cline")}
		},
		driver: scripts{dir: clineDir, from: "cline.sh", events: clineEvents, notes: []string{nextSession + "; in an editor, hooks are turned on in the settings of Cline"}}},
	{Name: "pi", Title: "pi", programs: []string{"pi"},
		homes:  func(p Places) []string { return []string{p.home("PI_CODING_AGENT_DIR", ".pi", "agent")} },
		driver: extension{file: piFile, from: "retake.ts", hooks: 7, notes: []string{nextSession}}},
	{Name: "droid", Title: "Droid", programs: []string{"droid"},
		homes:  func(p Places) []string { return []string{filepath.Join(p.Home, ".factory")} },
		driver: settings{file: droidFile, hooks: droidHooks, ours: commandOf("droid"), notes: says(nextSession)}},
}

func says(notes ...string) func(site) []string { return func(site) []string { return notes } }

func claudeNotes(at site) []string {
	if at.scope == Project {
		return []string{nextSession, "Copilot CLI reads the same file in a project"}
	}
	return []string{nextSession}
}

// commandOf knows our command in the field "command".
func commandOf(agent string) func(*hujson.Value) bool {
	return func(v *hujson.Value) bool { return isLine(stringIn(v, "command"), agent) }
}

func stringIn(v *hujson.Value, key string) string {
	if m, _ := find(v, key); m != nil {
		if l, ok := m.Value.(hujson.Literal); ok && l.Kind() == '"' {
			return l.String()
		}
	}
	return ""
}

func geminiFile(at site) (place, error) {
	base := at.Project
	if at.scope == User {
		base = at.home("GEMINI_CLI_HOME")
	}
	return at.at(base, ".gemini", "settings.json")
}

func opencodeFile(at site) (place, error) {
	if at.scope == Project {
		return at.at(at.Project, ".opencode", "plugins", "retake.js")
	}
	return at.at(at.home("XDG_CONFIG_HOME", ".config"), "opencode", "plugins", "retake.js")
}

func copilotFile(at site) (place, error) {
	if at.scope == Project {
		return at.at(at.Project, ".github", "hooks", "retake.json")
	}
	return in("COPILOT_HOME", ".copilot", "hooks", "retake.json")(at)
}

func clineDir(at site) (place, error) {
	if at.scope == Project {
		return at.at(at.Project, ".cline", "hooks")
	}
	return at.at(filepath.Join(at.Home, "Documents"), "Cline", "Hooks")
}

func piFile(at site) (place, error) {
	if at.scope == Project {
		return at.at(at.Project, ".pi", "extensions", "retake.ts")
	}
	return in("PI_CODING_AGENT_DIR", ".pi/agent", "extensions", "retake.ts")(at)
}

// droidFile is hooks.json when it is there, because then Droid reads nothing else;
// making it would turn off the hooks that a user has in settings.json.
func droidFile(at site) (place, error) {
	alone, err := in("", ".factory", "hooks.json")(at)
	if err != nil {
		return alone, err
	}
	if _, err := os.Lstat(alone.file); err != nil {
		return in("", ".factory", "settings.json")(at)
	}
	file, _, err := alone.read()
	if err != nil {
		return alone, refuse(alone.file, err)
	}
	d, err := parse(file)
	if err != nil {
		return alone, refuse(alone.file, err)
	}
	if d.root != nil {
		if v, _ := find(d.root, "hooks"); v != nil {
			return alone, nil
		}
		for _, m := range d.root.Value.(*hujson.Object).Members {
			if m.Value.Value.Kind() == '[' {
				alone.list = nil // the events stand in the root
				return alone, nil
			}
		}
	}
	return alone, &retake.Error{
		Kind: retake.Denied, What: alone.file + " names no event, and versions of Droid do not agree on its form", Safe: unchanged,
		Hint: "take the file away, or add a hook with /hooks in Droid, then try again",
	}
}
