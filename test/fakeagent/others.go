package fakeagent

import (
	"encoding/json"
	"path/filepath"
	"time"
)

func stamp() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// geminiPayload: a failed tool is told as any, with the error in its answer.
func geminiPayload(a *agent, name string, e event) map[string]any {
	p := map[string]any{
		"session_id": a.memory.Session, "transcript_path": a.memory.Transcript, "cwd": a.Dir, "hook_event_name": name, "timestamp": stamp(),
	}
	switch e.kind {
	case begins:
		p["source"] = e.reason
	case asked:
		p["prompt"] = e.prompt
	case rests:
		p["prompt"], p["prompt_response"], p["stop_hook_active"] = e.prompt, e.message, false
	case forgets:
		p["trigger"] = e.reason
	case ends:
		p["reason"] = "exit"
	default: // tools
	}
	if c := e.call; c != nil {
		p["tool_name"], p["tool_input"] = c.tool, c.input
		if e.kind != before {
			answer := map[string]any{"llmContent": c.output, "returnDisplay": c.output}
			if c.failed {
				answer["error"] = map[string]any{"message": c.output}
			}
			p["tool_response"] = answer
		}
	}
	return p
}

func geminiTool(_ *agent, verb string, o operands) (string, map[string]any) {
	switch verb {
	case "shell":
		return "run_shell_command", map[string]any{"command": o.rest, "description": "run it"}
	case "write":
		return "write_file", map[string]any{"file_path": o.path, "content": o.text}
	case "edit":
		return "replace", map[string]any{"file_path": o.path, "old_string": "old", "new_string": o.text, "instruction": "change it"}
	case "todo":
		return "write_todos", map[string]any{"todos": listed(o.tasks, "description")}
	}
	return "read_file", map[string]any{"file_path": o.path}
}

// cursorPayload: an id of a call holds a line break, and the transcript is not
// there when it is run in a terminal.
func cursorPayload(a *agent, name string, e event) map[string]any {
	p := map[string]any{
		"conversation_id": a.memory.Session, "generation_id": a.memory.Turn, "model": "a-model", "hook_event_name": name,
		"cursor_version": "2.4.1", "workspace_roots": []string{a.Dir}, "user_email": "me@example.com", "transcript_path": nil,
	}
	switch e.kind {
	case begins:
		p["is_background_agent"], p["composer_mode"] = false, "agent"
	case asked:
		p["prompt"], p["attachments"] = e.prompt, []any{}
	case rests:
		p["status"], p["loop_count"] = "completed", 0
	case fails:
		p["status"], p["loop_count"], p["error_message"] = "error", 0, e.reason
	case forgets:
		p["trigger"] = e.reason
	case ends:
		p["reason"] = "user_close"
	default: // tools
	}
	if c := e.call; c != nil {
		p["tool_name"], p["tool_input"], p["tool_use_id"], p["cwd"] = c.tool, c.input, c.id+"\nfc_1", a.Dir
		switch e.kind {
		case after:
			p["tool_output"], p["duration"] = text(map[string]any{"output": c.output, "exitCode": 0}), 12
		case broken:
			p["error_message"], p["failure_type"] = c.output, "error"
		default: // what comes before has no answer
		}
	}
	return p
}

// text is a value as JSON inside of a text.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(b)
}

func cursorTool(a *agent, verb string, o operands) (string, map[string]any) {
	switch verb {
	case "shell":
		return "Shell", map[string]any{"command": o.rest, "working_directory": a.Dir}
	case "write", "edit":
		return "Write", map[string]any{"file_path": o.path, "content": o.text}
	case "todo":
		return "TodoWrite", map[string]any{"merge": false, "todos": listed(o.tasks, "content")}
	}
	return "Read", map[string]any{"file_path": o.path}
}

func clineEvent(e event) string {
	if e.kind == begins && e.reason == "resume" {
		return "TaskResume"
	}
	return names("TaskStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUse", "TaskComplete", "TaskError", "PreCompact", "SessionShutdown")(e)
}

