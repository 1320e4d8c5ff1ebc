//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/retake-dev/retake/test/pictures/shot"
)

// picture is one command at one width.
type picture struct {
	name  string
	title string
	line  string // as a person types it
	width int
}

// shoot runs the line on a terminal of its own and draws what is on it.
func (s *stage) shoot(ctx context.Context, p picture) ([]byte, error) {
	out, err := s.typed(ctx, p.line, p.width)
	if err != nil {
		return nil, err
	}
	return shot.Read(prompted(p.line)+"\r\n"+out, p.width).SVG(p.title), nil
}

// prompted is how a line looks that a person types.
func prompted(line string) string { return "\x1b[2m$\x1b[0m \x1b[1m" + line + "\x1b[0m\r\n" }

// onTerminal is a line on a terminal of its own, of some width.
func (s *stage) onTerminal(ctx context.Context, line string, width int) *exec.Cmd {
	return s.command(ctx, s.tree(), "script", "-qec", fmt.Sprintf("stty cols %d rows 200; exec %s", width, line), "/dev/null")
}

// typed answers what a line prints on a terminal. A command may end as it likes: what it says
// is the picture.
func (s *stage) typed(ctx context.Context, line string, width int) (string, error) {
	c := s.onTerminal(ctx, line, width)
	var out bytes.Buffer
	c.Stdout = &out
	if err := ended(line, c.Run()); err != nil {
		return "", err
	}
	if strings.TrimSpace(out.String()) == "" {
		return "", fmt.Errorf("run %s: it prints nothing", line)
	}
	return out.String(), nil
}

// ended lets every exit pass, and answers an error when the line did not run.
func ended(line string, err error) error {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("run %s: %w", line, err)
	}
	return nil
}

// answered types a line, waits until it asks, and answers. It tells what was printed before the
// answer, and from the answer on.
func (s *stage) answered(ctx context.Context, line string, width int, answer string) (before, after string, err error) {
	c := s.onTerminal(ctx, line, width)
	in, err := c.StdinPipe()
	if err != nil {
		return "", "", fmt.Errorf("open terminal: %w", err)
	}
	heard := &listener{answer: answer, in: in}
	c.Stdout = heard
	if err := errors.Join(ended(line, c.Run()), heard.err); err != nil {
		return "", "", err
	}
	text := string(heard.text)
	asked := strings.Index(text, question)
	if asked < 0 {
		return "", "", fmt.Errorf("run %s: it does not ask, it says %.200q", line, text)
	}
	at := strings.Index(text[asked:], answer+"\r\n")
	if at < 0 {
		return "", "", fmt.Errorf("run %s: it does not hear %q, it says %.200q", line, answer, text[asked:])
	}
	return text[:asked+at], text[asked+at:], nil
}

// question begins the answers that a command takes; a bracket ends them.
const question = "[y/N"

// listener keeps what is written, and answers the first question.
type listener struct {
	text   []byte
	answer string
	in     io.Writer
	told   bool
	err    error
}

func (l *listener) Write(b []byte) (int, error) {
	l.text = append(l.text, b...)
	if _, rest, ok := bytes.Cut(l.text, []byte(question)); ok && !l.told && bytes.ContainsRune(rest, ']') {
		l.told = true
		_, l.err = io.WriteString(l.in, l.answer+"\n")
	}
	return len(b), nil
}
