//go:build unix

// Package page runs the commands of a document, and holds what they print against what the
// document says.
//
// All blocks that begin with ```sh are one script, from the first to the last. A ```text
// block is what the commands before it print; in it … is anything. Ids, secrets, times and
// durations are equal to any other of their kind. It runs what it is given, and ends all
// that the script has left running.
//
//	B1  No command is left out, and the first that fails ends the page.
//	B2  What a page says is printed in full, or the page is wrong.
package page

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// Block is a block of commands, and what the document says of it.
type Block struct {
	Line   int
	Script string
	Says   []string // each ```text block that follows
}

// Read answers the blocks of a document; with a heading, those below it up to the next of
// the same rank.
func Read(path, heading string) ([]Block, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a page: %w", err)
	}
	r := reader{inside: heading == "", heading: heading}
	for i, line := range strings.Split(string(b), "\n") {
		if err := r.line(i+1, line); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	if len(r.blocks) == 0 {
		return nil, fmt.Errorf("read %s: no commands below %q", path, heading)
	}
	return r.blocks, nil
}

type reader struct {
	heading string
	inside  bool
	fence   string // of the block that is open
	open    bool
	text    strings.Builder
	at      int
	blocks  []Block
}

func (r *reader) line(n int, line string) error {
	fence, fenced := strings.CutPrefix(line, "```")
	switch {
	case fenced && r.open:
		r.open = false
		return r.end()
	case fenced:
		r.open, r.fence, r.at = true, fence, n
		r.text.Reset()
	case r.open:
		r.text.WriteString(line + "\n")
	case r.heading != "" && strings.HasPrefix(line, "## "):
		r.inside = line == r.heading
	}
	return nil
}

func (r *reader) end() error {
	if !r.inside {
		return nil
	}
	switch r.fence {
	case "sh":
		r.blocks = append(r.blocks, Block{Line: r.at, Script: r.text.String()})
	case "text":
		if len(r.blocks) == 0 {
			return fmt.Errorf("line %d: nothing is run before this", r.at)
		}
		last := &r.blocks[len(r.blocks)-1]
		last.Says = append(last.Says, r.text.String())
	}
	return nil
}

// Stage is where a page is played.
type Stage struct {
	Dir  string            // an empty directory
	Env  []string          // all that the script sees
	Swap map[string]string // numbers of the page, such as ports, by what they are here
}

const mark = "@@ line "

// Play runs the blocks and answers what they printed, or what is wrong with the page.
func Play(ctx context.Context, blocks []Block, s Stage) (string, error) {
	var script strings.Builder
	script.WriteString("set -eu\nset -o pipefail\n")
	for _, b := range blocks {
		fmt.Fprintf(&script, "printf '\\n%s%%s\\n' %d\n%s", mark, b.Line, b.Script)
	}
	out, err := s.run(ctx, swap(script.String(), s.Swap, false))
	out = swap(out, s.Swap, true)
	if err != nil {
		return out, err
	}
	return out, compare(blocks, out)
}

// run runs a script in a group of its own, and ends the group with it.
func (s Stage) run(ctx context.Context, script string) (string, error) {
	files := map[string]*os.File{}
	for _, name := range []string{"page.out", "page.err"} {
		f, err := os.Create(filepath.Join(s.Dir, name)) // a pipe would stay open with what the script leaves running
		if err != nil {
			return "", err
		}
		defer f.Close() //nolint:errcheck // read by its name
		files[name] = f
	}
	at := filepath.Join(s.Dir, "page.sh")
	if err := os.WriteFile(at, []byte(script), 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "bash", at)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Dir, s.Env, files["page.out"], files["page.err"]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	end := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = end
	err := cmd.Run()
	if cmd.Process != nil {
		_ = end() // nothing may be left
	}
	out, rerr := os.ReadFile(filepath.Join(s.Dir, "page.out"))
	if err != nil {
		said, _ := os.ReadFile(filepath.Join(s.Dir, "page.err"))
		err = fmt.Errorf("%s: %w\n%s", lastMark(string(out)), err, said[max(0, len(said)-4000):])
	}
	return string(out), errors.Join(err, rerr)
}

func lastMark(out string) string {
	_, line, ok := cutLast(out, mark)
	if !ok {
		return "before the first block"
	}
	line, _, _ = strings.Cut(line, "\n")
	return "the block at line " + line
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func swap(text string, numbers map[string]string, back bool) string {
	for page, here := range numbers {
		if back {
			page, here = here, page
		}
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(page)+`\b`).ReplaceAllString(text, here)
	}
	return text
}
