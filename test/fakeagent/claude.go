package fakeagent

// claudePayload is what Claude Code writes to a hook.
func claudePayload(a *agent, name string, e event) map[string]any {
	p := map[string]any{
		"session_id": a.memory.Session, "transcript_path": a.memory.Transcript, "cwd": a.Dir,
		"permission_mode": "default", "hook_event_name": name,
	}
	if e.kind != begins {
		p["prompt_id"] = a.memory.Turn
	}
	claudeTurn(p, e)
	if c := e.call; c != nil {
		p["tool_name"], p["tool_input"], p["tool_use_id"] = c.tool, c.input, c.id
		switch e.kind {
		case after:
			p["tool_response"] = claudeResponse(c)
			p["duration_ms"] = 12
		case broken:
			p["error"] = "Exit code 1\n" + c.output
			p["is_interrupt"] = false
		default: // what comes before has no answer
		}
	}
	return p
}

// claudeTurn adds what is not about tools.
func claudeTurn(p map[string]any, e event) {
	switch e.kind {
	case begins:
		p["source"], p["model"] = e.reason, "a-model"
	case asked:
		p["prompt"] = e.prompt
	case rests:
		p["stop_hook_active"], p["last_assistant_message"] = false, e.message
	case fails:
		p["error"], p["error_details"] = "server_error", e.reason
	case forgets:
		p["trigger"], p["custom_instructions"] = e.reason, ""
	case ends:
		p["reason"] = "prompt_input_exit"
	default: // tools
	}
}

func claudeResponse(c *call) any {
	switch c.verb {
	case "shell":
		return map[string]any{"stdout": c.output, "stderr": "", "interrupted": false, "isImage": false}
	case "todo":
		return map[string]any{"oldTodos": []any{}, "newTodos": listed(c.tasks, "content")}
	}
	return map[string]any{"filePath": c.input["file_path"], "success": true}
}

func claudeTool(_ *agent, verb string, o operands) (string, map[string]any) {
	switch verb {
	case "shell":
		return "Bash", map[string]any{"command": o.rest, "description": "run it"}
	case "write":
		return "Write", map[string]any{"file_path": o.path, "content": o.text}
	case "edit":
		return "Edit", map[string]any{"file_path": o.path, "old_string": "old", "new_string": o.text}
	case "todo":
		return "TodoWrite", map[string]any{"todos": listed(o.tasks, "content")}
	}
	return "Read", map[string]any{"file_path": o.path}
}

// codexPayload: turns have a name of their own, and a failed tool is told as any.
func codexPayload(a *agent, name string, e event) map[string]any {
	p := map[string]any{
		"session_id": a.memory.Session, "transcript_path": a.memory.Transcript, "cwd": a.Dir,
		"permission_mode": "default", "hook_event_name": name, "model": "a-model",
	}
	if e.kind != begins && e.kind != ends {
		p["turn_id"] = a.memory.Turn
	}
	claudeTurn(p, e)
	if c := e.call; c != nil {
		p["tool_name"], p["tool_input"], p["tool_use_id"] = c.tool, c.input, c.id
		if e.kind != before {
			p["tool_response"] = c.output
		}
	}
	return p
}

func codexTool(_ *agent, verb string, o operands) (string, map[string]any) {
	switch verb {
	case "shell":
		return "Bash", map[string]any{"command": o.rest}
	case "write":
		return "apply_patch", map[string]any{"command": "*** Begin Patch\n*** Add File: " + o.path + "\n+" + o.text + "*** End Patch"}
	case "edit":
		return "apply_patch", map[string]any{"command": "*** Begin Patch\n*** Update File: " + o.path + "\n@@\n-old\n+" + o.text + "*** End Patch"}
	case "todo":
		return "update_plan", map[string]any{"plan": listed(o.tasks, "step")}
	}
	return "Bash", map[string]any{"command": "cat " + o.path}
}

// copilotPayload is what Copilot CLI writes when the names of events are in this
// spelling.
func copilotPayload(a *agent, name string, e event) map[string]any {
	p := map[string]any{"hook_event_name": name, "session_id": a.memory.Session, "timestamp": stamp(), "cwd": a.Dir}
	switch e.kind {
	case begins:
		p["source"] = map[string]string{"startup": "new"}[e.reason] + map[string]string{"resume": "resume"}[e.reason]
	case asked:
		p["prompt"] = e.prompt
	case rests:
		p["stop_reason"] = "end_turn"
	case fails:
		p["error"] = map[string]any{"message": e.reason, "name": "Error"}
		p["recoverable"] = false
	case forgets:
		p["trigger"] = e.reason
	case ends:
		p["reason"] = "complete"
	default: // tools
	}
	if c := e.call; c != nil {
		p["tool_name"], p["tool_input"] = c.tool, c.input
		switch e.kind {
		case after:
			p["tool_result"] = map[string]any{"result_type": "success", "text_result_for_llm": c.output}
		case broken:
			p["error"] = c.output
		default: // what comes before has no answer
		}
	}
	return p
}

func copilotTool(_ *agent, verb string, o operands) (string, map[string]any) {
	switch verb {
	case "shell":
		return "bash", map[string]any{"command": o.rest, "description": "run it"}
	case "write":
		return "create", map[string]any{"path": o.path, "file_text": o.text}
	case "edit":
		return "edit", map[string]any{"path": o.path, "old_str": "old", "new_str": o.text}
	case "todo":
		return "update_todo", map[string]any{"todos": boxes(o.tasks)}
	}
	return "view", map[string]any{"path": o.path}
}

func droidPayload(a *agent, name string, e event) map[string]any {
	p := map[string]any{
		"session_id": a.memory.Session, "transcript_path": "", "cwd": a.Dir, "permission_mode": "off", "hook_event_name": name,
	}
	claudeTurn(p, e)
	delete(p, "last_assistant_message")
	if c := e.call; c != nil {
		p["tool_name"], p["tool_input"] = c.tool, c.input
		if e.kind != before {
			p["tool_response"] = map[string]any{"success": !c.failed, "output": c.output}
		}
	}
	return p
}

func droidTool(_ *agent, verb string, o operands) (string, map[string]any) {
	switch verb {
	case "shell":
		return "Execute", map[string]any{"command": o.rest, "timeout": 60, "riskLevel": "low"}
	case "write":
		return "Create", map[string]any{"file_path": o.path, "content": o.text}
	case "edit":
		return "Edit", map[string]any{"file_path": o.path, "old_str": "old", "new_str": o.text}
	case "todo":
		return "TodoWrite", map[string]any{"todos": listed(o.tasks, "content")}
	}
	return "Read", map[string]any{"file_path": o.path}
}
