package fakeagent

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// toolVerbs are the lines of a play that are calls of tools.
var toolVerbs = []string{"shell", "write", "edit", "read", "todo"}

// task is one item of a list of tasks.
type task struct{ title, status string }

// use is one call: the hook before, the tool, the hook after.
func (a *agent) use(verb, rest string) error {
	a.mu.Lock()
	a.memory.Calls++
	c := &call{id: fmt.Sprintf("call_%s_%d", a.memory.Session[:8], a.memory.Calls), verb: verb}
	a.mu.Unlock()
	path, text, _ := strings.Cut(rest, " ")
	if verb == "todo" {
		c.tasks = tasks(rest)
	}
	c.tool, c.input = a.d.tool(a, verb, operands{rest: rest, path: filepath.Join(a.Dir, path), text: text + "\n", tasks: c.tasks})
	if !a.tell(event{kind: before, call: c}) {
		return nil
	}
	if err := a.hands(c, rest); err != nil {
		return err
	}
	if a.d.talk != nil {
		if err := a.write(a.d.talk.call(a, c)...); err != nil {
			return err
		}
	}
	e := event{kind: after, call: c}
	if c.failed {
		e.kind = broken
	}
	a.tell(e)
	return nil
}

// operands are what a line gives to a tool.
type operands struct {
	rest, path, text string
	tasks            []task
}

// hands really do what a tool does.
func (a *agent) hands(c *call, rest string) error {
	path, text, _ := strings.Cut(rest, " ")
	path = filepath.Join(a.Dir, path)
	switch c.verb {
	case "shell":
		return a.shell(c, rest)
	case "write":
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write file: %w", err)
		}
		c.output = "written"
		return os.WriteFile(path, []byte(text+"\n"), 0o644)
	case "edit":
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("edit file: %w", err)
		}
		c.output = "edited"
		return os.WriteFile(path, []byte(text+"\n"), 0o644)
	case "read":
		b, err := os.ReadFile(path)
		c.output, c.failed = string(b), err != nil
	case "todo":
		c.output = "noted"
	}
	return nil
}

func (a *agent) shell(c *call, line string) error {
	cmd := exec.CommandContext(a.ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = a.Dir, a.Env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("run tool: %w", err)
	}
	c.output, c.failed = out.String(), err != nil
	return nil
}

// tasks reads "[x] one [~] two [ ] three".
func tasks(text string) []task {
	var out []task
	states := map[string]string{"x": "completed", "~": "in_progress", " ": "pending", "-": "cancelled"}
	for _, part := range strings.Split(text, "[")[1:] {
		box, title, _ := strings.Cut(part, "]")
		out = append(out, task{title: strings.TrimSpace(title), status: states[box]})
	}
	return out
}

// listed are tasks as most agents write them.
func listed(tasks []task, title string) []map[string]any {
	out := []map[string]any{}
	for _, t := range tasks {
		out = append(out, map[string]any{title: t.title, "status": t.status})
	}
	return out
}

// boxes are tasks as lines of Markdown.
func boxes(tasks []task) string {
	var b strings.Builder
	for _, t := range tasks {
		box := " "
		if t.status == "completed" {
			box = "x"
		}
		fmt.Fprintf(&b, "- [%s] %s\n", box, t.title)
	}
	return b.String()
}
