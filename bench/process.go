package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// usage is what a step cost: one process, or several one after the other.
type usage struct{ millis, memory float64 }

// command is one process of a tool.
type command struct {
	argv []string
	dir  string
	env  []string
	in   string // file that it reads; "": nothing
}

// steps runs processes one after the other, each from start to exit, and adds
// their times up.
func (b *bench) steps(ctx context.Context, all []command) (usage, error) {
	var sum usage
	scale := filepath.Join(b.tmp, "weight")
	last := ""
	for _, c := range all {
		argv := []string{b.weigh, scale}
		for _, a := range c.argv {
			if a == "{}" {
				a = last
			}
			argv = append(argv, a)
		}
		c.argv = argv
		var err error
		if last, err = c.output(ctx); err != nil {
			return sum, err
		}
		text, err := os.ReadFile(scale)
		if err != nil {
			return sum, fmt.Errorf("read weight: %w", err)
		}
		var micros, memory float64
		if _, err := fmt.Sscan(string(text), &micros, &memory); err != nil {
			return sum, fmt.Errorf("read weight: %w", err)
		}
		sum.millis += micros / 1000
		sum.memory = max(sum.memory, memory)
	}
	return sum, nil
}

// output answers what a process prints.
func (c command) output(ctx context.Context) (string, error) {
	var trouble bytes.Buffer
	p := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	p.Dir, p.Env, p.Stderr = c.dir, c.env, &trouble
	if c.in != "" {
		f, err := os.Open(c.in)
		if err != nil {
			return "", fmt.Errorf("open input: %w", err)
		}
		defer f.Close() //nolint:errcheck // only read
		p.Stdin = f
	}
	p.WaitDelay = 10 * time.Second // a process that goes on behind it must not hold our pipes
	out, err := p.Output()
	if err != nil {
		return "", c.fault(err, trouble.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}

func (c command) fault(err error, trouble []byte) error {
	const enough = 2000
	trouble = bytes.TrimSpace(trouble)
	trouble = trouble[max(0, len(trouble)-enough):]
	return fmt.Errorf("run %s %s: %w: %s", filepath.Base(c.argv[0]), strings.Join(c.argv[1:], " "), err, trouble)
}

// pause waits without holding up an interrupt.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
