package servicetest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// rescuings are what a call destroys outside of its workspace.
var rescuings = map[string]func(*testing.T, *bench){
	"RescueOutside":        rescueOutside,
	"RescueOverwritten":    rescueOverwritten,
	"RescueOtherWorkspace": rescueOtherWorkspace,
	"RescueIsNamed":        rescueIsNamed,
	"RescueElsewhere":      rescueElsewhere,
	"RescueReplacesLast":   rescueReplacesLast,
	"RescueInterrupted":    rescueAfterInterruption,
}

// outside returns a path beside the workspace.
func (b *bench) outside(name string) string { return filepath.Join(filepath.Dir(b.root), name) }

func (b *bench) writeOutside(name, text string) string {
	b.Helper()
	p := b.outside(name)
	b.must(os.MkdirAll(filepath.Dir(p), 0o755))
	b.must(os.WriteFile(p, []byte(text), 0o644))
	return p
}

func (b *bench) wantOutside(name, text string) {
	b.Helper()
	got, err := os.ReadFile(b.outside(name))
	if err != nil || string(got) != text {
		b.Errorf("%s has %q, %v; want %q", name, got, err, text)
	}
}

// restoreOutside brings paths back from a checkpoint.
func (b *bench) restoreOutside(ref retake.CheckpointID, to string, accept []string, paths ...string) (retake.Plan, retake.RestoreResult) {
	b.Helper()
	req := retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseRestore, Ref: string(ref), Paths: paths, To: to}
	p, err := b.s.PlanRestore(b.ctx(), req)
	b.must(err)
	res, err := b.s.ApplyRestore(b.ctx(), retake.ApplyRequest{PlanRequest: req, Digest: p.Digest, Accept: accept})
	b.must(err)
	return p, res
}

// rescued is the checkpoint before a call, which must say what it saved.
func (a *agent) rescued(command string) retake.Checkpoint {
	a.Helper()
	r := a.run(command)
	if r.Checkpoint == nil {
		a.Fatalf("no checkpoint before %s", command)
	}
	return *r.Checkpoint
}

// A directory with all that a directory can have comes back as it was.
func rescueOutside(t *testing.T, b *bench) {
	b.write("a", "a")
	b.init()
	b.writeOutside("papers/tax/2025.txt", "new")
	b.writeOutside("papers/tax/old/2024.txt", "old")
	b.writeOutside("papers/tax/.hidden", "hidden")
	b.writeOutside("papers/other.txt", "other")
	b.must(os.Symlink("2025.txt", b.outside("papers/tax/latest")))
	b.must(os.Chmod(b.outside("papers/tax/old"), 0o700))
	a := b.agent("claude-code", "one")
	a.prompt("tidy up")
	cp := a.rescued("rm -rf ../papers/tax ../papers/none && rm -rf src")
	if len(cp.Rescues) != 1 || !cp.Rescues[0].IsSaved() || cp.Rescues[0].Files != 4 || cp.Rescues[0].Place() != b.outside("papers/tax") {
		t.Fatalf("rescued %+v", cp.Rescues)
	}
	b.must(os.RemoveAll(b.outside("papers/tax")))
	p, res := b.restoreOutside(cp.ID, "", nil, b.outside("papers/tax"))
	if p.To != b.outside("papers") || res.Written != 4 {
		t.Errorf("plan to %s, result %+v", p.To, res)
	}
	for name, text := range map[string]string{"papers/tax/2025.txt": "new", "papers/tax/old/2024.txt": "old", "papers/tax/.hidden": "hidden", "papers/tax/latest": "new", "papers/other.txt": "other"} {
		b.wantOutside(name, text)
	}
	if i, err := os.Lstat(b.outside("papers/tax/old")); err != nil || i.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", i, err)
	}
	if link, err := os.Readlink(b.outside("papers/tax/latest")); err != nil || link != "2025.txt" {
		t.Errorf("link %q, %v", link, err)
	}
	left, err := os.ReadDir(b.outside("papers"))
	if b.must(err); len(left) != 2 {
		t.Errorf("the restore left something behind: %v", left)
	}
}

