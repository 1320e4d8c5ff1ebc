package servicetest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
)

func firstCheckpoint(t *testing.T, b *bench) {
	b.write("a.txt", "one\n")
	b.write("sub/b.txt", "two\n")
	b.must(os.Symlink("a.txt", filepath.Join(b.root, "link")))
	b.must(os.Mkdir(filepath.Join(b.root, "empty"), 0o700))
	res := b.init()
	cp := res.Checkpoint
	if cp.Number != 1 || cp.Trigger != retake.TriggerInit || !res.Created || cp.Parent != "" {
		t.Errorf("first checkpoint: %+v", cp)
	}
	if cp.Files != 3 || cp.Dirs != 3 || cp.Changed.Added != 3 || cp.Coverage.Grade != retake.Complete {
		t.Errorf("counts: %+v", cp)
	}
	if cp.Tree == "" || cp.Content == "" {
		t.Errorf("no ids: %+v", cp)
	}
	_, err := b.s.Init(b.ctx(), retake.InitRequest{Dir: b.root})
	wantKind(t, err, retake.Exists)
}

// An explicit save is a checkpoint also when no file changed; created tells.
func everyCheckpoint(t *testing.T, b *bench) {
	b.write("a.txt", "one\n")
	first := b.init().Checkpoint
	again := b.save("nothing new, app healthy")
	if again.Created || again.Checkpoint.Number != 2 || again.Checkpoint.Content != first.Content || again.Checkpoint.Changed.Total() != 0 {
		t.Errorf("unchanged save: %+v", again)
	}
	b.write("a.txt", "ONE\n")
	b.write("new", "x")
	edited := b.save("edit")
	if want := (retake.Counts{Added: 1, Edited: 1}); !edited.Created || edited.Checkpoint.Changed != want {
		t.Errorf("edit: %+v", edited.Checkpoint.Changed)
	}
	b.remove("new")
	b.write("a.txt", "one\n")
	back := b.save("as before")
	if back.Checkpoint.Content != first.Content || back.Checkpoint.Changed != (retake.Counts{Deleted: 1, Edited: 1}) {
		t.Errorf("content of equal files differs, or counts do: %+v", back.Checkpoint)
	}
	if back.Checkpoint.Parent != edited.Checkpoint.ID {
		t.Errorf("parent is %s", back.Checkpoint.Parent)
	}
	b.reopen()
	tl := b.log()
	var numbers []int64
	for _, cp := range tl.Checkpoints {
		numbers = append(numbers, cp.Number)
	}
	if d := cmp.Diff([]int64{4, 3, 2, 1}, numbers); d != "" || tl.Total != 4 {
		t.Errorf("timeline (total %d) -want +got:\n%s", tl.Total, d)
	}
}

func refs(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	for _, text := range []string{"2", "3", "4"} {
		b.write("a", text)
		b.save("wrote " + text)
	}
	_, err := b.s.Pin(b.ctx(), b.ws.ID, "2", "early")
	b.must(err)
	for ref, want := range map[string]int64{
		"3": 3, "#3": 3, "latest": 4, "latest~0": 4, "latest~3": 1, "start": 1, "early": 2,
		string(b.find("3").ID): 3, "0s": 4, clock.Wall.Now().Add(time.Minute).Format(time.RFC3339): 4,
	} {
		if got := b.find(ref).Number; got != want {
			t.Errorf("%s is %d, want %d", ref, got, want)
		}
	}
	for _, ref := range []string{"5", "latest~4", "nobody", "cp_ffffffff", "3d"} {
		_, err := b.s.Find(b.ctx(), b.ws.ID, ref)
		wantKind(t, err, retake.NotFound)
	}
	_, err = b.s.Find(b.ctx(), b.ws.ID, "cp_")
	wantKind(t, err, retake.Invalid)
}

func diff(t *testing.T, b *bench) {
	b.write("keep", "k")
	b.write("edit", "before")
	b.write("gone/x", "x")
	b.write("type", "file")
	b.init()
	b.write("edit", "after!")
	b.remove("gone")
	b.write("new/y", "y")
	b.remove("type")
	b.must(os.Symlink("keep", filepath.Join(b.root, "type")))
	b.must(os.Chmod(filepath.Join(b.root, "keep"), 0o600))
	b.save("all kinds")
	want := []string{"edited edit", "deleted gone", "deleted gone/x", "moded keep", "added new", "added new/y", "retyped type"}
	for _, q := range []retake.DiffQuery{{To: "2"}, {From: "1", To: "2"}} {
		q.Workspace = b.ws.ID
		c, err := b.s.Diff(b.ctx(), q)
		b.must(err)
		if d := cmp.Diff(want, changes(c)); d != "" {
			t.Errorf("diff %+v (-want +got):\n%s", q, d)
		}
	}
	c, err := b.s.Diff(b.ctx(), retake.DiffQuery{Workspace: b.ws.ID, To: "2", Paths: []string{"new"}})
	b.must(err)
	if d := cmp.Diff([]string{"added new", "added new/y"}, changes(c)); d != "" {
		t.Errorf("diff of a path (-want +got):\n%s", d)
	}
	c, err = b.s.Diff(b.ctx(), retake.DiffQuery{Workspace: b.ws.ID, To: "1"})
	b.must(err)
	if c.From != nil || len(c.Changes) == 0 {
		t.Errorf("the first checkpoint compares with %v", c.From)
	}
}

