//go:build linux

package matrix

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// A server has routes that its description leaves out: the tools for agents, and the pictures of
// the console. They lead to the same objects, so they are asked like operations.

// tools are those that name a checkpoint, or add one, with the permission that each needs.
var tools = map[string]struct {
	power retake.Power
	args  map[string]any
}{
	"timeline":   {retake.PowerSee, map[string]any{}},
	"show_file":  {retake.PowerSee, map[string]any{"ref": "2", "path": "src/a.txt"}},
	"checkpoint": {retake.PowerRecord, map[string]any{"intent": "by a tool"}},
	"fork":       {retake.PowerReturn, map[string]any{"ref": "2"}},
	"restore":    {retake.PowerReturn, map[string]any{"ref": "2"}},
}

const (
	toolPrefix  = "tool "
	contentID   = "content"
	pictureName = "picture.png"
)

// picture is what a browser would show; only its first bytes are looked at.
const picture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

// addExtras adds the routes that the description leaves out.
func (s *spec) addExtras() {
	ws := field{in: "path", name: "ws", at: []string{"ws"}}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		t := tools[name]
		op := &operation{template: "/mcp/{ws}", fields: []field{ws}}
		op.ID, op.Method, op.Power = toolPrefix+name, http.MethodPost, t.power
		if _, ok := t.args["ref"]; ok {
			op.fields = append(op.fields, field{in: "tool", name: "ref", at: []string{"ref"}})
		}
		s.ops = append(s.ops, op)
	}
	op := &operation{template: "/console/content/{ws}/{ref}/" + pictureName, fields: []field{ws, {in: "path", name: "ref", at: []string{"ref"}}}}
	op.ID, op.Method, op.Power = contentID, http.MethodGet, retake.PowerSee
	s.ops = append(s.ops, op)
}

// extra says whether an operation is not in the description.
func (op *operation) extra() bool { return op.ID == contentID || strings.HasPrefix(op.ID, toolPrefix) }

// draftExtra makes the request of such an operation.
func (s *sweep) draftExtra(op *operation) *draft {
	d := &draft{op: op, path: map[string]string{"ws": s.mine["ws"], "ref": "2"}, header: map[string]string{}}
	if op.ID == contentID {
		return d
	}
	name := strings.TrimPrefix(op.ID, toolPrefix)
	d.header["Accept"] = "application/json, text/event-stream"
	d.body = map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": maps.Clone(tools[name].args)}}
	return d
}

// setArgument replaces an argument of a tool.
func (d *draft) setArgument(name string, value any) {
	params, _ := d.body["params"].(map[string]any)
	args, _ := params["arguments"].(map[string]any)
	args[name] = value
}

// toolStatus gives an answer of a tool the status that the API would have given it: a tool answers
// an error with 200, too.
func toolStatus(a serverbed.Answer) serverbed.Answer {
	var said struct {
		Result struct {
			IsError bool `json:"isError"`
		} `json:"result"`
		Error json.RawMessage `json:"error"`
	}
	switch err := json.Unmarshal(a.Body, &said); {
	case !a.Good():
	case err != nil:
		a.Status = http.StatusInternalServerError
	case said.Error != nil:
		a.Status = http.StatusBadRequest
	case said.Result.IsError && bytes.Contains(a.Body, []byte(`\"kind\":\"denied\"`)):
		a.Status = http.StatusForbidden
	case said.Result.IsError && bytes.Contains(a.Body, []byte(`\"kind\":\"internal\"`)):
		a.Status = http.StatusInternalServerError
	case said.Result.IsError:
		a.Status = http.StatusNotFound
	}
	return a
}

func plantPicture(root string) error {
	return serverbed.PlantFile(filepath.Join(root, pictureName), picture)
}