// A file that is written over is saved, a new one is no risk, whoever writes it.
func rescueOverwritten(t *testing.T, b *bench) {
	b.init()
	notes := b.writeOutside("notes.txt", "mine")
	a := b.agent("claude-code", "one")
	a.prompt("write")
	cp := a.rescued("echo theirs > ../notes.txt")
	b.must(os.WriteFile(notes, []byte("theirs"), 0o644))
	if _, res := b.restoreOutside(cp.ID, "", []string{retake.ObstacleChanged}, notes); res.Written != 1 || res.Safety.ID == "" {
		t.Errorf("result %+v", res)
	}
	b.wantOutside("notes.txt", "mine")
	if r := a.run("echo new > ../new.txt"); r.Checkpoint != nil {
		t.Errorf("a checkpoint before a new file: %+v", r.Checkpoint)
	}
	s := a.signal(retake.SignalCall)
	s.Call = &retake.Call{ID: "w", Tool: "Write", Kind: retake.CallWrite, Paths: []string{"../notes.txt"}} // as it is in /tmp here: absolute, it would count as temporary
	if r := a.tell(s); r.Checkpoint == nil || len(r.Checkpoint.Rescues) != 1 || r.Checkpoint.Rescues[0].Files != 1 {
		t.Errorf("a tool writes over a file outside: %+v", r.Checkpoint)
	}
	b.write("inside.txt", "x")
	s = a.signal(retake.SignalCall)
	s.Call = &retake.Call{ID: "v", Tool: "Write", Kind: retake.CallWrite, Paths: []string{filepath.Join(b.root, "inside.txt")}}
	if r := a.tell(s); r.Checkpoint != nil {
		t.Errorf("a tool writes over a file inside: %+v", r.Checkpoint)
	}
}

// Files of another workspace are in a checkpoint of that one.
func rescueOtherWorkspace(t *testing.T, b *bench) {
	b.init()
	edit := b.writeOutside("second/edit.txt", "before")
	other, err := b.s.Init(b.ctx(), retake.InitRequest{Dir: b.outside("second")})
	b.must(err)
	b.must(os.WriteFile(edit, []byte("unsaved edit"), 0o644))
	a := b.agent("claude-code", "one")
	a.prompt("remove it")
	cp := a.rescued("rm -rf ../second/edit.txt")
	if len(cp.Rescues) != 1 || cp.Rescues[0].Workspace != other.Workspace.ID || cp.Rescues[0].Checkpoint != 2 || !cp.Rescues[0].IsSaved() {
		t.Fatalf("rescued %+v", cp.Rescues)
	}
	saved, err := b.s.Find(b.ctx(), other.Workspace.ID, "2")
	b.must(err)
	// Where one process holds all workspaces, the turn begins there before the command is looked at.
	joined := saved.Trigger == retake.TriggerPrompt && strings.Contains(saved.Intent, "remove it")
	alone := saved.Trigger == retake.TriggerRisk && strings.Contains(saved.Intent, "rm -rf ../second/edit.txt")
	if !joined && !alone {
		t.Errorf("the other checkpoint is %s %q", saved.Trigger, saved.Intent)
	}
	if cp := a.rescued("rm -rf ../second"); len(cp.Rescues) < 1 || cp.Rescues[0].Checkpoint != 2 {
		t.Errorf("nothing changed, rescued %+v", cp.Rescues)
	}
}

// What cannot be saved is named, and what only the command knows, too.
func rescueIsNamed(t *testing.T, b *bench) {
	b.write("src/a", "a")
	b.init()
	a := b.agent("claude-code", "one")
	a.prompt("tidy up")
	if cp := a.rescued("rm -rf src"); len(cp.Rescues) > 0 {
		t.Errorf("all is inside: %+v", cp.Rescues)
	}
	if cp := a.rescued(`rm -rf "$SOMEWHERE"`); len(cp.Rescues) != 1 || cp.Rescues[0].Dir != "" || cp.Rescues[0].NotSaved == "" {
		t.Errorf("rescued %+v", cp.Rescues)
	}
	history := filepath.Join(b.home, "any") // the home of the service has the history
	b.must(os.WriteFile(history, nil, 0o600))
	r := a.run("rm -rf " + b.home)
	if r.Checkpoint == nil || !slices.ContainsFunc(r.Checkpoint.Rescues, func(r retake.Rescue) bool { return strings.Contains(r.NotSaved, "history") }) {
		t.Errorf("rescued %+v", r.Checkpoint)
	}
	if !slices.ContainsFunc(r.Warnings, func(w retake.Warning) bool { return w.Code == retake.WarningNotSaved }) {
		t.Errorf("nobody is warned: %+v", r.Warnings)
	}
}

