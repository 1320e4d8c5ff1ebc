// Package words_test keeps retired words away from what a person reads: strings of the
// program, the console, user pages. The words are in retired.txt. It reads files of this
// repository and changes none.
package words_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

type retired struct {
	pattern *regexp.Regexp
	say     string
}

func retiredWords(t *testing.T) []retired {
	t.Helper()
	b, err := os.ReadFile("retired.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []retired
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, say, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("retired.txt: no tab in %q", line)
		}
		out = append(out, retired{regexp.MustCompile(pattern), say})
	}
	return out
}

// Time is meant, or a value that programs compare.
var allowed = regexp.MustCompile(`(?i)\b(?:for a|in a|at that|at this|any) moment\b|\ba moment (?:ago|later)\b|"last moments"|^last moments$|^moments?$|^moment\n|\bjson:"moments?\b|"moments?"|\x60moments?\x60`)

func check(t *testing.T, words []retired, place, text string) {
	t.Helper()
	text = allowed.ReplaceAllString(text, "")
	for _, w := range words {
		if found := w.pattern.FindString(text); found != "" {
			t.Errorf("%s: %q is retired; say: %s", place, found, w.say)
		}
	}
}

// files calls look for each file below dir with that ending.
func files(t *testing.T, dir, ending string, look func(path string)) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "dist" || d.Name() == "decisions" || d.Name() == "testdata"):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, ending):
			look(path)
			n++
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("%d files with %s in %s: %v", n, ending, dir, err)
	}
}

func TestRetiredWordsAreInNoString(t *testing.T) {
	t.Parallel()
	words := retiredWords(t)
	for _, dir := range []string{"internal", "cmd", "client"} {
		files(t, dir, ".go", func(path string) {
			if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test/") {
				return
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					check(t, words, set.Position(lit.Pos()).String(), text)
				}
				return true
			})
		})
	}
}

var comment = regexp.MustCompile(`(?s)/\*.*?\*/|(?m)(?:^|\s)//.*$`)

func TestRetiredWordsAreNotInTheConsole(t *testing.T) {
	t.Parallel()
	words := retiredWords(t)
	for _, ending := range []string{".ts", ".tsx"} {
		files(t, "console/src", ending, func(path string) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(path, ".test.") {
				return
			}
			text := strings.ReplaceAll(comment.ReplaceAllString(string(b), ""), ".moments", "")
			check(t, words, path, text)
		})
	}
}

func TestRetiredWordsAreOnNoUserPage(t *testing.T) {
	t.Parallel()
	words := retiredWords(t)
	page := func(path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			check(t, words, path+":"+strconv.Itoa(i+1), line)
		}
	}
	page(filepath.Join(root, "README.md"))
	files(t, "docs", ".md", page)
	files(t, "plugin", ".md", page)
}

// Each pattern finds what it is for: without this the test could be green for nothing.
func TestRetiredWordsAreFound(t *testing.T) {
	t.Parallel()
	const old = "That needs more words. The moments before are whole, and moment 3 is no id of ours. 2 standing verifications, a quiet checkpoint; it grew from 1. " +
		"A restore was cut off, one effect stays done, the tidy-up asks for your word, and nobody is here to ask. The files moved on since then. " +
		"15-18 left behind by a restore. Nobody answers. Who are you? Searched were intents."
	for _, w := range retiredWords(t) {
		if !w.pattern.MatchString(old) {
			t.Errorf("%s finds nothing in the old words", w.pattern)
		}
	}
}
