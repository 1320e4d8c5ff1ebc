//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
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

// shoot runs the line on a terminal of its own and draws what is on it. A command may end
// as it likes: what it says is the picture.
func (s *stage) shoot(ctx context.Context, p picture) ([]byte, error) {
	line := fmt.Sprintf("stty cols %d rows 200; exec %s", p.width, p.line)
	c := s.command(ctx, s.tree(), "script", "-qec", line, "/dev/null")
	out, err := c.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("run %s: %w", p.line, err)
	}
	if strings.TrimSpace(string(out)) == "" {
		return nil, fmt.Errorf("run %s: it prints nothing", p.line)
	}
	prompt := "\x1b[2m$\x1b[0m \x1b[1m" + p.line + "\x1b[0m\r\n\r\n"
	return shot.Read(prompt+string(out), p.width).SVG(p.title), nil
}
