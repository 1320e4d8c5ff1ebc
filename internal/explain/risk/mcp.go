package risk

import (
	"strings"
	"unicode"

	"github.com/retake-dev/retake"
)

// Words in the names of tools, for servers that say nothing of them.
const (
	mcpReads = "get list search read fetch find query describe show view check count lookup browse inspect status download resolve explain analyze " +
		"summarize preview validate help info ping"
	mcpDestroys = "delete remove drop truncate destroy wipe purge reset clear erase overwrite uninstall revert rollback"
	mcpWrites   = "send post publish deploy create update merge push comment reply invite upload submit approve close assign add edit execute run invoke " +
		"trigger cancel pay refund charge transfer book order tweet email share insert upsert patch put set archive restart start stop schedule notify react move rename"
	localServers = "filesystem fs files file memory editor git serena ide"
)

// mcp judges a tool of an MCP server by what the server says of it, and by the
// words of its name where the server says nothing.
func (j *judge) mcp(c retake.Call) {
	if c.ReadOnly != nil && *c.ReadOnly {
		return
	}
	server, tool := mcpName(c)
	words := toolWords(tool)
	reads := len(words) > 0 && within(mcpReads, words[0])
	destroys := !reads && anyWithin(mcpDestroys, words)
	open := !reads && (destroys || anyWithin(mcpWrites, words)) && !within(localServers, strings.ToLower(server))
	if c.Destructive != nil {
		destroys = *c.Destructive
	}
	if c.OpenWorld != nil {
		open = *c.OpenWorld
	}
	target := strings.Trim(server+"/"+tool, "/")
	if destroys {
		j.destroys("mcp-destructive", phraseOf("mcp-destructive")+target)
	}
	if open {
		input := c.Input[:min(len(c.Input), MaxText)]
		j.outside("mcp", target, &command{text: target + " " + string(input)})
	}
}

// mcpName takes mcp__server__tool apart.
func mcpName(c retake.Call) (server, tool string) {
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

// toolWords are the words of create_issue, create-issue and createIssue.
func toolWords(s string) []string {
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

func anyWithin(list string, words []string) bool {
	for _, w := range words {
		if within(list, w) {
			return true
		}
	}
	return false
}
