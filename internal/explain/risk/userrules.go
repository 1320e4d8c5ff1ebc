package risk

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
)

// Limits of a user's file, so that judging stays fast.
const (
	MaxUserFile    = 64 << 10 // bytes
	maxUserEntries = 500
)

// ParseUserRules reads the programs and tools that a user adds, in JSON.
func ParseUserRules(data []byte) (*retake.RiskRules, error) {
	var r retake.RiskRules
	if len(data) > MaxUserFile {
		return nil, fmt.Errorf("it has more than %d KiB", MaxUserFile>>10)
	}
	if err := decodeJSON(data, &r); err != nil {
		return nil, err
	}
	if len(r.Programs)+len(r.Tools) > maxUserEntries {
		return nil, fmt.Errorf("it has more than %d entries", maxUserEntries)
	}
	for i, p := range r.Programs {
		if err := checkUserProgram(p); err != nil {
			return nil, fmt.Errorf("entry %d of programs: %w", i+1, err)
		}
	}
	for i, t := range r.Tools {
		if t.Server == "" && t.Tool == "" {
			return nil, fmt.Errorf("entry %d of tools: it names no server and no tool", i+1)
		}
	}
	return &r, nil
}

func checkUserProgram(p retake.RiskProgram) error {
	if len(p.Programs) == 0 {
		return fmt.Errorf("it names no program")
	}
	for _, name := range p.Programs {
		if name == "" || name != strings.ToLower(name) || strings.ContainsAny(name, "/\\ \t") {
			return fmt.Errorf("%q is not the name of a program: lower case, without a path", name)
		}
		if p.Like != "" && known().knows(name) {
			return fmt.Errorf("the rules know %q already; it cannot be like another program", name)
		}
	}
	for _, s := range p.Subcommands {
		if strings.TrimSpace(s) == "" {
			return fmt.Errorf("a subcommand is empty")
		}
	}
	switch {
	case p.Like != "" && (p.Rule != "" || len(p.Subcommands)+len(p.ValueFlags)+len(p.HarmlessFlags) > 0):
		return fmt.Errorf("like stands alone, without a rule, subcommands and flags")
	case p.Like != "" && !known().knows(p.Like):
		return fmt.Errorf("no rule knows the program %q", p.Like)
	case p.Like == "" && findRule(p.Rule).Name == "":
		return fmt.Errorf("there is no rule %q", p.Rule)
	}
	return nil
}

// useRules makes the judgement follow the user's rules, too.
func (j *callJudge) useRules(r *retake.RiskRules) {
	if r == nil {
		return
	}
	j.added, j.tools, j.like = indexRules(r.Programs), r.Tools, map[string]string{}
	for _, p := range r.Programs {
		for _, name := range p.Programs {
			if p.Like != "" {
				j.like[name] = p.Like
				delete(j.added, name)
			}
		}
	}
}

// withKnownName returns the command under the name of the program that the user compares it
// with.
func (j *callJudge) withKnownName(c *command) *command {
	like := j.like[c.name()]
	if like == "" {
		return c
	}
	known := *c
	known.words = append([]word{{text: like}}, c.args()...)
	return &known
}

// withUserMarks returns a call of an MCP tool with what the user's file says about the tool.
// It goes before what the server says; the last entry that fits wins.
func (j *callJudge) withUserMarks(c retake.Call) retake.Call {
	server, tool := mcpServerAndTool(c)
	for _, t := range j.tools {
		if t.Server != "" && !strings.EqualFold(t.Server, server) || t.Tool != "" && t.Tool != tool {
			continue
		}
		if t.ReadOnly != nil {
			c.ReadOnly = t.ReadOnly
		}
		if t.Destructive != nil {
			c.Destructive = t.Destructive
		}
		if t.OpenWorld != nil {
			c.OpenWorld = t.OpenWorld
		}
	}
	return c
}
