package servicetest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/retake-dev/retake"
)

// A caller that did not hear the answer asks again under the same id, and gets the
// checkpoint that there is.
func askedTwice(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	b.write("a", "2")
	id := retake.CheckpointID(retake.CheckpointPrefix + uuid.Must(uuid.NewV7()).String())
	save := func() retake.SaveResult {
		res, err := b.s.Save(b.ctx(), retake.SaveRequest{Workspace: b.ws.ID, ID: id, Intent: "once"})
		b.must(err)
		return res
	}
	first := save()
	b.write("a", "3")
	again := save()
	if first.Checkpoint.ID != id || again.Checkpoint.ID != id || again.Checkpoint.Number != first.Checkpoint.Number {
		t.Errorf("two answers: %s %d and %s %d", first.Checkpoint.ID, first.Checkpoint.Number, again.Checkpoint.ID, again.Checkpoint.Number)
	}
	if !again.Created || !again.Recorded {
		t.Errorf("the second answer is not that of the first: %+v", again)
	}
	b.reopen()
	if third := save(); third.Checkpoint.Number != first.Checkpoint.Number || b.log().Total != 2 {
		t.Errorf("asked once more, later: %d of %d", third.Checkpoint.Number, b.log().Total)
	}
	if got := b.cat(string(id), "a"); got != "2" {
		t.Errorf("the checkpoint holds %q", got)
	}
	if res := b.save(""); res.Checkpoint.Number != 3 || b.cat("latest", "a") != "3" {
		t.Error("what changed since is not in the next checkpoint")
	}
	_, err := b.s.Save(b.ctx(), retake.SaveRequest{Workspace: b.ws.ID, ID: "cp_nonsense"})
	wantKind(t, err, retake.Invalid)
}

// With IfChanged a checkpoint is added only when the content is another. Times alone are
// no reason, and are not forgotten: the next checkpoint has them.
func ifChanged(t *testing.T, b *bench) {
	b.write("a", "1")
	b.write("dir/b", "1")
	first := b.init()
	try := func(recorded bool, what string) retake.SaveResult {
		t.Helper()
		res, err := b.s.Save(b.ctx(), retake.SaveRequest{Workspace: b.ws.ID, IfChanged: true})
		b.must(err)
		if res.Recorded != recorded {
			t.Errorf("%s: recorded %v", what, res.Recorded)
		}
		return res
	}
	for range 3 {
		if res := try(false, "nothing changed"); res.Checkpoint.ID != first.Checkpoint.ID {
			t.Errorf("the answer is not the latest: %d", res.Checkpoint.Number)
		}
	}
	old := time.Unix(1_000_000_000, 0)
	b.must(os.Chtimes(filepath.Join(b.root, "dir/b"), old, old))
	try(false, "a time was changed")
	try(false, "a time was changed before")
	b.write("a", "2")
	try(true, "a file was changed")
	entries, err := b.s.List(b.ctx(), b.ws.ID, "latest", "dir")
	b.must(err)
	if len(entries) != 1 || entries[0].ModTime != old.UnixNano() {
		t.Errorf("the changed time was forgotten: %+v", entries)
	}
	b.remove("dir")
	try(true, "a directory was removed")
	try(false, "nothing changed again")
	if n := b.log().Total; n != 3 {
		t.Errorf("%d checkpoints", n)
	}
}

// Many saves in a row, each with a little change, of all kinds: every checkpoint holds
// exactly what was there.
func inARow(t *testing.T, b *bench) {
	b.write("keep/a", "a")
	b.write("x/y/z", "z")
	b.init()
	steps := []struct {
		do   func()
		want []string
	}{
		{func() { b.write("x/y/new", "n") }, []string{"added x/y/new"}},
		{func() { b.must(os.Rename(b.at("x/y"), b.at("x/w"))) }, []string{"added x/w", "added x/w/new", "added x/w/z", "deleted x/y", "deleted x/y/new", "deleted x/y/z"}},
		{func() { b.must(os.Link(b.at("keep/a"), b.at("x/link"))) }, []string{"moded keep/a", "added x/link"}},
		{func() { b.write("x/link", "through the link") }, []string{"edited keep/a", "edited x/link"}},
		{func() { b.must(os.Chmod(b.at("x/w/z"), 0o600)) }, []string{"moded x/w/z"}},
		{func() { b.remove("x") }, []string{"moded keep/a", "deleted x", "deleted x/link", "deleted x/w", "deleted x/w/new", "deleted x/w/z"}},
		{func() { b.write("x", "a file now") }, []string{"added x"}},
	}
	for i, s := range steps {
		s.do()
		b.save("")
		c, err := b.s.Diff(b.ctx(), retake.DiffQuery{Workspace: b.ws.ID, To: "latest"})
		b.must(err)
		same(t, i, changes(c), s.want)
		now, err := b.s.Diff(b.ctx(), retake.DiffQuery{Workspace: b.ws.ID})
		b.must(err)
		same(t, i, changes(now), []string{})
	}
}

func same(t *testing.T, step int, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("step %d (-want +got):\n%s", step, d)
	}
}

func (b *bench) at(name string) string { return filepath.Join(b.root, name) }
