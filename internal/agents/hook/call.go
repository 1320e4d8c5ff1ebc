package hook

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/retake-dev/retake"
)

// newCall returns what a tool does, as far as its name and its input tell. Paths are as the
// agent names them: relative ones begin where it works.
func newCall(tool, id string, input json.RawMessage) *retake.Call {
	input = unwrapJSON(input)
	c := &retake.Call{ID: id, Tool: tool, Kind: callKind(tool), Input: input}
	in, _ := parseFields(input)
	switch c.Kind {
	case retake.CallShell:
		c.Command = commandLine(in.raw("command", "cmd", "script", "chars", "commandLine"))
		if c.Command == "" {
			c.Command = commandLine(input)
		}
	case retake.CallWrite:
		c.Paths = inputPaths(in)
		if isPatchTool(tool) {
			c.Paths = append(c.Paths, patchPaths(patchText(in, input))...)
		}
	case retake.CallMCP:
		c.Server = mcpServerName(tool)
		if c.Server == "" {
			c.Server = in.text("server_name", "serverName")
		}
	case retake.CallRead, retake.CallOther:
	}
	return c
}

// callKind classifies a tool by its name, as all known agents spell it.
func callKind(tool string) retake.CallKind {
	name := strings.ToLower(tool)
	switch name {
	case "bash", "powershell", "shell", "run_shell_command", "execute_command", "local_shell", "exec", "execute", "exec_command",
		"shell_command", "container.exec", "write_stdin", "run_terminal_cmd", "run_terminal_command", "run_in_terminal", "runinterminal",
		"run_background_job", "pwsh", "terminal":
		return retake.CallShell
	case "write", "edit", "multiedit", "multi_edit", "notebookedit", "apply_patch", "applypatch", "patch", "write_file", "replace",
		"edit_file", "editfiles", "create", "create_file", "createfile", "str_replace", "strreplace", "str_replace_editor",
		"str_replace_based_edit_tool", "search_replace", "write_to_file", "replace_in_file", "insert_edit_into_file",
		"replace_string_in_file", "multi_replace_string_in_file", "edit_notebook", "edit_notebook_file", "delete", "delete_file",
		"move_file", "create_directory", "remove_directory", "insert":
		return retake.CallWrite
	case "read", "view", "read_file", "readfile", "read_many_files", "read_multiple_files", "glob", "grep", "ls", "list",
		"list_directory", "list_dir", "list_files", "directory_tree", "search_file_content", "search_files", "search_files_content",
		"grep_search", "file_search", "codebase_search", "notebookread", "bashoutput", "list_code_definition_names":
		return retake.CallRead
	case "use_mcp_tool", "access_mcp_resource":
		return retake.CallMCP
	}
	if strings.HasPrefix(name, "mcp_") || strings.HasPrefix(name, "mcp:") {
		return retake.CallMCP
	}
	return retake.CallOther
}

// mcpServerName returns the server in the name of a tool: mcp__server__tool, or
// mcp_server_tool, where the parts are not clearly separated.
func mcpServerName(tool string) string {
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		return server
	}
	if rest, ok := strings.CutPrefix(tool, "mcp_"); ok {
		server, _, found := strings.Cut(rest, "_")
		if found {
			return server
		}
	}
	return ""
}

// setServer makes a call one of an MCP server.
func setServer(c *retake.Call, server string) {
	if server != "" {
		c.Kind, c.Server, c.Command, c.Paths = retake.CallMCP, server, "", nil
	}
}

// commandLine returns a shell command: a string, or the words of a program joined.
func commandLine(raw json.RawMessage) string {
	if s := jsonString(raw); s != "" {
		return s
	}
	var words []string
	if json.Unmarshal(raw, &words) != nil || len(words) == 0 {
		return ""
	}
	if len(words) == 3 && isShell(words[0]) && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		return words[2]
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellQuote(word)
	}
	return strings.Join(quoted, " ")
}

func isShell(program string) bool {
	switch path.Base(program) {
	case "sh", "bash", "zsh", "dash", "ksh", "fish":
		return true
	}
	return false
}

// shellQuote quotes a text as one word of a shell.
func shellQuote(word string) string {
	plain := word != ""
	for _, c := range []byte(word) {
		if !isIDByte(c) && !strings.ContainsRune("/=@%+,", rune(c)) {
			plain = false
		}
	}
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// inputPaths returns the files that an input names.
func inputPaths(in jsonFields) []string {
	out := fieldPaths(in)
	for _, name := range []string{"files", "edits", "replacements", "paths"} {
		items, _ := in.list(name)
		out = append(out, jsonStrings(items)...)
		for _, item := range items[:min(len(items), maxPaths)] {
			one, _ := parseFields(item)
			out = append(out, fieldPaths(one)...)
		}
	}
	return out
}

func fieldPaths(in jsonFields) []string {
	var out []string
	for _, name := range []string{
		"file_path", "path", "filePath", "notebook_path", "target_file", "target_notebook", "absolute_path", "dirPath", "source", "destination",
	} {
		if s := in.text(name); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func isPatchTool(tool string) bool {
	switch strings.ToLower(tool) {
	case "apply_patch", "applypatch", "patch":
		return true
	}
	return false
}

// patchText returns the patch in the input of a tool: the input itself, a field, or the
// last word of a command.
func patchText(in jsonFields, input json.RawMessage) string {
	if s := jsonString(input); s != "" {
		return s
	}
	if s := in.text("patch", "input", "patchText", "command", "diff", "content"); s != "" {
		return s
	}
	if words, ok := in.list("command"); ok && len(words) > 0 {
		return jsonString(words[len(words)-1])
	}
	return ""
}

func patchPaths(patch string) []string {
	var out []string
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		rest, ok := strings.CutPrefix(line, "*** ")
		if !ok {
			continue
		}
		for _, verb := range []string{"Add File: ", "Update File: ", "Delete File: ", "Move to: "} {
			if name, found := strings.CutPrefix(rest, verb); found && len(out) < maxPaths {
				out = append(out, strings.TrimSpace(name))
			}
		}
	}
	return out
}
