package main

import "path/filepath"

var geminiAgent = agent{
	name: "gemini", title: "Gemini CLI", pkg: "@google/gemini-cli", version: "0.61.0", bin: "gemini",
	hands: func(work string) hands {
		return hands{
			write: func(path, text string) step {
				return step{Tool: "write_file", Args: map[string]any{"file_path": filepath.Join(work, path), "content": text}}
			},
			shell: func(command string) step {
				return step{Tool: "run_shell_command", Args: map[string]any{"command": command, "description": "run it"}}
			},
			tasks: func(list []task, _ bool) []step {
				return []step{{Tool: "write_todos", Args: map[string]any{"todos": listed(list, "description", nil)}}}
			},
		}
	},
	settings: func(*bed) map[string]string {
		return map[string]string{".gemini/settings.json": inJSON(map[string]any{
			"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
			"general":  map[string]any{"enableAutoUpdate": false}, "privacy": map[string]any{"usageStatisticsEnabled": false},
		})}
	},
	env: func(b *bed) []string {
		return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + b.model.url()}
	},
	first: func(program, prompt string) []string { return geminiRun(program, prompt) },
	again: func(program, session, prompt string) []string { return geminiRun(program, prompt, "--resume", session) },
	goOn: func(program string, command []string, prompt string) []string {
		return geminiRun(program, prompt, command[1:]...)
	},
}

func geminiRun(program, prompt string, more ...string) []string {
	return append([]string{program, "-p", prompt, "--yolo", "--skip-trust", "-m", "gemini-2.5-flash"}, more...)
}
