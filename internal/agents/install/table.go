package install

import (
	"os"
	"path/filepath"

	"github.com/tailscale/hujson"

	"github.com/retake-dev/retake"
)

const claudeCode = "claude-code"

const noteNextSession = "takes effect in its next session"

// knownAgents is the table of agents. What each agent understands, and what it does if a
// hook fails, is documented at its hooks.
var knownAgents = []Agent{
	{Name: claudeCode, Title: "Claude Code", programs: []string{"claude"},
		configDirs: func(p Places) []string { return []string{p.configDir("CLAUDE_CONFIG_DIR", ".claude")} },
		driver:     settingsDriver{file: fileInAgentDir("CLAUDE_CONFIG_DIR", ".claude", "settings.json"), hooks: claudeHooks, isOurs: isCommandOf(claudeCode), notes: claudeNotes}},
	{Name: "codex", Title: "Codex", programs: []string{"codex"},
		configDirs: func(p Places) []string { return []string{p.configDir("CODEX_HOME", ".codex")} },
		driver:     settingsDriver{file: fileInAgentDir("CODEX_HOME", ".codex", "hooks.json"), hooks: codexHooks, isOurs: isCommandOf("codex"), notes: fixedNotes(noteNextSession + ", and asks once to trust the hooks")}},
	{Name: "gemini", Title: "Gemini CLI", programs: []string{"gemini"},
		configDirs: func(p Places) []string { return []string{filepath.Join(p.configDir("GEMINI_CLI_HOME"), ".gemini")} },
		driver:     settingsDriver{file: geminiFile, hooks: geminiHooks, isOurs: isCommandOf("gemini"), notes: fixedNotes(noteNextSession)}},
	{Name: "opencode", Title: "opencode", programs: []string{"opencode"},
		configDirs: func(p Places) []string {
			return []string{filepath.Join(p.configDir("XDG_CONFIG_HOME", ".config"), "opencode")}
		},
		driver: extensionDriver{file: opencodeFile, source: "retake.js", hookCount: 9, notes: []string{noteNextSession}}},
	{Name: "docker-agent", Title: "Docker Agent", programs: []string{"docker-agent", "cagent"},
		configDirs: func(p Places) []string { return []string{filepath.Join(p.Home, ".cagent"), dockerConfig(p)} },
		driver:     dockerHooksDriver},
	{Name: "cursor", Title: "Cursor", programs: []string{"cursor", "cursor-agent"},
		configDirs: func(p Places) []string { return []string{filepath.Join(p.Home, ".cursor")} },
		driver:     settingsDriver{file: fileInAgentDir("", ".cursor", "hooks.json"), hooks: cursorHooks, isOurs: isCommandOf("cursor"), flatEvents: true, hasVersion: true, notes: fixedNotes(noteNextSession)}},
	{Name: "copilot", Title: "Copilot CLI", programs: []string{"copilot"},
		configDirs: func(p Places) []string { return []string{p.configDir("COPILOT_HOME", ".copilot")} },
		driver:     settingsDriver{file: copilotFile, hooks: copilotHooks, isOurs: isCopilotHook, flatEvents: true, hasVersion: true, notes: fixedNotes(noteNextSession)}},
	{Name: "cline", Title: "Cline", programs: []string{"cline"},
		configDirs: func(p Places) []string {
			return []string{filepath.Join(p.Home, ".cline"), filepath.Join(p.Home, "Documents", "Cline")}
		},
		driver: scriptDriver{dir: clineDir, source: "cline.sh", events: clineEvents, notes: []string{noteNextSession + "; in an editor, hooks are turned on in the settings of Cline"}}},
	{Name: "pi", Title: "pi", programs: []string{"pi"},
		configDirs: func(p Places) []string { return []string{p.configDir("PI_CODING_AGENT_DIR", ".pi", "agent")} },
		driver:     extensionDriver{file: piFile, source: "retake.ts", hookCount: 7, notes: []string{noteNextSession}}},
	{Name: "droid", Title: "Droid", programs: []string{"droid"},
		configDirs: func(p Places) []string { return []string{filepath.Join(p.Home, ".factory")} },
		driver:     settingsDriver{file: droidFile, hooks: droidHooks, isOurs: isCommandOf("droid"), notes: fixedNotes(noteNextSession)}},
}

func fixedNotes(notes ...string) func(agentSite) []string {
	return func(agentSite) []string { return notes }
}

func claudeNotes(at agentSite) []string {
	if at.scope == Project {
		return []string{noteNextSession, "Copilot CLI reads the same file in a project"}
	}
	return []string{noteNextSession}
}

// isCommandOf returns a function that recognizes our command in the field "command".
func isCommandOf(agent string) func(*hujson.Value) bool {
	return func(v *hujson.Value) bool { return isHookCommand(stringMember(v, "command"), agent) }
}

func stringMember(v *hujson.Value, key string) string {
	if m, _ := findMember(v, key); m != nil {
		if l, ok := m.Value.(hujson.Literal); ok && l.Kind() == '"' {
			return l.String()
		}
	}
	return ""
}

func geminiFile(at agentSite) (settingsFile, error) {
	base := at.Project
	if at.scope == User {
		base = at.configDir("GEMINI_CLI_HOME")
	}
	return at.locateFile(base, ".gemini", "settings.json")
}

func opencodeFile(at agentSite) (settingsFile, error) {
	if at.scope == Project {
		return at.locateFile(at.Project, ".opencode", "plugins", "retake.js")
	}
	return at.locateFile(at.configDir("XDG_CONFIG_HOME", ".config"), "opencode", "plugins", "retake.js")
}

func copilotFile(at agentSite) (settingsFile, error) {
	if at.scope == Project {
		return at.locateFile(at.Project, ".github", "hooks", "retake.json")
	}
	return fileInAgentDir("COPILOT_HOME", ".copilot", "hooks", "retake.json")(at)
}

func clineDir(at agentSite) (settingsFile, error) {
	if at.scope == Project {
		return at.locateFile(at.Project, ".cline", "hooks")
	}
	return at.locateFile(filepath.Join(at.Home, "Documents"), "Cline", "Hooks")
}

func piFile(at agentSite) (settingsFile, error) {
	if at.scope == Project {
		return at.locateFile(at.Project, ".pi", "extensions", "retake.ts")
	}
	return fileInAgentDir("PI_CODING_AGENT_DIR", ".pi/agent", "extensions", "retake.ts")(at)
}

// droidFile returns hooks.json if it exists, because then Droid reads nothing else.
// Creating it would disable the hooks that a user has in settings.json.
func droidFile(at agentSite) (settingsFile, error) {
	alone, err := fileInAgentDir("", ".factory", "hooks.json")(at)
	if err != nil {
		return alone, err
	}
	if _, err := os.Lstat(alone.path); err != nil {
		return fileInAgentDir("", ".factory", "settings.json")(at)
	}
	file, _, err := alone.read()
	if err != nil {
		return alone, unreadableError(alone.path, err)
	}
	d, err := parseDoc(file)
	if err != nil {
		return alone, unreadableError(alone.path, err)
	}
	if d.root != nil {
		if v, _ := findMember(d.root, "hooks"); v != nil {
			return alone, nil
		}
		for _, m := range d.root.Value.(*hujson.Object).Members {
			if m.Value.Value.Kind() == '[' {
				alone.events = nil // the events are in the root
				return alone, nil
			}
		}
	}
	return alone, &retake.Error{
		Kind: retake.Denied, What: alone.path + " names no event, and versions of Droid do not agree on its form", Safe: nothingChanged,
		Hint: "take the file away, or add a hook with /hooks in Droid, then try again",
	}
}
