package mcp_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/mcp"
)

// What cannot be done is told by its kind, with what to do next.
func TestEveryToolFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("src/c.txt", "c")
	d.good("checkpoint", args{"intent": "second"})
	d.good("pin", args{"ref": "1", "name": "first"})
	for name, x := range map[string]struct {
		tool string
		in   args
		kind retake.ErrorKind
		says string
	}{
		"no intent":              {"checkpoint", args{}, retake.Invalid, "intent"},
		"empty intent":           {"checkpoint", args{"intent": ""}, retake.Invalid, "intent"},
		"endless intent":         {"checkpoint", args{"intent": strings.Repeat("x", 100_000)}, retake.Invalid, "maxLength"},
		"pin like a number":      {"pin", args{"ref": "1", "name": "14"}, retake.Invalid, "14"},
		"too many checkpoints":   {"timeline", args{"limit": 51}, retake.Invalid, "limit"},
		"unknown word":           {"timeline", args{"since": "2h"}, retake.Invalid, "since"},
		"other type":             {"timeline", args{"limit": "many"}, retake.Invalid, "limit"},
		"no such checkpoint":     {"diff", args{"from": "77"}, retake.NotFound, "77"},
		"path outside":           {"diff", args{"paths": []string{"../x"}}, retake.Invalid, "not in the workspace"},
		"absolute outside":       {"diff", args{"paths": []string{"/etc"}}, retake.Invalid, "not in the workspace"},
		"no such file":           {"show_file", args{"ref": "1", "path": "none"}, retake.NotFound, "none"},
		"a directory":            {"show_file", args{"ref": "1", "path": "src"}, retake.Invalid, "directory"},
		"too much":               {"show_file", args{"ref": "1", "path": "a.txt", "limit": 40_000}, retake.Invalid, "limit"},
		"before the start":       {"show_file", args{"ref": "1", "path": "a.txt", "offset": -1}, retake.Invalid, "offset"},
		"restore to nowhere":     {"restore", args{}, retake.Invalid, "which checkpoint"},
		"restore, no checkpoint": {"restore", args{"ref": "77"}, retake.NotFound, "77"},
		"redo with a ref":        {"restore", args{"course": "redo", "ref": "1"}, retake.Invalid, "no checkpoint is named"},
		"nothing to redo":        {"restore", args{"course": "redo"}, retake.NotFound, ""},
		"adopt":                  {"restore", args{"course": "adopt"}, retake.Invalid, "course"},
		"consent to nothing":     {"restore", args{"ref": "1", "accept": []string{"changed"}}, retake.Invalid, "no digest"},
		"no digest at all":       {"restore", args{"ref": "1", "digest": "x"}, retake.Invalid, "digest"},
		"no such class":          {"restore", args{"ref": "1", "digest": "00000000", "accept": []string{"all"}}, retake.Invalid, "accept"},
		"other plan":             {"restore", args{"ref": "1", "digest": "00000000"}, retake.Moved, "files changed"},
		"relative fork":          {"fork", args{"ref": "1", "dir": "x"}, retake.Invalid, "absolute"},
		"fork in itself":         {"fork", args{"ref": "1", "dir": d.at("fork")}, retake.Invalid, "is inside"},
		"fork over files":        {"fork", args{"ref": "1", "dir": d.area}, retake.Exists, "not empty"},
		"pin of no checkpoint":   {"pin", args{"ref": "77", "name": "x"}, retake.NotFound, "77"},
		"name is taken":          {"pin", args{"ref": "2", "name": "first"}, retake.Exists, "first"},
		"no such status":         {"tasks", args{"tasks": []args{{"title": "x", "status": "soon"}}}, retake.Invalid, "status"},
		"two of one id":          {"tasks", args{"tasks": []args{{"id": "a", "title": "x", "status": "pending"}, {"id": "a", "title": "y", "status": "pending"}}}, retake.Invalid, "id"},
		"resume nothing":         {"resume", args{"ref": "77"}, retake.NotFound, "77"},
	} {
		a := d.ask(x.tool, x.in)
		p := troubleOf(t, a)
		if p.Kind != string(x.kind) || !strings.Contains(p.What, x.says) || p.Safe == "" || a.bytes > 4000 {
			t.Errorf("%s: %d bytes, %+v", name, a.bytes, p)
		}
	}
	cp := d.good("checkpoint", args{"intent": "x", "pin": "14"}) // the checkpoint is there, the name is not
	if cp["pin"] != nil || len(at[[]any](t, cp, "warnings")) != 1 {
		t.Errorf("a name that is none: %v", cp)
	}
	if d.read("src/c.txt") != "c" || d.read("a.txt") != "one\ntwo\n" {
		t.Error("trouble changed files")
	}
}

