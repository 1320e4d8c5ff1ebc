package risk

import (
	"strings"
	"unicode"

	"github.com/retake-dev/retake"
)

// Words in the names of tools, for servers that give no annotations.
const (
	mcpReadWords = "get list search read fetch find query describe show view check count lookup browse inspect status download resolve explain analyze " +
		"summarize preview validate help info ping"
	mcpDestroyWords = "delete remove drop truncate destroy wipe purge reset clear erase overwrite uninstall revert rollback"
	mcpWriteWords   = "send post publish deploy create update merge push comment reply invite upload submit approve close assign add edit execute run invoke " +
		"trigger cancel pay refund charge transfer book order tweet email share insert upsert patch put set archive restart start stop schedule notify react move rename"
	localServers = "filesystem fs files file memory editor git serena ide"
)

// judgeMCP judges a tool of an MCP server by its annotations, and by the words of its name
// where there are none.
func (j *callJudge) judgeMCP(c retake.Call) {
	if c.ReadOnly != nil && *c.ReadOnly {
		return
	}
	server, tool := mcpServerAndTool(c)
	words := splitToolName(tool)
	reads := len(words) > 0 && containsWord(mcpReadWords, words[0])
	destroys := !reads && containsAnyWord(mcpDestroyWords, words)
	open := !reads && (destroys || containsAnyWord(mcpWriteWords, words)) && !containsWord(localServers, strings.ToLower(server))
	if c.Destructive != nil {
		destroys = *c.Destructive
	}
	if c.OpenWorld != nil {
		open = *c.OpenWorld
	}
	target := strings.Trim(server+"/"+tool, "/")
	if destroys {
		j.addDanger("mcp-destructive", rulePhrase("mcp-destructive")+target)
	}
	if open {
		input := c.Input[:min(len(c.Input), MaxText)]
		j.addEffect("mcp", target, &command{text: target + " " + string(input)})
	}
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

func containsAnyWord(list string, words []string) bool {
	for _, w := range words {
		if containsWord(list, w) {
			return true
		}
	}
	return false
}
