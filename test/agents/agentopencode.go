package main

import (
	"path/filepath"
	"slices"
)

var opencodeAgent = agent{
	name: "opencode", title: "opencode", pkg: "opencode-ai", version: "1.18.33", bin: "opencode",
	hands: func(work string) hands {
		return hands{
			write: func(path, text string) step {
				return step{Tool: "write", Args: map[string]any{"filePath": filepath.Join(work, path), "content": text}}
			},
			shell: func(command string) step {
				return step{Tool: "bash", Args: map[string]any{"command": command, "description": "run it"}}
			},
			tasks: func(list []task, _ bool) []step {
				return []step{{Tool: "todowrite", Args: map[string]any{"todos": listed(list, "content", map[string]any{"priority": "high"})}}}
			},
		}
	},
	settings: func(b *bed) map[string]string {
		model := map[string]any{"name": "scripted", "tool_call": true, "limit": map[string]any{"context": 100000, "output": 8000}}
		return map[string]string{".config/opencode/opencode.json": inJSON(map[string]any{
			"autoupdate": false, "share": "disabled", "model": "loopback/scripted", "small_model": "loopback/scripted",
			"permission": map[string]any{"*": "allow"},
			"provider": map[string]any{"loopback": map[string]any{
				"npm": "@ai-sdk/openai-compatible", "name": "loopback", "models": map[string]any{"scripted": model},
				"options": map[string]any{"baseURL": b.model.url() + "/v1", "apiKey": "none"},
			}},
		})}
	},
	env: func(*bed) []string {
		return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
	},
	first: func(program, prompt string) []string { return []string{program, "run", prompt} },
	again: func(program, session, prompt string) []string {
		return []string{program, "run", "--session", session, prompt}
	},
	goOn: opencodeGoOn,
}

// opencodeGoOn puts "run" and the prompt where the command starts the screen. The
// script that imports a session first keeps its first half.
func opencodeGoOn(program string, command []string, prompt string) []string {
	if command[0] != "sh" {
		return append(append([]string{program, "run"}, command[1:]...), prompt)
	}
	command = slices.Clone(command)
	command[2] = `opencode import "$1" && exec opencode run --session "$2" "$3"`
	return append(command, prompt)
}
