package story_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
)

func mustTell(t *testing.T, in story.Input) retake.Story {
	t.Helper()
	st, err := story.Build(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// item finds one by its path.
func item(t *testing.T, st retake.Story, path string) (retake.Item, retake.Theme) {
	t.Helper()
	for _, g := range st.Groups {
		for _, it := range g.Items {
			if it.Path == path {
				return it, g.Theme
			}
		}
	}
	t.Fatalf("nothing is told of %q:\n%s", path, read(st))
	return retake.Item{}, ""
}

func TestNotes(t *testing.T) {
	t.Parallel()
	s := newStage()
	link := func(to string) *retake.Entry {
		e := s.shelf.file(to)
		e.Kind = retake.KindSymlink
		return e
	}
	file := func(change func(e *retake.Entry)) *retake.Entry {
		e := s.shelf.file("text\n")
		change(e)
		return e
	}
	same := func(*retake.Entry) {}
	two := func(path string, what retake.Difference, before, after *retake.Entry) {
		s.changes = append(s.changes, retake.Change{Path: path, What: what, Before: before, After: after})
	}
	two("mode.sh", retake.Moded, file(same), file(func(e *retake.Entry) { e.Mode = 0o755 }))
	two("owner.sh", retake.Moded, file(same), file(func(e *retake.Entry) { e.UID, e.GID, e.Mode = 7, 8, 0o4755 }))
	two("attrs", retake.Moded, file(same), file(func(e *retake.Entry) { e.Extra = &retake.Extra{Xattrs: map[string][]byte{"user.a": nil}} }))
	two("group", retake.Moded, file(same), file(func(e *retake.Entry) { e.Extra = &retake.Extra{Group: "1"} }))
	two("tolink", retake.Retyped, file(same), link("/etc/passwd"))
	two("todir", retake.Retyped, link("x"), &retake.Entry{Kind: retake.KindDir})
	two("relink", retake.Edited, link("a"), link("b"))
	two("both.sh", retake.Edited, s.shelf.file("a\n"), file(func(e *retake.Entry) { e.Mode = 0o700 }))
	s.edit("picture.ts", "a\x00b", "a\x00c").add("logo.png", "not read").swap("torn.ts", 1, 1).swap("Cargo.lock", 2, 1).add("dist/a.js", "x\n")
	s.edit("big.ts", "x\n", strings.Repeat("x\n", 600_000))
	two("lost.ts", retake.Edited, s.shelf.file("a\n"), &retake.Entry{Kind: retake.KindFile, Mode: 0o644, Size: 3, Object: "nowhere"})
	s.gaps = []retake.Gap{{Path: "torn.ts", Reason: retake.ReasonTorn}, {Path: "big.ts", Reason: retake.ReasonUnreadable}}
	st := mustTell(t, s.input())
	for path, want := range map[string]string{
		"mode.sh": "mode 0644 → 0755", "owner.sh": "mode 0644 → 4755, owner 0:0 → 7:8", "attrs": "attributes", "group": "attributes",
		"tolink": "file → link to /etc/passwd", "todir": "link to x → directory", "relink": "link to a → b", "both.sh": "mode 0644 → 0700",
		"picture.ts": "binary", "logo.png": "binary", "torn.ts": "torn", "Cargo.lock": "lock file", "dist/a.js": "build output", "big.ts": "huge", "lost.ts": "not readable",
	} {
		if it, _ := item(t, st, path); it.Note != want {
			t.Errorf("note of %s is %q, want %q", path, it.Note, want)
		}
	}
	if c := st.Counts; c.Moded != 4 || c.Retyped != 2 || c.Edited != 7 || c.Added != 2 || c.Plus != 2 || c.Minus != 2 {
		t.Errorf("%+v", c)
	}
}

// The room for lines goes to what was edited first, and what had none says so.
func TestRoomForLines(t *testing.T) {
	t.Parallel()
	s := newStage()
	for i := range 20 {
		s.add(fmt.Sprintf("a%02d.ts", i), strings.Repeat(fmt.Sprintf("line %d\n", i), 120_000))
	}
	s.swap("z.ts", 3, 2)
	read := 0
	in := s.input()
	in.Full = true
	in.OpenObject = func(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
		read += len(s.shelf[id])
		return s.shelf.open(ctx, id)
	}
	st := mustTell(t, in)
	if it, _ := item(t, st, "z.ts"); it.Plus != 3 || it.Minus != 2 {
		t.Errorf("z.ts: %+v", it)
	}
	left := 0
	for _, it := range st.Groups[0].Items {
		if it.Note == "lines not counted" {
			left++
		}
	}
	if left == 0 || left == 20 || read > 16<<20 {
		t.Errorf("%d files have no lines, %d bytes were read", left, read)
	}
}

func TestWithoutBytes(t *testing.T) {
	t.Parallel()
	in := newStage().swap("src/a.ts", 3, 3).input()
	in.OpenObject = nil
	if it, _ := item(t, mustTell(t, in), "src/a.ts"); it.Plus != 0 || it.Note != "" {
		t.Errorf("%+v", it)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in := newStage().swap("src/a.ts", 3, 3).swap("src/b.ts", 3, 3).input()
	open := in.OpenObject
	in.OpenObject = func(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
		cancel()
		return open(ctx, id)
	}
	if _, err := story.Build(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("told: %v", err)
	}
}

const text = "enough text for nobody to think that two files hold it by chance, since that is what small ones do\n"

func TestRenames(t *testing.T) {
	t.Parallel()
	long := lines("shared", 20)
	for name, c := range map[string]struct {
		stage *stage
		want  []string // "from → to"
	}{
		"a name":                         {newStage().del("src/a.ts", text).add("src/b.ts", text), []string{"src/a.ts → src/b.ts"}},
		"the same name first":            {newStage().del("a/x.ts", text).del("a/y.ts", text).add("b/x.ts", text).add("a/z.ts", text), []string{"a/x.ts → b/x.ts", "a/y.ts → a/z.ts"}},
		"the same directory next":        {newStage().del("a/x.ts", text).del("b/y.ts", text).add("b/z.ts", text).add("c/w.ts", text), []string{"b/y.ts → b/z.ts", "a/x.ts → c/w.ts"}},
		"a directory of the same name":   {newStage().del("old/p/index.ts", text).del("old/q/index.ts", text).add("new/q/index.ts", text).add("new/r/index.ts", text), []string{"old/q/index.ts → new/q/index.ts", "old/p/index.ts → new/r/index.ts"}},
		"empty ones are none":            {newStage().del("a.py", "").add("b.py", ""), nil},
		"a tiny one":                     {newStage().del("a.py", "x\n").add("b.py", "x\n"), []string{"a.py → b.py"}},
		"tiny and common are none":       {newStage().del("a.py", "x\n").del("b.py", "x\n").add("c.py", "x\n"), nil},
		"tiny and common, the same name": {newStage().del("p/a.py", "x\n").del("p/b.py", "x\n").add("q/a.py", "x\n"), []string{"p/a.py → q/a.py"}},
		"edited too":                     {newStage().del("src/a.ts", long+"one\n").add("lib/b.ts", long+"two\n"), []string{"src/a.ts → lib/b.ts"}},
		"edited too much":                {newStage().del("src/a.ts", lines("a", 20)+lines("s", 5)).add("lib/b.ts", lines("b", 20)+lines("s", 5)), nil},
		"the most alike":                 {newStage().del("a.ts", long+lines("x", 8)).add("b.ts", long+lines("y", 9)).add("c.ts", long+lines("x", 7)), []string{"a.ts → c.ts"}},
		"into build output":              {newStage().del("src/a.ts", text).add("dist/a.ts", text), nil},
		"within packages":                {newStage().del("node_modules/a/LICENSE", text).add("node_modules/b/LICENSE", text), nil},
		"settings to source":             {newStage().del("config/a.json", text).add("src/a.json", text), []string{"config/a.json → src/a.json"}},
	} {
		in := c.stage.input()
		in.Full = true
		var got []string
		for _, g := range mustTell(t, in).Groups {
			for _, it := range g.Items {
				if it.What == retake.Renamed {
					got = append(got, it.From+" → "+it.Path)
				}
			}
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestThemesOfPaths(t *testing.T) {
	t.Parallel()
	s := newStage().swap("data/dev.db", 1, 1).swap("data/dev.db-wal", 1, 1).del("app.db", "x\n").del("app.log", "x\n").del("node_modules/a.js", "x\n").del(".git/a", "x\n").
		del(".env", "A=1\n").del("dist/a.js", "x\n").swap("src/busy.ts", 1, 1).dir("empty", retake.Added).dir("kept", retake.Moded).dir("late", retake.Timed)
	s.changes = append(s.changes, retake.Change{Path: "touched", What: retake.Timed, Before: s.shelf.file("a"), After: s.shelf.file("a")})
	in := s.input()
	in.IsVolatile = func(path string) bool { return path == "src/busy.ts" || path == "app.db" }
	st := mustTell(t, in)
	for path, want := range map[string]retake.Theme{
		"data/dev.db": retake.ThemeDatabase, "data/dev.db-wal": retake.ThemeMoving, "app.db": retake.ThemeDeleted, "app.log": retake.ThemeMoving, "node_modules/": retake.ThemePackages,
		".git/a": retake.ThemeGit, ".env": retake.ThemeDeleted, "dist/a.js": retake.ThemeDeleted, "src/busy.ts": retake.ThemeMoving, "empty/": retake.ThemeSource, "kept": retake.ThemeSource,
	} {
		if _, got := item(t, st, path); got != want {
			t.Errorf("%s is told as %s, want %s", path, got, want)
		}
	}
	if c := st.Counts; c.Timed != 1 || c.Moded != 1 || c.Added != 1 || c.Total() != 11 {
		t.Errorf("%+v", c)
	}
}

func TestFolding(t *testing.T) {
	t.Parallel()
	s := newStage()
	for i := range 30 {
		s.swap(fmt.Sprintf("src/main/java/app/a/%02d.java", i), 1, 0)
		s.swap(fmt.Sprintf("src/main/java/app/b/%02d.java", i), 2, 0)
	}
	s.swap("src/main/java/app/App.java", 9, 0).swap("README.md", 1, 0).swap("yarn.lock", 500, 0)
	st := mustTell(t, s.input())
	var got []string
	for _, it := range st.Groups[0].Items {
		got = append(got, fmt.Sprintf("%s %d", it.Path, it.Files))
	}
	want := []string{"src/main/java/app/b/ 30", "src/main/java/app/a/ 30", "src/main/java/app/App.java 1", "README.md 1", "yarn.lock 1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	wide := newStage()
	for i := range 500 {
		wide.swap(fmt.Sprintf("%03d.ts", i), 1, 0)
	}
	if items := mustTell(t, wide.input()).Groups[0].Items; len(items) != 1 || items[0].Path != "./" || items[0].Files != 500 {
		t.Errorf("%+v", items)
	}
}
