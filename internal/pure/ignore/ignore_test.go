package ignore_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake/internal/pure/ignore"
)

func TestExcludes(t *testing.T) {
	t.Parallel()
	x, err := ignore.NewExcludes([]string{"node_modules/", "*.iso", "!keep.iso", "/build", "a/**/z", ".git"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path  string
		isDir bool
		want  bool
	}{
		{"node_modules", true, true}, {"node_modules", false, false}, {"x/node_modules/y/z", false, true},
		{"big.iso", false, true}, {"keep.iso", false, false}, {"d.iso/keep.iso", false, true},
		{"build", false, true}, {"x/build", false, false}, {"build/x", false, true},
		{"a/z", false, true}, {"a/b/c/z", false, true}, {"z", false, false},
		{".git", true, true}, {".git/config", false, true}, {"", true, false}, {".", true, false},
	}
	for _, tt := range tests {
		if got := x.Match(tt.path, tt.isDir); got != tt.want {
			t.Errorf("Match(%q, %v) = %v", tt.path, tt.isDir, got)
		}
	}
	var none *ignore.Excludes
	if none.Match("a", false) {
		t.Error("no excludes leave something out")
	}
}

func TestExcludesRefuse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		patterns []string
		want     error
	}{
		"empty":    {[]string{""}, ignore.ErrNothing},
		"blank":    {[]string{"  "}, ignore.ErrNothing},
		"comment":  {[]string{"# x"}, ignore.ErrNothing},
		"slash":    {[]string{"/"}, ignore.ErrNothing},
		"negation": {[]string{"!"}, ignore.ErrNothing},
		"bracket":  {[]string{"a[b"}, ignore.ErrNothing},
		"lines":    {[]string{"a\nb"}, ignore.ErrNothing},
		"held":     {[]string{`a\`}, ignore.ErrNothing},
		"long":     {[]string{strings.Repeat("a", ignore.MaxLine+1)}, ignore.ErrTooLong},
		"many":     {make([]string, ignore.MaxPatterns+1), ignore.ErrTooMany},
	}
	for name, tt := range tests {
		if _, err := ignore.NewExcludes(tt.patterns); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

func TestRulesNeverHideGit(t *testing.T) {
	t.Parallel()
	r := ignore.EmptyRules().WithFile("", []byte("*\n.git\n.git/\n/vendor/\n!d/\n"))
	for _, path := range []string{".git", ".git/config", ".git/a/b", "d/.git", "d/.git/HEAD"} {
		if r.Ignored(path, false) || r.Ignored(path, true) {
			t.Errorf("%q is hidden", path)
		}
	}
	for _, path := range []string{"vendor/x/.git/config", ".gitignore", "d/.github"} {
		if !r.Ignored(path, false) {
			t.Errorf("%q is not hidden", path)
		}
	}
}

func TestRulesDoNotChange(t *testing.T) {
	t.Parallel()
	top := ignore.EmptyRules().WithFile("", []byte("*.o\n"))
	a := top.WithFile("a", []byte("!x.o\nhere\n"))
	b := top.WithFile("b", []byte("there\n"))
	tests := []struct {
		r    ignore.Rules
		path string
		want bool
	}{
		{top, "a/x.o", true}, {a, "a/x.o", false}, {a, "a/y.o", true}, {a, "x.o", true}, {a, "ab/x.o", true},
		{b, "a/x.o", true}, {a, "a/here", true}, {a, "here", false}, {b, "a/here", false}, {b, "b/c/there", true},
		{ignore.EmptyRules(), "x.o", false},
	}
	for _, tt := range tests {
		if got := tt.r.Ignored(tt.path, false); got != tt.want {
			t.Errorf("Ignored(%q) = %v", tt.path, got)
		}
	}
}

func TestRulesKeepTheLimits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", ignore.MaxLine+1)
	r := ignore.EmptyRules().WithFile("", []byte(long+"\nb\n"))
	if r.Ignored(long, false) || !r.Ignored("b", false) {
		t.Error("a line over the limit counts, or hides the next one")
	}
	var many bytes.Buffer
	for i := range ignore.MaxPatterns {
		fmt.Fprintf(&many, "f%d\n", i)
	}
	r = ignore.EmptyRules().WithFile("", many.Bytes()).WithFile("d", []byte("late\n"))
	if !r.Ignored("f0", false) || !r.Ignored(fmt.Sprintf("f%d", ignore.MaxPatterns-1), false) {
		t.Error("a pattern within the limit does not count")
	}
	if r.Ignored("d/late", false) || !r.Ignored("d/f0", false) {
		t.Error("a pattern over the limit counts, or takes those within it away")
	}
	r = r.WithFile("e", []byte("!f0\n"))
	if r.Ignored("e/f1", false) || !r.Ignored("d/f1", false) {
		t.Error("a lost line that brings something back does not open its directory, or opens more")
	}
}

// lines are patterns that once were read wrongly by somebody.
var lines = []string{
	"*", "!*", "*.o", "!a.o", "a", "!a", "/a", "a/", "/a/", "!a/", "a/b", "/a/b", "a/*", "!a/b", "a/**", "a/**/", "**/b", "**/a/b",
	"a/**/b", "**", "**/", "/**", "***", "a/***/b", "a**", "**a/b", "/*", "/*/", "*/", "!*/", "*/b", "*/*", "!*/*",
	"?", "??", "[ab]", "[!a]", "[^a]", "[a-c]", "[]a]", "[[:alpha:]]", "a[", "[a", `\a`, `\*`, `a\`, `\!a`, `\#a`, "!!a", "!#a", "#a",
	"a ", `a\ `, "a  ", " a", "a\t", "\\", `a\/b`, `a\\/b`, "//a", "a//b", "a//", "/", "", "!", "a\r", "b.*", "*b", "*.*", "c d", "é", "\xff",
	"a\x00b", "./a", "../a", "a/.", "a/..", "*a*b*", "[*]", "[?]", "[!*]", "a[*X]b", "[*-z]", "[[:alpha:]*]*", "*[*]", "*]", `[\*]`, `\**`, `\[a]`, `[\]]`, "{a,b}", "~", "b/", "!b/", "c/b", "!c/b/", "/a/*", "!/a/b",
}

var parts = []string{"a", "b", "c", "a.o", "b.o", "c d", "ab", "a ", "#a", "!a", "*", "[a]", "é", "b.c", "aXb", "]"}

// TestRulesAgainstGit asks git about random trees and patterns.
func TestRulesAgainstGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	rapid.Check(t, func(rt *rapid.T) {
		root := t.TempDir()
		git(t, root, nil, "init", "-q")
		dirs := map[string]bool{"": true}
		files := map[string]bool{}
		for range rapid.IntRange(1, 12).Draw(rt, "paths") {
			addPath(rt, dirs, files)
		}
		rules := ignore.EmptyRules()
		for _, dir := range sorted(dirs) {
			check(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
			if dir == "" || rapid.Bool().Draw(rt, "has rules") {
				chosen := rapid.SliceOfN(rapid.SampledFrom(lines), 1, 5).Draw(rt, "lines of "+dir)
				text := []byte(strings.Join(chosen, "\n"))
				check(t, os.WriteFile(filepath.Join(root, dir, ".gitignore"), text, 0o644))
				rules = rules.WithFile(dir, text)
			}
		}
		for path := range files {
			check(t, os.WriteFile(filepath.Join(root, path), nil, 0o644))
		}
		compareWithGit(t, rt, root, rules, dirs, files)
	})
}

func addPath(t *rapid.T, dirs, files map[string]bool) {
	path := ""
	for range rapid.IntRange(0, 2).Draw(t, "depth") {
		next := strings.TrimPrefix(path+"/"+rapid.SampledFrom(parts).Draw(t, "dir"), "/")
		if files[next] {
			break
		}
		path = next
		dirs[path] = true
	}
	file := strings.TrimPrefix(path+"/"+rapid.SampledFrom(parts).Draw(t, "file"), "/")
	if !dirs[file] {
		files[file] = true
	}
}

func compareWithGit(t *testing.T, rt *rapid.T, root string, rules ignore.Rules, dirs, files map[string]bool) {
	t.Helper()
	var asked bytes.Buffer
	for _, path := range append(sorted(files), sorted(dirs)...) {
		if path != "" {
			asked.WriteString(path + "\x00")
		}
	}
	hidden := map[string]bool{}
	for path := range strings.SplitSeq(git(t, root, &asked, "check-ignore", "--no-index", "--stdin", "-z"), "\x00") {
		hidden[path] = true
	}
	for _, set := range []map[string]bool{files, dirs} {
		for path := range set {
			if got := rules.Ignored(path, dirs[path]); path != "" && got != hidden[path] {
				rt.Errorf("Ignored(%q, %v) = %v, git says %v", path, dirs[path], got, hidden[path])
			}
		}
	}
}

// git runs git without the configuration of this machine.
func git(t *testing.T, dir string, in *bytes.Buffer, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if in != nil {
		cmd.Stdin = in
	}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: nothing is ignored
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func FuzzRules(f *testing.F) {
	for _, line := range lines {
		f.Add([]byte(line), "a/b")
	}
	f.Add([]byte("*a*a*a*a*a*a*a*a*b"), strings.Repeat("a", 255))
	f.Fuzz(func(t *testing.T, content []byte, path string) {
		r := ignore.EmptyRules().WithFile("", content).WithFile("a", content)
		hidden := r.Ignored(path, true)
		if hidden && !strings.HasSuffix(path, "/") && !r.Ignored(path+"/below", false) {
			t.Errorf("%q is hidden and what lies below is not", path)
		}
		if name := strings.TrimPrefix(path, "/"); !strings.Contains(name, "/") && r.Ignored(".git/"+name, false) {
			t.Errorf(".git/%s is hidden", name)
		}
		if x, err := ignore.NewExcludes([]string{string(content)}); err == nil {
			x.Match(path, false)
		}
	})
}
