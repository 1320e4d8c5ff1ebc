package fakeagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// handler is one hook as the settings have it.
type handler struct {
	event      string
	matcher    string
	line       string // for a shell
	program    string // or a file that is run as it is
	dir        string // where it runs
	timeout    time.Duration
	async      bool
	failClosed bool
}

// source is a file, or a directory, that an agent reads hooks from.
type source struct {
	path string
	dir  string // where its hooks run
}

// handlers reads everything that is installed. No file is no hook.
func (a *agent) handlers() ([]handler, error) {
	var out []handler
	for _, s := range a.d.sources(a) {
		if a.d.scripts {
			found, err := programs(s)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
			continue
		}
		b, err := os.ReadFile(s.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read settings: %w", err)
		}
		found, err := a.d.read(b)
		if err != nil {
			return nil, fmt.Errorf("read settings %s: %w", s.path, err)
		}
		for _, h := range found {
			h.dir = s.dir
			out = append(out, h)
		}
	}
	return out, nil
}

// chosen are the hooks of an event. Some agents run the same line once, however
// many files name it.
func (a *agent) chosen(all []handler, name, subject string) []handler {
	var out []handler
	for _, h := range all {
		if h.event != name || subject != "" && !a.d.matches(h.matcher, subject) {
			continue
		}
		again := slices.ContainsFunc(out, func(o handler) bool { return o.line == h.line && o.program == h.program })
		if !again || !a.d.once {
			out = append(out, h)
		}
	}
	return out
}

type nestedSettings struct {
	Hooks map[string][]struct {
		Matcher string `json:"matcher"`
		Hooks   []struct {
			Type    string  `json:"type"`
			Command string  `json:"command"`
			Timeout float64 `json:"timeout"`
			Async   bool    `json:"async"`
		} `json:"hooks"`
	} `json:"hooks"`
}

// nested reads the form that Claude Code began: events, groups with a matcher,
// hooks in them.
func nested(unit, usual time.Duration) func([]byte) ([]handler, error) {
	return func(b []byte) ([]handler, error) {
		var s nestedSettings
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, err
		}
		var out []handler
		for name, groups := range s.Hooks {
			for _, g := range groups {
				for _, h := range g.Hooks {
					if h.Type != "command" || h.Command == "" {
						continue
					}
					one := handler{event: name, matcher: g.Matcher, line: h.Command, async: h.Async, timeout: usual}
					if h.Timeout > 0 {
						one.timeout = time.Duration(h.Timeout * float64(unit))
					}
					out = append(out, one)
				}
			}
		}
		return out, nil
	}
}

type flatSettings struct {
	Version int `json:"version"`
	Hooks   map[string][]struct {
		Command    string  `json:"command"`
		Bash       string  `json:"bash"`
		Matcher    string  `json:"matcher"`
		Timeout    float64 `json:"timeout"`
		TimeoutSec float64 `json:"timeoutSec"`
		FailClosed bool    `json:"failClosed"`
	} `json:"hooks"`
}

var errForm = errors.New("the form is not number 1")

// flat reads the form of Cursor and Copilot: events, and hooks in them.
func flat(usual time.Duration) func([]byte) ([]handler, error) {
	return func(b []byte) ([]handler, error) {
		var s flatSettings
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, err
		}
		if s.Version != 1 {
			return nil, errForm
		}
		var out []handler
		for name, hooks := range s.Hooks {
			for _, h := range hooks {
				one := handler{event: name, matcher: h.Matcher, line: h.Command + h.Bash, failClosed: h.FailClosed, timeout: usual}
				if sec := h.Timeout + h.TimeoutSec; sec > 0 {
					one.timeout = time.Duration(sec * float64(time.Second))
				}
				out = append(out, one)
			}
		}
		return out, nil
	}
}

// programs are executable files that are named like their event.
func programs(s source) ([]handler, error) {
	list, err := os.ReadDir(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read hooks: %w", err)
	}
	var out []handler
	for _, f := range list {
		if i, err := f.Info(); err == nil && i.Mode()&0o111 != 0 {
			out = append(out, handler{event: f.Name(), program: filepath.Join(s.path, f.Name()), dir: s.dir, timeout: 30 * time.Second})
		}
	}
	return out, nil
}

var (
	plainMatcher = regexp.MustCompile(`^[A-Za-z0-9_|]+$`)
	yamlEvent    = regexp.MustCompile(`^( *)([a-z_]+):$`)
	yamlField    = regexp.MustCompile(`(\w+): ("(?:[^"\\]|\\.)*"|[^,}]+)`)
)

// plainOrSearched: plain names are compared one by one, anything else is searched
// for as an expression, not anchored.
func plainOrSearched(matcher, subject string) bool {
	switch {
	case matcher == "" || matcher == "*":
		return true
	case plainMatcher.MatchString(matcher):
		return slices.Contains(strings.Split(matcher, "|"), subject)
	}
	return searched(matcher, subject)
}

func searched(matcher, subject string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	x, err := regexp.Compile(matcher)
	if err != nil {
		return matcher == subject
	}
	return x.MatchString(subject)
}

func anchored(matcher, subject string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	x, err := regexp.Compile("^(?:" + matcher + ")$")
	return err == nil && x.MatchString(subject)
}

var errYAML = errors.New("a line is not understood")

// yamlHooks reads the part of YAML that hooks of docker-agent are written in: events
// below hooks or in a file of their own, flow maps as hooks, and a matcher before those of
// tools.
func yamlHooks(b []byte) ([]handler, error) {
	var out []handler
	event, matcher, inside := "", "", !strings.Contains(string(b), "agents:") // a file of hooks alone
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		word := strings.TrimSpace(line)
		switch m := yamlEvent.FindStringSubmatch(line); {
		case word == "" || word[0] == '#':
		case word == "hooks:":
			inside = true
		case !inside:
		case m != nil:
			event, matcher = m[2], ""
		case strings.HasPrefix(word, "- matcher:"):
			matcher = unquoted(strings.TrimPrefix(word, "- matcher:"))
		case strings.HasPrefix(word, "- {") && strings.HasSuffix(word, "}"):
			h, err := yamlHook(word)
			if err != nil {
				return nil, err
			}
			h.event, h.matcher = event, matcher
			out = append(out, h)
		default:
			return nil, fmt.Errorf("%w: %s", errYAML, word)
		}
	}
	return out, nil
}

func yamlHook(word string) (handler, error) {
	h := handler{timeout: time.Minute}
	for _, f := range yamlField.FindAllStringSubmatch(word, -1) {
		switch value := unquoted(f[2]); f[1] {
		case "command":
			h.line = value
		case "timeout":
			d, err := time.ParseDuration(value + "s")
			if err != nil {
				return h, fmt.Errorf("%w: %s", errYAML, word)
			}
			h.timeout = d
		case "type":
			if value != "command" {
				return h, fmt.Errorf("%w: %s", errYAML, word)
			}
		}
	}
	if h.line == "" {
		return h, fmt.Errorf("%w: %s", errYAML, word)
	}
	return h, nil
}

func unquoted(s string) string {
	s = strings.TrimSpace(s)
	var out string
	if json.Unmarshal([]byte(s), &out) == nil {
		return out
	}
	return s
}
