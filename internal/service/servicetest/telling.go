package servicetest

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// tellings are what every assembly must tell of checkpoints, and find again.
var tellings = map[string]func(*testing.T, *bench){
	"StoryOfACheckpoint": storyOfACheckpoint,
	"StoryOfNow":         storyOfNow,
	"IgnoredIsTold":      ignoredIsTold,
	"CommittedIsTold":    committedIsTold,
	"LieIsFlagged":       lieIsFlagged,
	"SearchFinds":        searchFinds,
	"BlameTells":         blameTells,
	"BlameAfterGoBack":   blameAfterGoingBack,
	"BlameAfterUndo":     blameAfterUndo,
	"LogOfAPath":         logOfAPath,
	"RefOfACommit":       refOfACommit,
	"StoryHostileNames":  storyOfHostileNames,
}

func (b *bench) story(q retake.DiffQuery) retake.Story {
	b.Helper()
	q.Workspace = b.ws.ID
	st, err := b.s.Story(b.ctx(), q)
	b.must(err)
	return st
}

func group(st retake.Story, theme retake.Theme) *retake.Group {
	for i := range st.Groups {
		if st.Groups[i].Theme == theme {
			return &st.Groups[i]
		}
	}
	return nil
}

// A story is told by meaning: deletions first, renames as such, lines counted, and the
// numbers add up.
func storyOfACheckpoint(t *testing.T, b *bench) {
	b.write("src/auth.go", "one\ntwo\nthree\n")
	b.write("src/old.go", strings.Repeat("a line of its own\n", 20))
	b.write("src/dead.go", "gone soon\n")
	b.write("README.md", "read me\n")
	b.init()
	b.write("src/auth.go", "one\n2\nthree\nfour\n")
	b.must(os.Rename(filepath.Join(b.root, "src/old.go"), filepath.Join(b.root, "src/new.go")))
	b.must(os.Remove(filepath.Join(b.root, "src/dead.go")))
	b.must(os.Chmod(filepath.Join(b.root, "README.md"), 0o600))
	b.save("auth")
	st := b.story(retake.DiffQuery{To: "2"})
	if want := (retake.StoryCounts{Deleted: 1, Edited: 1, Renamed: 1, Moded: 1, Timed: st.Counts.Timed, Plus: 2, Minus: 2}); st.Counts != want {
		t.Errorf("counts %+v", st.Counts)
	}
	if len(st.Groups) == 0 || st.Groups[0].Theme != retake.ThemeDeleted || st.Groups[0].Items[0].Path != "src/dead.go" {
		t.Errorf("deletions do not come first: %+v", st.Groups)
	}
	renamed := func(i retake.Item) bool {
		return i.What == retake.Renamed && i.From == "src/old.go" && i.Path == "src/new.go"
	}
	if src := group(st, retake.ThemeSource); src == nil || !slices.ContainsFunc(src.Items, renamed) {
		t.Errorf("the rename is not told: %+v", src)
	}
	if st.From == nil || st.From.Number != 1 || st.To == nil || st.To.Number != 2 || len(st.Gist.Points) == 0 {
		t.Errorf("the ends are %v and %v, the gist %+v", st.From, st.To, st.Gist)
	}
}

func storyOfNow(t *testing.T, b *bench) {
	b.write("a.go", "one\n")
	b.init()
	b.write("a.go", "one\ntwo\n")
	b.write("b.go", "new\n")
	st := b.story(retake.DiffQuery{})
	if st.To != nil || st.Counts.Added != 1 || st.Counts.Edited != 1 || st.Counts.Plus != 2 {
		t.Errorf("now: %+v", st.Counts)
	}
}

// A file that git ignores is a file.
func ignoredIsTold(t *testing.T, b *bench) {
	b.write(".gitignore", "secret.cfg\n")
	b.write("secret.cfg", "level=1\n")
	b.init()
	b.write("secret.cfg", "level=2\n")
	b.save("nothing to see")
	if st := b.story(retake.DiffQuery{To: "latest"}); st.Counts.Edited != 1 || st.Counts.Total() != 1 {
		t.Errorf("an ignored file that changed is not told: %+v", st.Counts)
	}
}

// committed writes what git writes when a commit is made.
func (b *bench) committed(sha string) {
	b.write(".git/HEAD", "ref: refs/heads/main\n")
	b.write(".git/refs/heads/main", sha+"\n")
	b.write(".git/logs/HEAD", sha+" a commit\n")
	b.write(".git/objects/"+sha[:2]+"/"+sha[2:], "bytes of "+sha)
}

