package install

import "github.com/tailscale/hujson"

// commandHandler returns a handler in the form that most agents share.
func commandHandler(line string, timeout int, more ...jsonMember) jsonObject {
	return append(jsonObject{{"type", "command"}, {"command", line}, {"timeout", timeout}}, more...)
}

// groupHook returns an entry of an event: a matcher, if any, and one handler, which is
// last.
func groupHook(event, matcher string, handler jsonObject) hookEntry {
	entry := jsonObject{}
	if matcher != "" {
		entry = append(entry, jsonMember{"matcher", matcher})
	}
	return hookEntry{event: event, value: append(entry, jsonMember{"hooks", []any{handler}})}
}

// claudeHooks returns the hooks of Claude Code. It waits for hooks that take part in a
// turn, not for those that only report. Stop takes part: "claude -p" exits right after it
// and kills the hooks that it does not wait for, and the next one to edit must find the
// turn closed. A hook that fails is ignored. Worktrees are opt-in: a hook that prints no
// path would break them.
func claudeHooks(program string) []hookEntry {
	run := hookCommand(program, claudeCode)
	wait, tell := commandHandler(run, 10), commandHandler(run, 60, jsonMember{"async", true})
	const changes = "Bash|PowerShell|Write|Edit|MultiEdit|NotebookEdit|mcp__.*"
	const starts = "|Task|Agent" // a sub-agent
	create := groupHook("WorktreeCreate", "", commandHandler(run, 120))
	remove := groupHook("WorktreeRemove", "", commandHandler(run, 60))
	create.optional, remove.optional = true, true
	return []hookEntry{
		groupHook("SessionStart", "", wait),
		groupHook("UserPromptSubmit", "", wait),
		groupHook("PreToolUse", changes+starts, wait),
		groupHook("PostToolUse", changes+"|TodoWrite|TaskCreate|TaskUpdate", tell),
		groupHook("PostToolUseFailure", changes, tell),
		groupHook("SubagentStart", "", tell),
		groupHook("SubagentStop", "", tell),
		groupHook("PreCompact", "", wait),
		groupHook("Stop", "", wait),
		groupHook("StopFailure", "", wait),
		groupHook("SessionEnd", "", wait),
		create,
		remove,
	}
}

// codexHooks returns the hooks of Codex. "async" would make older versions skip a hook, and
// the end of a session gets only three seconds.
func codexHooks(program string) []hookEntry {
	run := hookCommand(program, "codex")
	wait := commandHandler(run, 10)
	const changes = "Bash|apply_patch|mcp__.*"
	return []hookEntry{
		groupHook("SessionStart", "", wait),
		groupHook("UserPromptSubmit", "", wait),
		groupHook("PreToolUse", changes, wait),
		groupHook("PostToolUse", changes+"|update_plan", wait),
		groupHook("SubagentStart", "", wait),
		groupHook("SubagentStop", "", wait),
		groupHook("PreCompact", "", wait),
		groupHook("Stop", "", wait),
		groupHook("SessionEnd", "", commandHandler(run, 3)),
	}
}

// geminiHooks returns the hooks of Gemini CLI, whose timeouts are in milliseconds.
func geminiHooks(program string) []hookEntry {
	run := commandHandler(hookCommand(program, "gemini"), 10000)
	run = append(jsonObject{{"name", "retake"}}, run...)
	const changes = "run_shell_command|write_file|replace|mcp_.*"
	return []hookEntry{
		groupHook("SessionStart", "", run),
		groupHook("BeforeAgent", "", run),
		groupHook("BeforeTool", changes, run),
		groupHook("AfterTool", changes+"|write_todos", run),
		groupHook("AfterAgent", "", run),
		groupHook("PreCompress", "", run),
		groupHook("SessionEnd", "", run),
	}
}

// droidHooks returns the hooks of Droid. Names of tools differ between versions, so both
// are listed.
func droidHooks(program string) []hookEntry {
	run := commandHandler(hookCommand(program, "droid"), 10)
	const changes = "Bash|Execute|Write|Create|Edit|MultiEdit|ApplyPatch|mcp__.*"
	return []hookEntry{
		groupHook("SessionStart", "", run),
		groupHook("UserPromptSubmit", "", run),
		groupHook("PreToolUse", changes, run),
		groupHook("PostToolUse", changes+"|TodoWrite", run),
		groupHook("SubagentStop", "", run),
		groupHook("PreCompact", "", run),
		groupHook("Stop", "", run),
		groupHook("SessionEnd", "", run),
	}
}

// cursorHooks returns the hooks of Cursor, which ignores hooks that fail and events that a
// version does not know.
func cursorHooks(program string) []hookEntry {
	run := jsonObject{{"command", hookCommand(program, "cursor")}, {"timeout", 10}}
	var out []hookEntry
	for _, event := range []string{
		"sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure",
		"subagentStart", "subagentStop", "preCompact", "stop", "sessionEnd",
	} {
		out = append(out, hookEntry{event: event, value: run})
	}
	return out
}

// Copilot denies a tool if the hook before it fails, and it fails for everybody who has the
// project but not the program: so the command always succeeds. Event names in this spelling
// get the payload that other agents have too.
const (
	alwaysSucceed        = " || true"
	alwaysSucceedWindows = "; exit 0"
)

func copilotHooks(program string) []hookEntry {
	run := hookCommand(program, "copilot")
	windows := run
	if shellQuote(program) != program {
		windows = "& " + run // a quoted word is a text there, not a command
	}
	entry := jsonObject{{"type", "command"}, {"bash", run + alwaysSucceed}, {"powershell", windows + alwaysSucceedWindows}, {"timeoutSec", 10}}
	var out []hookEntry
	for _, event := range []string{
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
		"SubagentStop", "PreCompact", "Stop", "ErrorOccurred", "SessionEnd",
	} {
		out = append(out, hookEntry{event: event, value: entry})
	}
	return out
}

func isCopilotHook(v *hujson.Value) bool {
	bash := stringMember(v, "bash")
	if n := len(bash) - len(alwaysSucceed); n > 0 && bash[n:] == alwaysSucceed {
		bash = bash[:n]
	}
	return isHookCommand(bash, "copilot")
}

// clineEvents are the names of the programs that Cline runs.
var clineEvents = []string{
	"TaskStart", "TaskResume", "UserPromptSubmit", "PreToolUse", "PostToolUse", "TaskComplete", "TaskCancel", "TaskError", "SessionShutdown",
}
