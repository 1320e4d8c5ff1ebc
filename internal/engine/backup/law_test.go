package backup_test

import (
	"fmt"
	"maps"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/pure/ignore"
)

// names of random trees: some are left out, some hide others.
var (
	lawDirs  = []string{"", "", "a", "b", "a/c", "dist", ".git", "x/.Git", "b/.ssh"}
	lawNames = []string{"f", "g", "h.o", "a", "b", "dist", ".env", "deep", "git~1", "back\\slash", "é\xff"}
	lawRules = []string{"*.o\n", "dist\n", "!h.o\n", "/a\n", "a/\n", "*\n!f\n", "\n"}
	lawBytes = []string{"1", "2", "", "password = \"xK39dk2kdkA\"\n"}
)

func drawTree(t *rapid.T, was map[string]item) map[string]item {
	out := map[string]item{}
	for p, it := range was {
		if rapid.IntRange(0, 3).Draw(t, "stays") > 0 {
			out[p] = it
		}
	}
	for range rapid.IntRange(0, 5).Draw(t, "edits") {
		dir := rapid.SampledFrom(lawDirs).Draw(t, "dir")
		p, it := path.Join(dir, rapid.SampledFrom(lawNames).Draw(t, "name")), item{data: rapid.SampledFrom(lawBytes).Draw(t, "bytes"), exec: rapid.Bool().Draw(t, "exec")}
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			it = item{data: "f", kind: retake.KindSymlink}
		case 1:
			it = item{kind: retake.KindFIFO}
		case 2, 3:
			p, it = path.Join(dir, ".gitignore"), item{data: rapid.SampledFrom(lawRules).Draw(t, "rules")}
		}
		for q := range out { // a path is a file or a directory
			if strings.HasPrefix(q, p+"/") || strings.HasPrefix(p, q+"/") {
				delete(out, q)
			}
		}
		out[p] = it
	}
	return out
}

// expectSent is what of a tree is sent, asked path by path, and how many paths are not.
func expectSent(files map[string]item) (map[string]item, int64) {
	rules := ignore.EmptyRules()
	for depth := range 4 {
		for p, it := range files {
			if path.Base(p) == ".gitignore" && it.kind == "" && strings.Count(p, "/") == depth {
				rules = rules.WithFile(strings.TrimPrefix(path.Dir(p), "."), []byte(it.data))
			}
		}
	}
	out, left := map[string]item{}, map[string]bool{}
	for p, it := range files {
		names, why := strings.Split(p, "/"), ""
		for i, n := range names {
			at, dir := strings.Join(names[:i+1], "/"), i+1 < len(names)
			switch {
			case strings.EqualFold(n, ".git"), n == "git~1", strings.Contains(n, "\\"), dir && n == ".ssh", !dir && n == ".env", rules.Ignored(at, dir):
				why = at
			case !dir && (it.kind == retake.KindFIFO || strings.HasPrefix(it.data, "password")):
				why = at
			}
			if why != "" {
				break
			}
		}
		if why != "" {
			left[why] = true
		} else {
			out[p] = it
		}
	}
	return out, int64(len(left))
}

// TestTheDifferenceLeadsToTheTree applies what is told of each step to what was sent
// before, and holds it against the tree itself.
func TestTheDifferenceLeadsToTheTree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := newFakeHistory(t)
		var tree map[string]item
		var from retake.ObjectID
		var left []retake.LeftOut
		there := map[string]item{}
		for range rapid.IntRange(1, 6).Draw(rt, "checkpoints") {
			tree = drawTree(rt, tree)
			to := b.save("", tree).Checkpoint.Tree
			var err error
			left, err = backup.Compare(t.Context(), b, from, to, left, func(p, mode string, data []byte) {
				there[p] = itemOf(mode, data)
			}, func(p string) {
				maps.DeleteFunc(there, func(q string, _ item) bool { return q == p || strings.HasPrefix(q, p+"/") })
			})
			if err != nil {
				rt.Fatal(err)
			}
			want, count := expectSent(tree)
			if diff := diffItems(there, want); diff != "" {
				rt.Fatalf("%s\nof %v", diff, tree)
			}
			if got := totalLeft(left); got != count {
				rt.Fatalf("%d are said to be left out, not %d: %+v\nof %v", got, count, left, tree)
			}
			from = to
		}
	})
}

func itemOf(mode string, data []byte) item {
	it := item{data: string(data), exec: mode == "100755"}
	if mode == "120000" {
		it.kind = retake.KindSymlink
	}
	return it
}

func totalLeft(left []retake.LeftOut) (n int64) {
	for _, l := range left {
		n += l.Count
	}
	return n
}

// TestWhatIsSentIsTheTree asks git about every commit of some random histories.
func TestWhatIsSentIsTheTree(t *testing.T) {
	t.Parallel()
	histories := rapid.Custom(func(rt *rapid.T) []map[string]item {
		var out []map[string]item
		for i := range rapid.IntRange(3, 8).Draw(rt, "checkpoints") {
			var was map[string]item
			if i > 0 {
				was = out[i-1]
			}
			out = append(out, drawTree(rt, was))
		}
		return out
	})
	for seed := range 6 {
		b := newBackupTest(t)
		trees := histories.Example(seed)
		for i, tree := range trees {
			b.history.save("", tree)
			if i == len(trees)/2 {
				b.runBackup()
			}
		}
		got := totalLeft(b.runBackup().Left)
		if _, want := expectSent(trees[len(trees)-1]); got != want {
			t.Errorf("%d are said to be left out, not %d", got, want)
		}
		for i, tree := range trees {
			commit := fmt.Sprintf("%s~%d", b.ref(), len(trees)-1-i)
			want, left := expectSent(tree)
			if diff := diffItems(b.files(commit), want); diff != "" {
				t.Errorf("checkpoint %d: %s", i+1, diff)
			}
			if text := b.remoteGit("log", "-1", "--format=%B", commit); !strings.Contains(text, fmt.Sprintf("\nRetake-Left-Out: %d\n", left)) {
				t.Errorf("checkpoint %d: not %d left out: %s", i+1, left, text)
			}
		}
	}
}
