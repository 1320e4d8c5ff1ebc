package story_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
)

// repo is a repository before and after, by the files that git keeps.
type repo struct{ before, after map[string]string }

func commitID(c string) string { return strings.Repeat(c, 40) }

// logged is a line of git's log; commits are named by one digit.
func logged(before, after, deed string) string {
	return fmt.Sprintf("%s %s Ada <ada@example.com> 1763300000 +0000\t%s\n", commitID(before), commitID(after), deed)
}

func (r repo) words(t *testing.T) []string {
	t.Helper()
	texts := map[retake.ObjectID]string{}
	entry := func(text string) *retake.Entry {
		id := retake.ObjectID(fmt.Sprint(len(texts)))
		texts[id] = text
		return &retake.Entry{Kind: retake.KindFile, Size: int64(len(text)), Object: id}
	}
	var changes []retake.Change
	paths := map[string]bool{}
	for _, side := range []map[string]string{r.before, r.after} {
		for p := range side {
			paths[p] = true
		}
	}
	for p := range paths {
		was, had := r.before[p]
		is, has := r.after[p]
		c := retake.Change{Path: p}
		switch {
		case had && has && was == is:
			continue
		case !has:
			c.What, c.Before = retake.Deleted, entry(was)
		case !had:
			c.What, c.After = retake.Added, entry(is)
		default:
			c.What, c.Before, c.After = retake.Edited, entry(was), entry(is)
		}
		changes = append(changes, c)
	}
	open := func(_ context.Context, id retake.ObjectID) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(texts[id])), nil
	}
	st, err := story.Build(t.Context(), story.Input{From: &retake.Checkpoint{}, To: &retake.Checkpoint{}, Changes: changes, OpenObject: open})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range st.Facts {
		if f.Kind == retake.FactGit {
			out = append(out, f.GitWords())
		}
	}
	return out
}

// What git did is told in words.
func TestV9_GitInWords(t *testing.T) {
	t.Parallel()
	first := logged("0", "a", "commit (initial): one") + logged("a", "b", "commit: two")
	grown := func(more string) repo {
		return repo{map[string]string{".git/logs/HEAD": first, ".git/logs/refs/heads/main": first}, map[string]string{".git/logs/HEAD": first + more, ".git/logs/refs/heads/main": first + more}}
	}
	only := func(more string) repo {
		return repo{map[string]string{".git/logs/HEAD": first}, map[string]string{".git/logs/HEAD": first + more}}
	}
	stash := grown(logged("b", "b", "reset: moving to HEAD"))
	stash.after[".git/logs/refs/stash"] = logged("0", "c", "WIP on main: two")
	rebase := repo{
		map[string]string{".git/logs/HEAD": first, ".git/logs/refs/heads/feature": first},
		map[string]string{
			".git/logs/HEAD":               first + logged("b", "c", "rebase (start): checkout main") + logged("c", "d", "rebase (pick): two") + logged("d", "d", "rebase (finish): returning to refs/heads/feature"),
			".git/logs/refs/heads/feature": first + logged("b", "d", "rebase (finish): refs/heads/feature onto c"),
		},
	}
	for name, c := range map[string]struct {
		r    repo
		want []string
	}{
		"reset":    {grown(logged("b", "a", "reset: moving to HEAD~1")), []string{"git reset main bbbbbbb → aaaaaaa (1 commit back)"}},
		"commit":   {grown(logged("b", "c", "commit: fix the login")), []string{"git commit main “fix the login” bbbbbbb → ccccccc"}},
		"commits":  {grown(logged("b", "c", "commit: x") + logged("c", "d", "commit: y")), []string{"git 2 commits main bbbbbbb → ddddddd"}},
		"amend":    {grown(logged("b", "c", "commit (amend): two")), []string{"git commit --amend main “two” bbbbbbb → ccccccc"}},
		"checkout": {only(logged("b", "a", "checkout: moving from main to feature")), []string{"git checkout main → feature"}},
		"detached": {only(logged("b", "a", "checkout: moving from main to "+commitID("a"))), []string{"git checkout main → aaaaaaa"}},
		"merge":    {grown(logged("b", "c", "merge feature: Fast-forward")), []string{"git merge feature main bbbbbbb → ccccccc"}},
		"pull":     {grown(logged("b", "c", "pull: Fast-forward")), []string{"git pull main bbbbbbb → ccccccc"}},
		"stash":    {stash, []string{"git stash"}},
		"unstash":  {repo{map[string]string{".git/logs/refs/stash": logged("0", "c", "WIP on main: two")}, map[string]string{}}, []string{"git stash deleted"}},
		"rebase":   {rebase, []string{"git rebase feature bbbbbbb → ddddddd"}},
		"branch gone": {repo{map[string]string{".git/refs/heads/old": commitID("a") + "\n", ".git/logs/refs/heads/old": first}, map[string]string{}},
			[]string{"git branch old deleted, was aaaaaaa"}},
		"push": {repo{map[string]string{}, map[string]string{".git/logs/refs/remotes/origin/main": logged("0", "b", "update by push")}}, []string{"git push origin/main"}},
		"gone": {repo{map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, map[string]string{}}, []string{"git repository deleted"}},
		"without a log": {repo{map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, map[string]string{".git/HEAD": "ref: refs/heads/feature\n"}},
			[]string{"git HEAD main → feature"}},
		"nested":       {repo{map[string]string{"sub/.git/logs/HEAD": first}, map[string]string{"sub/.git/logs/HEAD": first + logged("b", "a", "reset: moving to HEAD~1")}}, []string{"git reset bbbbbbb → aaaaaaa (1 commit back) in sub/"}},
		"index only":   {repo{map[string]string{".git/index": "1"}, map[string]string{".git/index": "2"}}, nil},
		"written anew": {repo{map[string]string{".git/logs/HEAD": first + first}, map[string]string{".git/logs/HEAD": first}}, nil},
		"junk":         {only("not a line\n\x00\xff\n" + strings.Repeat("x", 1<<17)), nil},
		"hostile":      {only(logged("b", "c", "commit: \x1b[2J"+strings.Repeat("y", 500))), []string{"git commit “\x1b[2J" + strings.Repeat("y", 55) + "…” bbbbbbb → ccccccc"}},
	} {
		if d := cmp.Diff(c.want, c.r.words(t)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
