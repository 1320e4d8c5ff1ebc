package fakeagent

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"
)

//go:embed driver.mjs
var driver []byte

// Missing says why an agent cannot be played here; nothing when it can.
func Missing(name string) string {
	if name != "opencode" {
		return ""
	}
	if _, err := exec.LookPath("node"); err != nil {
		return "there is no node to run the plugin with"
	}
	return ""
}

// plugged is the body of opencode: the plugin that is installed, in a process that
// calls it as opencode does.
type plugged struct {
	a    *agent
	cmd  *exec.Cmd // nil when no plugin is installed
	in   io.WriteCloser
	dir  string
	once sync.Once

	mu    sync.Mutex
	next  int
	calls map[int]chan reply
}

type reply struct {
	ID     int            `json:"id"`
	Output map[string]any `json:"output"`
	Threw  string         `json:"threw"`
	Ended  []struct {
		Exit int    `json:"exit"`
		Out  string `json:"out"`
	} `json:"ended"`
}

// withPlugin starts the plugin of the user, or the one of the project.
func withPlugin(a *agent) (body, error) {
	p := &plugged{a: a, calls: map[int]chan reply{}}
	for _, file := range []string{
		filepath.Join(a.under("XDG_CONFIG_HOME", ".config"), "opencode", "plugins", "retake.js"),
		filepath.Join(a.Dir, ".opencode", "plugins", "retake.js"),
	} {
		if _, err := os.Stat(file); err == nil {
			return p, p.start(file)
		}
	}
	return p, nil
}

func (p *plugged) start(file string) error {
	dir, err := os.MkdirTemp("", "fakeagent")
	if err != nil {
		return fmt.Errorf("start plugin: %w", err)
	}
	p.dir = dir
	if err := os.WriteFile(filepath.Join(dir, "driver.mjs"), driver, 0o600); err != nil {
		return fmt.Errorf("start plugin: %w", err)
	}
	p.cmd = exec.CommandContext(p.a.ctx, "node", filepath.Join(dir, "driver.mjs"), file, p.a.Dir)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = p.a.Dir, p.a.Env, p.a.out
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return fmt.Errorf("start plugin: %w", err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start plugin: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start plugin: %w", err)
	}
	go p.listen(out)
	return nil
}

func (p *plugged) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var r reply
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue // the plugin must print nothing; the caller sees that no answer comes
		}
		p.mu.Lock()
		to := p.calls[r.ID]
		delete(p.calls, r.ID)
		p.mu.Unlock()
		if to != nil {
			to <- r
		}
	}
}

var errPlugin = errors.New("the plugin does not answer")

const pluginWait = 60 * time.Second

func (p *plugged) call(hook string, input, output map[string]any) (reply, error) {
	if p.cmd == nil {
		return reply{}, nil
	}
	to := make(chan reply, 1)
	p.mu.Lock()
	p.next++
	id := p.next
	p.calls[id] = to
	b, err := json.Marshal(map[string]any{"id": id, "hook": hook, "input": input, "output": output})
	if err == nil {
		_, err = p.in.Write(append(b, '\n'))
	}
	p.mu.Unlock()
	if err != nil {
		return reply{}, fmt.Errorf("call plugin: %w", err)
	}
	select {
	case r := <-to:
		return r, nil
	case <-time.After(pluginWait):
		return reply{}, errPlugin
	}
}

