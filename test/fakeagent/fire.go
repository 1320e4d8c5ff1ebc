package fakeagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// hooked is the body of an agent that runs programs as hooks.
type hooked struct {
	a   *agent
	all []handler
}

func withHooks(a *agent) (body, error) {
	all, err := a.handlers()
	return &hooked{a: a, all: all}, err
}

// fire runs all hooks of an event beside each other. Those that only tell are
// judged when they end.
func (h *hooked) fire(e event) verdict {
	a := h.a
	name := a.d.event(e)
	if name == "" {
		return verdict{}
	}
	subject := ""
	if e.call != nil {
		subject = e.call.tool
	}
	payload, err := json.Marshal(a.d.payload(a, name, e))
	if err != nil {
		return verdict{fault: err.Error()}
	}
	var mu sync.Mutex
	var all verdict
	var waited sync.WaitGroup
	chosen := a.chosen(h.all, name, subject)
	for _, one := range chosen {
		if one.async || a.d.unwaited(e) {
			a.background.Go(func() {
				if v := a.d.judge(e, name, one, a.run(one, payload)); v.stop != "" || v.fault != "" || len(v.notes)+len(v.shown) > 0 {
					a.record(e, v)
				}
			})
			continue
		}
		waited.Go(func() {
			v := a.d.judge(e, name, one, a.run(one, payload))
			mu.Lock()
			defer mu.Unlock()
			all.add(v)
		})
	}
	waited.Wait()
	all.ran = len(chosen)
	return all
}

func (h *hooked) rest()     {}
func (h *hooked) quit(bool) {}

// result is how a hook ended.
type result struct {
	exit      int
	late      bool // it was killed at its time-out
	err       error
	out       string
	complaint string
}

// run runs one hook as its agent does. It gets a group of its own, so that all of
// it is killed when its time is over.
func (a *agent) run(h handler, payload []byte) result {
	limit := h.timeout
	if a.limit > 0 {
		limit = a.limit
	}
	ctx, cancel := context.WithTimeout(a.ctx, limit)
	defer cancel()
	args := append(append([]string{}, a.d.shell...), h.line)
	if h.program != "" {
		args = []string{h.program}
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = h.dir, append(append([]string{}, a.Env...), a.d.env(a)...)
	cmd.Stdin = bytes.NewReader(payload)
	var out, says bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &says
	inGroup(cmd)
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	r := result{out: strings.TrimSpace(out.String()), complaint: strings.TrimSpace(says.String()), late: ctx.Err() != nil}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		r.exit = exit.ExitCode()
	case err != nil:
		r.err = err
	}
	return r
}
