package mcp_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/mcp"
)

// A plan that is not that of now any more is not applied.
func TestStaleDigestIsMoved(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("a.txt", "two\n")
	d.good("checkpoint", args{"intent": "two"})
	plan := d.good("restore", args{"ref": "1"})
	in := args{"ref": "1", "digest": at[string](t, plan, "plan", "digest")}
	d.write("src/b.txt", "somebody else\n")
	p := d.bad("restore", in)
	if p.Kind != string(retake.Moved) || !strings.Contains(p.Hint, "without digest") || d.read("a.txt") != "two\n" || d.read("src/b.txt") != "somebody else\n" {
		t.Errorf("%+v: %q", p, d.read("a.txt"))
	}
	d.good("checkpoint", args{"intent": "somebody else"})
	d.goBack(args{"ref": "1"})
	if p := d.bad("restore", in); p.Kind != string(retake.Moved) {
		t.Errorf("the second time: %+v", p)
	}
}

// An agent may accept what the safety checkpoint covers.
func TestAgentAccepts(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("a.txt", "an edit that no checkpoint holds\n")
	told := d.ask("restore", args{"ref": "1"})
	plan := told.data
	o := at[[]any](t, plan, "plan", "obstacles")
	if len(o) != 1 || at[string](t, o[0], "class") != retake.ObstacleChanged || at[string](t, o[0], "who") != "agent" || d.read("a.txt") == "one\ntwo\n" {
		t.Fatalf("plan: %v", plan)
	}
	if !strings.HasSuffix(told.text, " and accept changed") || !strings.Contains(told.text, "becomes checkpoint 2 first") {
		t.Errorf("the plan: %s", told.text)
	}
	in := args{"ref": "1", "digest": at[string](t, plan, "plan", "digest")}
	if p := d.bad("restore", in); p.Kind != string(retake.Denied) || !strings.Contains(p.Hint, "accept changed") || strings.Contains(p.Hint, "person") {
		t.Errorf("without a word: %+v", p)
	}
	in["accept"] = []string{retake.ObstacleChanged}
	res := d.good("restore", in)
	if d.read("a.txt") != "one\ntwo\n" || at[float64](t, res, "result", "written") != 1 {
		t.Errorf("%v", res)
	}
	safety := fmt.Sprint(at[float64](t, res, "result", "safety"))
	if f := d.good("show_file", args{"ref": safety, "path": "a.txt"}); !strings.HasPrefix(at[string](t, f, "text"), "an edit") {
		t.Errorf("the safety checkpoint: %v", f)
	}
}

// What a person decides is refused, whether it is in the plan or not, with the command
// for the person; and it is refused when the agent says nothing of it.
func TestPersonDecides(t *testing.T) {
	t.Parallel()
	for _, class := range strings.Fields(mcp.Personal()) {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			in := args{"ref": "1"}
			plan := d.build(class, in)
			in["digest"] = at[string](t, plan, "plan", "digest")
			before, run := d.all(), fmt.Sprintf("retake restore %s --accept %s", in["ref"], class)
			in["accept"] = []string{class}
			p := d.bad("restore", in)
			if p.Kind != string(retake.Denied) || !strings.Contains(p.Hint, "a person runs: "+run) {
				t.Errorf("accepted: %+v", p)
			}
			if class == retake.ObstacleDatabase {
				return // its plan would need another process
			}
			delete(in, "accept")
			if p = d.bad("restore", in); p.Kind != string(retake.Denied) || !strings.Contains(p.Hint, "a person runs: "+run) {
				t.Errorf("unsaid: %+v", p)
			}
			if person := at[string](t, plan, "plan", "person"); !strings.HasPrefix(person, run) {
				t.Errorf("the plan: %q", person)
			}
			if after := d.all(); before != after {
				t.Errorf("files changed: %s, then %s", before, after)
			}
		})
	}
}

// build makes a workspace whose plan has an obstacle of the class.
func (d *desk) build(class string, in args) map[string]any {
	d.Helper()
	switch class {
	case retake.ObstacleMassDelete:
		for i := range 30 {
			d.write(fmt.Sprintf("many/%d", i), "x")
		}
	case retake.ObstacleUncaptured:
		d.policy.Exclude = []string{"a.txt"}
	case retake.ObstacleSetuid:
		must(d.T, os.Chmod(d.at("a.txt"), 0o755|os.ModeSetuid))
		d.good("checkpoint", args{"intent": "with rights"})
		must(d.T, os.Chmod(d.at("a.txt"), 0o644))
		in["ref"] = "2"
	}
	d.good("checkpoint", args{"intent": "built"})
	if class == retake.ObstacleUncaptured {
		must(d.T, os.Remove(d.at("a.txt")))
		d.write("a.txt", "in no checkpoint")
	}
	plan := d.good("restore", in)
	for _, o := range at[[]any](d.T, plan, "plan", "obstacles") {
		if at[string](d.T, o, "class") == class && at[string](d.T, o, "who") == "person" {
			return plan
		}
	}
	if class != retake.ObstacleDatabase {
		d.Errorf("no obstacle %s: %v", class, plan)
	}
	return plan
}

func (d *desk) all() string {
	var b strings.Builder
	names, err := os.ReadDir(d.root())
	must(d.T, err)
	for _, n := range names {
		i, err := n.Info()
		must(d.T, err)
		fmt.Fprintf(&b, "%s %s %q ", n.Name(), i.Mode(), d.read(n.Name()))
	}
	return b.String()
}

// slow is a service whose client may have gone before the restore ends, and in which one
// path moved on.
type slow struct {
	retake.Service
	stoppable bool
}

func (s *slow) ApplyRestore(ctx context.Context, req retake.ApplyRequest) (retake.RestoreResult, error) {
	s.stoppable = ctx.Done() != nil
	res, err := s.Service.ApplyRestore(ctx, req)
	for i := range 500 {
		res.Failed = append(res.Failed, retake.Failure{Path: fmt.Sprintf("left/%d", i), Why: "it moved on"})
	}
	return res, err
}

// A restore that has begun is not stopped by its client; one that is done in part is an
// error that carries its result.
func TestDoneInPart(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("a.txt", "two\n")
	d.good("checkpoint", args{"intent": "two"})
	plan := d.good("restore", args{"ref": "1"})
	s := &slow{Service: d.s}
	a := askOver(t, d.connect(s, mcp.Options{Dir: d.root()}, ""), "restore", args{"ref": "1", "digest": at[string](t, plan, "plan", "digest")})
	failed := len(at[[]any](t, a.data, "result", "failed"))
	if !a.failed || !strings.HasPrefix(a.text, "partly: 500 paths") || a.bytes > 8<<10 || failed == 0 || at[float64](t, a.data, "result", "more") != float64(500-failed) {
		t.Errorf("%d bytes: %s", a.bytes, a.text)
	}
	if s.stoppable || d.read("a.txt") != "one\ntwo\n" {
		t.Errorf("stoppable %v, %q", s.stoppable, d.read("a.txt"))
	}
}
