package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A headless agent lives for one turn and exits. Its turn must be closed by then: the
// harness edits a file as a person the checkpoint the process is gone, and that edit must
// not be part of the turn.

// headless counts what became of the turns of one version of an agent.
type headless struct {
	Agent   string  `json:"agent"`
	Package string  `json:"package"`
	Version string  `json:"version,omitempty"`
	Missing string  `json:"missing,omitempty"` // why it did not run
	Control bool    `json:"control,omitempty"` // no hook runs at the end, and nobody sees the process exit: it must fail
	Turns   int     `json:"turns"`
	Lost    int     `json:"lost"`    // turns without a checkpoint of their own
	CutOff  int     `json:"cut_off"` // turns that ended normally and are called cut off
	Joined  int     `json:"joined"`  // turns that hold an edit made after them
	Errors  int     `json:"errors"`  // runs of the agent that failed
	Example string  `json:"example,omitempty"`
	Seconds float64 `json:"seconds"`
	StopMS  float64 `json:"stop_ms,omitempty"` // median of the whole hook process at the end of a turn that changed a file
	CallMS  float64 `json:"call_ms,omitempty"` // and of one that saves nothing, in the same run
}

func (h headless) failed() bool {
	bad := h.Missing == "" && (h.Lost+h.CutOff+h.Joined+h.Errors > 0 || h.Turns == 0)
	return bad != h.Control
}

func (h headless) String() string {
	word := "ok  "
	if h.failed() {
		word = "FAIL"
	}
	if h.Control {
		word += " control"
	}
	return fmt.Sprintf("%s %s %s: %d turns, %d lost, %d cut off, %d joined, %d errors (%.0f s, Stop %.0f ms, call %.0f ms) %s%s\n",
		word, h.Agent, h.Version, h.Turns, h.Lost, h.CutOff, h.Joined, h.Errors, h.Seconds, h.StopMS, h.CallMS, h.Missing, h.Example)
}

func notePrompt(i int) string { return fmt.Sprintf("Write note %03d.", i) }
func notePath(i int) string   { return fmt.Sprintf("notes/%03d.txt", i) }

func notes(n int) func(hands) script {
	return func(h hands) script {
		var s script
		for i := 1; i <= n; i++ {
			s = append(s, job{notePrompt(i), []step{h.write(notePath(i), "a note"), {Text: fmt.Sprintf("Note %03d is written.", i)}}})
		}
		return s
	}
}

// goHeadless runs the turns of one version, in several beds beside each other.
func goHeadless(o options, dir string, a agent, version string, n int, control bool) headless {
	began := time.Now()
	a.version = version
	from := filepath.Join(o.from, "versions", a.name+"-"+version)
	if o.fetch {
		a.install(from)
	}
	r := headless{Agent: a.name, Package: a.pkg, Version: version, Control: control}
	program, _, err := a.find(from)
	if err != nil {
		r.Missing = err.Error()
		return r
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	beds := min(max(o.beds, 1), n)
	for i := range beds {
		b := &bed{agent: a, program: program, retake: o.retake, dir: filepath.Join(dir, fmt.Sprintf("%s-%s-%v-%d", a.name, version, control, i))}
		all.Go(func() {
			part := b.notes((n+beds-1-i)/beds, control)
			mu.Lock()
			defer mu.Unlock()
			r.add(part)
		})
	}
	all.Wait()
	r.Seconds = time.Since(began).Round(time.Second).Seconds()
	return r
}

func (h *headless) add(p headless) {
	h.Turns, h.Lost, h.CutOff, h.Joined, h.Errors = h.Turns+p.Turns, h.Lost+p.Lost, h.CutOff+p.CutOff, h.Joined+p.Joined, h.Errors+p.Errors
	h.StopMS, h.CallMS = max(h.StopMS, p.StopMS), max(h.CallMS, p.CallMS)
	if h.Example == "" {
		h.Example = p.Example
	}
}

// notes lets the agent do n turns, each in a process of its own, and counts.
func (b *bed) notes(n int, control bool) (r headless) {
	err := b.make(scenario{script: notes(n)})
	if err == nil && control {
		err = b.loosen()
	}
	if err == nil {
		r, err = b.takeNotes(n)
	}
	if err == nil && b.agent.name == claude.name && !control {
		r.StopMS, r.CallMS, err = b.timeHooks()
	}
	if err != nil {
		r.Errors, r.Example = r.Errors+1, err.Error()
	}
	if b.model != nil {
		b.model.close()
	}
	_, _ = b.tell("daemon", "stop") // its home goes
	return r
}

func (b *bed) takeNotes(n int) (r headless, err error) {
	mine := filepath.Join(b.work(), "mine.txt")
	for i := 1; i <= n; i++ {
		failed := b.prompt(b.agent.first(b.program, notePrompt(i))...)
		if err := appendLine(mine, fmt.Sprintf("line %03d", i)); err != nil { // at once: nothing waits for the turn
			return r, err
		}
		if r.Turns++; failed != nil {
			r.Errors, r.Example = r.Errors+1, failed.Error()
		}
	}
	turns, err := b.noted(n)
	if err != nil {
		return r, err
	}
	for i := 1; i <= n; i++ {
		b.judge(&r, i, turns[notePrompt(i)])
	}
	return r, nil
}

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// noted answers the turns in the log by their prompt, when all are there or no more come.
func (b *bed) noted(n int) (map[string]logged, error) {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		list, err := b.log()
		if err != nil {
			return nil, err
		}
		out := map[string]logged{}
		for _, c := range list {
			if c.Turn != nil && c.Trigger == "turn" {
				out[strings.Trim(c.Turn.Prompt, `"`)] = c
			}
		}
		if len(out) >= n || time.Now().After(end) {
			return out, nil
		}
	}
}

