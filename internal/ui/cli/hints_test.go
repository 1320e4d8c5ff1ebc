package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Hints in strings of the whole program name commands and flags that exist, and have no
// place that the reader would have to fill in first.
func TestX9_HintsWorkWhenPasted(t *testing.T) {
	t.Parallel()
	root := commands(t)
	for at, text := range literals(t) {
		for _, line := range hintLines(text) {
			checkHint(t, root, at, line)
			if labelled(text, line) {
				enough(t, at, line)
			}
		}
	}
}

// literals are the strings of the program, by where they stand; usage lines are none.
func literals(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	set := token.NewFileSet()
	top := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "console" && filepath.Dir(path) == top || d.Name() == "test" || d.Name() == "bench" || d.Name() == "sdk" || d.Name() == "testdata" || d.Name() == "demo" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(text, "retake ") {
					out[set.Position(lit.Pos()).String()] = text
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var hintStart = regexp.MustCompile("(?:^|[ `(\n])retake [a-z]")

// hintLines are the commands that a text names. There may be several on a line.
func hintLines(text string) []string {
	var out []string
	for _, at := range hintStart.FindAllStringIndex(text, -1) {
		line := text[at[1]-len("retake x"):]
		for _, end := range []string{"\n", "`", "(", ")", "  ", ", ", "; ", ". ", ": ", " or ", " and ", " && ", " | ", " > ", " < ", " # ", "…"} {
			line, _, _ = strings.Cut(line, end)
		}
		out = append(out, strings.TrimRight(line, " .,;:"))
	}
	return out
}

// labelled reports whether a text offers a whole command as "what it does: retake …". What
// comes into it from elsewhere may be any number of words.
func labelled(text, line string) bool {
	_, rest, ok := strings.Cut(text, ": "+line)
	return ok && rest != " " && !strings.Contains(line, "%")
}

// enough reports a hint whose command needs more words than it has.
func enough(t *testing.T, at, line string) {
	t.Helper()
	root := commands(t)
	cmd, rest, err := root.Find(typed(line)[1:])
	if err != nil || cmd.ParseFlags(rest) != nil { // told by checkHint
		return
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("%s: %q: %v", at, line, err)
	}
}

var placeholder = regexp.MustCompile(`^[A-Z][A-Z_]+…?$`)

func checkHint(t *testing.T, root *cobra.Command, at, line string) {
	t.Helper()
	words := typed(line)[1:]
	if slices.Contains([]string{"nor", "index", "cursor"}, words[0]) { // a sentence, and the marks of files
		return
	}
	cmd, rest, err := root.Find(words)
	if err != nil || cmd == root {
		t.Errorf("%s: %q: there is no such command", at, line)
		return
	}
	for _, w := range rest {
		name, isFlag := strings.CutPrefix(w, "--")
		name, _, _ = strings.Cut(name, "=")
		switch {
		case w == "--":
			return
		case placeholder.MatchString(w):
			t.Errorf("%s: %q cannot be pasted: fill in %s, or point to its help", at, line, w)
		case isFlag && cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil:
			t.Errorf("%s: %q: %s has no flag --%s", at, line, cmd.CommandPath(), name)
		}
	}
}
