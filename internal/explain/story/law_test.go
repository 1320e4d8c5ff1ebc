package story_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
)

var names = []string{"src", "docs", "dist", "node_modules", "test", ".git", "logs", "config", "a.ts", "b.ts", "README.md", ".env", "dev.db", "package-lock.json", "x.png", "new\nline", "\xff\xfe", "\x1b[31m", "…", "-rf", "a b"}

// drawChanges are changes as a comparison tells them: in order, each path once, and the
// directories above what came and went sometimes among them.
func drawChanges(t *rapid.T, s shelf) []retake.Change {
	part := rapid.SampledFrom(names)
	text := rapid.SampledFrom([]string{"", "x\n", lines("one", 30), lines("one", 30) + "more\n", lines("two", 90), "bin\x00ary", "{}"})
	paths := map[string]bool{}
	for range rapid.IntRange(0, 60).Draw(t, "paths") {
		paths[strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "path"), "/")] = true
	}
	var out []retake.Change
	for _, p := range slices.Sorted(mapsKeys(paths)) {
		a, b := s.file(text.Draw(t, "before")), s.file(text.Draw(t, "after"))
		for _, e := range []*retake.Entry{a, b} {
			e.Kind = rapid.SampledFrom([]retake.Kind{retake.KindFile, retake.KindFile, retake.KindFile, retake.KindSymlink, retake.KindDir}).Draw(t, "kind")
			e.Mode = rapid.SampledFrom([]uint32{0o644, 0o755, 0o4755}).Draw(t, "mode")
		}
		what := rapid.SampledFrom([]retake.Difference{retake.Added, retake.Added, retake.Deleted, retake.Deleted, retake.Edited, retake.Moded, retake.Retyped, retake.Timed}).Draw(t, "what")
		ch := retake.Change{Path: p, What: what, Before: a, After: b}
		switch what {
		case retake.Added:
			ch.Before = nil
		case retake.Deleted:
			ch.After = nil
		default:
		}
		out = append(out, ch)
	}
	return out
}

func mapsKeys(m map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// counted are the paths of changes that a story counts, by what the vocabulary says of them.
func counted(changes []retake.Change) map[string]retake.Difference {
	out := map[string]retake.Difference{}
	for _, ch := range changes {
		e := ch.After
		if e == nil {
			e = ch.Before
		}
		dir := e.Kind == retake.KindDir && ch.What != retake.Retyped
		switch {
		case ch.What == retake.Timed:
			continue
		case dir && (ch.What == retake.Added || ch.What == retake.Deleted):
			if slices.ContainsFunc(changes, func(o retake.Change) bool {
				return strings.HasPrefix(o.Path, ch.Path+"/") && o.What != retake.Timed
			}) {
				continue
			}
			out[ch.Path+"/"] = ch.What
		default:
			out[ch.Path] = ch.What
		}
	}
	return out
}

func tell(t *rapid.T, s shelf, changes []retake.Change, full bool) retake.Story {
	st, err := story.Build(t.Context(), story.Input{Changes: changes, OpenObject: s.open, Full: full})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// Counts add up, no path is lost or told twice, and renames have one path on each side.
func TestLawNothingIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := shelf{}
		changes := drawChanges(t, s)
		want := counted(changes)
		st := tell(t, s, changes, true)
		told := map[string]bool{}
		say := func(path string, what retake.Difference) {
			if told[path] {
				t.Fatalf("%q is told twice", path)
			}
			told[path] = true
			if want[path] != what {
				t.Fatalf("%q is told as %s, and was %q", path, what, want[path])
			}
		}
		for _, g := range st.Groups {
			for _, it := range g.Items {
				if it.Files != 1 {
					t.Fatalf("%q stands for %d", it.Path, it.Files)
				}
				if it.What == retake.Renamed {
					say(it.From, retake.Deleted)
					say(it.Path, retake.Added)
					continue
				}
				say(it.Path, it.What)
			}
		}
		if len(told) != len(want) {
			t.Fatalf("%d of %d paths are told", len(told), len(want))
		}
	})
}

// The files, bytes and lines of folded items are those of their groups, and those of the
// groups are the counts; folding changes none of them.
func TestLawSumsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := shelf{}
		changes := drawChanges(t, s)
		full, st := tell(t, s, changes, true), tell(t, s, changes, false)
		if full.Counts != st.Counts || len(full.Groups) != len(st.Groups) {
			t.Fatalf("full %+v, folded %+v", full.Counts, st.Counts)
		}
		var total, plus, minus int64
		at := -1
		for i, g := range st.Groups {
			place := slices.Index(retake.Themes, g.Theme)
			if place <= at {
				t.Fatalf("%s is out of order", g.Theme)
			}
			at = place
			var n, size int64
			for _, it := range g.Items {
				n += it.Files
				size += it.Bytes
				if it.Files > 1 && !strings.HasSuffix(it.Path, "/") {
					t.Fatalf("%q stands for %d", it.Path, it.Files)
				}
			}
			if n != g.Files || size != g.Bytes {
				t.Fatalf("items of %s have %d files and %d bytes: %+v", g.Theme, n, size, g)
			}
			if f := full.Groups[i]; f.Theme != g.Theme || f.Files != g.Files || f.Bytes != g.Bytes || f.Plus != g.Plus || f.Minus != g.Minus {
				t.Fatalf("full %+v, folded %+v", f, g)
			}
			total, plus, minus = total+g.Files, plus+g.Plus, minus+g.Minus
		}
		if total != st.Counts.Total() || plus != st.Counts.Plus || minus != st.Counts.Minus {
			t.Fatalf("groups have %d +%d -%d: %+v", total, plus, minus, st.Counts)
		}
	})
}