const (
	firstCommit  = "1111111111111111111111111111111111111111"
	secondCommit = "2222222222222222222222222222222222222222"
)

// What was committed since the last checkpoint changed since the last checkpoint, however clean
// the status of git is.
func committedIsTold(t *testing.T, b *bench) {
	b.write("a.go", "one\n")
	b.committed(firstCommit)
	b.init()
	b.write("a.go", "two\n")
	b.committed(secondCommit)
	b.save("")
	st := b.story(retake.DiffQuery{To: "latest"})
	src := group(st, retake.ThemeSource)
	if src == nil || src.Files != 1 || src.Items[0].Path != "a.go" || st.Gist.Lead != "a.go" {
		t.Errorf("committed work is not told: %+v", st.Groups)
	}
}

func lieIsFlagged(t *testing.T, b *bench) {
	b.write("docs/a.md", "text\n")
	b.write("src/auth.go", "package auth\n")
	b.write("config.json", "{\"port\": 1}\n")
	b.init()
	a := b.agent("claude-code", "s1")
	turn := func(prompt string, work func()) retake.Story {
		return b.story(retake.DiffQuery{To: string(a.turnOf(prompt, work).ID)})
	}
	honest := turn("update the docs", func() { b.write("docs/a.md", "other text\n") })
	if len(honest.Flags) != 0 {
		t.Errorf("an honest turn is flagged: %+v", honest.Flags)
	}
	lie := turn("only update the docs", func() {
		b.write("docs/a.md", "text again\n")
		b.write("config.json", "{\"port\": 2}\n")
		b.write("src/auth.go", "package auth // changed\n")
	})
	if len(lie.Flags) == 0 || lie.Flags[0].Kind != "mismatch" || len(lie.Gist.Flags) != len(lie.Flags) {
		t.Errorf("a lie is not flagged: %+v", lie.Flags)
	}
}

// Words of intents, prompts and paths lead to the checkpoint. A daemon notes them in the
// background, a single command before it ends.
func searchFinds(t *testing.T, b *bench) {
	b.write("a.go", "1\n")
	b.init()
	b.write("src/session-store.go", "2\n")
	b.save("Install the Session Store")
	b.write("c.go", "3\n")
	b.save("something else, 100% sure_")
	b.reopen()
	find := func(text string, want ...int64) {
		t.Helper()
		var got []int64
		b.until("found", func() bool {
			hits, err := b.s.Search(b.ctx(), retake.SearchQuery{Workspace: b.ws.ID, Text: text})
			b.must(err)
			got = got[:0]
			for _, h := range hits {
				got = append(got, h.Checkpoint.Number)
			}
			return slices.Equal(got, want) || len(want) == 0
		})
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", text, got, want)
		}
	}
	find("session", 2)
	find("SESSION-store.go", 2)
	find("install store", 2)
	find("100%", 3)
	find("sure_", 3)
	find("nobody said this")
	_, err := b.s.Search(b.ctx(), retake.SearchQuery{Workspace: b.ws.ID, Text: "  "})
	wantKind(t, err, retake.Invalid)
}

func (b *bench) blame(ref, path string) (numbers []int64) {
	b.Helper()
	got, err := b.s.Blame(b.ctx(), retake.BlameQuery{Workspace: b.ws.ID, Ref: ref, Path: path})
	b.must(err)
	for _, l := range got.Lines {
		numbers = append(numbers, l.Number)
	}
	return numbers
}

// Each line belongs to the checkpoint that wrote it.
func blameTells(t *testing.T, b *bench) {
	b.write("f", "a\nb\nc\n")
	b.init()
	b.write("f", "a\nB\nc\n")
	b.save("")
	b.write("g", "other\n")
	b.save("")
	b.write("f", "a\nB\nc\nd\n")
	b.save("")
	if got := b.blame("", "f"); !slices.Equal(got, []int64{1, 2, 1, 4}) {
		t.Errorf("blame %v", got)
	}
	if got := b.blame("2", "f"); !slices.Equal(got, []int64{1, 2, 1}) {
		t.Errorf("at 2: blame %v", got)
	}
	if got := b.blame("", "g"); !slices.Equal(got, []int64{3}) {
		t.Errorf("of g: blame %v", got)
	}
	_, err := b.s.Blame(b.ctx(), retake.BlameQuery{Workspace: b.ws.ID, Path: "none"})
	wantKind(t, err, retake.NotFound)
	b.write("bin", "\x00\x01\x02")
	b.save("")
	if got, err := b.s.Blame(b.ctx(), retake.BlameQuery{Workspace: b.ws.ID, Path: "bin"}); err != nil || got.Why == "" || len(got.Lines) != 0 {
		t.Errorf("a binary file has lines: %+v, %v", got, err)
	}
}