func TestNotProtected(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.connect(d.s, mcp.Options{Dir: d.area}, "")
	for _, tool := range []string{"timeline", "tasks", "resume", "diff"} {
		p := troubleOf(t, askOver(t, c, tool, args{}))
		if p.Kind != string(retake.NotFound) || !strings.Contains(p.What, "not in a protected workspace") || !strings.Contains(p.Hint, "retake init") {
			t.Errorf("%s: %+v", tool, p)
		}
	}
}

// The workspace is found at each call: a server outlives the protection.
func TestWorkspaceIsFoundAnew(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.good("timeline", args{})
	ws, err := d.s.Locate(t.Context(), d.root())
	must(t, err)
	_, err = d.s.Deinit(t.Context(), ws.ID)
	must(t, err)
	if p := d.bad("timeline", args{}); p.Kind != string(retake.NotFound) {
		t.Errorf("after deinit: %+v", p)
	}
	must(t, os.MkdirAll(d.at("deep/er"), 0o755))
	_, err = d.s.Init(t.Context(), retake.InitRequest{Dir: d.root()})
	must(t, err)
	c := d.connect(d.s, mcp.Options{Dir: d.at("deep/er")}, "")
	if a := askOver(t, c, "show_file", args{"ref": "latest", "path": "a.txt"}); a.failed {
		t.Errorf("from below, paths begin at the root: %s", a.text)
	}
}

// broken is a service whose timeline breaks, and in which a restore was cut off.
type broken struct {
	retake.Service
	value any
}

func (b broken) Log(context.Context, retake.LogQuery) (retake.Timeline, error) { panic(b.value) }

func (b broken) Locate(ctx context.Context, dir string) (retake.Workspace, error) {
	ws, err := b.Service.Locate(ctx, dir)
	ws.Interrupted = &retake.Interruption{Target: 14, Done: 612, Total: 1181}
	return ws, err
}

// A tool that breaks is the trouble of one call, and the next one is answered. Every
// answer says that a restore was cut off.
func TestBrokenToolAndCutOff(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.connect(broken{d.s, "over"}, mcp.Options{Dir: d.root()}, "")
	if p := troubleOf(t, askOver(t, c, "timeline", args{})); p.Kind != string(retake.Internal) || !strings.Contains(p.What, "over") {
		t.Errorf("%+v", p)
	}
	for tool, in := range map[string]args{"diff": {}, "tasks": {}, "show_file": {"ref": "1", "path": "a.txt"}, "restore": {"ref": "1"}, "pin": {"ref": "1", "name": "x"}} {
		a := askOver(t, c, tool, in)
		const says = "The restore to checkpoint 14 was interrupted after 612 of 1181 files."
		if a.failed || !strings.HasPrefix(a.text, says) || !strings.HasPrefix(at[string](t, a.data, "note"), says) {
			t.Errorf("%s: %s %v", tool, a.text, a.data)
		}
	}
	if a := d.ask("diff", args{}); strings.Contains(a.text, "cut off") {
		t.Errorf("nothing was interrupted: %s", a.text)
	}
}