// An item that is a directory stands for all changes below it: no other item of its group
// lies there.
func TestLawDirectoriesStandForAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := shelf{}
		st := tell(t, s, drawChanges(t, s), false)
		for _, g := range st.Groups {
			for _, dir := range g.Items {
				for _, it := range g.Items {
					if strings.HasSuffix(dir.Path, "/") && it != dir && strings.HasPrefix(it.Path, dir.Path) {
						t.Fatalf("%q lies below %q in %s", it.Path, dir.Path, g.Theme)
					}
				}
			}
		}
	})
}

// A gist tells at most six points, and something whenever something changed.
func TestLawGist(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := shelf{}
		st := tell(t, s, drawChanges(t, s), rapid.Bool().Draw(t, "full"))
		g := st.Gist
		if len(g.Points) > 6 || g.V != story.Version {
			t.Fatalf("%+v", g)
		}
		if some := st.Counts.Total() > 0; some != (len(g.Points) > 0) || some != (g.Lead != "") {
			t.Fatalf("%d changed: %+v", st.Counts.Total(), g)
		}
		for _, p := range g.Points {
			if p.Text == "" || !slices.Contains(retake.Themes, p.Theme) {
				t.Fatalf("%+v", p)
			}
		}
		for _, gr := range st.Groups {
			if g.Moving && gr.Theme != retake.ThemeMoving && gr.Theme != retake.ThemeGit {
				t.Fatalf("moving, with %s", gr.Theme)
			}
		}
	})
}

// FuzzTell makes changes of lines: a letter for what happened, then a path.
func FuzzTell(f *testing.F) {
	f.Add("asrc/a.ts\ndsrc/b.ts\neREADME.md\nm.\nt/\nr//x\n", "one\ntwo\n", "one\n")
	f.Add("a\nd\nd/\na//\n?..\nenode_modules/\n", "", "\x00")
	f.Add("da/b/c\naz/b/c\nDa\nDa/b\n", "text of some length that is not tiny at all, and goes on for a while\n", "")
	f.Fuzz(func(t *testing.T, script, before, after string) {
		in := story.Input{OpenObject: shelf{}.open}
		s := shelf{}
		for line := range strings.SplitSeq(script, "\n") {
			if line == "" {
				continue
			}
			ch := retake.Change{Path: line[1:], Before: s.file(before), After: s.file(after)}
			switch line[0] {
			case 'a':
				ch.What, ch.Before = retake.Added, nil
			case 'd':
				ch.What, ch.After = retake.Deleted, nil
			case 'D':
				ch.What, ch.After, ch.Before = retake.Deleted, nil, &retake.Entry{Kind: retake.KindDir}
			case 'e':
				ch.What = retake.Edited
			case 'm':
				ch.What = retake.Moded
			case 't':
				ch.What = retake.Timed
			case 'r':
				ch.What, ch.After = retake.Retyped, &retake.Entry{Kind: retake.KindSymlink, Size: 3, Object: s.put("abc")}
			default:
				ch.What, ch.Before, ch.After = retake.Difference(line[:1]), nil, nil
			}
			in.Changes = append(in.Changes, ch)
		}
		in.OpenObject = s.open
		for _, in.Full = range []bool{true, false} {
			st, err := story.Build(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			var n int64
			for _, g := range st.Groups {
				for _, it := range g.Items {
					n += it.Files
				}
			}
			if n != st.Counts.Total() {
				t.Fatalf("%d files in items, %d in counts", n, st.Counts.Total())
			}
		}
	})
}

// crowd are changes of many kinds and names.
func crowd(n int) (shelf, []retake.Change) {
	s := newStage()
	for i := range n {
		switch dir := []string{"src/a", "node_modules/p", "dist", "lib/deep/er", "config", "old", ".git/objects"}[i%7]; i % 5 {
		case 0:
			s.add(fmt.Sprintf("%s/%d.ts", dir, i), fmt.Sprintf("text of file %d, long enough to be found again when it moves elsewhere\n", i))
		case 1:
			s.del(fmt.Sprintf("%s/%d.ts", dir, i), fmt.Sprintf("text of file %d, long enough to be found again when it moves elsewhere\n", i-1))
		default:
			s.edit(fmt.Sprintf("%s/%d.ts", dir, i), "a\nb\nc\n", fmt.Sprintf("a\nX%d\nc\n", i))
		}
	}
	return s.shelf, s.changes
}

func BenchmarkTell(b *testing.B) {
	for _, n := range []int{10, 1200, 100_000} {
		s, changes := crowd(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := story.Build(b.Context(), story.Input{Changes: changes, OpenObject: s.open}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Many renamed directories, each alone, are the case in which folding could look at
// everything for each of them.
func BenchmarkTellRenames(b *testing.B) {
	s := newStage()
	for i := range 20_000 {
		s.dir(fmt.Sprintf("old/%d", i), retake.Deleted)
		for j := range 2 {
			text := fmt.Sprintf("file %d of %d, and enough text for it not to be tiny in any sense of the word\n", j, i)
			s.del(fmt.Sprintf("old/%d/%d.ts", i, j), text).add(fmt.Sprintf("new/%d-x/%d.ts", i, j), text)
		}
	}
	in := s.input()
	in.OpenObject = nil
	for b.Loop() {
		if _, err := story.Build(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