// What was left behind wrote nothing of what is there now.
func blameAfterGoingBack(t *testing.T, b *bench) {
	b.write("f", "a\n")
	b.init()
	b.write("f", "a\nleft behind\n")
	b.save("")
	b.restore("1")
	b.write("f", "a\nkept\n")
	last := b.save("").Checkpoint.Number
	if got := b.blame("", "f"); !slices.Equal(got, []int64{1, last}) {
		t.Errorf("blame %v, the last is %d", got, last)
	}
}

// Who brings lines back did not write them: an undo, a redo, a restore of one path.
func blameAfterUndo(t *testing.T, b *bench) {
	b.write("f", "a\nb\nc\n")
	b.init()
	b.write("f", "a\nb\nc\nd\n")
	b.save("")
	b.remove("f")
	b.save("an accident")
	want := func(how string, owners ...int64) {
		t.Helper()
		if got := b.blame("", "f"); !slices.Equal(got, owners) {
			t.Errorf("%s: blame %v, want %v", how, got, owners)
		}
	}
	b.undo()
	want("undone", 1, 1, 1, 2)
	b.write("f", "first\na\nc\nd\n")
	own := b.save("").Checkpoint.Number
	b.restore("1", "f")
	want("one path", 1, 1, 1)
	b.undo()
	want("that undone", own, 1, 1, 2)
	b.write("f", "first\na\nc\nd\nlast\n")
	last := b.save("").Checkpoint.Number
	b.apply(retake.PlanRequest{Course: retake.CourseUndo, Ref: strconv.FormatInt(own, 10)})
	want("one in the middle undone", 1, 1, 1, 2, last)
}

func logOfAPath(t *testing.T, b *bench) {
	b.write("src/a", "1")
	b.write("b", "1")
	b.init()
	b.write("src/a", "2")
	b.save("")
	b.write("b", "2")
	b.save("")
	b.must(os.Remove(filepath.Join(b.root, "src/a")))
	b.save("")
	for path, want := range map[string][]int64{"src/a": {4, 2, 1}, "src": {4, 2, 1}, "b": {3, 1}, "none": nil} {
		tl, err := b.s.Log(b.ctx(), retake.LogQuery{Workspace: b.ws.ID, Path: path})
		b.must(err)
		var got []int64
		for _, cp := range tl.Checkpoints {
			got = append(got, cp.Number)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s changed in %v, want %v", path, got, want)
		}
	}
}

// The commit that was checked out leads to the first checkpoint that had it.
func refOfACommit(t *testing.T, b *bench) {
	b.write("a", "1")
	b.committed(firstCommit)
	b.init()
	b.write("a", "2")
	b.committed(secondCommit)
	b.save("")
	b.write(".git/packed-refs", "# pack-refs with: peeled\n"+secondCommit+" refs/heads/main\n")
	b.remove(".git/refs/heads/main")
	b.save("packed")
	for ref, want := range map[string]int64{"git:" + firstCommit[:8]: 1, "git:" + secondCommit: 2} {
		if cp, err := b.s.Find(b.ctx(), b.ws.ID, ref); err != nil || cp.Number != want {
			t.Errorf("%s is %d (%v), want %d", ref, cp.Number, err, want)
		}
	}
	if st := b.story(retake.DiffQuery{To: "3"}); st.Gist.Head != secondCommit {
		t.Errorf("packed, the commit is %q", st.Gist.Head)
	}
	_, err := b.s.Find(b.ctx(), b.ws.ID, "git:00000000")
	wantKind(t, err, retake.NotFound)
	_, err = b.s.Find(b.ctx(), b.ws.ID, "git:xyz")
	wantKind(t, err, retake.Invalid)
}

func storyOfHostileNames(t *testing.T, b *bench) {
	b.init()
	names := []string{"new\nline", "esc\x1b[2J", "bad\xff", `back\slash`, "-- dash", "%s%n", "a\u202eb"}
	for _, n := range names {
		b.write(n, "text\n")
	}
	b.save("")
	st := b.story(retake.DiffQuery{To: "latest", Paths: names})
	var told []string
	for _, g := range st.Groups {
		for _, i := range g.Items {
			told = append(told, i.Path)
		}
	}
	slices.Sort(told)
	slices.Sort(names)
	if !slices.Equal(told, names) {
		t.Errorf("told %q, want %q", told, names)
	}
}