func clinePayload(a *agent, name string, e event) map[string]any {
	p := map[string]any{
		"clineVersion": "3.0.65", "hookName": name, "timestamp": stamp(), "taskId": a.memory.Session,
		"workspaceRoots": []string{a.Dir}, "userId": "me", "model": map[string]any{"provider": "a", "slug": "model"},
	}
	switch e.kind {
	case begins:
		key := map[string]string{"TaskStart": "taskStart", "TaskResume": "taskResume"}[name]
		p[key] = map[string]any{"taskMetadata": map[string]any{"taskId": a.memory.Session}}
	case asked:
		p["userPromptSubmit"] = map[string]any{"prompt": e.prompt, "attachments": []any{}}
	case before:
		p["preToolUse"] = map[string]any{"toolName": e.call.tool, "parameters": e.call.input}
	case after, broken:
		p["postToolUse"] = map[string]any{
			"toolName": e.call.tool, "parameters": e.call.input, "result": e.call.output, "success": !e.call.failed, "executionTimeMs": 12,
		}
	case rests:
		p["taskComplete"] = map[string]any{"taskMetadata": map[string]any{"taskId": a.memory.Session, "result": e.message}}
	case fails:
		p["taskError"] = map[string]any{"error": e.reason}
	case forgets:
		p["preCompact"] = map[string]any{"compactionStrategy": e.reason}
	case ends:
		p["sessionShutdown"] = map[string]any{"reason": e.reason}
	}
	return p
}

// clineTool: the list of tasks travels with any tool.
func clineTool(_ *agent, verb string, o operands) (string, map[string]any) {
	switch verb {
	case "shell":
		return "execute_command", map[string]any{"command": o.rest, "requires_approval": "false"}
	case "write":
		return "write_to_file", map[string]any{"path": o.path, "content": o.text}
	case "edit":
		return "replace_in_file", map[string]any{"path": o.path, "diff": o.text}
	case "todo":
		return "list_files", map[string]any{"path": ".", "task_progress": boxes(o.tasks)}
	}
	return "read_file", map[string]any{"path": o.path}
}

// dockerFile is the document of an agent, which holds the hooks.
const dockerFile = "agent.yaml"

// dockerSources are the document of the agent, and the directory of hooks for all agents.
func dockerSources(a *agent) []source {
	out := []source{{path: filepath.Join(a.Dir, dockerFile), dir: a.Dir}}
	more, _ := filepath.Glob(filepath.Join(a.Home, ".config", "cagent", "hooks.d", "*.yaml")) // the pattern is good
	for _, path := range more {
		out = append(out, source{path: path, dir: a.Dir})
	}
	return out
}

func dockerPayload(a *agent, name string, e event) map[string]any {
	p := map[string]any{"session_id": a.memory.Session, "cwd": a.Dir, "hook_event_name": name}
	switch e.kind {
	case begins:
		p["source"] = e.reason
	case asked:
		p["prompt"] = e.prompt
	case rests:
		p["agent_name"], p["stop_response"], p["last_user_message"] = "root", e.message, e.prompt
	case fails:
		p["agent_name"], p["reason"] = "root", "error"
	case forgets:
		p["source"] = e.reason
	case ends:
		p["reason"] = "stream_ended"
	default: // tools
	}
	if c := e.call; c != nil {
		p["tool_name"], p["tool_use_id"], p["tool_input"] = c.tool, c.id, c.input
		if e.kind != before {
			p["tool_response"], p["tool_error"] = dockerResponse(c), c.failed
		}
	}
	return p
}

func dockerResponse(c *call) any {
	if c.verb == "todo" {
		return text(map[string]any{"all_todos": listed(c.tasks, "description")})
	}
	return c.output
}

func dockerTool(a *agent, verb string, o operands) (string, map[string]any) {
	switch verb {
	case "shell":
		return "shell", map[string]any{"cmd": o.rest, "cwd": a.Dir}
	case "write":
		return "write_file", map[string]any{"path": o.path, "content": o.text}
	case "edit":
		return "edit_file", map[string]any{"path": o.path, "edits": []any{map[string]any{"oldText": "old", "newText": o.text}}}
	case "todo":
		return "update_todos", map[string]any{"updates": listed(o.tasks, "id")}
	}
	return "read_file", map[string]any{"path": o.path}
}