// judge looks at one turn: it holds its note, and no line that was written after it.
func (b *bed) judge(r *headless, i int, c logged) {
	say := func(format string, args ...any) {
		if r.Example == "" {
			r.Example = fmt.Sprintf("turn %d, checkpoint %d: ", i, c.Number) + fmt.Sprintf(format, args...)
		}
	}
	if c.Turn == nil {
		r.Lost++
		say("no checkpoint has this prompt")
		return
	}
	if c.Turn.Failed != "" {
		r.CutOff++
		say("it is called %q", c.Turn.Failed)
	}
	number := fmt.Sprint(c.Number)
	if _, err := b.tell("cat", number, notePath(i)); err != nil {
		r.Lost++
		say("it does not hold its note: %v", err)
	}
	text, err := b.tell("cat", number, "mine.txt")
	if err != nil {
		text = nil // nothing was written yet
	}
	if lines := bytes.Count(text, []byte("\n")); lines != i-1 {
		r.Joined++
		say("it holds %d lines of a person, %d were written before it", lines, i-1)
	}
}

// loosen makes the control: no hook runs at the end of a turn or a session, and there is no
// daemon that could see the agent exit.
func (b *bed) loosen() error {
	if _, err := b.tell("daemon", "stop"); err != nil {
		return err
	}
	b.more = []string{"RETAKE_SOLO=1"}
	path := filepath.Join(b.home(), ".claude", "settings.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	events, _ := all["hooks"].(map[string]any)
	for _, event := range []string{"Stop", "StopFailure", "SessionEnd"} {
		delete(events, event)
	}
	return os.WriteFile(path, []byte(inJSON(all)), 0o600)
}

const timedTurns = 15

// timeHooks tells how long the hook process takes at the end of a turn, and for a call
// that saves nothing: the difference is what the agent waits for.
func (b *bed) timeHooks() (stop, call float64, err error) {
	var stops, calls []float64
	for i := range timedTurns {
		name := fmt.Sprintf("timed-%03d", i)
		for _, e := range []struct {
			event string
			more  map[string]any
			into  *[]float64
		}{
			{"UserPromptSubmit", map[string]any{"prompt": name}, nil},
			{"PreToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "ls"}}, &calls},
			{"Stop", map[string]any{"last_assistant_message": "Done."}, &stops},
		} {
			if e.event == "Stop" {
				if err := os.WriteFile(filepath.Join(b.work(), name+".txt"), []byte(name), 0o644); err != nil {
					return 0, 0, err
				}
			}
			took, err := b.fire(e.event, e.more)
			if err != nil {
				return 0, 0, err
			}
			if e.into != nil {
				*e.into = append(*e.into, took)
			}
		}
	}
	slices.Sort(stops)
	slices.Sort(calls)
	return stops[len(stops)/2], calls[len(calls)/2], nil
}

// fire runs one hook of ours by hand.
func (b *bed) fire(event string, more map[string]any) (ms float64, err error) {
	payload := map[string]any{"hook_event_name": event, "session_id": "timed", "cwd": b.work()}
	for k, v := range more {
		payload[k] = v
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := b.command(ctx, b.retake, "hook", "claude-code")
	cmd.Stdin = strings.NewReader(inJSON(payload))
	began := time.Now()
	err = cmd.Run()
	return float64(time.Since(began).Microseconds()) / 1000, err
}

// runHeadless does all versions of all agents, and writes what came out.
func runHeadless(o options, dir string) (failed bool, err error) {
	var all []headless
	for _, a := range agents {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), a.name) {
			continue
		}
		versions := []string{a.version}
		if a.name == claude.name && o.versions != "" {
			versions = strings.Split(o.versions, ",")
		}
		for i, v := range versions {
			all = append(all, goHeadless(o, dir, a, v, o.headless, false))
			if i == len(versions)-1 && a.name == claude.name {
				all = append(all, goHeadless(o, dir, a, v, min(o.headless, controlTurns), true))
			}
		}
	}
	for _, h := range all {
		fmt.Print(h)
		failed = failed || h.failed()
	}
	if o.out == "" {
		return failed, nil
	}
	b, err := json.MarshalIndent(map[string]any{"headless": all}, "", "  ")
	if err != nil {
		return failed, err
	}
	return failed, os.WriteFile(o.out, append(b, '\n'), 0o644)
}

const controlTurns = 10
