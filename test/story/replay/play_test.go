package replay_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/story/replay"
)

const tiny = `title: a tiny tree
complaint: the word is gone
check: grep -q word a
answer: 1
-- setup.sh --
put a <<'EOF'
word
EOF
put sub/b <<'EOF'
b
EOF
-- 01.sh --
# prompt: make it a program
chmod 0755 a
fact mode edited '' a 0644 0755
touch "$HOME/note"
-- 02.sh --
# prompt: move and clean
[ -f "$HOME/note" ]
mv sub/b c
swap word 'a "new" \ thing' a
fact setting edited '' 'a "quoted" \ key' 1 2 a
`

func TestPlayTellsTheTruth(t *testing.T) {
	t.Parallel()
	runs, err := load(t, tiny)
	if err != nil {
		t.Fatal(err)
	}
	r := runs[0]
	if why := r.Missing(); why != "" {
		t.Skip(why)
	}
	dir := filepath.Join(t.TempDir(), "tree")
	var turns []replay.Turn
	var passed []bool
	err = r.Play(t.Context(), dir, func(n int, turn replay.Turn, before, after replay.Walk) error {
		if n == 0 && len(before) != 0 || n > 0 && len(before) == 0 || len(after) == 0 {
			t.Errorf("turn %d led from %v to %v", n, before, after)
		}
		ok, err := r.Verify(t.Context(), dir)
		passed = append(passed, ok)
		turns = append(turns, turn)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(passed, []bool{true, true, false}) {
		t.Errorf("the check said %v", passed)
	}
	want := []replay.Paths{
		{Created: []string{"a", "sub/b"}, Dirs: []string{"sub"}},
		{Moded: []string{"a"}},
		{Created: []string{"c"}, Deleted: []string{"sub/b"}, Edited: []string{"a"}, Renames: []replay.Rename{{From: "sub/b", To: "c"}}},
	}
	for i, turn := range turns {
		if d := cmp.Diff(want[i], turn.Paths); d != "" {
			t.Errorf("turn %d (-want +got):\n%s", i, d)
		}
	}
	if d := cmp.Diff([]retake.Fact{{Kind: "mode", What: "edited", Name: "a", Before: "0644", After: "0755"}}, turns[1].Facts); d != "" {
		t.Errorf("facts of turn 1 (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]retake.Fact{{Kind: "setting", What: "edited", Name: `a "quoted" \ key`, Before: "1", After: "2", Path: "a"}}, turns[2].Facts); d != "" {
		t.Errorf("facts of turn 2 (-want +got):\n%s", d)
	}
}

func TestPlayStopsAtAFailure(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a command fails":       "false\n",
		"nothing to swap":       "echo a >b; swap x y b\n",
		"a fact of no kind":     "fact weather edited '' a b c\n",
		"a fact that is no act": "fact env touched '' a\n",
		"a fact without a name": "fact env added '' ''\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs, err := load(t, header+"-- setup.sh --\n:\n-- 01.sh --\n# prompt: x\n"+script+"-- 02.sh --\n# prompt: y\n:\n")
			if err != nil {
				t.Fatal(err)
			}
			if why := runs[0].Missing(); why != "" {
				t.Skip(why)
			}
			last := -1
			err = runs[0].Play(t.Context(), t.TempDir(), func(n int, _ replay.Turn, _, _ replay.Walk) error {
				last = n
				return nil
			})
			if err == nil || last != 0 {
				t.Errorf("played up to turn %d: %v", last, err)
			}
		})
	}
}

func write(t *testing.T, at, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
