package risk

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// fileWriteWords are in the names of tools that write files.
var fileWriteWords = []string{"write", "edit", "create", "update", "save", "replace", "move", "rename", "copy", "patch", "put", "insert", "append"}

// judgeWrite judges a tool that writes files. The checkpoint of the turn has what was there before, but
// only in the workspace.
func (j *callJudge) judgeWrite(c retake.Call) {
	words := splitToolName(c.Tool)
	if slices.Contains(words, "directory") && slices.Contains(words, "create") {
		return
	}
	deletes := containsAnyWord([]string{"delete", "remove"}, words)
	var list []Target
	for _, p := range c.Paths {
		t := j.literalTarget(p, !deletes)
		t.dirs = deletes
		list = addTargets(list, []Target{t})
	}
	if deletes {
		j.recordOverwrite(Danger{Rule: "delete-files", verb: "deletes", Targets: list, OnlyOutside: true})
		return
	}
	j.addOverwriteOutside("writes over", withoutScratch(list))
}

// withoutScratch drops files for temporary use.
func withoutScratch(list []Target) []Target {
	return slices.DeleteFunc(list, func(t Target) bool { return slices.ContainsFunc(t.Paths, isScratchPath) })
}

var errInput = errors.New("the input is cut off or too deep")

// maxInputDepth is how deep the input of a tool is searched.
const maxInputDepth = 16

// inputTargets returns the paths in the input of a tool, by the names of its fields.
func (j *callJudge) inputTargets(input json.RawMessage) []Target {
	s := inputScan{judge: j}
	s.scan(input[:min(len(input), MaxText)], 0)
	return s.list
}

// judgeToolCommand judges the command line in the input of a tool that runs one.
func judgeToolCommand(j *callJudge, input json.RawMessage) {
	var fields map[string]json.RawMessage
	if len(input) > MaxText || json.Unmarshal(input, &fields) != nil {
		return
	}
	for _, name := range []string{"command", "cmd", "script", "shell_command", "commandline"} {
		var text string
		if json.Unmarshal(fields[name], &text) == nil {
			j.judgeShell(text, 1)
		}
	}
}

// inputScan collects the paths of one input.
type inputScan struct {
	judge *callJudge
	list  []Target
}

// scan reads as much of the input as is JSON.
func (s *inputScan) scan(input []byte, depth int) {
	d := json.NewDecoder(bytes.NewReader(input))
	_ = s.value(d, "", depth) // what comes after a mistake names nothing
}

// value reads one value, which belongs to a field.
func (s *inputScan) value(d *json.Decoder, field string, depth int) error {
	t, err := d.Token()
	if err != nil || depth > maxInputDepth {
		return errInput
	}
	switch t := t.(type) {
	case string:
		s.add(field, t, depth)
	case json.Delim:
		for d.More() {
			if t == '{' {
				name, err := d.Token()
				if err != nil {
					return err
				}
				field, _ = name.(string)
			}
			if err := s.value(d, field, depth+1); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

// add adds the path that a field has. A field may also have JSON as text.
func (s *inputScan) add(field, text string, depth int) {
	if strings.HasPrefix(text, "{") && depth < maxInputDepth {
		s.scan([]byte(text), depth+1)
		return
	}
	if !isPathField(field) || text == "" || len(text) > maxPathBytes || strings.ContainsAny(text, "\n\r") {
		return
	}
	if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "file" || u.Path == "" {
			return
		}
		text = u.Path
	}
	s.list = addTargets(s.list, []Target{s.judge.literalTarget(text, false)})
}

// isPathField reports whether a field names a file or directory.
func isPathField(name string) bool {
	low := strings.ToLower(name)
	return containsAny(low, "path", "file", "dir", "folder", "source", "target", "destination", "uri") && !containsAny(low, "content", "text", "pattern")
}