// fire calls a hook of the plugin, or tells it what is on the bus. A hook that
// throws stops the agent.
func (p *plugged) fire(e event) verdict {
	v := verdict{ran: 1}
	if p.cmd == nil {
		v.ran = 0
	}
	a, session := p.a, p.a.memory.Session
	switch e.kind {
	case begins:
		kind := map[string]string{"startup": "session.created", "resume": "session.updated"}[e.reason]
		v.add(p.bus(kind, map[string]any{"info": map[string]any{"id": session, "version": "1.18.33", "directory": a.Dir}}))
	case asked:
		v.add(p.asked(e))
	case before:
		r, err := p.call("tool.execute.before", map[string]any{"tool": e.call.tool, "sessionID": session, "callID": e.call.id}, map[string]any{"args": e.call.input})
		v.add(thrown(r, err))
	case after, broken:
		in := map[string]any{"tool": e.call.tool, "sessionID": session, "callID": e.call.id, "args": e.call.input}
		v.add(thrown(p.call("tool.execute.after", in, map[string]any{"title": "", "output": e.call.output, "metadata": map[string]any{}})))
		if e.call.verb == "todo" {
			v.add(p.bus("todo.updated", map[string]any{"sessionID": session, "todos": listed(e.call.tasks, "content")}))
		}
	case rests:
		id := "msg_" + uuid.NewString()
		v.add(p.bus("message.updated", map[string]any{"info": map[string]any{"id": id, "sessionID": session, "role": "assistant"}}))
		v.add(p.bus("message.part.updated", map[string]any{"part": map[string]any{"sessionID": session, "messageID": id, "type": "text", "text": e.message}}))
		v.add(p.bus("session.idle", map[string]any{"sessionID": session}))
	case fails:
		v.add(p.bus("session.error", map[string]any{"sessionID": session, "error": map[string]any{"name": "APIError", "data": map[string]any{"message": e.reason}}}))
	case forgets:
		v.add(p.bus("session.compacted", map[string]any{"sessionID": session}))
	case ends: // the program ends, and the session stays
	}
	return v
}

func (p *plugged) bus(kind string, properties map[string]any) verdict {
	return thrown(p.call("event", map[string]any{"event": map[string]any{"type": kind, "properties": properties}}, nil))
}

// asked tells of a prompt. What the plugin adds to its parts is put before the model.
func (p *plugged) asked(e event) verdict {
	session, id := p.a.memory.Session, "msg_"+p.a.memory.Turn
	parts := []any{map[string]any{"id": "prt_1", "sessionID": session, "messageID": id, "type": "text", "text": e.prompt}}
	r, err := p.call("chat.message", map[string]any{"sessionID": session, "agent": "build", "messageID": id},
		map[string]any{"message": map[string]any{"id": id, "role": "user"}, "parts": parts})
	v := thrown(r, err)
	now, _ := r.Output["parts"].([]any)
	for _, part := range now[min(1, len(now)):] {
		m, _ := part.(map[string]any)
		note, _ := m["text"].(string)
		if m["id"] == nil || m["messageID"] != id || m["type"] != "text" {
			v.fault = "a part that is not one"
		}
		v.notes = append(v.notes, note)
	}
	return v
}

func thrown(r reply, err error) verdict {
	if err != nil {
		return verdict{fault: err.Error()}
	}
	if r.Threw != "" {
		return verdict{stop: r.Threw}
	}
	return verdict{}
}

// rest waits for what the plugin left in the background, and wants it to end well.
func (p *plugged) rest() {
	r, err := p.call("rest", nil, nil)
	p.a.mu.Lock()
	defer p.a.mu.Unlock()
	if err != nil {
		p.a.faults = append(p.a.faults, err.Error())
	}
	for _, c := range r.Ended {
		if _, ok := object(c.Out); c.Exit != 0 || c.Out != "" && !ok {
			p.a.faults = append(p.a.faults, fmt.Sprintf("hook ends with %d: %s", c.Exit, c.Out))
		}
	}
}

func (p *plugged) quit(crash bool) {
	if p.cmd == nil {
		return
	}
	p.once.Do(func() {
		if crash {
			_ = p.cmd.Process.Kill() // it may be gone
		} else {
			p.rest()
		}
		_ = p.in.Close()        // it ends by this
		_ = p.cmd.Wait()        // a kill is no error here
		_ = os.RemoveAll(p.dir) // a copy
	})
}

func opencodeTool(_ *agent, verb string, o operands) (string, map[string]any) {
	switch verb {
	case "shell":
		return "bash", map[string]any{"command": o.rest, "description": "run it"}
	case "write":
		return "write", map[string]any{"filePath": o.path, "content": o.text}
	case "edit":
		return "edit", map[string]any{"filePath": o.path, "oldString": "old", "newString": o.text}
	case "todo":
		return "todowrite", map[string]any{"todos": listed(o.tasks, "content")}
	}
	return "read", map[string]any{"filePath": o.path}
}
