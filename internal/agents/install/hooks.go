package install

import "github.com/tailscale/hujson"

// command is a handler of the form that most agents share.
func command(line string, timeout int, more ...member) object {
	return append(object{{"type", "command"}, {"command", line}, {"timeout", timeout}}, more...)
}

// group is an entry of an event: a matcher, if any, and one handler, which stands
// last.
func group(event, matcher string, handler object) hook {
	entry := object{}
	if matcher != "" {
		entry = append(entry, member{"matcher", matcher})
	}
	return hook{event: event, value: append(entry, member{"hooks", []any{handler}})}
}

// claudeHooks: Claude Code waits for what takes part in a turn, not for what only
// reports. Stop takes part: "claude -p" exits right after it and ends the hooks that
// it does not wait for, and whoever edits next must find the turn closed. A hook that
// fails is passed over. Worktrees are opt-in: a hook that prints no path would break
// them.
func claudeHooks(program string) []hook {
	run := line(program, claudeCode)
	wait, tell := command(run, 10), command(run, 60, member{"async", true})
	const changes = "Bash|PowerShell|Write|Edit|MultiEdit|NotebookEdit|mcp__.*"
	const starts = "|Task|Agent" // a sub-agent
	create := group("WorktreeCreate", "", command(run, 120))
	remove := group("WorktreeRemove", "", command(run, 60))
	create.optional, remove.optional = true, true
	return []hook{
		group("SessionStart", "", wait),
		group("UserPromptSubmit", "", wait),
		group("PreToolUse", changes+starts, wait),
		group("PostToolUse", changes+"|TodoWrite|TaskCreate|TaskUpdate", tell),
		group("PostToolUseFailure", changes, tell),
		group("SubagentStart", "", tell),
		group("SubagentStop", "", tell),
		group("PreCompact", "", wait),
		group("Stop", "", wait),
		group("StopFailure", "", wait),
		group("SessionEnd", "", wait),
		create,
		remove,
	}
}

// codexHooks: "async" would make older versions skip the hook, and three seconds
// is all that the end of a session gets.
func codexHooks(program string) []hook {
	run := line(program, "codex")
	wait := command(run, 10)
	const changes = "Bash|apply_patch|mcp__.*"
	return []hook{
		group("SessionStart", "", wait),
		group("UserPromptSubmit", "", wait),
		group("PreToolUse", changes, wait),
		group("PostToolUse", changes+"|update_plan", wait),
		group("SubagentStart", "", wait),
		group("SubagentStop", "", wait),
		group("PreCompact", "", wait),
		group("Stop", "", wait),
		group("SessionEnd", "", command(run, 3)),
	}
}

// geminiHooks: time-outs are in milliseconds.
func geminiHooks(program string) []hook {
	run := command(line(program, "gemini"), 10000)
	run = append(object{{"name", "retake"}}, run...)
	const changes = "run_shell_command|write_file|replace|mcp_.*"
	return []hook{
		group("SessionStart", "", run),
		group("BeforeAgent", "", run),
		group("BeforeTool", changes, run),
		group("AfterTool", changes+"|write_todos", run),
		group("AfterAgent", "", run),
		group("PreCompress", "", run),
		group("SessionEnd", "", run),
	}
}

// droidHooks: names of tools changed between versions, so both are there.
func droidHooks(program string) []hook {
	run := command(line(program, "droid"), 10)
	const changes = "Bash|Execute|Write|Create|Edit|MultiEdit|ApplyPatch|mcp__.*"
	return []hook{
		group("SessionStart", "", run),
		group("UserPromptSubmit", "", run),
		group("PreToolUse", changes, run),
		group("PostToolUse", changes+"|TodoWrite", run),
		group("SubagentStop", "", run),
		group("PreCompact", "", run),
		group("Stop", "", run),
		group("SessionEnd", "", run),
	}
}

// cursorHooks: a hook that fails is passed over; names that a version does not
// know are too.
func cursorHooks(program string) []hook {
	run := object{{"command", line(program, "cursor")}, {"timeout", 10}}
	var out []hook
	for _, event := range []string{
		"sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure",
		"subagentStart", "subagentStop", "preCompact", "stop", "sessionEnd",
	} {
		out = append(out, hook{event: event, value: run})
	}
	return out
}

// Copilot denies a tool when the hook before it fails, and it fails for everybody
// who has the project and not the program: so the line always ends well. Names in
// this spelling give the payload that other agents have too.
const (
	endWell        = " || true"
	endWellWindows = "; exit 0"
)

func copilotHooks(program string) []hook {
	run := line(program, "copilot")
	windows := run
	if quote(program) != program {
		windows = "& " + run // a quoted word is a text there, not a command
	}
	entry := object{{"type", "command"}, {"bash", run + endWell}, {"powershell", windows + endWellWindows}, {"timeoutSec", 10}}
	var out []hook
	for _, event := range []string{
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
		"SubagentStop", "PreCompact", "Stop", "ErrorOccurred", "SessionEnd",
	} {
		out = append(out, hook{event: event, value: entry})
	}
	return out
}

func copilotOurs(v *hujson.Value) bool {
	bash := stringIn(v, "bash")
	if n := len(bash) - len(endWell); n > 0 && bash[n:] == endWell {
		bash = bash[:n]
	}
	return isLine(bash, "copilot")
}

// clineEvents are the names of the programs that Cline runs.
var clineEvents = []string{
	"TaskStart", "TaskResume", "UserPromptSubmit", "PreToolUse", "PostToolUse", "TaskComplete", "TaskCancel", "TaskError", "SessionShutdown",
}
