package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// agent is how one agent is installed, set up and run.
type agent struct {
	name, title  string
	pkg, version string // of npm
	bin          string
	hands        func(work string) hands
	settings     func(b *bed) map[string]string // files below the home: the model, no sign-in; hooks come from retake
	env          func(b *bed) []string
	first        func(program, prompt string) []string
	goOn         func(program string, command []string, prompt string) []string // the command of a person, without the person
	again        func(program, session, prompt string) []string
}

// root is where npm puts the package.
func (a agent) root(from string) string {
	return filepath.Join(from, a.pkg[strings.LastIndexByte(a.pkg, '/')+1:])
}

// install lets npm fetch the package. When it cannot, find says what is missing.
func (a agent) install(from string) {
	if _, _, err := a.find(from); err == nil {
		return
	}
	cmd := exec.Command("npm", "install", "--prefix", a.root(from), "--no-audit", "--no-fund", a.pkg+"@"+a.version)
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Printf("install %s: %v: %s\n", a.name, err, last(string(out), 400))
	}
}

// find looks for the program, and tells its version.
func (a agent) find(from string) (program, version string, err error) {
	modules := filepath.Join(a.root(from), "node_modules")
	program = filepath.Join(modules, ".bin", a.bin)
	if _, err := os.Stat(program); err != nil {
		return "", "", fmt.Errorf("%s %s is not installed", a.pkg, a.version)
	}
	text, err := os.ReadFile(filepath.Join(modules, a.pkg, "package.json"))
	if err != nil {
		return "", "", fmt.Errorf("read version: %w", err)
	}
	var p struct {
		Version string `json:"version"`
	}
	err = json.Unmarshal(text, &p)
	return program, p.Version, err
}

var agents = []agent{claude, codexAgent, geminiAgent, opencodeAgent}

func inJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "" // maps of texts
	}
	return string(b)
}

var claude = agent{
	name: "claude-code", title: "Claude Code", pkg: "@anthropic-ai/claude-code", version: "2.1.325", bin: "claude",
	hands: func(work string) hands {
		return hands{
			write: func(path, text string) step {
				return step{Tool: "Write", Args: map[string]any{"file_path": filepath.Join(work, path), "content": text}}
			},
			shell: func(command string) step {
				return step{Tool: "Bash", Args: map[string]any{"command": command, "description": "run it"}}
			},
			tasks: claudeTasks,
		}
	},
	settings: func(b *bed) map[string]string {
		return map[string]string{".claude.json": inJSON(map[string]any{
			"hasCompletedOnboarding": true, "projects": map[string]any{b.work(): map[string]any{"hasTrustDialogAccepted": true, "allowedTools": []string{}}},
		})}
	},
	env: func(b *bed) []string {
		return []string{
			"ANTHROPIC_BASE_URL=" + b.model.url(), "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_ENABLE_TODO_TOOLS=1",
		}
	},
	first: func(program, prompt string) []string { return claudeRun(program, prompt) },
	again: func(program, session, prompt string) []string {
		return claudeRun(program, prompt, "--resume", session)
	},
	goOn: func(program string, command []string, prompt string) []string {
		return claudeRun(program, prompt, command[1:]...)
	},
}

func claudeRun(program, prompt string, more ...string) []string {
	return append([]string{
		program, "-p", prompt, "--model", "claude-sonnet-4-5", "--permission-mode", "acceptEdits",
		"--allowedTools", "Bash,Write,TaskCreate,TaskUpdate,TaskList",
	}, more...)
}

// claudeTasks makes tasks one by one and reads the list: its only tool that holds
// all of it.
func claudeTasks(list []task, first bool) []step {
	var out []step
	for i, t := range list {
		if first {
			out = append(out, step{Tool: "TaskCreate", Args: map[string]any{"subject": t.title, "description": t.title}})
		}
		if !first && t.status != pending {
			out = append(out, step{Tool: "TaskUpdate", Args: map[string]any{"taskId": fmt.Sprint(i + 1), "status": t.status}})
		}
	}
	return append(out, step{Tool: "TaskList", Args: map[string]any{}})
}
