package servicetest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-dev/retake"
)

func pins(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	res, err := b.s.Save(b.ctx(), retake.SaveRequest{Workspace: b.ws.ID, Intent: "x", Pin: "release"})
	b.must(err)
	if len(res.Warnings) > 0 {
		t.Fatal(res.Warnings)
	}
	_, err = b.s.Pin(b.ctx(), b.ws.ID, "1", "release")
	wantKind(t, err, retake.Exists)
	for _, bad := range []string{"", "14", "latest", "10:27", "2h", "start", "now", "-x", " x"} {
		if _, err := b.s.Pin(b.ctx(), b.ws.ID, "1", bad); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("pin %q: %v", bad, err)
		}
	}
	b.reopen()
	if b.find("release").Number != 2 || len(b.log().Pins) != 1 {
		t.Error("the pin is gone")
	}
	_, err = b.s.Forget(b.ctx(), b.ws.ID, []string{"2"})
	wantKind(t, err, retake.Denied)
	b.must(b.s.Unpin(b.ctx(), b.ws.ID, "release"))
	wantKind(t, b.s.Unpin(b.ctx(), b.ws.ID, "release"), retake.NotFound)
}

// Forgetting leaves the number taken, the others whole, and gives bytes back.
func forget(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	for i := range 5 {
		b.write("a", "version "+strconv.Itoa(i))
		b.save("")
	}
	_, err := b.s.Forget(b.ctx(), b.ws.ID, []string{"latest"})
	wantKind(t, err, retake.Denied)
	stones, err := b.s.Forget(b.ctx(), b.ws.ID, []string{"2", "4", "2"})
	b.must(err)
	if len(stones) != 2 {
		t.Errorf("%d tombstones", len(stones))
	}
	_, err = b.s.Find(b.ctx(), b.ws.ID, "2")
	wantKind(t, err, retake.NotFound)
	_, err = b.s.Sweep(b.ctx())
	b.must(err)
	rep, err := b.s.Scrub(b.ctx(), retake.ScrubQuery{Share: 1})
	b.must(err)
	if len(rep.Failed) > 0 || rep.Checkpoints != 4 {
		t.Errorf("scrub: %+v", rep)
	}
	if b.cat("3", "a") != "version 1" || b.cat("6", "a") != "version 4" {
		t.Error("a kept checkpoint reads otherwise")
	}
	if n := b.save("next").Checkpoint.Number; n != 7 {
		t.Errorf("next number is %d", n)
	}
	c, err := b.s.Diff(b.ctx(), retake.DiffQuery{Workspace: b.ws.ID, To: "3"})
	b.must(err)
	if c.From == nil || c.From.Number != 1 {
		t.Errorf("3 compares with %+v after 2 was forgotten", c.From)
	}
}

// Pins, intents, numbers and tree ids are the same before and after a rebuild.
func rebuild(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	for i := range 4 {
		b.write("a", strconv.Itoa(i))
		b.save("step " + strconv.Itoa(i))
	}
	_, err := b.s.Pin(b.ctx(), b.ws.ID, "2", "good-one")
	b.must(err)
	_, err = b.s.Forget(b.ctx(), b.ws.ID, []string{"3"})
	b.must(err)
	before := b.log()
	rep, err := b.s.Rebuild(b.ctx())
	b.must(err)
	if want := (retake.RebuildReport{Workspaces: 1, Checkpoints: 4, Pins: 1, Tombstones: 1}); rep != want {
		t.Errorf("rebuild: %+v", rep)
	}
	told := cmpopts.IgnoreFields(retake.Timeline{}, "Findings") // stories are told again, in the background
	if d := cmp.Diff(before, b.log(), cmpopts.EquateApproxTime(0), told); d != "" {
		t.Errorf("after a rebuild (-before +after):\n%s", d)
	}
	if n := b.save("goes on").Checkpoint.Number; n != 6 {
		t.Errorf("next number is %d", n)
	}
}

func moved(t *testing.T, b *bench) {
	b.write("a", "1")
	id := b.init().Workspace.ID
	old := b.root
	b.root = filepath.Join(t.TempDir(), "elsewhere")
	b.must(os.Rename(old, b.root))
	ws, err := b.s.Locate(b.ctx(), b.root)
	b.must(err)
	if ws.ID != id {
		t.Errorf("moved workspace is %s", ws.ID)
	}
	b.write("a", "2")
	if n := b.save("after the move").Checkpoint.Number; n != 2 {
		t.Errorf("number %d", n)
	}
}

// A copy carries the mark; it is noticed, and asked about.
func copied(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	twin := filepath.Join(t.TempDir(), "twin")
	b.h.Copy(t, b.root, twin)
	_, err := b.s.Locate(b.ctx(), twin)
	wantKind(t, err, retake.Exists)
	_, err = b.s.Init(b.ctx(), retake.InitRequest{Dir: twin})
	wantKind(t, err, retake.Exists)
	res, err := b.s.Init(b.ctx(), retake.InitRequest{Dir: twin, Mark: retake.MarkCopy})
	b.must(err)
	if res.Workspace.ID == b.ws.ID || res.Checkpoint.Number != 1 {
		t.Errorf("the copy is %+v", res.Workspace)
	}
	ws, err := b.s.Locate(b.ctx(), b.root)
	b.must(err)
	if ws.ID != b.ws.ID {
		t.Error("the original lost its identity")
	}
}

