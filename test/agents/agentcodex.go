package main

import "fmt"

var codexAgent = agent{
	name: "codex", title: "Codex", pkg: "@openai/codex", version: "0.166.0", bin: "codex",
	hands: func(string) hands {
		return hands{
			wipe: "rm -r",
			write: func(path, text string) step {
				return step{Tool: "apply_patch", Raw: "*** Begin Patch\n*** Add File: " + path + "\n+" + text + "\n*** End Patch\n"}
			},
			shell: func(command string) step {
				return step{Tool: "exec_command", Args: map[string]any{"cmd": command}}
			},
			tasks: func(list []task, _ bool) []step {
				return []step{{Tool: "update_plan", Args: map[string]any{"plan": listed(list, "step", nil)}}}
			},
		}
	},
	settings: func(b *bed) map[string]string {
		return map[string]string{".codex/config.toml": fmt.Sprintf(codexConfig, b.model.url())}
	},
	env:   func(*bed) []string { return nil },
	first: func(program, prompt string) []string { return codexRun(program, prompt) },
	again: func(program, session, prompt string) []string { return codexRun(program, prompt, "resume", session) },
	goOn: func(program string, command []string, prompt string) []string {
		return codexRun(program, prompt, command[1:]...)
	},
}

// A person trusts the hooks once, in the terminal; here nobody is asked.
func codexRun(program, prompt string, verb ...string) []string {
	argv := append([]string{program, "exec"}, verb[:min(1, len(verb))]...)
	argv = append(argv, "--skip-git-repo-check", "--dangerously-bypass-hook-trust")
	return append(append(argv, verb[min(1, len(verb)):]...), prompt)
}

const codexConfig = `model = "gpt-5.5"
model_provider = "loopback"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.loopback]
name = "loopback"
base_url = "%s/v1"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false

[tools.update_plan]
enabled = true
`
