package risk

import (
	"slices"
	"strings"
	"unicode"

	"github.com/retake-dev/retake"
)

// judgeMCP judges a tool of an MCP server by its annotations, and by the words of its name
// where there are none.
func (j *callJudge) judgeMCP(c retake.Call) {
	c = j.withUserMarks(c)
	if c.ReadOnly != nil && *c.ReadOnly {
		return
	}
	server, tool := mcpServerAndTool(c)
	words := splitToolName(tool)
	reads := len(words) > 0 && slices.Contains(known().words.ToolReadWords, words[0])
	destroys := !reads && containsAnyWord(known().words.ToolDestroyWords, words)
	open := !reads && (destroys || containsAnyWord(known().words.ToolWriteWords, words)) && !slices.Contains(known().words.LocalServers, strings.ToLower(server))
	if c.Destructive != nil {
		destroys = *c.Destructive
	}
	if c.OpenWorld != nil {
		open = *c.OpenWorld
	}
	judgeToolCommand(j, c.Input)
	target := strings.Trim(server+"/"+tool, "/")
	if destroys {
		j.addDanger("mcp-destructive", rulePhrase("mcp-destructive")+target, j.inputTargets(c.Input)...)
	} else if !reads {
		judgeToolWords(j, c, words)
	}
	if open {
		input := c.Input[:min(len(c.Input), MaxText)]
		call := &command{text: target + " " + string(input)}
		addUnrecoverable(j, toolClass(words, destroys), target, call)
		j.addEffect("mcp", target, call)
	}
}

// judgeToolWords judges a tool that may write files, by the words of its name.
func judgeToolWords(j *callJudge, c retake.Call, words []string) {
	switch {
	case containsAnyWord([]string{"move", "rename"}, words): // nothing is left where it was
		j.addOverwrite("moves away", j.inputTargets(c.Input))
	case containsAnyWord(fileWriteWords, words):
		j.addOverwriteOutside("writes over", withoutScratch(j.inputTargets(c.Input)))
	}
}

// toolClass returns the class of a tool that acts on the outside world, by the words of its name.
func toolClass(words []string, destroys bool) retake.GateClass {
	switch {
	case destroys:
		return retake.GateDelete
	case slices.Contains(words, "publish"):
		return retake.GatePublish
	case slices.Contains(words, "deploy"):
		return retake.GateDeploy
	}
	return ""
}

// mcpServerAndTool splits mcp__server__tool.
func mcpServerAndTool(c retake.Call) (server, tool string) {
	server, tool = c.Server, c.Tool
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if !ok {
		return server, tool
	}
	if s, t, ok := strings.Cut(rest, "__"); ok {
		if server == "" {
			server = s
		}
		return server, t
	}
	return server, rest
}

// splitToolName returns the words of create_issue, create-issue or createIssue.
func splitToolName(s string) []string {
	var b strings.Builder
	for i, r := range s[:min(len(s), 256)] {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case unicode.IsUpper(r) && i > 0:
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

func containsAnyWord(list, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
}