func nested(t *testing.T, b *bench) {
	b.write("inner/a", "1")
	b.write("b", "2")
	outer := b.init().Workspace
	inner := filepath.Join(b.root, "inner")
	_, err := b.s.Init(b.ctx(), retake.InitRequest{Dir: inner, Accept: []string{retake.DangerNested}})
	b.must(err)
	ws, err := b.s.Locate(b.ctx(), inner)
	b.must(err)
	if ws.ID == outer.ID {
		t.Error("the nearest root does not win")
	}
	if ws, err = b.s.Locate(b.ctx(), b.root); err != nil || ws.ID != outer.ID {
		t.Errorf("outer: %v %v", ws.ID, err)
	}
	all, err := b.s.Workspaces(b.ctx())
	b.must(err)
	if len(all) != 2 || all[0].Latest == nil {
		t.Errorf("workspaces: %+v", all)
	}
}

func deinitAndAgain(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	_, err := b.s.Deinit(b.ctx(), b.ws.ID)
	b.must(err)
	_, err = b.s.Locate(b.ctx(), b.root)
	wantKind(t, err, retake.NotFound)
	if _, err := b.s.Find(b.ctx(), b.ws.ID, "1"); err != nil {
		t.Errorf("the history is gone: %v", err)
	}
	before := b.ws.ID
	if n := b.init().Checkpoint.Number; n != 2 || b.ws.ID != before {
		t.Errorf("protected again it is %s with checkpoint %d; it was %s", b.ws.ID, n, before)
	}
}

// untouched: nothing below the root is written, and no time moves.
func untouched(t *testing.T, b *bench) {
	b.write("src/a.go", "package a\n")
	b.write("src/deep/b", "b")
	b.must(os.Symlink("src", filepath.Join(b.root, "link")))
	before := snapshotOf(b)
	b.init()
	for range 3 {
		b.save("")
	}
	if d := cmp.Diff(before, snapshotOf(b)); d != "" {
		t.Errorf("the workspace was touched (-before +after):\n%s", d)
	}
}

func snapshotOf(b *bench) map[string]string {
	out := map[string]string{}
	b.must(filepath.Walk(b.root, func(p string, i os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if i.Name() == ".retake" { // the mark, where there are no attributes
			return filepath.SkipDir
		}
		out[p] = i.Mode().String() + " " + strconv.FormatInt(i.Size(), 10) + " " + i.ModTime().Format(time.RFC3339Nano)
		return nil
	}))
	return out
}

func guard(t *testing.T, b *bench) {
	for _, dir := range []string{"/", "/etc"} {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		_, err := b.s.Init(b.ctx(), retake.InitRequest{Dir: dir})
		wantKind(t, err, retake.Denied)
	}
	_, err := b.s.Init(b.ctx(), retake.InitRequest{Dir: filepath.Join(b.root, "nowhere")})
	wantKind(t, err, retake.NotFound)
	_, err = b.s.Locate(b.ctx(), b.root)
	wantKind(t, err, retake.NotFound)
	b.write("a", "1")
	e, err := b.s.Estimate(b.ctx(), b.root)
	b.must(err)
	if e.Files != 1 || len(e.Danger) != 0 || e.Free == 0 {
		t.Errorf("estimate: %+v", e)
	}
}

// initInside: a directory inside a workspace is protected only when that was agreed to, and the
// workspace around it is named.
func initInside(t *testing.T, b *bench) {
	b.write("src/deep/a", "1")
	b.init()
	inner := filepath.Join(b.root, "src", "deep")
	e, err := b.s.Estimate(b.ctx(), inner)
	b.must(err)
	if len(e.Danger) != 1 || e.Danger[0].Class != retake.DangerNested || !strings.Contains(e.Danger[0].Text, b.ws.Root) {
		t.Errorf("danger: %+v", e.Danger)
	}
	_, err = b.s.Init(b.ctx(), retake.InitRequest{Dir: inner})
	wantKind(t, err, retake.Denied)
	ws, err := b.s.Locate(b.ctx(), inner)
	b.must(err)
	if ws.ID != b.ws.ID {
		t.Errorf("refused, and yet the directory is in %s", ws.Name)
	}
	res, err := b.s.Init(b.ctx(), retake.InitRequest{Dir: inner, Accept: []string{retake.DangerNested}})
	b.must(err)
	// Now it is a workspace of its own: protecting it again is no question of nesting.
	_, err = b.s.Init(b.ctx(), retake.InitRequest{Dir: inner})
	wantKind(t, err, retake.Exists)
	_, err = b.s.Deinit(b.ctx(), res.Workspace.ID)
	b.must(err)
	_, err = b.s.Init(b.ctx(), retake.InitRequest{Dir: inner})
	wantKind(t, err, retake.Denied)
}

// budget: when the time is over, what was read is a partial checkpoint; then comes
// the complete one.
func budget(t *testing.T, b *bench) {
	b.write("keep", "k")
	b.init()
	for i := range 40 {
		b.write("new/"+strconv.Itoa(i), "text "+strconv.Itoa(i))
	}
	res, err := b.s.Save(b.ctx(), retake.SaveRequest{Workspace: b.ws.ID, Intent: "hurry", Budget: time.Nanosecond})
	b.must(err)
	if res.Partial == nil || res.Partial.Coverage.Grade != retake.Partial || res.Partial.Coverage.Count()[retake.ReasonBudget] == 0 {
		t.Fatalf("no partial checkpoint: %+v", res.Checkpoint)
	}
	if res.Partial.Changed.Deleted != 0 {
		t.Errorf("what was not read counts as deleted: %+v", res.Partial.Changed)
	}
	if cp := res.Checkpoint; cp.Coverage.Grade != retake.Complete || cp.Number != 3 || cp.Files != 41 || cp.Trigger != retake.TriggerComplete {
		t.Errorf("complete checkpoint: %+v", cp)
	}
	if b.cat("3", "new/7") != "text 7" || b.cat("3", "keep") != "k" {
		t.Error("reads otherwise")
	}
}