// diffInParts asks for two changes at a time, of checkpoints and of now, and gets them all once
// and in one order; a name that is not text does not lose its place.
func diffInParts(t *testing.T, b *bench) {
	b.write("keep", "k")
	b.init()
	for _, name := range []string{"a/x", "a-", "a/\xff", "z", "b/c/d", "a/y"} {
		b.write(name, "new")
	}
	for _, q := range []retake.DiffQuery{{From: "1"}, {To: "2"}, {To: "2", Paths: []string{"a", "b"}}} {
		if q.To == "2" {
			b.save("all of them")
		}
		q.Workspace = b.ws.ID
		whole, err := b.s.Diff(b.ctx(), q)
		b.must(err)
		var got []string
		for q.Limit = 2; ; {
			c, err := b.s.Diff(b.ctx(), q)
			b.must(err)
			if len(c.Changes) > 2 || len(c.Changes) == 0 {
				t.Fatalf("a part of two has %d changes", len(c.Changes))
			}
			got = append(got, changes(c)...)
			if q.After = c.Next; c.Next == "" {
				break
			}
		}
		if d := cmp.Diff(changes(whole), got); d != "" || len(got) < 5 || whole.Next != "" {
			t.Errorf("in parts %+v (-whole +parts):\n%s", q, d)
		}
	}
	_, err := b.s.Diff(b.ctx(), retake.DiffQuery{Workspace: b.ws.ID, To: "2", After: "no place!"})
	wantKind(t, err, retake.Invalid)
}

func diffNow(t *testing.T, b *bench) {
	b.write("a", "one")
	b.write("dir/b", "two")
	b.init()
	c, err := b.s.Diff(b.ctx(), retake.DiffQuery{Workspace: b.ws.ID})
	b.must(err)
	if len(changes(c)) != 0 {
		t.Errorf("nothing changed, and yet: %v", changes(c))
	}
	b.write("a", "uno")
	b.remove("dir")
	b.write("c", "new")
	later := clock.Wall.Now().Add(time.Hour)
	c, err = b.s.Diff(b.ctx(), retake.DiffQuery{Workspace: b.ws.ID})
	b.must(err)
	want := []string{"edited a", "added c", "deleted dir", "deleted dir/b"}
	if d := cmp.Diff(want, changes(c)); d != "" {
		t.Errorf("now (-want +got):\n%s", d)
	}
	b.must(os.Chtimes(filepath.Join(b.root, "c"), later, later))
	st, err := b.s.Status(b.ctx(), b.ws.ID)
	b.must(err)
	if want := (retake.Counts{Added: 1, Deleted: 1, Edited: 1}); st.Now != want || st.Latest.Number != 1 || st.Store.Bytes == 0 {
		t.Errorf("status: %+v", st)
	}
	if b.cat("now", "a") != "uno" || b.cat("latest", "a") != "one" {
		t.Error("now and latest are mixed up")
	}
}

func readBack(t *testing.T, b *bench) {
	big := make([]byte, 5<<20)
	for i := range big {
		big[i] = byte(i * i >> 7)
	}
	b.write("deep/er/file", "text\n")
	b.write("big", string(big))
	b.must(os.Symlink("../outside", filepath.Join(b.root, "link")))
	b.init()
	b.write("deep/er/file", "changed\n")
	b.save("")
	b.reopen()
	if b.cat("1", "deep/er/file") != "text\n" || b.cat("2", "deep/er/file") != "changed\n" || b.cat("1", "big") != string(big) || b.cat("1", "link") != "../outside" {
		t.Error("what comes back is not what was there")
	}
	entries, err := b.s.List(b.ctx(), b.ws.ID, "1", "deep")
	b.must(err)
	if len(entries) != 1 || entries[0].Name != "er" || entries[0].Kind != retake.KindDir {
		t.Errorf("list: %+v", entries)
	}
	_, err = b.s.List(b.ctx(), b.ws.ID, "1", "nowhere")
	wantKind(t, err, retake.NotFound)
	_, _, err = b.s.Open(b.ctx(), b.ws.ID, "1", "deep")
	wantKind(t, err, retake.Invalid)
}