// A part of what was saved can be written to another place, with its directories.
func rescueElsewhere(t *testing.T, b *bench) {
	b.init()
	b.writeOutside("papers/tax/old/2024.txt", "old")
	b.writeOutside("papers/tax/2025.txt", "new")
	a := b.agent("claude-code", "one")
	a.prompt("tidy up")
	cp := a.rescued("rm -rf ../papers")
	b.restoreOutside(cp.ID, b.outside("look/here"), nil, b.outside("papers/tax/old"))
	b.wantOutside("look/here/papers/tax/old/2024.txt", "old")
	if _, err := os.Lstat(b.outside("look/here/papers/tax/2025.txt")); err == nil {
		t.Error("more came back than was asked for")
	}
	req := retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseRestore, Ref: string(cp.ID), Paths: []string{b.outside("never")}}
	if _, err := b.s.PlanRestore(b.ctx(), req); err == nil {
		t.Error("a plan for what was never saved")
	}
	req.Paths, req.To = nil, b.outside("look")
	_, err := b.s.PlanRestore(b.ctx(), req)
	wantKind(t, err, retake.Invalid)
}

// What an interrupted restore left is removed by the next one.
func rescueAfterInterruption(t *testing.T, b *bench) {
	b.init()
	b.writeOutside("papers/one.txt", "one")
	a := b.agent("claude-code", "one")
	a.prompt("tidy up")
	cp := a.rescued("rm -rf ../papers")
	b.must(os.RemoveAll(b.outside("papers")))
	left := b.outside(".retake-restore-" + strings.TrimPrefix(string(cp.ID), retake.CheckpointPrefix))
	b.must(os.MkdirAll(filepath.Join(left, "0/half"), 0o700))
	b.restoreOutside(cp.ID, "", nil, b.outside("papers"))
	b.wantOutside("papers/one.txt", "one")
	if _, err := os.Lstat(left); err == nil {
		t.Error("the directory of an interrupted restore is still there")
	}
}

// What differs is replaced only after it was accepted, and comes back from the checkpoint before.
func rescueReplacesLast(t *testing.T, b *bench) {
	b.init()
	one := b.writeOutside("papers/one.txt", "first")
	b.writeOutside("papers/two.txt", "two")
	a := b.agent("claude-code", "one")
	a.prompt("tidy up")
	cp := a.rescued("rm -rf ../papers")
	b.must(os.WriteFile(one, []byte("second"), 0o644))
	b.must(os.Remove(b.outside("papers/two.txt")))
	req := retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseRestore, Ref: string(cp.ID), Paths: []string{b.outside("papers")}}
	p, err := b.s.PlanRestore(b.ctx(), req)
	if b.must(err); len(p.Obstacles) != 1 || p.Obstacles[0].Class != retake.ObstacleChanged {
		t.Errorf("obstacles %+v", p.Obstacles)
	}
	_, err = b.s.ApplyRestore(b.ctx(), retake.ApplyRequest{PlanRequest: req, Digest: p.Digest})
	wantKind(t, err, retake.Denied)
	b.wantOutside("papers/one.txt", "second")
	b.must(os.WriteFile(one, []byte("third!"), 0o644))
	_, err = b.s.ApplyRestore(b.ctx(), retake.ApplyRequest{PlanRequest: req, Digest: p.Digest, Accept: []string{retake.ObstacleChanged}})
	wantKind(t, err, retake.Moved)
	_, res := b.restoreOutside(cp.ID, "", []string{retake.ObstacleChanged}, b.outside("papers"))
	b.wantOutside("papers/one.txt", "first")
	b.wantOutside("papers/two.txt", "two")
	b.restoreOutside(res.Safety.ID, "", []string{retake.ObstacleChanged}, one)
	b.wantOutside("papers/one.txt", "third!")
}
