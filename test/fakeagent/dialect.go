package fakeagent

import (
	"os"
	"path/filepath"
	"time"
)

// dialect is what one agent does in its own way.
type dialect struct {
	name        string
	body        func(*agent) (body, error)
	sources     func(*agent) []source
	read        func([]byte) ([]handler, error)
	scripts     bool // hooks are programs in a directory
	once        bool // the same line in two files runs once
	promptFirst bool // the first prompt is told before the session
	shell       []string
	matches     func(matcher, subject string) bool
	env         func(*agent) []string
	event       func(event) string // "" when it fires nothing
	payload     func(a *agent, name string, e event) map[string]any
	tool        func(a *agent, verb string, o operands) (string, map[string]any)
	judge       func(e event, name string, h handler, r result) verdict
	unwaited    func(event) bool
	talk        *talk
}

var posix, bash = []string{"/bin/sh", "-c"}, []string{"bash", "-c"}

var dialects = []dialect{
	{
		name: "claude-code", body: withHooks, sources: inBoth("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
		read: nested(time.Second, 10*time.Minute), once: true, shell: posix, matches: plainOrSearched,
		env:     named("CLAUDE_PROJECT_DIR"),
		event:   names("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "StopFailure", "PreCompact", "SessionEnd"),
		payload: claudePayload, tool: claudeTool, judge: judgeClaude, unwaited: waits, talk: &claudeTalk,
	},
	{
		name: "codex", body: withHooks, sources: inBoth("CODEX_HOME", ".codex", "hooks.json"),
		read: nested(time.Second, 10*time.Minute), shell: posix, matches: plainOrSearched,
		env:     named(),
		event:   names("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUse", "Stop", "", "PreCompact", "SessionEnd"),
		payload: codexPayload, tool: codexTool, judge: judgeCodex, unwaited: waits, talk: &codexTalk,
	},
	{
		name: "gemini", body: withHooks, sources: geminiSources,
		read: nested(time.Millisecond, time.Minute), once: true, shell: bash, matches: searched,
		env:     named("GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
		event:   names("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterTool", "AfterAgent", "", "PreCompress", "SessionEnd"),
		payload: geminiPayload, tool: geminiTool, judge: judgeGemini, talk: &geminiTalk,
		unwaited: func(e event) bool { return e.kind == ends },
	},
	{
		name: "opencode", body: withPlugin, tool: opencodeTool,
		event: names("session.created", "chat.message", "tool.execute.before", "tool.execute.after", "tool.execute.after", "session.idle", "session.error", "session.compacted", ""),
	},
	{
		name: "docker-agent", body: withHooks, read: yamlHooks, shell: posix, matches: anchored,
		sources: dockerSources,
		env:     named(),
		event:   names("session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "post_tool_use", "stop", "turn_end", "pre_compact", "session_end"),
		payload: dockerPayload, tool: dockerTool, judge: judgeDocker, unwaited: waits,
	},
	{
		name: "cursor", body: withHooks, sources: cursorSources,
		read: flat(time.Minute), shell: posix, matches: searched,
		env:     named("CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
		event:   names("sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure", "stop", "stop", "preCompact", "sessionEnd"),
		payload: cursorPayload, tool: cursorTool, judge: judgeCursor,
		unwaited: func(e event) bool { return e.kind == begins || e.kind == ends },
	},
	{
		name: "copilot", body: withHooks, sources: copilotSources,
		read: flat(30 * time.Second), shell: bash, matches: searched, promptFirst: true,
		env:     named(),
		event:   names("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "ErrorOccurred", "PreCompact", "SessionEnd"),
		payload: copilotPayload, tool: copilotTool, judge: judgeCopilot, unwaited: waits,
	},
	{
		name: "cline", body: withHooks, sources: clineSources, scripts: true,
		matches: searched, env: named(), event: clineEvent,
		payload: clinePayload, tool: clineTool, judge: judgeCline, unwaited: waits,
	},
	{
		name: "droid", body: withHooks, sources: droidSources,
		read: nested(time.Second, time.Minute), once: true, shell: posix, matches: plainOrSearched,
		env:     named("FACTORY_PROJECT_DIR"),
		event:   names("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUse", "Stop", "", "PreCompact", "SessionEnd"),
		payload: droidPayload, tool: droidTool, judge: judgeClaude, unwaited: waits,
	},
}

func waits(event) bool { return false }

var kinds = []kind{begins, asked, before, after, broken, rests, fails, forgets, ends}

// names are the events of an agent, in the order of the kinds.
func names(list ...string) func(event) string {
	known := map[kind]string{}
	for i, n := range list {
		known[kinds[i]] = n
	}
	return func(e event) string { return known[e.kind] }
}

// named are variables that hold the directory of the project.
func named(keys ...string) func(*agent) []string {
	return func(a *agent) (out []string) {
		for _, k := range keys {
			out = append(out, k+"="+a.Dir)
		}
		return out
	}
}

// inBoth is a file of the user, and the one with the same name in the project.
func inBoth(key, folder, file string) func(*agent) []source {
	return func(a *agent) []source {
		return []source{
			{path: filepath.Join(a.under(key, folder), file), dir: a.Dir},
			{path: filepath.Join(a.Dir, folder, file), dir: a.Dir},
		}
	}
}

func geminiSources(a *agent) []source {
	return []source{
		{path: filepath.Join(a.under("GEMINI_CLI_HOME", ""), ".gemini", "settings.json"), dir: a.Dir},
		{path: filepath.Join(a.Dir, ".gemini", "settings.json"), dir: a.Dir},
	}
}

// cursorSources: hooks of the user run beside their file.
func cursorSources(a *agent) []source {
	own := filepath.Join(a.Home, ".cursor")
	return []source{
		{path: filepath.Join(own, "hooks.json"), dir: own},
		{path: filepath.Join(a.Dir, ".cursor", "hooks.json"), dir: a.Dir},
	}
}

func copilotSources(a *agent) []source {
	var out []source
	for _, dir := range []string{filepath.Join(a.under("COPILOT_HOME", ".copilot"), "hooks"), filepath.Join(a.Dir, ".github", "hooks")} {
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			continue // the pattern is good
		}
		for _, f := range files {
			out = append(out, source{path: f, dir: a.Dir})
		}
	}
	return out
}

func clineSources(a *agent) []source {
	return []source{
		{path: filepath.Join(a.Home, "Documents", "Cline", "Hooks"), dir: a.Dir},
		{path: filepath.Join(a.Dir, ".cline", "hooks"), dir: a.Dir},
	}
}

// droidSources: when hooks.json is there, hooks in settings.json are not read.
func droidSources(a *agent) []source {
	var out []source
	for _, dir := range []string{filepath.Join(a.Home, ".factory"), filepath.Join(a.Dir, ".factory")} {
		file := filepath.Join(dir, "hooks.json")
		if _, err := os.Stat(file); err != nil {
			file = filepath.Join(dir, "settings.json")
		}
		out = append(out, source{path: file, dir: a.Dir})
	}
	return out
}
